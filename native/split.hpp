// The best question for a node, from its histogram.
#pragma once

#include <cstdint>

#include "binning.hpp"
#include "histogram.hpp"

namespace radboost {

enum class Criterion {
    edge,  // |sum left| + |sum right| of D y: what the hypothesis gains (one channel)
    gini   // (sum D y)^2 / (sum D), left plus right: weighted impurity (two packed channels)
};

struct Split {
    bool valid = false;
    bool missing_left = false;
    std::uint32_t column = 0, bin = 0;
    std::int64_t left_sum = 0;  // of the growth weights; packed for gini
    double score = 0;
    double gain = 0;  // score above that of the unsplit node, as a share of the total weight
};

// A node's histograms. `masses` (sample weights, as integers) is null unless a leaf minimum is set.
struct NodeSums {
    const std::int64_t* histogram;
    const std::int64_t* masses;
    std::int64_t sum;
    std::int64_t mass;
};

struct SplitSearch {
    Criterion criterion;
    bool random_thresholds;     // one threshold per column, drawn between the ends of the node's range
    std::int64_t minimum_mass;  // each child needs this much sample weight
    std::uint64_t draw_key;     // names (seed, round, node)
    // Node sums of the criterion for no split at all; the best split must beat it. Ties go to the first in the order
    // (column, bin, missing right before missing left).
};

Split find_split(const BinnedData& data, ColumnSet columns, const NodeSums& node, const SplitSearch& search,
                 int n_threads);

// The best question asked at both nodes at once, by the edge criterion, on a column other than `excluded` (no column is
// excluded when it is n_columns).
Split find_shared_split(const BinnedData& data, ColumnSet columns, const NodeSums& first, const NodeSums& second,
                        const SplitSearch& search, std::size_t excluded);

}  // namespace radboost
