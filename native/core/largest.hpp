// The largest of many numbers.
#pragma once

#include <cstddef>

namespace radboost {

// The largest of `largest` and the values, none of which is NaN.
double largest_of(const double* values, std::size_t n, double largest);

}  // namespace radboost
