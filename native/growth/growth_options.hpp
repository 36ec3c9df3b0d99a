// Options of tree growth.
#pragma once

#include <cstddef>
#include <cstdint>

#include "growth/interactions.hpp"
#include "search/statistics.hpp"

namespace radboost {

enum class Growth {
    layers,      // every leaf with a useful split is split, up to max_depth
    best_first,  // the leaf with the largest gain is split next (LightGBM's leaf-wise growth)
    stump_pair   // a stump, then the same split at both of its leaves: H_2 of Deep Boosting (2014)
};

constexpr int kMostDepth = 60;

struct GrowthOptions {
    Growth growth = Growth::layers;
    Criterion criterion = Criterion::edge;
    int max_depth = 1;             // 1 to kMostDepth; 0: no limit, with best_first
    std::size_t max_leaves = 0;    // best_first only; 0: no limit but the depth
    std::size_t max_features = 0;  // random columns searched per node; 0: all
    double subsample = 1.0;        // fraction of the rows, drawn by hash, on which a tree is grown
    bool random_thresholds = false;    // one random threshold per column and node, as in extremely randomized trees
    double minimum_leaf_weight = 0.0;  // in units of sample weight
    std::uint64_t seed = 0;
    int n_threads = 1;
    Interactions interactions;     // interaction constraints; none by default

    // True if nodes of this depth are not split.
    bool deepest(int depth) const { return max_depth > 0 && depth >= max_depth; }
};

}  // namespace radboost
