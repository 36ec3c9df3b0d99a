#include "members/slopes.hpp"

#include <algorithm>
#include <cmath>

namespace radboost {

double slope(double growing, double shrinking, double weight, double threshold, bool is_signed) {
    if (!is_signed) {
        const double to_the_right = (threshold - growing) / 2;
        if (to_the_right < 0) return to_the_right;
        return weight > 0 ? std::max(0.0, (threshold - shrinking) / 2) : 0.0;
    }
    const double loss_part = -growing / 2;
    if (weight != 0) return loss_part + std::copysign(threshold, weight) / 2;
    if (std::fabs(loss_part) <= threshold / 2) return 0.0;
    return loss_part - std::copysign(threshold, loss_part) / 2;
}

std::vector<std::pair<std::size_t, double>> descents(const double* growing, const double* shrinking,
                                                     const double* weights, const double* prices, std::size_t n_slots,
                                                     const DescentRule& rule) {
    std::vector<std::pair<std::size_t, double>> found;
    for (std::size_t slot = 0; slot < n_slots; ++slot) {
        const double weight = weights[slot];
        if (weight == 0) continue;
        const double d = slope(growing[slot], shrinking[slot], weight, prices[slot] / rule.scale, rule.is_signed);
        if (std::fabs(d) <= rule.tolerance || (rule.only_shrinking && !(d * weight > 0))) continue;
        found.emplace_back(slot, std::fabs(d));
    }
    return found;
}

}  // namespace radboost
