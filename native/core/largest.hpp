// Vectorized maximum of an array.
#pragma once

#include <cstddef>

namespace radboost {

// max(largest, values[0], ..., values[n - 1]); no value may be NaN.
double largest_of(const double* values, std::size_t n, double largest);

}  // namespace radboost
