// A node as growing leaves it.
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

    // The labels of a tree are 0 for the root, 1, 2, ...; which node has which depends on the timing of the threads, and
    // nothing that is kept of the tree depends on the labels.
    std::size_t label = 0;
    int depth = 0;
    std::uint64_t key = 0;   // names the node's place in the tree for the draws
    std::int64_t mass = 0;   // sample weight as an integer
    Split split;
    bool missing_left = false;
    SharedScope scope;  // the columns that it may ask about; null: all
    std::size_t left = kNone;  // label of the left child, the right one's follows; kNone: a leaf
};

// Which rows a tree is grown on: drawn by a hash of their content, so that copies of a row enter together.
struct RowDraw {
    const std::uint64_t* hashes;
    std::uint64_t key, limit;

    // About a fraction of the rows, other ones in every round.
    static RowDraw share(const std::vector<std::uint64_t>& hashes, std::uint64_t seed, std::uint64_t round, double share) {
        return {hashes.data(), mix(mix(seed, round), 0x726f7773),
                static_cast<std::uint64_t>(share * 18446744073709551616.0)};
    }
    bool operator()(std::size_t row) const { return mix(key, hashes[row]) < limit; }
};

}  // namespace radboost
