// GrownTree: a tree as growth leaves it. Its first 2 n + 1 nodes are the tree after n splits, which may be a hypothesis too.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/large_array.hpp"
#include "data/categories.hpp"
#include "members/columns.hpp"

namespace radboost {

// Nodes are numbered in the order of the splits: the children of split i (from 0) are 2 i + 1 and 2 i + 2.
struct GrownNode {
    std::int32_t left = -1;  // left child, the right one is left + 1; -1: a leaf
    std::uint32_t column = 0;
    std::uint32_t bin = 0;  // codes <= bin go left; if by_categories, index into GrownTree::category_sets
    bool missing_left = false, by_categories = false;
    double gain = 0;
    std::int64_t cover = 0;  // sample weight of all rows in the node, times Grower::mass_scale
};

struct GrownTree {
    std::vector<GrownNode> nodes;
    std::vector<CategorySet> category_sets;
    std::vector<int> depths;
    // Sums over all rows of each node, shape (n_nodes, n_channels): gains by class (AnswerWeighting::leaf_sums), in a rated
    // tree followed by the largest possible gain (leaf_totals); in a regression tree gradients by output, then the weight.
    std::size_t n_channels = 1;
    std::vector<std::int64_t> sums;
    // Leaves predict real values ("ratings") instead of classes.
    bool rated = false;
    // Only with monotone constraints: prediction of each node as a leaf, in units of 1 / kValueGrid if rated, else -1 or +1.
    std::vector<std::int32_t> kept;
    // Label of the leaf of each row, and the node of each label. Labels are numbered by growth, see TreeNode.
    LargeArray<std::int32_t> leaf_of_row;
    std::vector<std::int32_t> node_of_label;
    // Numbers of splits after which the tree is a candidate hypothesis, ascending, and the candidates' edges, in [0, 1].
    std::vector<std::int32_t> candidate_splits;
    std::vector<double> candidate_edges;

    // Fills `kept`; totals: leaf_totals by label. A node's value is its gain for class 1 divided by the largest possible one,
    // clipped so that below a split on a constrained column values stay on their side of the two children's midpoint.
    void keep_directions(const std::vector<std::int8_t>& directions, const std::vector<std::int64_t>& totals);
    // Fills candidate_splits and candidate_edges: the tree after each layer, or after each split if every_size.
    void list_candidates(bool every_size, double edge_unit);
    // Class that each of the first 2 n_splits + 1 nodes predicts as a leaf; kAbstains if the gain of every class is negative.
    std::vector<std::int32_t> answers(std::size_t n_splits) const;
    // For rated trees: values of the first 2 n_splits + 1 nodes as leaves, shape (2 n_splits + 1, n_answers()), in units of 1
    // / kValueGrid: gain of each class divided by the largest possible gain of the node.
    std::vector<std::int32_t> ratings(std::size_t n_splits) const;
    std::size_t n_answers() const { return n_channels - rated; }
    // Column of each split, shape (n_splits,).
    std::vector<std::int32_t> split_columns() const;
    bool is_leaf(std::size_t node, std::size_t n_splits) const {
        return nodes[node].left < 0 || static_cast<std::size_t>(nodes[node].left) > 2 * n_splits;
    }
    // For rated trees: stores the predictions of the tree after n_splits splits in a new slot, which is returned.
    std::size_t store_rated(std::size_t n_splits, HypothesisColumns& columns, int n_threads) const;
    // For other trees: stores the predictions in a slot from HypothesisColumns::take_slot.
    void store(std::size_t n_splits, HypothesisColumns& columns, std::size_t slot, int n_threads) const;

private:
    const std::int64_t* sums_of(std::size_t node) const { return sums.data() + node * n_channels; }
    // Gain of a node as a leaf: of its best class or, in units of 1 / kValueGrid, of its ratings.
    int128 best_gain(std::size_t node) const;
    std::int32_t rating(std::size_t node, std::size_t answer) const;
    // The inner nodes in the order of the splits: number i has the children 2 i + 1 and 2 i + 2.
    std::vector<std::size_t> parents() const;
    // Leaf of the tree after n_splits splits in which the rows of each label are.
    std::vector<std::size_t> leaf_of_label(std::size_t n_splits) const;
};

constexpr std::int32_t kAbstains = -1;

}  // namespace radboost
