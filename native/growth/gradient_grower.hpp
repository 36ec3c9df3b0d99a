// Regression trees fitted to the negative gradient, best-first, and their smaller selves with leaves inside a norm ball.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "rows/gradient_scores.hpp"
#include "growth/grower.hpp"
#include "losses/norm_ball.hpp"

namespace radboost {

// The tree after some of its splits, as a member h of the family H(n, lambda, q): Storcheus, section 3.3. Its values are those
// of h / lambda, so that they lie in the unit ball of the norm.
struct CutTree {
    std::size_t n_splits = 0;
    std::vector<double> values;    // of the nodes that are leaves now, n_outputs for each node; 0 for the others
    std::vector<double> by_label;  // of every leaf of the whole tree, by its label
    double slope = 0;              // derivative of the mean loss along h / lambda
    double mean_square = 0;        // of h / lambda over the rows, all outputs together
};

class GradientGrower {
public:
    // Keeps references to `data` and `state`. Of the options the growth is best-first whatever they say; `directions` has
    // -1, 0 or +1 for each column where values may only fall or rise with it, or is empty.
    GradientGrower(const BinnedData& data, const GradientWeighting& state, const GrowthOptions& options,
                   std::vector<std::int8_t> directions);
    ~GradientGrower();

    // Grows a tree of at most `max_splits` splits on the current gradient; round names the draws.
    void grow(std::uint64_t round, std::size_t max_splits, InterruptCheck check);
    // The tree after at most `n_splits` of them, fitted inside the ball.
    CutTree cut(std::size_t n_splits, double radius, NormOrder order) const;

    const GrownTree& tree() const { return tree_; }
    std::size_t n_splits() const { return tree_.nodes.size() / 2; }
    std::size_t n_outputs() const { return state_.n_outputs(); }
    const BinnedData& data() const { return data_; }
    double mass_scale() const { return state_.mass_scale(); }

private:
    std::size_t list_rows(std::uint64_t round);
    void collect();
    void sort_other_rows();
    void sum_leaves();
    void add_row(std::size_t row, std::int64_t* sums) const;
    const std::int64_t* sums(std::size_t node) const { return tree_.gains.data() + node * tree_.n_channels; }
    void keep_directions(std::size_t size, std::vector<double>& values, NormOrder order) const;

    const BinnedData& data_;
    const GradientWeighting& state_;
    GrowthOptions options_;
    std::vector<std::int8_t> directions_;
    std::vector<std::uint64_t> hashes_;  // of the rows, when they are sampled
    std::unique_ptr<RowMasses> masses_;
    std::unique_ptr<SharedRows> shared_;
    std::unique_ptr<NodeGrower> by_nodes_;
    LargeArray<std::uint32_t> others_;  // the rows that the tree is not grown on, sorted into their leaves afterwards
    std::vector<RowSet> others_of_node_;
    GrownTree tree_;  // its gains are the sums of each node over all rows
};

}  // namespace radboost
