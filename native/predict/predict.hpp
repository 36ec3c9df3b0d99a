// Forest: prediction of an ensemble of trees on raw (not binned) rows.
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

// Arrays of the nodes of all trees, tree after tree. Children come after their parent; the right child is left + 1; a leaf
// has feature -1. A row goes left if x[feature] <= threshold, or if x[feature] is NaN and missing_left is set. A node that
// splits by categories sends left those in its set; any x[feature] that is not a category code is then missing.
//
// With one output the value of a leaf is its prediction. With several it is the index of the output that the leaf votes for
// (-1: it abstains) or, if the forest has vectors, the index of the leaf's vector of n_outputs predictions.
class Forest {
public:
    // tree_offsets: first node of each tree, then n_nodes. left: index within the tree. category_nodes: indices over all
    // trees, ascending, of the nodes that split by categories; category_sets: their sets. vectors: shape (n_vectors,
    // n_outputs), or empty. Throws std::invalid_argument unless all indices are in range and all paths end at leaves.
    Forest(std::vector<std::int64_t> tree_offsets, std::vector<std::int32_t> features, std::vector<double> thresholds,
           std::vector<std::int32_t> left, std::vector<std::uint8_t> missing_left, std::vector<double> values,
           std::size_t n_features, std::size_t n_outputs, const std::vector<std::int64_t>& category_nodes,
           std::vector<CategorySet> category_sets, std::vector<double> vectors);

    std::size_t n_trees() const { return offsets_.size() - 1; }
    std::size_t n_features() const { return n_features_; }
    std::size_t n_outputs() const { return n_outputs_; }

    // out: shape (n_rows, n_outputs). One output: sum over the trees of weight * leaf value. Several: sum of the weights of
    // the trees that vote for the output, or of weight * entry of the leaf's vector. Summed in the order of the trees.
    template <class T>
    void scores(const MatrixView<T>& X, const double* weights, int n_threads, double* out, InterruptCheck check) const;
    // out: shape (n_trees, n_rows): value of the leaf that each row reaches.
    template <class T>
    void tree_values(const MatrixView<T>& X, int n_threads, double* out) const;
    // out: shape (n_rows, n_trees): index of that leaf within its tree.
    template <class T>
    void leaves(const MatrixView<T>& X, int n_threads, std::int32_t* out, InterruptCheck check) const;

    std::size_t n_nodes() const { return features_.size(); }
    std::size_t first_node(std::size_t tree) const { return static_cast<std::size_t>(offsets_[tree]); }
    TreeView tree(std::size_t tree) const;
    const CategorySet* category_sets() const { return category_sets_.data(); }
    // Contribution of a leaf (index over all trees) to an output, for a tree weight of 1.
    double answer(std::size_t leaf, std::size_t output) const;

private:
    // A leaf's left child is itself and its threshold infinity, so that a loop of `depth` steps needs no test for leaves.
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
    // out += weight * predictions of the leaves at[i] (index within the tree, whose first node is `begin`), i < count.
    void add_answers(std::size_t begin, const std::int32_t* at, std::size_t count, double weight, double* out) const;
    // The same for vectors with indices index(i).
    template <class Index>
    void add_vectors(std::size_t count, double weight, double* out, Index&& index) const;
    // The programs (tree_program.hpp), made at the first call; null if paths are faster for this number of rows.
    const ForestPrograms* programs(std::size_t n_rows) const;
    template <class T>
    void score_by_walks(const MatrixView<T>& X, const double* weights, std::size_t first, std::size_t last,
                        double* out) const;
    template <class T>
    void score_by_programs(const ForestPrograms& programs, const std::vector<CutIndex<T>>& indices,
                           const MatrixView<T>& X, const double* weights, std::size_t first, std::size_t last,
                           double* out) const;
    // out += weight * program.leaf_values[numbers[i]], i < count.
    void add_program(const TreeProgram& program, const std::uint8_t* numbers, std::size_t count, double weight,
                     double* out) const;

    std::vector<std::int64_t> offsets_;
    std::vector<int> depths_;
    std::vector<std::int32_t> features_, left_;
    std::vector<double> thresholds_, values_;
    std::vector<std::uint8_t> missing_left_;
    std::vector<std::int32_t> votes_;  // values_ as integers, with several outputs
    std::vector<CategorySet> category_sets_;
    std::vector<std::int32_t> set_of_node_;  // index of its set; -1: splits by a threshold; empty: all do
    std::vector<std::uint8_t> by_categories_;  // per tree: 1 if some node splits by categories
    std::size_t n_features_, n_outputs_;
    std::vector<double> vectors_;
    std::vector<Node<double>> double_nodes_;
    std::vector<Node<float>> float_nodes_;
    mutable std::once_flag programs_made_;
    mutable std::unique_ptr<ForestPrograms> programs_;
};

}  // namespace radboost
