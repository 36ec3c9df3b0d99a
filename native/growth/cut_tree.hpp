// Regression trees of regularized gradient boosting: grown best first, truncated after n splits, leaf values in a norm ball.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "growth/grower.hpp"
#include "losses/norm_ball.hpp"
#include "rows/gradient_scores.hpp"

namespace radboost {

// The tree after its first splits, as a member h of the family H(n, lambda, q) of trees with at most n splits and leaf values
// of q-norm at most lambda (Storcheus, PhD thesis, NYU 2021, section 3.3). Values are those of h / lambda, in the unit ball.
struct CutTree {
    std::size_t n_splits = 0;
    std::vector<double> values;    // shape (2 n_splits + 1, n_outputs): leaf values; 0 at inner nodes
    std::vector<double> by_label;  // shape (n_nodes, n_outputs): value of h / lambda by GrownTree::leaf_of_row
    double slope = 0;              // derivative of the mean loss in the direction h / lambda
    double mean_square = 0;        // mean over the rows of |h / lambda|^2, summed over the outputs
};

class RegressionTrees {
public:
    // Keeps references to `data` and `weighting`. directions: monotone constraints, -1, 0 or +1 per column; empty: none.
    RegressionTrees(const BinnedData& data, const GradientWeighting& weighting, const GrowthOptions& options,
                    std::vector<std::int8_t> directions);

    Grower& grower() { return grower_; }
    const GrownTree& tree() const { return grower_.tree(); }
    const BinnedData& data() const { return grower_.data(); }
    double mass_scale() const { return grower_.mass_scale(); }
    std::size_t n_splits() const { return tree().nodes.size() / 2; }
    std::size_t n_outputs() const { return weighting_.n_outputs(); }

    // The last grown tree after at most `n_splits` splits, fitted within the ball of radius lambda = `radius`.
    CutTree cut(std::size_t n_splits, double radius, NormOrder order) const;

private:
    // Sums of the node's gradients by output, then its weight; shape (n_outputs + 1,).
    const std::int64_t* sums(std::size_t node) const { return tree().sums.data() + node * tree().n_channels; }
    void keep_directions(std::size_t size, std::vector<double>& values, NormOrder order) const;

    const GradientWeighting& weighting_;
    std::vector<std::int8_t> directions_;
    Grower grower_;
};

}  // namespace radboost
