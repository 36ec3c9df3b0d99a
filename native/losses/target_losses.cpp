#include "losses/target_losses.hpp"

#include <algorithm>
#include <cmath>

#include "core/common.hpp"
#include "core/exact_math.hpp"

namespace radboost {
namespace {

RADBOOST_CLONES void logistic(const double* y, const double* f, std::size_t n, double* value, double* derivative) {
    for (std::size_t i = 0; i < n; ++i) {
        const double u = -y[i] * f[i], size = std::fabs(u), e = exact_exp(-size);
        value[i] = (u > 0 ? u : 0.0) + exact_log1p_unit(e);
        derivative[i] = -y[i] * ((u > 0 ? 1.0 : e) / (1.0 + e));
    }
}

RADBOOST_CLONES void exponential(const double* y, const double* f, std::size_t n, double* value, double* derivative) {
    for (std::size_t i = 0; i < n; ++i) {
        value[i] = exact_exp(-y[i] * f[i]);
        derivative[i] = -y[i] * value[i];
    }
}

RADBOOST_CLONES void squared(const double* y, const double* f, std::size_t n, double* value, double* derivative) {
    for (std::size_t i = 0; i < n; ++i) {
        derivative[i] = f[i] - y[i];
        value[i] = 0.5 * derivative[i] * derivative[i];
    }
}

RADBOOST_CLONES void huber(const double* y, const double* f, std::size_t n, double delta, double* value,
                           double* derivative) {
    for (std::size_t i = 0; i < n; ++i) {
        const double r = f[i] - y[i], size = std::fabs(r);
        value[i] = size <= delta ? 0.5 * r * r : delta * (size - 0.5 * delta);
        derivative[i] = r > delta ? delta : (r < -delta ? -delta : r);
    }
}

// The absolute loss is twice the quantile loss at one half.
RADBOOST_CLONES void quantile(const double* y, const double* f, std::size_t n, double above, double below,
                              double* value, double* derivative) {
    for (std::size_t i = 0; i < n; ++i) {
        const double r = y[i] - f[i];
        const double slope = r > 0 ? -above : (r < 0 ? below : 0.0);
        derivative[i] = slope;
        value[i] = -slope * r;
    }
}

RADBOOST_CLONES void poisson(const double* y, const double* f, std::size_t n, double* value, double* derivative) {
    for (std::size_t i = 0; i < n; ++i) {
        const double mean = exact_exp(f[i]);
        value[i] = mean - y[i] * f[i];
        derivative[i] = mean - y[i];
    }
}

RADBOOST_CLONES void multinomial(const double* y, const double* f, std::size_t n, std::size_t k, double* value,
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

}  // namespace

double LossOfTarget::largest_derivative() const {
    switch (kind) {
        case TargetLoss::logistic:
        case TargetLoss::absolute:
        case TargetLoss::multinomial: return 1.0;
        case TargetLoss::huber: return parameter;
        case TargetLoss::quantile: return std::max(parameter, 1.0 - parameter);
        default: return 0.0;
    }
}

void LossOfTarget::evaluate(const double* targets, const double* scores, std::size_t count, double* values,
                            double* derivatives) const {
    switch (kind) {
        case TargetLoss::logistic: return logistic(targets, scores, count, values, derivatives);
        case TargetLoss::exponential: return exponential(targets, scores, count, values, derivatives);
        case TargetLoss::squared: return squared(targets, scores, count, values, derivatives);
        case TargetLoss::absolute: return quantile(targets, scores, count, 1.0, 1.0, values, derivatives);
        case TargetLoss::huber: return huber(targets, scores, count, parameter, values, derivatives);
        case TargetLoss::quantile:
            return quantile(targets, scores, count, parameter, 1.0 - parameter, values, derivatives);
        case TargetLoss::poisson: return poisson(targets, scores, count, values, derivatives);
        case TargetLoss::multinomial: return multinomial(targets, scores, count, n_outputs, values, derivatives);
        case TargetLoss::given: break;
    }
    require(false, "a loss of the user's own is evaluated in Python");
}

}  // namespace radboost
