#include "predict/routing.hpp"

#include <algorithm>

namespace radboost {
namespace {

constexpr std::size_t kBlockRows = 256;  // rows whose sets of leaves are held at once
constexpr std::size_t kMostLeaves = 64;  // that fit a word; larger trees are walked

// Rows for which the answer is no lose the leaves to the left.
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
                                 std::uint64_t elsewhere, std::uint64_t* leaves) {
    narrow(codes, n, low, width, elsewhere, leaves);
}

// The first leaf that is still possible is the row's.
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
RADBOOST_CLONES void leaf_signs(const std::uint64_t* leaves, std::size_t n, std::uint64_t positive, std::int8_t* out) {
    first_leaf_signs(leaves, n, positive, out);
}

}  // namespace

AnsweringTree::AnsweringTree(const GrownTree& grown, const BinnedData& data, std::size_t n_classes, double mass_scale,
                             double gain_unit)
    : nodes_(grown.nodes),
      category_sets_(grown.category_sets),
      left_codes_(grown.category_sets),
      n_classes_(n_classes),
      mass_scale_(mass_scale) {
    node_answers_ = grown.answers(nodes_.size() / 2);
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
        nodes_[i].gain *= gain_unit;
        if (nodes_[i].left >= 0) continue;
        const auto answer = static_cast<std::size_t>(node_answers_[i]);
        edge_ += grown.n_channels == 1 ? (answer == 1 ? grown.gains[i] : -grown.gains[i])
                                       : grown.gains[i * grown.n_channels + answer];
    }
    list_steps(data);
}

void AnsweringTree::list_steps(const BinnedData& data) {
    step_of_node_.assign(nodes_.size(), -1);
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
        const GrownNode& node = nodes_[i];
        if (node.left < 0) continue;
        Step step{node.column, 0, 0, node.by_categories ? static_cast<std::int32_t>(node.bin) : -1, 0};
        if (!node.by_categories) {
            const int missing = data.missing_code(node.column);
            const bool wraps = missing >= 0 && node.missing_left;
            step.low = static_cast<std::uint8_t>(wraps ? missing : 0);
            step.width = static_cast<std::uint8_t>(static_cast<int>(node.bin) + (wraps ? 256 - missing : 0));
        } else if (data.missing_code(node.column) >= 0 && node.missing_left) {
            left_codes_[node.bin].add(static_cast<std::size_t>(data.missing_code(node.column)));
        }
        step_of_node_[i] = static_cast<std::int32_t>(steps_.size());
        steps_.push_back(step);
    }
    if (steps_.size() < kMostLeaves) list_leaves(0);
}

// Numbers the leaves below a node from left to right and returns their bits.
std::uint64_t AnsweringTree::list_leaves(std::size_t node) {
    if (nodes_[node].left < 0) {
        const std::uint64_t bit = std::uint64_t{1} << leaf_nodes_.size();
        leaf_nodes_.push_back(static_cast<std::int32_t>(node));
        if (node_answers_[node] == 1) positive_leaves_ |= bit;
        return bit;
    }
    const auto left_child = static_cast<std::size_t>(nodes_[node].left);
    const std::uint64_t left = list_leaves(left_child);
    steps_[static_cast<std::size_t>(step_of_node_[node])].leaves_elsewhere = ~left;
    return left | list_leaves(left_child + 1);
}

bool AnsweringTree::goes_left(const Step& step, std::uint8_t code) const {
    if (step.set >= 0) return left_codes_[static_cast<std::size_t>(step.set)].has(code);
    return static_cast<std::uint8_t>(code - step.low) <= step.width;
}

template <class Leaves>
void AnsweringTree::possible_leaves(const BinnedData& data, std::size_t begin, std::size_t count, Leaves* out) const {
    std::fill(out, out + count, static_cast<Leaves>(~Leaves{0}));
    for (const Step& step : steps_) {
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
void AnsweringTree::signs_by_leaves(const BinnedData& data, std::size_t begin, std::size_t count,
                                    std::int8_t* out) const {
    Leaves leaves[kBlockRows];
    for (std::size_t first = 0; first < count; first += kBlockRows) {
        const std::size_t n = std::min(kBlockRows, count - first);
        possible_leaves(data, begin + first, n, leaves);
        leaf_signs(leaves, n, static_cast<Leaves>(positive_leaves_), out + first);
    }
}

std::int32_t AnsweringTree::walk(const BinnedData& data, std::size_t row) const {
    const std::uint8_t* codes = data.row(row);
    std::size_t at = 0;
    while (nodes_[at].left >= 0) {
        const Step& step = steps_[static_cast<std::size_t>(step_of_node_[at])];
        at = static_cast<std::size_t>(nodes_[at].left) + (goes_left(step, codes[step.column]) ? 0 : 1);
    }
    return node_answers_[at];
}

void AnsweringTree::signs(const BinnedData& data, std::size_t begin, std::size_t count, std::int8_t* out) const {
    require(n_classes_ == 2, "signs stand for two classes");
    if (steps_.size() < 16)
        signs_by_leaves<std::uint16_t>(data, begin, count, out);
    else if (steps_.size() < kMostLeaves)
        signs_by_leaves<std::uint64_t>(data, begin, count, out);
    else
        for (std::size_t i = 0; i < count; ++i) out[i] = walk(data, begin + i) == 1 ? 1 : -1;
}

void AnsweringTree::answers(const BinnedData& data, std::size_t begin, std::size_t count, std::uint16_t* out) const {
    if (n_classes_ == 2) {
        std::int8_t block[kBlockRows];
        for (std::size_t first = 0; first < count; first += kBlockRows) {
            const std::size_t n = std::min(kBlockRows, count - first);
            signs(data, begin + first, n, block);
            for (std::size_t i = 0; i < n; ++i) out[first + i] = block[i] > 0;
        }
        return;
    }
    for (std::size_t i = 0; i < count; ++i) out[i] = static_cast<std::uint16_t>(walk(data, begin + i));
}

}  // namespace radboost
