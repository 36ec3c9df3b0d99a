#include "losses/norm_ball.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "core/common.hpp"

namespace radboost {
namespace {

constexpr int kMostSteps = 100;

double sum_of_squares(const double* values, std::size_t size) {
    double sum = 0;
    for (std::size_t i = 0; i < size; ++i) sum += values[i] * values[i];
    return sum;
}

// w_l = m_l v_l / (m_l + t) with |w| = 1: Newton's method on 1 / |w(t)| - 1, which is concave, increases to the root t > 0.
void project_to_two(double* values, const double* masses, std::size_t size) {
    if (sum_of_squares(values, size) <= 1.0) return;
    double t = 0;
    for (int step = 0; step < kMostSteps; ++step) {
        double squares = 0, slope = 0;
        for (std::size_t i = 0; i < size; ++i) {
            const double w = masses[i] * values[i] / (masses[i] + t);
            squares += w * w;
            slope += w * w / (masses[i] + t);
        }
        const double next = t + (std::sqrt(squares) - 1.0) * squares / slope;
        if (!(next > t)) break;
        t = next;
    }
    for (std::size_t i = 0; i < size; ++i) values[i] *= masses[i] / (masses[i] + t);
    const double norm = std::sqrt(sum_of_squares(values, size));
    for (std::size_t i = 0; norm > 1.0 && i < size; ++i) values[i] /= norm;
}

// w_l = sign(v_l) max(|v_l| - t / m_l, 0), with t = (sum |v_l| - 1) / sum (1 / m_l) over the leaves with m_l |v_l| > t.
void project_to_one(double* values, const double* masses, std::size_t size) {
    double norm = 0;
    for (std::size_t i = 0; i < size; ++i) norm += std::fabs(values[i]);
    if (norm <= 1.0) return;
    std::vector<std::size_t> order(size);
    std::iota(order.begin(), order.end(), std::size_t{0});
    const auto limit = [&](std::size_t i) { return masses[i] * std::fabs(values[i]); };
    std::sort(order.begin(), order.end(),
              [&](std::size_t a, std::size_t b) { return limit(a) != limit(b) ? limit(a) > limit(b) : a < b; });
    double sizes = 0, inverses = 0, t = 0;
    for (const std::size_t i : order) {
        if (limit(i) <= t) break;  // this and all later leaves become 0
        sizes += std::fabs(values[i]);
        inverses += 1.0 / masses[i];
        t = std::max(0.0, (sizes - 1.0) / inverses);
    }
    norm = 0;
    for (std::size_t i = 0; i < size; ++i) {
        const double kept = std::max(std::fabs(values[i]) - t / masses[i], 0.0);
        values[i] = values[i] < 0 ? -kept : kept;
        norm += kept;
    }
    for (std::size_t i = 0; norm > 1.0 && i < size; ++i) values[i] /= norm;
}

}  // namespace

NormOrder norm_order_named(const std::string& name) {
    require(name == "1" || name == "2" || name == "inf", "the order of a norm is '1', '2' or 'inf'");
    return name == "1" ? NormOrder::one : name == "2" ? NormOrder::two : NormOrder::infinity;
}

void project_to_unit_ball(double* values, const double* masses, std::size_t size, NormOrder order) {
    if (order == NormOrder::two) return project_to_two(values, masses, size);
    if (order == NormOrder::one) return project_to_one(values, masses, size);
    for (std::size_t i = 0; i < size; ++i) values[i] = std::min(1.0, std::max(-1.0, values[i]));
}

}  // namespace radboost
