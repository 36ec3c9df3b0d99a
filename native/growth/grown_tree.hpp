// A tree as it was grown: every smaller tree on the way to it is inside.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/large_array.hpp"
#include "data/categories.hpp"
#include "members/columns.hpp"

namespace radboost {

// What a node knows about itself. Nodes are numbered in the order of the splits: the children of the i-th split are
// 2 i + 1 and 2 i + 2, so that the first 2 n + 1 nodes are the tree after n splits.
struct GrownNode {
    std::int32_t left = -1;  // right is left + 1; -1: a leaf
    std::uint32_t column = 0;
    std::uint32_t bin = 0;  // of a split by categories: which of the sets goes left
    bool missing_left = false, by_categories = false;
    double gain = 0;
    std::int64_t cover = 0;  // sample weight of all rows, see mass_scale
};

struct GrownTree {
    std::vector<GrownNode> nodes;
    std::vector<CategorySet> category_sets;
    std::vector<int> depths;
    // Sums over all rows of a node, n_channels for each node: what each answer gains (see AnswerWeighting), or in a regression
    // tree the gradients of the outputs and, last, the weight (see GradientWeighting).
    std::size_t n_channels = 1;
    std::vector<std::int64_t> sums;
    // Whether leaves answer with numbers: the last of the sums is then what being right everywhere would gain.
    bool rated = false;
    // With monotone columns what every node answers with as a leaf: in units of 1 / kValueGrid, or -1 and +1 where it votes;
    // otherwise empty.
    std::vector<std::int32_t> kept;
    // The leaf of every row, by a label that growth gave it, and the node that each label stands for.
    LargeArray<std::int32_t> leaf_of_row;
    std::vector<std::int32_t> node_of_label;
    // The sizes (splits) at which the tree is a candidate, ascending, and the edge of each in [0, 1].
    std::vector<std::int32_t> candidate_splits;
    std::vector<double> candidate_edges;

    // Fills `kept`, from what being right everywhere gains, by label. An answer is what its node gains as a share of that, moved
    // so that below a split on a monotone column everything stays on its side of the middle between the two children's.
    void keep_directions(const std::vector<std::int8_t>& directions, const std::vector<std::int64_t>& totals);
    // Candidates are the trees at the end of each layer, or of every size.
    void list_candidates(bool every_size, double edge_unit);
    // The class that each of the first 2 n + 1 nodes answers with as a leaf; kAbstains where every class would lose.
    std::vector<std::int32_t> answers(std::size_t n_splits) const;
    // Of rated trees: the numbers of the first 2 n + 1 nodes as leaves, n_answers() for each in units of 1 / kValueGrid. Each is
    // the node's own edge for that answer: what it gains as a fraction of what being right everywhere would.
    std::vector<std::int32_t> ratings(std::size_t n_splits) const;
    std::size_t n_answers() const { return n_channels - rated; }
    // The column of every split, in their order.
    std::vector<std::int32_t> split_columns() const;
    bool is_leaf(std::size_t node, std::size_t n_splits) const {
        return nodes[node].left < 0 || static_cast<std::size_t>(nodes[node].left) > 2 * n_splits;
    }
    // The same as `store`, in a slot of its own, for rated trees.
    std::size_t store_rated(std::size_t n_splits, HypothesisColumns& columns, int n_threads) const;
    // Stores the predictions of the tree after n splits.
    void store(std::size_t n_splits, HypothesisColumns& columns, std::size_t slot, int n_threads) const;

private:
    const std::int64_t* sums_of(std::size_t node) const { return sums.data() + node * n_channels; }
    // The edge of a node that answers as well as it can, or by its ratings; in units of 1 / kValueGrid then.
    int128 best_gain(std::size_t node) const;
    std::int32_t rating(std::size_t node, std::size_t answer) const;
    // The nodes that are split, in the order of the splits: the i-th has the children 2 i + 1 and 2 i + 2.
    std::vector<std::size_t> parents() const;
    // For every label the node after n splits that its rows are in.
    std::vector<std::size_t> leaf_of_label(std::size_t n_splits) const;
};

constexpr std::int32_t kAbstains = -1;

}  // namespace radboost
