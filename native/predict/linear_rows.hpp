// Linear predictions X W, each row summed from the first column to the last, so that a prediction does not depend on the
// other rows, on threads, or on a BLAS library.
#pragma once

#include <cstddef>

namespace radboost {

// out[i, k] = sum_j x[i, j] * weights[j, k]; all row-major, shapes (n_rows, n_outputs), (n_rows, n_columns) and (n_columns,
// n_outputs).
void linear_rows(const double* x, std::size_t n_rows, std::size_t n_columns, const double* weights, std::size_t n_outputs,
                 int n_threads, double* out);

}  // namespace radboost
