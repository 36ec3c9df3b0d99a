// Edges of hypotheses under the gradients of several classes.
#include <algorithm>

#include "rows/class_state.hpp"
#include "members/columns.hpp"
#include "core/pool.hpp"

namespace radboost {
namespace {

constexpr std::size_t kTableBytes = 32768;  // the gains of a block of rows, which all hypotheses pass while it is near

std::size_t table_rows(std::size_t classes) {
    return std::max<std::size_t>(16, kTableBytes / (sizeof(std::int64_t) * (classes + 1)));
}

template <class Answer>
std::int64_t answer_gains(const Answer* answers, const std::int64_t* table, std::size_t stride, std::size_t count) {
    std::int64_t sums[4] = {};
    std::size_t k = 0;
    for (; k + 4 <= count; k += 4, table += 4 * stride)
        for (std::size_t lane = 0; lane < 4; ++lane) sums[lane] += table[lane * stride + answers[k + lane]];
    for (; k < count; ++k, table += stride) sums[0] += table[answers[k]];
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

std::int64_t on_grid(float value) { return static_cast<std::int64_t>(static_cast<double>(value) * kValueGrid); }

// The gains of every class times a value in each row. Without copies a gain takes 31 bits and a value 21: a block of up
// to 2^11 rows fits into 64 bits.
template <class Sum>
void add_value_gains(const float* values, const std::int64_t* table, std::size_t classes, std::size_t count, Sum* block,
                     int128* sums) {
    std::fill(block, block + classes, Sum{0});
    for (std::size_t k = 0; k < count; ++k, table += classes + 1) {
        const std::int64_t value = on_grid(values[k]);
        if (value == 0) continue;
        for (std::size_t c = 0; c < classes; ++c) block[c] += static_cast<Sum>(table[c]) * value;
    }
    for (std::size_t c = 0; c < classes; ++c) sums[c] += block[c];
}

}  // namespace

void HypothesisColumns::edges(const ClassState& state, bool shrinking, int n_threads, double* out) const {
    require(state.n_rows() == n_rows_, "the state has another number of rows");
    require(state.n_classes() == n_classes_, "the state has another number of classes");
    const std::size_t stride = n_classes_ + 1, block = table_rows(n_classes_), n_slots = slots_.size();
    std::fill(out, out + n_slots, 0.0);
    if (std::all_of(slots_.begin(), slots_.end(), [](const Slot& s) { return s.kind == Kind::empty; })) return;
    const std::size_t parts = row_parts(n_rows_ * n_classes_, n_threads);
    std::vector<int128> sums(parts * n_slots, 0);
    parallel_for(n_threads, parts, [&](std::size_t part) {
        std::vector<std::int64_t> table(block * stride);
        std::vector<std::uint16_t> decoded(block);
        int128* own = sums.data() + part * n_slots;
        const std::size_t end = range_begin(n_rows_, parts, part + 1);
        for (std::size_t begin = range_begin(n_rows_, parts, part); begin < end; begin += block) {
            const std::size_t count = std::min(block, end - begin);
            state.gains(begin, count, shrinking, table.data());
            for (std::size_t s = 0; s < n_slots; ++s) {
                const Slot& slot = slots_[s];
                if (slot.kind == Kind::empty) continue;
                if (slot.kind == Kind::values) {
                    const std::int64_t* gain = table.data() + slot.class_index;
                    for (std::size_t k = 0; k < count; ++k, gain += stride)
                        own[s] += static_cast<int128>(*gain) * on_grid(slot.values[begin + k]);
                } else if (!slot.narrow.empty()) {
                    own[s] += answer_gains(slot.narrow.data() + begin, table.data(), stride, count);
                } else {
                    answers(s, begin, count, decoded.data());
                    own[s] += answer_gains(decoded.data(), table.data(), stride, count);
                }
            }
        }
    });
    for (std::size_t s = 0; s < n_slots; ++s) {
        int128 total = 0;
        for (std::size_t part = 0; part < parts; ++part) total += sums[part * n_slots + s];
        out[s] = static_cast<double>(total) * state.edge_unit() / (slots_[s].kind == Kind::values ? kValueGrid : 1.0);
    }
}

void value_edges(const ClassState& state, const float* values, std::size_t n_hypotheses, int n_threads, double* out) {
    const std::size_t n = state.n_rows(), classes = state.n_classes(), size = n_hypotheses * classes;
    const std::size_t block = std::min<std::size_t>(table_rows(classes), 2048);
    const std::size_t parts = std::max<std::size_t>(1, std::min(n, row_parts(n * size, n_threads)));
    std::vector<int128> sums(parts * size, 0);
    parallel_for(n_threads, parts, [&](std::size_t part) {
        std::vector<std::int64_t> table(block * (classes + 1)), small(classes);
        std::vector<int128> large(classes);
        int128* own = sums.data() + part * size;
        const std::size_t end = range_begin(n, parts, part + 1);
        for (std::size_t begin = range_begin(n, parts, part); begin < end; begin += block) {
            const std::size_t count = std::min(block, end - begin);
            state.gains(begin, count, false, table.data());
            for (std::size_t h = 0; h < n_hypotheses; ++h) {
                const float* row = values + h * n + begin;
                if (state.copies() == nullptr)
                    add_value_gains(row, table.data(), classes, count, small.data(), own + h * classes);
                else
                    add_value_gains(row, table.data(), classes, count, large.data(), own + h * classes);
            }
        }
    });
    for (std::size_t k = 0; k < size; ++k) {
        int128 total = 0;
        for (std::size_t part = 0; part < parts; ++part) total += sums[part * size + k];
        out[k] = static_cast<double>(total) * state.edge_unit() / kValueGrid;
    }
}

}  // namespace radboost
