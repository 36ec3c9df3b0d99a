// The state of boosting on margins: scores, labels, and the weights D that the loss puts on the rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "state.hpp"

namespace radboost {

enum class MarginLoss { exponential, logistic };  // Phi(u) = exp(u), Phi(u) = log2(1 + exp(u))

// Phi(u_i) and Phi'(u_i), vectorised; the NumPy losses are their oracles.
void evaluate_loss(MarginLoss loss, const double* u, std::size_t n, double* value, double* derivative);

struct LossSums {
    double loss;   // sum of w Phi
    double slope;  // S = sum of w Phi'
    double error;  // sum of w over the rows with y f <= 0
};

struct LineSums {
    double loss;   // sum of w Phi(1 - y (f + eta h))
    double slope;  // its derivative in eta: - sum of w y h Phi'
};

// The weights D of one round exist as integers too, quantised per unit of sample weight and then multiplied by the
// weight, so that a row of weight k and k rows of weight 1 add up to the same:
// D y, scaled to a total of about 2^61: what the edges of hypotheses and leaves are summed from;
// (D y) * 2^32 + D, each scaled to a total of about 2^30: two histogram channels in one addition.
constexpr double kEdgeScale = 2305843009213693952.0;  // 2^61
constexpr double kPackedScale = 1073741824.0;         // 2^30

class MarginState {
public:
    // `weights` empty: every row counts once. Labels are -1 or +1.
    MarginState(std::vector<std::int8_t> labels, std::vector<double> weights);

    std::size_t n_rows() const { return labels_.size(); }
    double total_weight() const { return total_weight_; }
    bool integer_weights() const { return integer_weights_; }
    const std::vector<std::int8_t>& labels() const { return labels_; }
    const std::vector<double>& weights() const { return weights_; }
    LargeArray<double>& scores() { return scores_; }
    const std::int64_t* edge_weights() const { return edge_.data(); }
    const std::int64_t* packed_weights() const { return packed_.data(); }

    // Evaluates the loss at the scores and renews the quantised weights (Deep Boosting, equation (5)).
    LossSums reweigh(MarginLoss loss, bool want_packed, int n_threads);
    // The same from a loss that was evaluated elsewhere.
    LossSums reweigh_from(const double* values, const double* derivatives, bool want_packed, int n_threads);
    // Along scores + eta h; `h` holds one prediction per row.
    LineSums along(MarginLoss loss, const double* h, double eta, int n_threads);
    // sum of w v, independent of the order of the rows.
    double weighted_sum(const double* values, int n_threads) const;

private:
    LossSums finish(double largest_slope, double largest_loss, bool want_packed, int n_threads);
    double unit(std::size_t row, double value) const;

    std::vector<std::int8_t> labels_;
    std::vector<double> weights_;
    LargeArray<double> scores_;
    // Phi' and then the edge weights; Phi and then the packed ones: nothing needs both at the same time.
    LargeArray<std::int64_t> edge_, packed_;
    bool integer_weights_ = true;
    double total_weight_ = 0;
};

}  // namespace radboost
