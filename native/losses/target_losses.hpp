// Losses Phi(y, f) of a target and a score, for blocks of rows. The NumPy versions in radboost.losses are their oracles.
#pragma once

#include <cstddef>

namespace radboost {

enum class TargetLoss {
    logistic,     // log(1 + e^(-y f)), y = -1 or +1
    exponential,  // e^(-y f), y = -1 or +1
    squared,      // (f - y)^2 / 2
    absolute,     // |f - y|
    huber,        // squared up to |f - y| = parameter, linear beyond
    quantile,     // parameter (y - f) where f < y, (1 - parameter) (f - y) elsewhere
    poisson,      // e^f - y f, y >= 0
    multinomial,  // log sum_k e^(f_k) - f_y, y = 0, 1, ...: the only one with several scores per row
    given         // the user's own: derivatives are handed in
};

struct LossOfTarget {
    TargetLoss kind;
    double parameter;      // of Huber's and the quantile loss
    std::size_t n_outputs;  // scores per row

    // No derivative is larger than this; 0 where there is no such bound.
    double largest_derivative() const;
    // Phi and dPhi/df of `count` rows, whose scores and derivatives stand row after row.
    void evaluate(const double* targets, const double* scores, std::size_t count, double* values,
                  double* derivatives) const;
};

}  // namespace radboost
