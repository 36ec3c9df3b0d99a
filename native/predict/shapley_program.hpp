// Shapley values of a tree as an integral, and the tree as the steps that evaluate it (docs/explaining.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "data/categories.hpp"

namespace radboost {

// Gauss-Legendre points in (0, 1) and their weights: n of them integrate polynomials up to degree 2 n - 1.
struct Quadrature {
    std::vector<double> points, weights;
};
Quadrature gauss_legendre(std::size_t n);

// One tree, checked by its forest. `sets` has the set of each node that splits by categories, -1 elsewhere; or it is null.
struct TreeView {
    const std::int32_t *features, *left, *sets;
    const double* thresholds;
    const std::uint8_t* missing_left;
    std::size_t n_nodes;
};

// A question. Below, w is the fraction of the training weight that a feature's questions let through on the way to a node,
// all of them multiplied: w_above before this question, w_left and w_right after it.
struct ShapleyNode {
    double threshold;
    double w_left, w_right;
    double share_left;               // w_left / w_above
    double left_value, right_value;  // of sides that have only one value
    std::uint32_t column;            // among those of the chunk
    std::int32_t set;                // of categories, or -1
    std::uint32_t depth;
    std::int32_t above;     // depth of the last node above that asks about the same feature, or -1
    std::uint32_t numbers;  // where its own begin: `Numbers` below
    std::uint32_t pairs_begin, pairs_end;
    std::uint8_t missing_left, remembered;  // remembered: a node below, or a pair, wants to know the side
};

// With A = t + (1 - t) w_above at the k-th point t: the numbers of a node are, K of each,
//   (t + (1 - t) w_left) / A and (1 - t) w_left / A, the fractions of the left side for rows that go left and right, or,
//   where both sides have one value, the value that these shares give;
//   1 / A^2, where a node above asks about the same feature;
//   with pairs (1 - w) / (t + (1 - t) w) for w_left and for w_right.
struct ShapleyStep {
    enum Kind : std::uint32_t {
        kBoth,      // both sides have one value
        kLeft,      // into the left side
        kRight,     // into the right side, after the left one
        kRightOnly, // into the right side; the left one has one value
        kUp,        // out of the right side, after the left one
        kUpLeft,    // out of the left side; the right one has one value
        kUpRight    // out of the right side; the left one has one value
    };
    Kind kind;
    std::uint32_t node;
};

struct ShapleyPair {
    std::uint32_t depth;  // of the last node above that asks about the other feature
    std::uint32_t pair;   // among those of the chunk
};

struct ShapleyProgram {
    std::vector<ShapleyNode> nodes;
    std::vector<ShapleyStep> steps;
    std::vector<ShapleyPair> pairs;
    std::vector<double> numbers;
    std::size_t depth = 0;   // questions on the longest way
    std::size_t points = 0;  // K
};

// Programs that run one after the other on a few rows: their columns and pairs of columns, counted as they come.
struct ShapleyChunk {
    explicit ShapleyChunk(bool with_pairs) : with_pairs(with_pairs) {}

    bool with_pairs;
    std::vector<ShapleyProgram> programs;
    std::size_t n_nodes = 0, longest = 0, most_points = 0;  // longest: way of a program, in questions
    std::vector<std::uint32_t> columns;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs;  // indices in `columns`

    std::vector<Quadrature> rules;  // by their number of points; those that no program needs are empty

    const Quadrature& rule(std::size_t n);  // makes it where it is new
    std::uint32_t place(std::uint32_t column);
    std::uint32_t pair(std::uint32_t first, std::uint32_t second);

private:
    std::unordered_map<std::uint32_t, std::uint32_t> place_of_;
    std::unordered_map<std::uint64_t, std::uint32_t> pair_of_;
};

// `values` has the answer of every leaf. Returns the mean answer by `cover`; adds a program unless all answers are equal.
double add_program(const TreeView& tree, const double* cover, const std::vector<double>& values, ShapleyChunk& chunk);

}  // namespace radboost
