// Routing of binned rows through a grown tree (CodeTree), and classification trees that predict binned rows (AnsweringTree).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "data/binning.hpp"
#include "growth/grown_tree.hpp"

namespace radboost {

// A tree compiled for routing. Keeps no reference to `data`; rows may be of any data with the same bins.
class CodeTree {
public:
    CodeTree(const std::vector<GrownNode>& nodes, const std::vector<CategorySet>& category_sets, const BinnedData& data);

    // out[i] = number of the leaf (a node) that row begin + i reaches, i < count.
    void leaves(const BinnedData& data, std::size_t begin, std::size_t count, std::int32_t* out) const;
    // out[i] = +1 if marked[leaf of row begin + i], otherwise -1; marked: shape (n_nodes,).
    void signs(const BinnedData& data, std::size_t begin, std::size_t count, const std::vector<std::uint8_t>& marked,
               std::int8_t* out) const;

private:
    // Test of an inner node. A code goes left if (code - low) mod 256 <= width. Missing values have the largest code of their
    // column: if they go left the interval starts with them and wraps around to 0.
    struct Step {
        std::uint32_t column;
        std::uint8_t low, width;
        std::int32_t set;                // index of the set of categories that go left; -1: not by categories
        std::uint64_t leaves_elsewhere;  // mask of all leaves of the top but those below the left child
    };
    bool ends_top(std::size_t node) const;
    std::uint64_t list_leaves(std::size_t node);
    bool goes_left(const Step& step, std::uint8_t code) const;
    template <class Leaves>
    void possible_leaves(const BinnedData& data, std::size_t begin, std::size_t count, Leaves* out) const;
    template <class Leaves>
    void leaves_by_bits(const BinnedData& data, std::size_t begin, std::size_t count, std::int32_t* out) const;
    template <class Leaves>
    void signs_by_bits(const BinnedData& data, std::size_t begin, std::size_t count, std::uint64_t marked,
                       std::int8_t* out) const;
    std::int32_t walk(const BinnedData& data, std::size_t row, std::int32_t from) const;

    std::vector<std::int32_t> left_;        // by node: left child, the right one is the next node; -1: a leaf
    std::vector<CategorySet> left_codes_;   // sets of codes that go left, maybe with the code of missing values
    std::vector<Step> steps_;               // of the inner nodes, in the order of the nodes
    std::vector<std::int32_t> step_of_node_;  // index in steps_; -1: a leaf
    // The top of the tree: its first splits, up to 64 leaves, one bit each, from left to right. A row starts with all bits
    // set; each test that sends it right clears the leaves to the left; the lowest remaining bit is its leaf. Rows of larger
    // trees continue node by node from there (QuickScorer: Lucchese et al., 2015).
    std::vector<Step> top_;
    std::vector<std::int32_t> top_leaves_;
};

// A classification tree that predicts binned rows; "answers" are predicted classes.
class AnsweringTree {
public:
    // mass_scale: divisor of covers; gain_unit: factor of gains.
    AnsweringTree(const GrownTree& grown, const BinnedData& data, std::size_t n_classes, double mass_scale,
                  double gain_unit);

    const std::vector<GrownNode>& nodes() const { return nodes_; }
    const std::vector<CategorySet>& category_sets() const { return category_sets_; }
    const std::vector<std::int32_t>& node_answers() const { return node_answers_; }
    std::size_t n_classes() const { return n_classes_; }
    std::size_t n_splits() const { return nodes_.size() / 2; }
    double mass_scale() const { return mass_scale_; }
    // Gain of all leaves (see GivenWeighting): weight of the correct rows, with two classes minus that of the wrong ones.
    std::int64_t edge() const { return edge_; }

    // out[i] = predicted class of row begin + i, i < count.
    void answers(const BinnedData& data, std::size_t begin, std::size_t count, std::uint16_t* out) const;
    // The same for two classes as -1 and +1.
    void signs(const BinnedData& data, std::size_t begin, std::size_t count, std::int8_t* out) const;

private:
    std::vector<GrownNode> nodes_;
    std::vector<CategorySet> category_sets_;
    CodeTree routes_;
    std::vector<std::int32_t> node_answers_;
    std::vector<std::uint8_t> answers_second_;  // by node: 1 if it predicts class 1
    std::size_t n_classes_;
    double mass_scale_;
    std::int64_t edge_ = 0;
};

}  // namespace radboost
