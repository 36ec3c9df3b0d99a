// A grown tree that sends rows of binned codes to its leaves.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "data/binning.hpp"
#include "growth/grown_tree.hpp"

namespace radboost {

class CodeTree {
public:
    CodeTree(const std::vector<GrownNode>& nodes, const std::vector<CategorySet>& category_sets, const BinnedData& data);

    // The node, a leaf, that each of the rows [begin, begin + count) of the data reaches.
    void leaves(const BinnedData& data, std::size_t begin, std::size_t count, std::int32_t* out) const;
    // +1 for the rows whose leaf is marked, by node, and -1 for the others.
    void signs(const BinnedData& data, std::size_t begin, std::size_t count, const std::vector<std::uint8_t>& marked,
               std::int8_t* out) const;

private:
    // A code goes left where code - low, modulo 256, is at most `width`. Missing values have the largest code of their
    // column: where they go left the interval begins with them and runs on through 0.
    struct Step {
        std::uint32_t column;
        std::uint8_t low, width;
        std::int32_t set;                // of the categories that go left, else -1
        std::uint64_t leaves_elsewhere;  // a bit for each leaf but those to the left: what stays possible for going right
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

    std::vector<std::int32_t> left_;        // by node: its left child, the right one's follows; -1: a leaf
    std::vector<CategorySet> left_codes_;   // with the code of missing values where these go left
    std::vector<Step> steps_;               // of the inner nodes, in the order of the nodes; see step_of_node_
    std::vector<std::int32_t> step_of_node_;
    // The top of the tree, after as many of its splits as give no more leaves than a word has bits: its steps, and its leaves
    // from left to right. Rows find their leaf of the top by bits, and walk on from there in larger trees.
    std::vector<Step> top_;
    std::vector<std::int32_t> top_leaves_;
};

// A classification tree that predicts rows of binned codes.
class AnsweringTree {
public:
    // `mass_scale` is what covers are divided by, `gain_unit` what gains are multiplied with.
    AnsweringTree(const GrownTree& grown, const BinnedData& data, std::size_t n_classes, double mass_scale,
                  double gain_unit);

    const std::vector<GrownNode>& nodes() const { return nodes_; }
    const std::vector<CategorySet>& category_sets() const { return category_sets_; }
    const std::vector<std::int32_t>& node_answers() const { return node_answers_; }
    std::size_t n_classes() const { return n_classes_; }
    std::size_t n_splits() const { return nodes_.size() / 2; }
    double mass_scale() const { return mass_scale_; }
    // What the leaves gain together (see AnswerWeighting): with two classes the weight it is right about less the rest.
    std::int64_t edge() const { return edge_; }

    // The class of each of the rows [begin, begin + count) of the data.
    void answers(const BinnedData& data, std::size_t begin, std::size_t count, std::uint16_t* out) const;
    // The same for two classes as -1 and +1.
    void signs(const BinnedData& data, std::size_t begin, std::size_t count, std::int8_t* out) const;

private:
    std::vector<GrownNode> nodes_;
    std::vector<CategorySet> category_sets_;
    CodeTree routes_;
    std::vector<std::int32_t> node_answers_;
    std::vector<std::uint8_t> answers_second_;  // by node: whether it answers with the second of two classes
    std::size_t n_classes_;
    double mass_scale_;
    std::int64_t edge_ = 0;
};

}  // namespace radboost
