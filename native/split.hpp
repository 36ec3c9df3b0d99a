// The best question for a node.
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
    bool asked = false;  // some column told the node's rows apart at all
    bool missing_left = false;
    std::uint32_t column = 0, bin = 0;
    std::int64_t left_sum = 0;  // of the growth weights; packed for gini
    double gain = 0;            // score above that of the unsplit node, as a share of the total weight
};

// Sums over a node's rows: the growth weights (packed for gini), and the sample weights as integers.
struct NodeTotals {
    std::int64_t sum;
    std::int64_t mass;

    NodeTotals& operator+=(const NodeTotals& other) {
        sum += other.sum;
        mass += other.mass;
        return *this;
    }
};

// What is asked of a split. The best one must beat the unsplit node; ties go to the first in the order (column, bin,
// missing right before missing left).
struct SplitSearch {
    Criterion criterion;
    std::int64_t minimum_mass;  // each child needs this much sample weight; 0: no matter
    bool random_thresholds;     // one threshold per column, drawn between the ends of the node's values
    std::uint64_t draw_key;     // names (seed, round, node)
};

// Histograms of a node's rows; `masses` is null unless a leaf minimum is set.
struct NodeHistograms {
    const std::int64_t* sums;
    const std::int64_t* masses;
};

// All columns, every threshold.
Split find_split(const BinnedData& data, const NodeHistograms& histograms, const NodeTotals& node,
                 const SplitSearch& search, int n_threads);

// The rows of a node with their growth weights (and sample weights, when a leaf minimum is set) side by side.
struct NodeRows {
    const std::uint32_t* rows;
    std::size_t count;
    const std::int64_t* weights;
    const std::int64_t* masses;  // may be null
};

// The same straight from the rows, one column at a time: for few columns, few rows, or random thresholds.
Split find_split_in_rows(const BinnedData& data, ColumnSet columns, const NodeRows& rows, const NodeTotals& node,
                         const SplitSearch& search, int n_threads);

// The best question asked at two nodes at once, by the edge criterion. The first `first_count` rows belong to `first`,
// the others to `second`. The column `excluded` is left out (none when it is n_columns).
Split find_shared_split(const BinnedData& data, ColumnSet columns, const NodeRows& rows, std::size_t first_count,
                        const NodeTotals& first, const NodeTotals& second, const SplitSearch& search,
                        std::size_t excluded, int n_threads);

}  // namespace radboost
