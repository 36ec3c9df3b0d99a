#include "split.hpp"

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "hashing.hpp"
#include "margins.hpp"
#include "pool.hpp"

namespace radboost {
namespace {

constexpr std::size_t kParallelSlots = 40000;

struct Edge {
    using Score = std::int64_t;
    static Score node(std::int64_t sum) { return std::llabs(sum); }
    static bool score(std::int64_t left, std::int64_t right, Score& out) {
        out = std::llabs(left) + std::llabs(right);
        return true;
    }
    static Score to_beat(Score unsplit) { return unsplit; }
    static double share(Score score) { return static_cast<double>(score) / kEdgeScale; }
};

struct Gini {
    using Score = double;
    static double half(std::int64_t packed) {
        const auto signed_sum = static_cast<double>(packed >> 32);
        const auto weight = static_cast<double>(packed & 0xffffffffLL);
        return signed_sum * signed_sum / weight;
    }
    static bool has_weight(std::int64_t packed) { return (packed & 0xffffffffLL) != 0; }
    static Score node(std::int64_t sum) { return has_weight(sum) ? half(sum) : 0.0; }
    static bool score(std::int64_t left, std::int64_t right, Score& out) {
        if (!has_weight(left) || !has_weight(right)) return false;
        out = half(left) + half(right);
        return true;
    }
    // Rounding must not make a useless split look useful.
    static Score to_beat(Score unsplit) { return unsplit * (1 + 1e-12) + 1e-12; }
    static double share(Score score) { return score / kPackedScale; }
};

template <class Measure>
struct Best {
    typename Measure::Score score;
    Split split;
};

// Walks over the thresholds of one column. `consider(bin, left sums, missing_left)` scores one question.
template <class Sums, class Consider>
void walk_column(const BinnedData& data, std::size_t column, const SplitSearch& search, const Sums& sums,
                 Consider&& consider) {
    const std::size_t bins = data.n_bins(column);
    const bool missing = data.has_missing[column] && sums.any(bins);
    // With missing values in the node the last bin is a question too: is the value there at all?
    const std::size_t end = missing ? bins : (bins > 0 ? bins - 1 : 0);
    auto left = sums.zero();
    if (!search.random_thresholds) {
        for (std::size_t bin = 0; bin < end; ++bin) {
            if (!sums.any(bin)) continue;  // the same rows as one bin before
            sums.add(left, bin);
            consider(bin, left, false);
            if (missing) consider(bin, sums.with(left, bins), true);
        }
        return;
    }
    std::size_t low = 0, high = bins;
    while (low < bins && !sums.any(low)) ++low;
    while (high > low && !sums.any(high - 1)) --high;  // the node's values lie in the bins [low, high)
    const std::size_t choices = missing ? high - low : (high > low ? high - low - 1 : 0);
    if (choices == 0) return;
    const std::uint64_t word = mix(search.draw_key, column);
    const std::size_t chosen = low + draw_below(word, static_cast<std::uint32_t>(choices));
    for (std::size_t bin = low; bin <= chosen; ++bin) sums.add(left, bin);
    consider(chosen, left, false);
    if (missing) consider(chosen, sums.with(left, bins), true);
}

struct Sum {
    std::int64_t value, mass;
};

struct OneNode {
    const std::int64_t *slots, *masses;
    static Sum zero() { return {0, 0}; }
    bool any(std::size_t bin) const { return slots[bin] != 0 || (masses != nullptr && masses[bin] != 0); }
    void add(Sum& left, std::size_t bin) const {
        left.value += slots[bin];
        if (masses != nullptr) left.mass += masses[bin];
    }
    Sum with(Sum left, std::size_t bin) const {
        add(left, bin);
        return left;
    }
};

template <class Measure>
void search_column(const BinnedData& data, std::size_t column, const NodeSums& node, const SplitSearch& search,
                   Best<Measure>& best) {
    const std::size_t offset = data.slot_offsets[column];
    const OneNode sums{node.histogram + offset, node.masses ? node.masses + offset : nullptr};
    walk_column(data, column, search, sums, [&](std::size_t bin, Sum left, bool missing_left) {
        if (node.masses && (left.mass < search.minimum_mass || node.mass - left.mass < search.minimum_mass)) return;
        typename Measure::Score score;
        if (!Measure::score(left.value, node.sum - left.value, score) || !(score > best.score)) return;
        best.score = score;
        best.split.valid = true;
        best.split.missing_left = missing_left;
        best.split.column = static_cast<std::uint32_t>(column);
        best.split.bin = static_cast<std::uint32_t>(bin);
        best.split.left_sum = left.value;
    });
}

template <class Measure>
Split find_with(const BinnedData& data, ColumnSet columns, const NodeSums& node, const SplitSearch& search,
                int n_threads) {
    const auto unsplit = Measure::node(node.sum);
    const std::size_t slots_per_column = 1 + data.n_slots() / data.n_columns;
    const bool parallel = columns.count * slots_per_column >= kParallelSlots;
    const std::size_t parts = parallel ? static_cast<std::size_t>(n_threads) : 1;
    std::vector<Best<Measure>> bests(parts, Best<Measure>{Measure::to_beat(unsplit), Split{}});
    parallel_for(n_threads, parts, [&](std::size_t part) {
        for (std::size_t k = range_begin(columns.count, parts, part); k < range_begin(columns.count, parts, part + 1);
             ++k)
            search_column(data, columns.indices ? columns.indices[k] : k, node, search, bests[part]);
    });
    const Best<Measure>* best = &bests[0];
    for (const auto& other : bests)
        if (other.score > best->score) best = &other;
    Split split = best->split;
    split.score = Measure::share(best->score);
    split.gain = split.valid ? split.score - Measure::share(unsplit) : 0.0;
    return split;
}

struct PairSum {
    Sum first, second;
};

struct TwoNodes {
    OneNode first, second;
    static PairSum zero() { return {{0, 0}, {0, 0}}; }
    bool any(std::size_t bin) const { return first.any(bin) || second.any(bin); }
    void add(PairSum& left, std::size_t bin) const {
        first.add(left.first, bin);
        second.add(left.second, bin);
    }
    PairSum with(PairSum left, std::size_t bin) const {
        add(left, bin);
        return left;
    }
};

}  // namespace

Split find_split(const BinnedData& data, ColumnSet columns, const NodeSums& node, const SplitSearch& search,
                 int n_threads) {
    return search.criterion == Criterion::edge ? find_with<Edge>(data, columns, node, search, n_threads)
                                               : find_with<Gini>(data, columns, node, search, n_threads);
}

Split find_shared_split(const BinnedData& data, ColumnSet columns, const NodeSums& first, const NodeSums& second,
                        const SplitSearch& search, std::size_t excluded) {
    const std::int64_t unsplit = std::llabs(first.sum) + std::llabs(second.sum);
    std::int64_t best = unsplit;
    Split split;
    const auto too_light = [&](const NodeSums& node, const Sum& left) {
        return node.masses && (left.mass < search.minimum_mass || node.mass - left.mass < search.minimum_mass);
    };
    for (std::size_t k = 0; k < columns.count; ++k) {
        const std::size_t column = columns.indices ? columns.indices[k] : k;
        if (column == excluded) continue;
        const std::size_t offset = data.slot_offsets[column];
        const auto node = [&](const NodeSums& sums) {
            return OneNode{sums.histogram + offset, sums.masses ? sums.masses + offset : nullptr};
        };
        const TwoNodes sums{node(first), node(second)};
        walk_column(data, column, search, sums, [&](std::size_t bin, const PairSum& left, bool missing_left) {
            if (too_light(first, left.first) || too_light(second, left.second)) return;
            const std::int64_t score = std::llabs(left.first.value) + std::llabs(first.sum - left.first.value) +
                                       std::llabs(left.second.value) + std::llabs(second.sum - left.second.value);
            if (score <= best) return;
            best = score;
            split.valid = true;
            split.missing_left = missing_left;
            split.column = static_cast<std::uint32_t>(column);
            split.bin = static_cast<std::uint32_t>(bin);
            split.left_sum = left.first.value;
        });
    }
    split.score = static_cast<double>(best) / kEdgeScale;
    split.gain = static_cast<double>(best - unsplit) / kEdgeScale;
    return split;
}

}  // namespace radboost
