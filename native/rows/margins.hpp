// The state of boosting on margins: scores, labels, and the weights D that the loss puts on the rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "rows/state.hpp"

namespace radboost {

enum class MarginLoss { exponential, logistic };  // Phi(u) = exp(u), Phi(u) = log2(1 + exp(u))

// Phi(u_i) and Phi'(u_i), vectorised; the NumPy losses are their oracles.
void evaluate_loss(MarginLoss loss, const double* u, std::size_t n, double* value, double* derivative);

struct LossSums {
    double loss;   // sum of w Phi, or of what the objective makes of Phi
    double slope;  // S = sum of w Phi', the normaliser of D
    double error;  // sum of w over the rows whose class does not have the largest score alone (y f <= 0)
};

struct LineSums {
    double loss;   // at f + eta h: sum of w Phi(1 - y (f + eta h)) with two classes
    double slope;  // its derivative in eta: - sum of w y h Phi'
};

// D y of a round, scaled to a total of about 2^61: what the edges of hypotheses and leaves are summed from. It is
// quantised per unit of sample weight and then multiplied by the weight, like the growth weights.
constexpr double kEdgeScale = 2305843009213693952.0;  // 2^61

// Two classes, one column of scores: the first class is y = -1, the second y = +1.
class MarginState : public BoostingState {
public:
    // `weights` empty: every row counts once. Labels are -1 or +1.
    MarginState(std::vector<std::int8_t> labels, std::vector<double> weights);

    const std::vector<std::int8_t>& labels() const { return labels_; }
    LargeArray<double>& scores() { return scores_; }
    const std::int64_t* edge_weights() const { return edge_.data(); }

    // Evaluates the loss at the scores and renews the quantised weights (Deep Boosting, equation (5)).
    LossSums reweigh(MarginLoss loss, int n_threads);
    // The same from a loss that was evaluated elsewhere.
    LossSums reweigh_from(const double* values, const double* derivatives, int n_threads);
    // Along scores + eta h; `h` holds one prediction per row.
    LineSums along(MarginLoss loss, const double* h, double eta, int n_threads);

    void leaf_sums(const std::int32_t* label_of_row, std::size_t n_labels, int n_threads,
                   std::int64_t* sums) const override;
    double edge_unit() const override { return 1.0 / kEdgeScale; }

private:
    double largest_argument(int n_threads) const;
    // Calls evaluate(first, count, values, derivatives) for blocks of rows, and goes from there to the sums and weights.
    template <class Evaluate>
    LossSums renew(double largest_loss, double largest_slope, int n_threads, Evaluate&& evaluate);
    void quantise(double slope, int n_threads);

    std::vector<std::int8_t> labels_;
    LargeArray<double> scores_;
    LargeArray<std::int64_t> edge_;  // Phi' as the bits of a double until the sum of all is known
};

}  // namespace radboost
