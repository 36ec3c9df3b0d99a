// Trees applied to raw rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "data/binning.hpp"
#include "data/categories.hpp"
#include "data/cut_index.hpp"
#include "predict/shapley_program.hpp"
#include "predict/tree_program.hpp"

namespace radboost {

// Trees one after the other. In each, children follow their parent and stand side by side; a leaf has feature -1. A row
// goes left when x[feature] <= threshold, or when it is missing there and missing_left is set. A node that splits by
// categories sends left those of its set; x[feature] is then a category's code, and what is none is missing.
//
// With one output the value of a leaf is a number. With several it is the index of the output that the leaf votes for,
// or -1 where the leaf abstains; or, in a forest that has vectors, the index of the leaf's own, a number for each output.
class Forest {
public:
    // `category_nodes` are the nodes, counted over all trees and ascending, that split by categories, and `category_sets`
    // their sets. `vectors` has n_outputs numbers for each vector, or nothing. Throws std::invalid_argument unless every
    // index is in range and every path ends at a leaf.
    Forest(std::vector<std::int64_t> tree_offsets, std::vector<std::int32_t> features, std::vector<double> thresholds,
           std::vector<std::int32_t> left, std::vector<std::uint8_t> missing_left, std::vector<double> values,
           std::size_t n_features, std::size_t n_outputs, const std::vector<std::int64_t>& category_nodes,
           std::vector<CategorySet> category_sets, std::vector<double> vectors);

    std::size_t n_trees() const { return offsets_.size() - 1; }
    std::size_t n_features() const { return n_features_; }
    std::size_t n_outputs() const { return n_outputs_; }

    // One output: out[i] = sum over the trees of weight * value of the leaf that row i reaches. Several: out[i *
    // n_outputs + k] = sum of the weights of the trees that vote for k, or of weight * number k of the leaf's vector. All are
    // added in the order of the trees.
    template <class T>
    void scores(const MatrixView<T>& X, const double* weights, int n_threads, double* out, InterruptCheck check) const;
    // out[tree * n_rows + i]: the value of each tree's leaf alone.
    template <class T>
    void tree_values(const MatrixView<T>& X, int n_threads, double* out) const;
    // out[i * n_trees + tree]: the number of the leaf in its tree.
    template <class T>
    void leaves(const MatrixView<T>& X, int n_threads, std::int32_t* out, InterruptCheck check) const;

    std::size_t n_nodes() const { return features_.size(); }
    std::size_t first_node(std::size_t tree) const { return static_cast<std::size_t>(offsets_[tree]); }
    TreeView tree(std::size_t tree) const;
    const CategorySet* category_sets() const { return category_sets_.data(); }
    // What a leaf, counted over all trees, adds to an output in a tree of weight 1.
    double answer(std::size_t leaf, std::size_t output) const;

private:
    // A leaf points to itself with a threshold that nothing exceeds, so that a path of `depth` steps needs no test.
    template <class T>
    struct Node {
        T threshold;
        std::int32_t left;
        std::uint32_t feature_and_side;  // twice the feature, plus one when missing values go right
    };
    template <class T>
    std::vector<Node<T>> packed_nodes() const;
    template <class T>
    const std::vector<Node<T>>& nodes() const;

    void check_value(std::size_t node) const;
    void place_sets(const std::vector<std::int64_t>& category_nodes);
    template <class T>
    void walk(std::size_t tree, const MatrixView<T>& X, std::size_t first, std::size_t count, bool missing,
              std::int32_t* at) const;
    // out += weight times the answers of the nodes `at`, counted from the tree's first, for `count` rows.
    void add_answers(std::size_t begin, const std::int32_t* at, std::size_t count, double weight, double* out) const;
    // The same where the answers are vectors, whose indices are given.
    template <class Index>
    void add_vectors(std::size_t count, double weight, double* out, Index&& index) const;
    // The programs, if they pay for so many rows; made when they are first asked for.
    const ForestPrograms* programs(std::size_t n_rows) const;
    template <class T>
    void score_by_walks(const MatrixView<T>& X, const double* weights, std::size_t first, std::size_t last,
                        double* out) const;
    template <class T>
    void score_by_programs(const ForestPrograms& programs, const std::vector<CutIndex<T>>& indices,
                           const MatrixView<T>& X, const double* weights, std::size_t first, std::size_t last,
                           double* out) const;
    // out += weight times the answers with these numbers.
    void add_program(const TreeProgram& program, const std::uint8_t* numbers, std::size_t count, double weight,
                     double* out) const;

    std::vector<std::int64_t> offsets_;
    std::vector<int> depths_;
    std::vector<std::int32_t> features_, left_;
    std::vector<double> thresholds_, values_;
    std::vector<std::uint8_t> missing_left_;
    std::vector<std::int32_t> votes_;  // the values as indices, with several outputs
    std::vector<CategorySet> category_sets_;
    std::vector<std::int32_t> set_of_node_;  // -1: the node splits by a threshold; empty: all do
    std::vector<std::uint8_t> by_categories_;  // whether any node of a tree does not
    std::size_t n_features_, n_outputs_;
    std::vector<double> vectors_;
    std::vector<Node<double>> double_nodes_;
    std::vector<Node<float>> float_nodes_;
    mutable std::once_flag programs_made_;
    mutable std::unique_ptr<ForestPrograms> programs_;
};

}  // namespace radboost
