// Linear predictions X W, row by row in the order of the columns, so that no result depends on other rows, threads or a BLAS.
#pragma once

#include <cstddef>

namespace radboost {

// out[i, k] = sum_j x[i, j] * weights[j, k]; row-major, x of shape (n_rows, n_columns), weights (n_columns, n_outputs).
void linear_rows(const double* x, std::size_t n_rows, std::size_t n_columns, const double* weights, std::size_t n_outputs,
                 int n_threads, double* out);

}  // namespace radboost
