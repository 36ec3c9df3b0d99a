// Exact updates of one row of weights under the penalties of boosting with structural sparsity. The NumPy versions in
// radboost.penalties are their oracles.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "core/common.hpp"

namespace radboost {

enum class RowPenalty { l1, l1_l2, l1_linf, squared_l2 };

// The size of a row that the penalty puts a price on.
inline double row_size(RowPenalty penalty, const double* weight, std::size_t k) {
    double sum = 0.0, square = 0.0, largest = 0.0;
    for (std::size_t r = 0; r < k; ++r) {
        sum += std::abs(weight[r]);
        square += weight[r] * weight[r];
        largest = std::max(largest, std::abs(weight[r]));
    }
    if (penalty == RowPenalty::l1) return sum;
    return penalty == RowPenalty::l1_l2 ? std::sqrt(square) : penalty == RowPenalty::l1_linf ? largest : 0.5 * square;
}

// Minimises sum over r of curvature_r w_r^2 / 2 + slope_r w_r, plus price * size(w). A weight without curvature is zero.
class RowUpdate {
public:
    RowUpdate(RowPenalty penalty, std::size_t n_outputs) : penalty_(penalty), k_(n_outputs), order_(n_outputs) {}

    void operator()(const double* curvature, const double* slope, double price, double* weight) {
        // Of a single weight all norms are its absolute value.
        if (penalty_ == RowPenalty::squared_l2) {
            for (std::size_t r = 0; r < k_; ++r) weight[r] = quotient(-slope[r], curvature[r] + price);
        } else if (penalty_ == RowPenalty::l1 || k_ == 1) {
            for (std::size_t r = 0; r < k_; ++r) {
                const double excess = std::abs(slope[r]) - price;
                weight[r] = excess > 0.0 ? quotient(slope[r] > 0.0 ? -excess : excess, curvature[r]) : 0.0;
            }
        } else if (penalty_ == RowPenalty::l1_l2) {
            length(curvature, slope, price, weight);
        } else {
            level(curvature, slope, price, weight);
        }
    }

private:
    static double quotient(double above, double below) { return below > 0.0 ? above / below : 0.0; }

    // Lemma 10 with a curvature for each output: Newton's method on the length, from below.
    void length(const double* curvature, const double* slope, double price, double* weight) const {
        double square = 0.0, steepest = 0.0;
        for (std::size_t r = 0; r < k_; ++r) {
            square += slope[r] * slope[r];
            steepest = std::max(steepest, curvature[r]);
        }
        const double pull = std::sqrt(square);
        std::fill(weight, weight + k_, 0.0);
        if (!(pull > price) || !(steepest > 0.0)) return;
        double t = (pull - price) / steepest;
        for (int iteration = 0; iteration < 60; ++iteration) {
            double sum = 0.0, fall = 0.0;
            for (std::size_t r = 0; r < k_; ++r) {
                const double total = curvature[r] * t + price;
                if (!(total > 0.0)) continue;
                const double part = slope[r] / total;
                sum += part * part;
                fall += part * part * curvature[r] / total;
            }
            const double step = (std::sqrt(sum) - 1.0) * sum / fall;
            if (!(step > 0.0)) break;
            t += step;
            if (step <= 4e-16 * t) break;
        }
        for (std::size_t r = 0; r < k_; ++r) weight[r] = quotient(-slope[r] * t, curvature[r] * t + price);
    }

    // Figure 2 for the quadratic (26).
    void level(const double* curvature, const double* slope, double price, double* weight) {
        double pull = 0.0;
        for (std::size_t r = 0; r < k_; ++r) {
            pull += std::abs(slope[r]);
            weight[r] = quotient(std::abs(slope[r]), curvature[r]);
            order_[r] = r;
        }
        if (!(pull > price)) {
            std::fill(weight, weight + k_, 0.0);
            return;
        }
        std::sort(order_.begin(), order_.end(), [&](std::size_t a, std::size_t b) {
            return weight[a] != weight[b] ? weight[a] > weight[b] : a < b;
        });
        double pulls = 0.0, curvatures = 0.0, xi = 0.0;
        for (std::size_t place = 0; place < k_; ++place) {
            pulls += std::abs(slope[order_[place]]);
            curvatures += curvature[order_[place]];
            xi = std::max(0.0, quotient(pulls - price, curvatures));
            if (xi >= (place + 1 < k_ ? weight[order_[place + 1]] : 0.0) && pulls >= price) break;
        }
        for (std::size_t r = 0; r < k_; ++r) {
            const double size = std::min(weight[r], xi);
            weight[r] = slope[r] > 0.0 ? -size : size;
        }
    }

    RowPenalty penalty_;
    std::size_t k_;
    std::vector<std::size_t> order_;
};

}  // namespace radboost
