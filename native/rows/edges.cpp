// Edges of hypotheses (sum over the rows of gradient times prediction) as exact integer sums, for AnswerWeighting and
// MarginWeighting. Called in each round for the hypotheses in the ensemble and for new candidates.
#include <algorithm>
#include <array>
#include <cmath>

#include "members/columns.hpp"
#include "rows/margin_scores.hpp"

namespace radboost {
namespace {

constexpr std::size_t kTableBytes = 32768;  // of a table of gains (see AnswerWeighting): fits the first-level cache
constexpr std::size_t kBlockRows = 8192;    // their weights stay in the second-level cache for all blocks of signs

// Rows per block of a table of gains with (classes + 1) int64 per row.
std::size_t table_rows(std::size_t classes) {
    return std::max<std::size_t>(16, kTableBytes / (sizeof(std::int64_t) * (classes + 1)));
}

// Sum of table[k * stride + answers[k]] over a block's rows k; the table has the layout of AnswerWeighting::gains.
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

// sums[c] += sum over a block's rows of (gain of class c) * value. Without copies a gain takes 31 bits and a value 21, so
// sums over up to 2^11 rows fit into Sum = int64; with copies Sum must be int128.
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

// Sum of weight times value in 128 bits: weights have up to 61 bits, values 20.
int128 value_edge(const std::int64_t* weights, const float* values, std::size_t begin, std::size_t end) {
    int128 sum = 0;
    for (std::size_t i = begin; i < end; ++i) sum += int128{weights[i]} * on_grid(values[i]);
    return sum;
}

// Adds weights of rows [begin, end) to a histogram over bytes of signs, from which the edges of eight hypotheses follow.
void add_signs(const std::uint8_t* bytes, const std::int64_t* weights, std::size_t begin, std::size_t end,
               std::int64_t* histogram) {
    // Neighboring rows often have equal bytes: four histograms in turn avoid store-to-load stalls.
    std::int64_t lanes[4][256] = {};
    std::size_t i = begin;
    for (; i + 4 <= end; i += 4)
        for (std::size_t lane = 0; lane < 4; ++lane) lanes[lane][bytes[i + lane]] += weights[i + lane];
    for (; i < end; ++i) lanes[0][bytes[i]] += weights[i];
    for (std::size_t b = 0; b < 256; ++b) histogram[b] += (lanes[0][b] + lanes[1][b]) + (lanes[2][b] + lanes[3][b]);
}

}  // namespace

void AnswerWeighting::edge_sums(const HypothesisColumns& columns, bool shrinking, int n_threads, int128* sums) const {
    require(columns.n_rows() == n_rows(), "the hypotheses are for another number of rows");
    require(columns.n_classes() == n_classes(), "the hypotheses are for another number of classes");
    const std::size_t n_slots = columns.n_slots(), stride = n_classes() + 1, block = table_rows(n_classes());
    std::vector<std::size_t> used;
    for (std::size_t slot = 0; slot < n_slots; ++slot)
        if (!columns.is_empty(slot) && !columns.has_leaves(slot)) used.push_back(slot);
    std::fill(sums, sums + n_slots, int128{0});
    leaf_edge_sums(columns, n_threads, sums);
    if (used.empty()) return;
    const auto found = row_weights().add<int128>(
        used.size(), n_rows() * n_classes(), n_threads, [&](std::size_t from, std::size_t to, int128* own) {
            std::vector<std::int64_t> table(block * stride);
            std::vector<std::uint16_t> decoded(block);
            for (std::size_t begin = from; begin < to; begin += block) {
                const std::size_t count = std::min(block, to - begin);
                gains(begin, count, shrinking, table.data());
                for (std::size_t k = 0; k < used.size(); ++k) {
                    const std::size_t slot = used[k];
                    if (const float* values = columns.values(slot)) {
                        const std::int64_t* gain = table.data() + columns.class_index(slot);
                        for (std::size_t r = 0; r < count; ++r, gain += stride)
                            own[k] += int128{*gain} * on_grid(values[begin + r]);
                    } else if (const std::uint8_t* answers = columns.narrow_answers(slot)) {
                        own[k] += answer_gains(answers + begin, table.data(), stride, count);
                    } else {
                        columns.answers(slot, begin, count, decoded.data());
                        own[k] += answer_gains(decoded.data(), table.data(), stride, count);
                    }
                }
            }
        });
    for (std::size_t k = 0; k < used.size(); ++k) sums[used[k]] = found[k];
}

void AnswerWeighting::leaf_edge_sums(const HypothesisColumns& columns, int n_threads, int128* sums) const {
    std::vector<std::int32_t> leaves;
    std::vector<std::int64_t> of_leaf;
    for (std::size_t slot = 0; slot < columns.n_slots(); ++slot) {
        if (!columns.has_leaves(slot)) continue;
        const std::vector<std::int32_t>& table = columns.table(slot);
        leaves.resize(n_rows());
        columns.leaves(slot, 0, n_rows(), leaves.data());
        of_leaf.assign(table.size(), 0);
        leaf_sums(leaves.data(), table.size() / columns.width(), n_threads, of_leaf.data());
        sums[slot] = 0;
        for (std::size_t k = 0; k < table.size(); ++k) sums[slot] += int128{of_leaf[k]} * table[k];
    }
}

std::vector<int128> AnswerWeighting::value_edge_sums(const float* values, std::size_t n_hypotheses,
                                                     int n_threads) const {
    const std::size_t n = n_rows(), classes = n_classes(), size = n_hypotheses * classes;
    const std::size_t block = std::min<std::size_t>(table_rows(classes), 2048);
    return row_weights().add<int128>(
        size, n * size, n_threads, [&](std::size_t from, std::size_t to, int128* own) {
            std::vector<std::int64_t> table(block * (classes + 1)), small(classes);
            std::vector<int128> large(classes);
            for (std::size_t begin = from; begin < to; begin += block) {
                const std::size_t count = std::min(block, to - begin);
                gains(begin, count, false, table.data());
                for (std::size_t h = 0; h < n_hypotheses; ++h) {
                    const float* row = values + h * n + begin;
                    if (copies() == nullptr)
                        add_value_gains(row, table.data(), classes, count, small.data(), own + h * classes);
                    else
                        add_value_gains(row, table.data(), classes, count, large.data(), own + h * classes);
                }
            }
        });
}

void AnswerWeighting::group_edge_sums(const HypothesisColumns& columns, std::size_t slot, const double* factors,
                                      const RowGroups& groups, int n_threads, int128* sums) const {
    columns.require_fits(slot, n_rows(), n_classes());
    require(groups.n_rows() == n_rows(), "one group per row is needed");
    const std::size_t stride = n_classes() + 1, block = table_rows(n_classes());
    const float* values = columns.values(slot);
    const auto found = row_weights().add<int128>(
        2 * groups.n_groups(), n_rows() * n_classes(), n_threads, [&](std::size_t from, std::size_t to, int128* own) {
            std::vector<std::int64_t> table(block * stride);
            std::vector<std::uint16_t> answers(block);
            for (std::size_t begin = from; begin < to; begin += block) {
                const std::size_t count = std::min(block, to - begin);
                gains(begin, count, false, table.data());
                columns.answers(slot, begin, count, answers.data());
                for (std::size_t r = 0; r < count; ++r) {
                    const std::size_t i = begin + r;
                    const double size = (values ? static_cast<double>(values[i]) : 1.0) * factors[i];
                    const int128 term = int128{table[r * stride + answers[r]]} * std::llrint(size * kValueGrid);
                    own[2 * groups[i]] += term;
                    own[2 * groups[i] + 1] += term < 0 ? -term : term;
                }
            }
        });
    std::copy(found.begin(), found.end(), sums);
}

void MarginWeighting::group_edge_sums(const HypothesisColumns& columns, std::size_t slot, const double* factors,
                                      const RowGroups& groups, int n_threads, int128* sums) const {
    columns.require_fits(slot, n_rows(), 2);
    require(groups.n_rows() == n_rows(), "one group per row is needed");
    const auto found = row_weights().add<int128>(
        2 * groups.n_groups(), n_rows(), n_threads, [&](std::size_t from, std::size_t to, int128* own) {
            std::vector<double> h(std::min(kBlockRows, to - from));
            for (std::size_t begin = from; begin < to; begin += kBlockRows) {
                const std::size_t count = std::min(kBlockRows, to - begin);
                columns.margins(slot, begin, count, h.data());
                for (std::size_t r = 0; r < count; ++r) {
                    const std::size_t i = begin + r;
                    const int128 term = int128{edge_[i]} * std::llrint(h[r] * factors[i] * kValueGrid);
                    own[2 * groups[i]] += term;
                    own[2 * groups[i] + 1] += term < 0 ? -term : term;
                }
            }
        });
    std::copy(found.begin(), found.end(), sums);
}

void MarginWeighting::gains(std::size_t begin, std::size_t count, bool, std::int64_t* table) const {
    for (std::size_t i = begin; i < begin + count; ++i, table += 3) {
        table[0] = -edge_[i];
        table[1] = edge_[i];
        table[2] = 0;
    }
}

void MarginWeighting::edge_sums(const HypothesisColumns& columns, bool, int n_threads, int128* sums) const {
    require(columns.n_rows() == n_rows(), "the hypotheses are for another number of rows");
    require(columns.n_classes() == 2, "the hypotheses are for another number of classes");
    const std::size_t n_slots = columns.n_slots();
    std::fill(sums, sums + n_slots, int128{0});
    std::vector<std::size_t> blocks, real;
    std::vector<const std::uint8_t*> bytes;
    for (std::size_t b = 0; b < columns.n_sign_blocks(); ++b) {
        if (!columns.has_signs(b)) continue;
        blocks.push_back(b);
        bytes.push_back(columns.signs(b));
    }
    for (std::size_t slot = 0; slot < n_slots; ++slot)
        if (columns.is_real(slot)) real.push_back(slot);
    auto histograms = row_weights().add<std::int64_t>(
        256 * blocks.size(), n_rows(), n_threads, [&](std::size_t from, std::size_t to, std::int64_t* own) {
            for (std::size_t begin = from; begin < to; begin += kBlockRows)
                for (std::size_t k = 0; k < blocks.size(); ++k)
                    add_signs(bytes[k], edge_.data(), begin, std::min(to, begin + kBlockRows), own + 256 * k);
        });
    for (std::size_t k = 0; k < blocks.size(); ++k) {
        std::int64_t* total = histograms.data() + 256 * k;
        // The edge of bit 7 is the upper half minus the lower half; the sum of the halves is the histogram of bits 0 to 6.
        for (std::size_t bit = 8; bit-- > 0;) {
            const std::size_t half = std::size_t{1} << bit, slot = 8 * blocks[k] + bit;
            std::int64_t edge = 0;
            for (std::size_t i = 0; i < half; ++i) {
                edge += total[i + half] - total[i];
                total[i] += total[i + half];
            }
            if (slot < n_slots && !columns.is_empty(slot) && !columns.is_real(slot) && !columns.has_leaves(slot))
                sums[slot] = edge;
        }
    }
    leaf_edge_sums(columns, n_threads, sums);
    if (real.empty()) return;
    const auto found = row_weights().add<int128>(
        real.size(), n_rows(), n_threads, [&](std::size_t begin, std::size_t end, int128* own) {
            for (std::size_t k = 0; k < real.size(); ++k) own[k] = value_edge(edge_.data(), columns.values(real[k]), begin, end);
        });
    for (std::size_t k = 0; k < real.size(); ++k) sums[real[k]] = found[k];
}

std::vector<int128> MarginWeighting::value_edge_sums(const float* values, std::size_t n_hypotheses,
                                                     int n_threads) const {
    const std::size_t n = n_rows();
    std::vector<int128> sums(n_hypotheses);
    parallel_for(n * n_hypotheses >= 16384 ? n_threads : 1, n_hypotheses,
                 [&](std::size_t k) { sums[k] = value_edge(edge_.data(), values + k * n, 0, n); });
    collective().sum(sums.data(), n_hypotheses);
    return sums;
}

}  // namespace radboost
