#include "growth/routing.hpp"

#include <algorithm>

namespace radboost {
namespace {

constexpr std::size_t kBlockRows = 256;  // rows routed together
constexpr std::size_t kMostLeaves = 64;  // leaves of the top, one bit each

// Applies one test to n rows: rows that go right lose the leaves to the left.
template <class Leaves>
RADBOOST_INLINE void narrow(const std::uint8_t* codes, std::size_t n, std::uint8_t low, std::uint8_t width,
                            Leaves elsewhere, Leaves* leaves) {
    for (std::size_t i = 0; i < n; ++i) {
        const bool left = static_cast<std::uint8_t>(codes[i] - low) <= width;
        leaves[i] = static_cast<Leaves>(leaves[i] & (left ? static_cast<Leaves>(~Leaves{0}) : elsewhere));
    }
}

RADBOOST_CLONES void narrow_rows(const std::uint8_t* codes, std::size_t n, std::uint8_t low, std::uint8_t width,
                                 std::uint16_t elsewhere, std::uint16_t* leaves) {
    narrow(codes, n, low, width, elsewhere, leaves);
}
RADBOOST_CLONES void narrow_rows(const std::uint8_t* codes, std::size_t n, std::uint8_t low, std::uint8_t width,
                                 std::uint32_t elsewhere, std::uint32_t* leaves) {
    narrow(codes, n, low, width, elsewhere, leaves);
}
RADBOOST_CLONES void narrow_rows(const std::uint8_t* codes, std::size_t n, std::uint8_t low, std::uint8_t width,
                                 std::uint64_t elsewhere, std::uint64_t* leaves) {
    narrow(codes, n, low, width, elsewhere, leaves);
}

// +1 if the lowest remaining leaf of a row is in `positive`, otherwise -1.
template <class Leaves>
RADBOOST_INLINE void first_leaf_signs(const Leaves* leaves, std::size_t n, Leaves positive, std::int8_t* out) {
    for (std::size_t i = 0; i < n; ++i) {
        const auto first = static_cast<Leaves>(leaves[i] & static_cast<Leaves>(Leaves{0} - leaves[i]));
        out[i] = (first & positive) != 0 ? 1 : -1;
    }
}

RADBOOST_CLONES void leaf_signs(const std::uint16_t* leaves, std::size_t n, std::uint16_t positive, std::int8_t* out) {
    first_leaf_signs(leaves, n, positive, out);
}
RADBOOST_CLONES void leaf_signs(const std::uint32_t* leaves, std::size_t n, std::uint32_t positive, std::int8_t* out) {
    first_leaf_signs(leaves, n, positive, out);
}
RADBOOST_CLONES void leaf_signs(const std::uint64_t* leaves, std::size_t n, std::uint64_t positive, std::int8_t* out) {
    first_leaf_signs(leaves, n, positive, out);
}

}  // namespace

CodeTree::CodeTree(const std::vector<GrownNode>& nodes, const std::vector<CategorySet>& category_sets,
                   const BinnedData& data)
    : left_codes_(category_sets), step_of_node_(nodes.size(), -1) {
    left_.reserve(nodes.size());
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        const GrownNode& node = nodes[i];
        left_.push_back(node.left);
        if (node.left < 0) continue;
        Step step{node.column, 0, 0, node.by_categories ? static_cast<std::int32_t>(node.bin) : -1, 0};
        const int missing = data.missing_code(node.column);
        const bool missing_left = missing >= 0 && node.missing_left;
        if (!node.by_categories) {
            step.low = static_cast<std::uint8_t>(missing_left ? missing : 0);
            step.width = static_cast<std::uint8_t>(static_cast<int>(node.bin) + (missing_left ? 256 - missing : 0));
        } else if (missing_left) {
            left_codes_[node.bin].add(static_cast<std::size_t>(missing));
        }
        step_of_node_[i] = static_cast<std::int32_t>(steps_.size());
        steps_.push_back(step);
    }
    list_leaves(0);
}

// True if the node is a leaf of the top, which has the first 2 * kMostLeaves - 1 nodes.
bool CodeTree::ends_top(std::size_t node) const {
    return left_[node] < 0 || static_cast<std::size_t>(left_[node]) >= 2 * kMostLeaves - 1;
}

// Appends the leaves of the top below a node, from left to right, and its steps; returns the mask of these leaves.
std::uint64_t CodeTree::list_leaves(std::size_t node) {
    if (ends_top(node)) {
        top_leaves_.push_back(static_cast<std::int32_t>(node));
        return std::uint64_t{1} << (top_leaves_.size() - 1);
    }
    const auto left_child = static_cast<std::size_t>(left_[node]);
    const std::uint64_t left = list_leaves(left_child);
    top_.push_back(steps_[static_cast<std::size_t>(step_of_node_[node])]);
    top_.back().leaves_elsewhere = ~left;
    return left | list_leaves(left_child + 1);
}

bool CodeTree::goes_left(const Step& step, std::uint8_t code) const {
    if (step.set >= 0) return left_codes_[static_cast<std::size_t>(step.set)].has(code);
    return static_cast<std::uint8_t>(code - step.low) <= step.width;
}

template <class Leaves>
void CodeTree::possible_leaves(const BinnedData& data, std::size_t begin, std::size_t count, Leaves* out) const {
    std::fill(out, out + count, static_cast<Leaves>(~Leaves{0}));
    for (const Step& step : top_) {
        const std::uint8_t* codes = data.column(step.column) + begin;
        const auto elsewhere = static_cast<Leaves>(step.leaves_elsewhere);
        if (step.set < 0) {
            narrow_rows(codes, count, step.low, step.width, elsewhere, out);
            continue;
        }
        for (std::size_t i = 0; i < count; ++i)
            if (!goes_left(step, codes[i])) out[i] = static_cast<Leaves>(out[i] & elsewhere);
    }
}

template <class Leaves>
void CodeTree::leaves_by_bits(const BinnedData& data, std::size_t begin, std::size_t count, std::int32_t* out) const {
    Leaves possible[kBlockRows];
    for (std::size_t first = 0; first < count; first += kBlockRows) {
        const std::size_t n = std::min(kBlockRows, count - first);
        possible_leaves(data, begin + first, n, possible);
        for (std::size_t i = 0; i < n; ++i)
            out[first + i] = top_leaves_[lowest_one(possible[i])];
        if (top_.size() == steps_.size()) continue;
        for (std::size_t i = 0; i < n; ++i) out[first + i] = walk(data, begin + first + i, out[first + i]);
    }
}

template <class Leaves>
void CodeTree::signs_by_bits(const BinnedData& data, std::size_t begin, std::size_t count, std::uint64_t marked,
                             std::int8_t* out) const {
    Leaves possible[kBlockRows];
    for (std::size_t first = 0; first < count; first += kBlockRows) {
        const std::size_t n = std::min(kBlockRows, count - first);
        possible_leaves(data, begin + first, n, possible);
        leaf_signs(possible, n, static_cast<Leaves>(marked), out + first);
    }
}

// Follows the path of one row from node `from` to a leaf.
std::int32_t CodeTree::walk(const BinnedData& data, std::size_t row, std::int32_t from) const {
    auto at = static_cast<std::size_t>(from);
    while (left_[at] >= 0) {
        const Step& step = steps_[static_cast<std::size_t>(step_of_node_[at])];
        at = static_cast<std::size_t>(left_[at]) + (goes_left(step, data.column(step.column)[row]) ? 0 : 1);
    }
    return static_cast<std::int32_t>(at);
}

void CodeTree::leaves(const BinnedData& data, std::size_t begin, std::size_t count, std::int32_t* out) const {
    if (steps_.size() < 16)
        leaves_by_bits<std::uint16_t>(data, begin, count, out);
    else if (steps_.size() < 32)
        leaves_by_bits<std::uint32_t>(data, begin, count, out);
    else
        leaves_by_bits<std::uint64_t>(data, begin, count, out);
}

void CodeTree::signs(const BinnedData& data, std::size_t begin, std::size_t count,
                     const std::vector<std::uint8_t>& marked, std::int8_t* out) const {
    std::uint64_t bits = 0;
    for (std::size_t leaf = 0; leaf < top_leaves_.size(); ++leaf)
        bits |= std::uint64_t{marked[static_cast<std::size_t>(top_leaves_[leaf])]} << leaf;
    if (steps_.size() < 16) return signs_by_bits<std::uint16_t>(data, begin, count, bits, out);
    if (steps_.size() < 32) return signs_by_bits<std::uint32_t>(data, begin, count, bits, out);
    if (steps_.size() < kMostLeaves) return signs_by_bits<std::uint64_t>(data, begin, count, bits, out);
    std::int32_t nodes[kBlockRows];
    for (std::size_t first = 0; first < count; first += kBlockRows) {
        const std::size_t n = std::min(kBlockRows, count - first);
        leaves(data, begin + first, n, nodes);
        for (std::size_t i = 0; i < n; ++i) out[first + i] = marked[static_cast<std::size_t>(nodes[i])] ? 1 : -1;
    }
}

AnsweringTree::AnsweringTree(const GrownTree& grown, const BinnedData& data, std::size_t n_classes, double mass_scale,
                             double gain_unit)
    : nodes_(grown.nodes),
      category_sets_(grown.category_sets),
      routes_(grown.nodes, grown.category_sets, data),
      node_answers_(grown.answers(grown.nodes.size() / 2)),
      n_classes_(n_classes),
      mass_scale_(mass_scale) {
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
        nodes_[i].gain *= gain_unit;
        answers_second_.push_back(node_answers_[i] == 1);
        if (nodes_[i].left >= 0) continue;
        const auto answer = static_cast<std::size_t>(node_answers_[i]);
        edge_ += grown.n_channels == 1 ? (answer == 1 ? grown.sums[i] : -grown.sums[i])
                                       : grown.sums[i * grown.n_channels + answer];
    }
}

void AnsweringTree::signs(const BinnedData& data, std::size_t begin, std::size_t count, std::int8_t* out) const {
    require(n_classes_ == 2, "signs stand for two classes");
    routes_.signs(data, begin, count, answers_second_, out);
}

void AnsweringTree::answers(const BinnedData& data, std::size_t begin, std::size_t count, std::uint16_t* out) const {
    std::int32_t leaves[kBlockRows];
    for (std::size_t first = 0; first < count; first += kBlockRows) {
        const std::size_t n = std::min(kBlockRows, count - first);
        routes_.leaves(data, begin + first, n, leaves);
        for (std::size_t i = 0; i < n; ++i)
            out[first + i] = static_cast<std::uint16_t>(node_answers_[static_cast<std::size_t>(leaves[i])]);
    }
}

}  // namespace radboost
