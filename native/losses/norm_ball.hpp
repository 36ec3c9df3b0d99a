// Projection of a regression tree's leaf values to the unit ball of a norm, for regularized gradient boosting.
#pragma once

#include <cstddef>
#include <string>

namespace radboost {

enum class NormOrder { one, two, infinity };

// "1", "2" or "inf"; throws at another name.
NormOrder norm_order_named(const std::string& name);

// Replaces v = `values` by the minimizer w of sum_l mass_l (w_l - v_l)^2 over the unit ball of the norm. With mass_l > 0 the
// fraction of the rows in leaf l and v_l their mean negative gradient, w is the best fit within the family (Storcheus, PhD
// thesis, NYU 2021, equation (3.6)). With the Euclidean norm this is ridge regression.
void project_to_unit_ball(double* values, const double* masses, std::size_t size, NormOrder order);

}  // namespace radboost
