#include "linear/row_penalty.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>

#include "core/exact_math.hpp"

// To add a penalty, write its size and update, and add it to kPenalties below. Equations, lemmas and figures are those of
// Duchi and Singer (2009), Boosting with Structural Sparsity.
namespace radboost {
namespace {

double sum_of_sizes(const double* weight, std::size_t k) {
    double sum = 0.0;
    for (std::size_t r = 0; r < k; ++r) sum += std::abs(weight[r]);
    return sum;
}

double sum_of_squares(const double* weight, std::size_t k) {
    double sum = 0.0;
    for (std::size_t r = 0; r < k; ++r) sum += weight[r] * weight[r];
    return sum;
}

double length(const double* weight, std::size_t k) { return std::sqrt(sum_of_squares(weight, k)); }

double half_of_squares(const double* weight, std::size_t k) { return 0.5 * sum_of_squares(weight, k); }

double largest(const double* weight, std::size_t k) {
    double top = 0.0;
    for (std::size_t r = 0; r < k; ++r) top = std::max(top, std::abs(weight[r]));
    return top;
}

// Equation (25).
void update_l1(const double* curvature, const double* slope, double price, std::size_t k, std::size_t*, double* weight) {
    for (std::size_t r = 0; r < k; ++r) weight[r] = soft_threshold(curvature[r], slope[r], price);
}

void update_squared_l2(const double* curvature, const double* slope, double price, std::size_t k, std::size_t*,
                       double* weight) {
    for (std::size_t r = 0; r < k; ++r) weight[r] = quotient_or_zero(-slope[r], curvature[r] + price);
}

// Lemma 10, with a curvature for each output: Newton's method on the length |w|, increasing to the root.
void update_l1_l2(const double* curvature, const double* slope, double price, std::size_t k, std::size_t*,
                  double* weight) {
    double square = 0.0, steepest = 0.0;
    for (std::size_t r = 0; r < k; ++r) {
        square += slope[r] * slope[r];
        steepest = std::max(steepest, curvature[r]);
    }
    const double pull = std::sqrt(square);
    std::fill(weight, weight + k, 0.0);
    if (!(pull > price) || !(steepest > 0.0)) return;
    double t = (pull - price) / steepest;
    for (int iteration = 0; iteration < 60; ++iteration) {
        double sum = 0.0, fall = 0.0;
        for (std::size_t r = 0; r < k; ++r) {
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
    for (std::size_t r = 0; r < k; ++r) weight[r] = quotient_or_zero(-slope[r] * t, curvature[r] * t + price);
}

// The algorithm of Figure 2, for the quadratic (26).
void update_l1_linf(const double* curvature, const double* slope, double price, std::size_t k, std::size_t* order,
                    double* weight) {
    double pull = 0.0;
    for (std::size_t r = 0; r < k; ++r) {
        pull += std::abs(slope[r]);
        weight[r] = quotient_or_zero(std::abs(slope[r]), curvature[r]);
        order[r] = r;
    }
    if (!(pull > price)) {
        std::fill(weight, weight + k, 0.0);
        return;
    }
    std::sort(order, order + k, [&](std::size_t a, std::size_t b) {
        return weight[a] != weight[b] ? weight[a] > weight[b] : a < b;
    });
    double pulls = 0.0, curvatures = 0.0, xi = 0.0;
    for (std::size_t place = 0; place < k; ++place) {
        pulls += std::abs(slope[order[place]]);
        curvatures += curvature[order[place]];
        xi = std::max(0.0, quotient_or_zero(pulls - price, curvatures));
        if (xi >= (place + 1 < k ? weight[order[place + 1]] : 0.0) && pulls >= price) break;
    }
    for (std::size_t r = 0; r < k; ++r) {
        const double size = std::min(weight[r], xi);
        weight[r] = slope[r] > 0.0 ? -size : size;
    }
}

// tanh(w / 2) for w >= 0; up to w = 1 by a continued fraction, which is correct to the last bit.
double tanh_of_half(double w) {
    if (w > 1.0) {
        const double e = exact_exp(-w);
        return (1.0 - e) / (1.0 + e);
    }
    const double x = 0.5 * w, square = x * x;
    double fraction = 17.0;
    for (int odd = 15; odd >= 1; odd -= 2) fraction = odd + square / fraction;
    return x / fraction;
}

// Sum of 2 log cosh(w / 2) = log(1 + t^2 / (1 - t^2)), t = tanh(w / 2), or |w| + 2 log(1 + e^-|w|) - 2 log 2 for large |w|.
double smooth_sizes(const double* weight, std::size_t k) {
    double sum = 0.0;
    for (std::size_t r = 0; r < k; ++r) {
        const double w = std::abs(weight[r]), t = w > 1.0 ? 0.0 : tanh_of_half(w), square = t * t;
        sum += w > 1.0 ? (w - 0x1.62e42fefa39efp0) + 2.0 * exact_log1p_unit(exact_exp(-w))
                       : exact_log1p_unit(square / (1.0 - square));
    }
    return sum;
}

// Root of curvature w + slope + price tanh(w / 2): Newton's method on |w|, increasing to the root.
void update_smooth_l1(const double* curvature, const double* slope, double price, std::size_t k, std::size_t*,
                      double* weight) {
    for (std::size_t r = 0; r < k; ++r) {
        const double a = curvature[r], pull = std::abs(slope[r]);
        double w = a > 0.0 ? std::max(pull / (a + 0.5 * price), (pull - price) / a) : 0.0;
        for (int iteration = 0; iteration < 60 && a > 0.0; ++iteration) {
            const double t = tanh_of_half(w);
            const double step = (pull - a * w - price * t) / (a + 0.5 * price * (1.0 - t * t));
            if (!(step > 0.0)) break;
            w += step;
            if (step <= 4e-16 * w) break;
        }
        weight[r] = slope[r] > 0.0 ? -w : w;
    }
}

constexpr std::array<RowPenalty, 5> kPenalties{{
    {"l1", true, true, sum_of_sizes, update_l1},
    {"l1/l2", true, false, length, update_l1_l2},
    {"l1/linf", true, false, largest, update_l1_linf},
    {"l2", false, false, half_of_squares, update_squared_l2},
    {"smooth_l1", false, false, smooth_sizes, update_smooth_l1},
}};

}  // namespace

const RowPenalty& row_penalty_named(const std::string& name) {
    for (const RowPenalty& penalty : kPenalties)
        if (name == penalty.name) return penalty;
    throw std::invalid_argument("unknown penalty on rows of weights");
}

}  // namespace radboost
