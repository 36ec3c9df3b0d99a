#include "grown_tree.hpp"

#include <algorithm>

namespace radboost {
namespace {

std::int64_t magnitude(std::int64_t sum) { return sum < 0 ? -sum : sum; }

}  // namespace

void GrownTree::list_candidates(bool every_size) {
    candidate_splits.clear();
    candidate_edges.clear();
    // The splits in their order: the i-th has the children 2 i + 1 and 2 i + 2.
    std::vector<std::size_t> parent_of_split;
    for (std::size_t i = 0; i < nodes.size(); ++i)
        if (nodes[i].left >= 0) parent_of_split.push_back(i);
    std::sort(parent_of_split.begin(), parent_of_split.end(),
              [&](std::size_t a, std::size_t b) { return nodes[a].left < nodes[b].left; });
    std::int64_t edge = magnitude(nodes[0].sum);
    if (parent_of_split.empty()) {
        // No question helps: the constant, which H_1 contains, may still do (always when one label outweighs the other).
        candidate_splits.push_back(0);
        candidate_edges.push_back(static_cast<double>(edge) / kEdgeScale);
    }
    for (std::size_t s = 0; s < parent_of_split.size(); ++s) {
        const GrownNode& parent = nodes[parent_of_split[s]];
        const auto left = static_cast<std::size_t>(parent.left);
        edge += magnitude(nodes[left].sum) + magnitude(nodes[left + 1].sum) - magnitude(parent.sum);
        const bool ends_layer = s + 1 == parent_of_split.size() ||
                                depths[parent_of_split[s + 1]] != depths[parent_of_split[s]];
        if (!every_size && !ends_layer) continue;
        candidate_splits.push_back(static_cast<std::int32_t>(s + 1));
        candidate_edges.push_back(static_cast<double>(edge) / kEdgeScale);
    }
}

std::vector<std::int8_t> GrownTree::signs(std::size_t n_splits) const {
    const std::size_t size = 2 * n_splits + 1;
    require(size <= nodes.size(), "the tree has fewer splits");
    std::vector<std::int8_t> signs(size, 1);
    for (std::size_t i = 0; i < size; ++i) {
        // A node whose rows cancel out says what its parent would say.
        if (nodes[i].sum != 0) signs[i] = nodes[i].sum > 0 ? 1 : -1;
        const std::int32_t left = nodes[i].left;
        if (left >= 0 && static_cast<std::size_t>(left) < size)
            signs[static_cast<std::size_t>(left)] = signs[static_cast<std::size_t>(left) + 1] = signs[i];
    }
    return signs;
}

void GrownTree::store(std::size_t n_splits, HypothesisColumns& columns, std::size_t slot, int n_threads) const {
    require(columns.n_rows() == leaf_of_row.size(), "the columns have another number of rows");
    const std::vector<std::int8_t> sign = signs(n_splits);
    // Each node below the cut answers with the sign of the leaf above it.
    std::vector<std::uint8_t> positive(nodes.size());
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        if (i < sign.size()) positive[i] = sign[i] > 0;
        if (nodes[i].left < 0) continue;
        const auto left = static_cast<std::size_t>(nodes[i].left);
        positive[left] = positive[left + 1] = positive[i];
    }
    std::vector<std::uint8_t> by_label(node_of_label.size());
    for (std::size_t label = 0; label < by_label.size(); ++label)
        by_label[label] = positive[static_cast<std::size_t>(node_of_label[label])];
    columns.set_signs(slot, leaf_of_row.data(), by_label.data(), n_threads);
}

}  // namespace radboost
