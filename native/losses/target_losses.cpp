#include "losses/target_losses.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>
#include <vector>

#include "core/common.hpp"
#include "core/exact_math.hpp"

// To add a loss, write its kernel and add it to kLosses below.
namespace radboost {
namespace {

// Exponents are clipped here where e^x is multiplied by weights or targets and summed, so that the sums stay finite.
constexpr double kLargestExponent = 640.0;

inline double cut_exp(double x) { return exact_exp(x < kLargestExponent ? x : kLargestExponent); }

// log(1 + e^(-y f)), y = -1 or +1.
RADBOOST_CLONES void logistic(const double* y, const double* f, std::size_t n, std::size_t, double, double* value,
                              double* derivative) {
    for (std::size_t i = 0; i < n; ++i) {
        const double u = -y[i] * f[i], size = std::fabs(u), e = exact_exp(-size);
        value[i] = (u > 0 ? u : 0.0) + exact_log1p_unit(e);
        derivative[i] = -y[i] * ((u > 0 ? 1.0 : e) / (1.0 + e));
    }
}

// e^(-y f), y = -1 or +1.
RADBOOST_CLONES void exponential(const double* y, const double* f, std::size_t n, std::size_t, double, double* value,
                                 double* derivative) {
    for (std::size_t i = 0; i < n; ++i) {
        value[i] = cut_exp(-y[i] * f[i]);
        derivative[i] = -y[i] * value[i];
    }
}

// (f - y)^2 / 2.
RADBOOST_CLONES void squared(const double* y, const double* f, std::size_t n, std::size_t, double, double* value,
                             double* derivative) {
    for (std::size_t i = 0; i < n; ++i) {
        derivative[i] = f[i] - y[i];
        value[i] = 0.5 * derivative[i] * derivative[i];
    }
}

// Squared up to |f - y| = delta, linear beyond.
RADBOOST_CLONES void huber(const double* y, const double* f, std::size_t n, std::size_t, double delta, double* value,
                           double* derivative) {
    for (std::size_t i = 0; i < n; ++i) {
        const double r = f[i] - y[i], size = std::fabs(r);
        value[i] = size <= delta ? 0.5 * r * r : delta * (size - 0.5 * delta);
        derivative[i] = r > delta ? delta : (r < -delta ? -delta : r);
    }
}

// Pinball loss: above * (y - f) if f < y, below * (f - y) otherwise.
RADBOOST_INLINE void two_slopes(const double* y, const double* f, std::size_t n, double above, double below,
                                double* value, double* derivative) {
    for (std::size_t i = 0; i < n; ++i) {
        const double r = y[i] - f[i];
        const double slope = r > 0 ? -above : (r < 0 ? below : 0.0);
        derivative[i] = slope;
        value[i] = -slope * r;
    }
}

// level * (y - f) if f < y, (1 - level) * (f - y) otherwise.
RADBOOST_CLONES void quantile(const double* y, const double* f, std::size_t n, std::size_t, double level, double* value,
                              double* derivative) {
    two_slopes(y, f, n, level, 1.0 - level, value, derivative);
}

// |f - y|.
RADBOOST_CLONES void absolute(const double* y, const double* f, std::size_t n, std::size_t, double, double* value,
                              double* derivative) {
    two_slopes(y, f, n, 1.0, 1.0, value, derivative);
}

// e^f - y f, y >= 0.
RADBOOST_CLONES void poisson(const double* y, const double* f, std::size_t n, std::size_t, double, double* value,
                             double* derivative) {
    for (std::size_t i = 0; i < n; ++i) {
        const double mean = cut_exp(f[i]);
        value[i] = mean - y[i] * f[i];
        derivative[i] = mean - y[i];
    }
}

// y e^-f + f, y > 0.
RADBOOST_CLONES void gamma(const double* y, const double* f, std::size_t n, std::size_t, double, double* value,
                           double* derivative) {
    for (std::size_t i = 0; i < n; ++i) {
        const double ratio = y[i] * cut_exp(-f[i]);
        value[i] = ratio + f[i];
        derivative[i] = 1.0 - ratio;
    }
}

// log sum_k e^(f_k) - f_y, y = 0, 1, ...
RADBOOST_CLONES void multinomial(const double* y, const double* f, std::size_t n, std::size_t k, double, double* value,
                                 double* derivative) {
    for (std::size_t i = 0; i < n; ++i) {
        const double* scores = f + i * k;
        double* out = derivative + i * k;
        double top = scores[0];
        for (std::size_t c = 1; c < k; ++c) top = scores[c] > top ? scores[c] : top;
        double sum = 0;
        for (std::size_t c = 0; c < k; ++c) out[c] = exact_exp(scores[c] - top);
        for (std::size_t c = 0; c < k; ++c) sum += out[c];
        for (std::size_t c = 0; c < k; ++c) out[c] /= sum;
        const auto own = static_cast<std::size_t>(y[i]);
        out[own] -= 1.0;
        value[i] = top - scores[own] + exact_log(sum);
    }
}

double unbounded(double) { return 0.0; }
double at_most_one(double) { return 1.0; }
double at_most_parameter(double parameter) { return parameter; }
double larger_share(double level) { return std::max(level, 1.0 - level); }

constexpr std::array<TargetLoss, 10> kLosses{{
    {"logistic", Targets::signs, at_most_one, logistic},
    {"exponential", Targets::signs, unbounded, exponential},
    {"squared", Targets::numbers, unbounded, squared},
    {"absolute", Targets::numbers, at_most_one, absolute},
    {"huber", Targets::numbers, at_most_parameter, huber},
    {"quantile", Targets::numbers, larger_share, quantile},
    {"poisson", Targets::numbers, unbounded, poisson},
    {"gamma", Targets::numbers, unbounded, gamma},
    {"multinomial", Targets::classes, at_most_one, multinomial},
    {"given", Targets::numbers, unbounded, nullptr},
}};

}  // namespace

const TargetLoss& target_loss_named(const std::string& name) {
    for (const TargetLoss& loss : kLosses)
        if (name == loss.name) return loss;
    throw std::invalid_argument("unknown loss of a target");
}

void LossOfTarget::evaluate(const double* targets, const double* scores, std::size_t count, double* values,
                            double* derivatives) const {
    require(!is_given(), "a loss of the user's own is evaluated in Python");
    const std::size_t n = n_targets();
    if (n == 1) return kind.evaluate(targets, scores, count, n_outputs, parameter, values, derivatives);
    thread_local std::vector<double> each;
    each.resize(count * n);
    kind.evaluate(targets, scores, count * n, 1, parameter, each.data(), derivatives);
    for (std::size_t i = 0; i < count; ++i) {
        double sum = 0;
        for (std::size_t k = 0; k < n; ++k) sum += each[i * n + k];
        values[i] = sum / static_cast<double>(n);
    }
    for (std::size_t i = 0; i < count * n; ++i) derivatives[i] /= static_cast<double>(n);
}

}  // namespace radboost
