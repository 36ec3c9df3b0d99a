// Common parts of the nodes of NodeGrower and LayerGrower, and the sampling of rows for a tree.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/hashing.hpp"
#include "growth/interactions.hpp"
#include "search/statistics.hpp"

namespace radboost {

struct TreeNode {
    static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

    // Number of the node during growth (root: 0), in an order that depends on thread timing; see Grower::number_nodes.
    std::size_t label = 0;
    int depth = 0;
    std::uint64_t key = 0;   // key of its random draws: a hash of seed, round and the path from the root
    std::int64_t mass = 0;   // sample weight, as an integer
    Split split;
    bool missing_left = false;  // at prediction; differs from split.missing_left if no value is missing in the node
    SharedScope scope;  // columns on which it may split; null: all
    std::size_t left = kNone;  // label of the left child, the right one's is left + 1; kNone: a leaf
};

// Random subset of the rows on which a tree is grown, drawn by a hash of their content, so that copies are drawn together.
struct RowDraw {
    const std::uint64_t* hashes;
    std::uint64_t key, limit;

    // A fraction `share` of the distinct rows (in expectation), different in every round.
    static RowDraw share(const std::vector<std::uint64_t>& hashes, std::uint64_t seed, std::uint64_t round, double share) {
        return {hashes.data(), mix(mix(seed, round), 0x726f7773),
                static_cast<std::uint64_t>(share * 18446744073709551616.0)};
    }
    bool operator()(std::size_t row) const { return mix(key, hashes[row]) < limit; }
};

}  // namespace radboost
