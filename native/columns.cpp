#include "columns.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "pool.hpp"

namespace radboost {
namespace {

constexpr std::size_t kBlockRows = 8192;  // their weights stay in the second-level cache while the blocks pass

double value_edge(const std::int64_t* weights, const float* values, std::size_t n) {
    int128 sum = 0;  // 61 bits for the weights and 20 for the values
    for (std::size_t i = 0; i < n; ++i)
        sum += static_cast<int128>(weights[i]) * static_cast<std::int64_t>(static_cast<double>(values[i]) * kValueGrid);
    return static_cast<double>(sum) / (kEdgeScale * kValueGrid);
}

}  // namespace

std::size_t HypothesisColumns::take_slot() {
    std::size_t slot = 0;
    while (slot < kinds_.size() && kinds_[slot] != Kind::empty) ++slot;
    if (slot == kinds_.size()) {
        kinds_.push_back(Kind::empty);
        values_.emplace_back();
    }
    if (blocks_.size() <= slot / 8) blocks_.resize(slot / 8 + 1);
    if (blocks_[slot / 8].empty()) blocks_[slot / 8].assign(n_rows_, 0);
    kinds_[slot] = Kind::signs;
    return slot;
}

void HypothesisColumns::release(std::size_t slot) {
    require_used(slot);
    kinds_[slot] = Kind::empty;
    std::vector<float>().swap(values_[slot]);
}

void HypothesisColumns::require_used(std::size_t slot) const {
    require(slot < kinds_.size() && kinds_[slot] != Kind::empty, "no hypothesis in that slot");
}

void HypothesisColumns::set_answers(std::size_t slot, const std::int32_t* group_of_row,
                                    const std::int32_t* class_of_group, std::size_t n_groups, int n_threads) {
    require(slot < kinds_.size() && kinds_[slot] == Kind::signs, "the slot is not one for signs");
    std::uint8_t* bytes = blocks_[slot / 8].data();
    const unsigned shift = slot % 8, others = 255u ^ (1u << shift);
    std::vector<std::uint8_t> bit_of_group(n_groups);
    for (std::size_t g = 0; g < n_groups; ++g) bit_of_group[g] = static_cast<std::uint8_t>((class_of_group[g] == 1) << shift);
    const std::size_t parts = row_parts(n_rows_, n_threads);
    parallel_for(n_threads, parts, [&](std::size_t part) {
        const std::uint8_t* bits = bit_of_group.data();
        for (std::size_t i = range_begin(n_rows_, parts, part); i < range_begin(n_rows_, parts, part + 1); ++i)
            bytes[i] = static_cast<std::uint8_t>((bytes[i] & others) | bits[group_of_row[i]]);
    });
}

std::size_t HypothesisColumns::add_values(const float* values) {
    kinds_.push_back(Kind::values);
    values_.emplace_back(values, values + n_rows_);
    return kinds_.size() - 1;
}

void HypothesisColumns::sign_edges(const MarginState& state, int n_threads, double* out) const {
    // The byte of eight hypotheses is a column of 256 bins: one histogram gives all eight edges.
    const std::int64_t* weights = state.edge_weights();
    std::vector<std::size_t> used;
    for (std::size_t b = 0; b < blocks_.size(); ++b) {
        bool any = false;
        for (std::size_t slot = 8 * b; slot < std::min(8 * b + 8, kinds_.size()); ++slot)
            any = any || kinds_[slot] == Kind::signs;
        if (any) used.push_back(b);
    }
    if (used.empty()) return;
    using Histogram = std::array<std::int64_t, 256>;
    const std::size_t parts = row_parts(n_rows_, n_threads);
    std::vector<Histogram> histograms(parts * used.size(), Histogram{});
    parallel_for(n_threads, parts, [&](std::size_t part) {
        Histogram* own = histograms.data() + part * used.size();
        const std::size_t end = range_begin(n_rows_, parts, part + 1);
        for (std::size_t begin = range_begin(n_rows_, parts, part); begin < end; begin += kBlockRows) {
            const std::size_t stop = std::min(end, begin + kBlockRows);
            for (std::size_t k = 0; k < used.size(); ++k) {
                const std::uint8_t* bytes = blocks_[used[k]].data();
                // Neighbouring rows often carry the same byte: four histograms in turn do not wait for each other.
                std::int64_t lanes[4][256] = {};
                std::size_t i = begin;
                for (; i + 4 <= stop; i += 4)
                    for (std::size_t lane = 0; lane < 4; ++lane) lanes[lane][bytes[i + lane]] += weights[i + lane];
                for (; i < stop; ++i) lanes[0][bytes[i]] += weights[i];
                for (std::size_t b = 0; b < 256; ++b)
                    own[k][b] += (lanes[0][b] + lanes[1][b]) + (lanes[2][b] + lanes[3][b]);
            }
        }
    });
    for (std::size_t k = 0; k < used.size(); ++k) {
        Histogram total = histograms[k];
        for (std::size_t part = 1; part < parts; ++part)
            for (std::size_t i = 0; i < 256; ++i) total[i] += histograms[part * used.size() + k][i];
        // Bit 7 parts the histogram into halves; folded together they leave the histogram of the lower bits.
        for (std::size_t bit = 8; bit-- > 0;) {
            const std::size_t half = std::size_t{1} << bit, slot = 8 * used[k] + bit;
            std::int64_t edge = 0;
            for (std::size_t i = 0; i < half; ++i) {
                edge += total[i + half] - total[i];
                total[i] += total[i + half];
            }
            if (slot < kinds_.size() && kinds_[slot] == Kind::signs) out[slot] = static_cast<double>(edge) / kEdgeScale;
        }
    }
}

void HypothesisColumns::edges(const MarginState& state, int n_threads, double* out) const {
    require(state.n_rows() == n_rows_, "the state has another number of rows");
    std::fill(out, out + kinds_.size(), 0.0);
    sign_edges(state, n_threads, out);
    for (std::size_t slot = 0; slot < kinds_.size(); ++slot)
        if (kinds_[slot] == Kind::values) out[slot] = value_edge(state.edge_weights(), values_[slot].data(), n_rows_);
}

void HypothesisColumns::predictions(std::size_t slot, double* out) const {
    require_used(slot);
    if (kinds_[slot] == Kind::values) {
        std::copy(values_[slot].begin(), values_[slot].end(), out);
        return;
    }
    const std::uint8_t* bytes = blocks_[slot / 8].data();
    for (std::size_t i = 0; i < n_rows_; ++i) out[i] = (bytes[i] >> (slot % 8)) & 1 ? 1.0 : -1.0;
}

void HypothesisColumns::step(std::size_t slot, double eta, MarginState& state, int n_threads) const {
    require_used(slot);
    require(state.n_rows() == n_rows_, "the state has another number of rows");
    double* scores = state.scores().data();
    const std::size_t parts = row_parts(n_rows_, n_threads);
    const bool dense = kinds_[slot] == Kind::values;
    const float* values = values_[slot].data();
    const std::uint8_t* bytes = dense ? nullptr : blocks_[slot / 8].data();
    const unsigned shift = slot % 8;
    const double steps[2] = {-eta, eta};
    parallel_for(n_threads, parts, [&](std::size_t part) {
        const std::size_t begin = range_begin(n_rows_, parts, part), end = range_begin(n_rows_, parts, part + 1);
        if (dense)
            for (std::size_t i = begin; i < end; ++i) scores[i] += eta * static_cast<double>(values[i]);
        else
            for (std::size_t i = begin; i < end; ++i) scores[i] += steps[(bytes[i] >> shift) & 1];
    });
}

void value_edges(const MarginState& state, const float* values, std::size_t n_hypotheses, int n_threads, double* out) {
    const std::size_t n = state.n_rows();
    parallel_for(n * n_hypotheses >= 16384 ? n_threads : 1, n_hypotheses,
                 [&](std::size_t k) { out[k] = value_edge(state.edge_weights(), values + k * n, n); });
}

}  // namespace radboost
