// Leaves brought into the ball of a norm.
#pragma once

#include <cstddef>
#include <string>

namespace radboost {

enum class NormOrder { one, two, infinity };

// "1", "2" or "inf"; throws at another name.
NormOrder norm_order_named(const std::string& name);

// The point w of the unit ball of the norm that minimizes sum_l mass_l (w_l - v_l)^2, in place of v. This is the best fit of a
// tree with these leaves to the negative gradient inside the family (Storcheus, chapter 3, (3.6)): mass_l, which must be
// positive, is the fraction of the rows in leaf l, and v_l their mean. With the Euclidean norm it is ridge regression.
void project_to_unit_ball(double* values, const double* masses, std::size_t size, NormOrder order);

}  // namespace radboost
