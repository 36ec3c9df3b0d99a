// Regression trees fitted to the negative gradient, and their smaller selves with leaves inside a norm ball.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "growth/grower.hpp"
#include "losses/norm_ball.hpp"
#include "rows/gradient_scores.hpp"

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

class RegressionTrees {
public:
    // Keeps references to `data` and `weighting`. `directions` has -1, 0 or +1 for each column where values may only fall or rise
    // with it, or is empty.
    RegressionTrees(const BinnedData& data, const GradientWeighting& weighting, const GrowthOptions& options,
                    std::vector<std::int8_t> directions);

    Grower& grower() { return grower_; }
    const GrownTree& tree() const { return grower_.tree(); }
    const BinnedData& data() const { return grower_.data(); }
    double mass_scale() const { return grower_.mass_scale(); }
    std::size_t n_splits() const { return tree().nodes.size() / 2; }
    std::size_t n_outputs() const { return weighting_.n_outputs(); }

    // The tree that was grown last after at most `n_splits` of its splits, fitted inside the ball.
    CutTree cut(std::size_t n_splits, double radius, NormOrder order) const;

private:
    const std::int64_t* sums(std::size_t node) const { return tree().sums.data() + node * tree().n_channels; }
    void keep_directions(std::size_t size, std::vector<double>& values, NormOrder order) const;

    const GradientWeighting& weighting_;
    std::vector<std::int8_t> directions_;
    Grower grower_;
};

}  // namespace radboost
