// Compiles trees to programs that compute Shapley values. If every feature is known with probability t, independently, the
// Shapley value is an integral over t of a polynomial (Owen, 1972, Multilinear extensions of games), which Gauss-Legendre
// quadrature integrates exactly (docs/explaining.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "data/categories.hpp"

namespace radboost {

// Gauss-Legendre points in (0, 1) and weights; n points integrate polynomials up to degree 2 n - 1 exactly.
struct Quadrature {
    std::vector<double> points, weights;
};
Quadrature gauss_legendre(std::size_t n);

// Arrays of one tree, validated by Forest, which describes them. sets: index of each node's set of categories, -1: threshold.
struct TreeView {
    const std::int32_t *features, *left, *sets;
    const double* thresholds;
    const std::uint8_t* missing_left;
    std::size_t n_nodes;
};

// An inner node. For a feature, w is the product, over the nodes of the path that test it, of the fraction of the training
// weight that goes along the path: w_above before this node, w_left and w_right after it.
struct ShapleyNode {
    double threshold;
    double w_left, w_right;
    double share_left;               // w_left / w_above
    double left_value, right_value;  // value of a subtree whose leaves are all equal
    std::uint32_t column;            // index in ShapleyChunk::columns
    std::int32_t set;                // index of its set of categories; -1: none
    std::uint32_t depth;
    std::int32_t above;     // depth of the nearest ancestor that tests the same feature; -1: none
    std::uint32_t numbers;  // first of its constants in ShapleyProgram::numbers
    std::uint32_t pairs_begin, pairs_end;  // range in ShapleyProgram::pairs
    std::uint8_t missing_left, remembered;  // remembered: a descendant or a pair needs the rows' sides here
};

// Constants of a node, K of each, one per quadrature point t; A = t + (1 - t) w_above:
//   (t + (1 - t) w_left) / A and (1 - t) w_left / A: fractions of the left side for rows that go left and right or, if both
//   sides have equal leaves, the value that these fractions give;
//   1 / A^2, if an ancestor tests the same feature;
//   with pairs (1 - w) / (t + (1 - t) w) for w = w_left and w = w_right.
// The steps of a program traverse the tree depth first.
struct ShapleyStep {
    enum Kind : std::uint32_t {
        kBoth,      // evaluate a node both of whose subtrees have equal leaves
        kLeft,      // enter the left subtree
        kRight,     // enter the right subtree, after the left one
        kRightOnly, // enter the right subtree; the left one has equal leaves
        kUp,        // return from the right subtree, after the left one
        kUpLeft,    // return from the left subtree; the right one has equal leaves
        kUpRight    // return from the right subtree; the left one has equal leaves
    };
    Kind kind;
    std::uint32_t node;
};

struct ShapleyPair {
    std::uint32_t depth;  // of the nearest ancestor that tests the other feature
    std::uint32_t pair;   // index in ShapleyChunk::pairs
};

struct ShapleyProgram {
    std::vector<ShapleyNode> nodes;
    std::vector<ShapleyStep> steps;
    std::vector<ShapleyPair> pairs;
    std::vector<double> numbers;
    std::size_t depth = 0;   // inner nodes on the longest path
    std::size_t points = 0;  // K, the number of quadrature points
};

// Programs of several trees, which run one after the other on the same few rows, and the columns and pairs that they use.
struct ShapleyChunk {
    explicit ShapleyChunk(bool with_pairs) : with_pairs(with_pairs) {}

    bool with_pairs;
    std::vector<ShapleyProgram> programs;
    std::size_t n_nodes = 0, longest = 0, most_points = 0;  // longest, most_points: maxima of depth and points
    std::vector<std::uint32_t> columns;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs;  // indices in `columns`

    std::vector<Quadrature> rules;  // by number of points; empty if unused

    const Quadrature& rule(std::size_t n);      // rules[n], computed at the first call
    std::uint32_t place(std::uint32_t column);  // index in `columns`, appended if new
    std::uint32_t pair(std::uint32_t first, std::uint32_t second);  // index in `pairs`, appended if new

private:
    std::unordered_map<std::uint32_t, std::uint32_t> place_of_;
    std::unordered_map<std::uint64_t, std::uint32_t> pair_of_;
};

// Compiles one tree to a program of the chunk (none if all predictions are equal) and returns the mean prediction. values:
// prediction of every leaf, shape (n_nodes,); cover: training weight of every node.
double add_program(const TreeView& tree, const double* cover, const std::vector<double>& values, ShapleyChunk& chunk);

}  // namespace radboost
