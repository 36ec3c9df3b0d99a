// How trees are grown.
#pragma once

#include <cstddef>
#include <cstdint>

#include "growth/interactions.hpp"
#include "search/statistics.hpp"

namespace radboost {

enum class Growth {
    layers,      // every leaf with a useful split is split, one layer after the other
    best_first,  // the leaf with the largest gain is split next
    stump_pair   // a stump, then one question asked at both of its leaves
};

constexpr int kMostDepth = 60;

struct GrowthOptions {
    Growth growth = Growth::layers;
    Criterion criterion = Criterion::edge;
    int max_depth = 1;             // 1 to kMostDepth; 0: no limit, with best_first
    std::size_t max_leaves = 0;    // best_first only; 0: no limit but the depth
    std::size_t max_features = 0;  // columns looked at per node; 0: all
    double subsample = 1.0;        // fraction of the rows (drawn by content) that a tree is grown on
    bool random_thresholds = false;
    double minimum_leaf_weight = 0.0;
    std::uint64_t seed = 0;
    int n_threads = 1;
    Interactions interactions;     // of columns; none by default

    bool deepest(int depth) const { return max_depth > 0 && depth >= max_depth; }
};

}  // namespace radboost
