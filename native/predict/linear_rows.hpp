// Linear functions of rows, each row summed by itself from the first column to the last: what a row gets does not depend on
// the rows beside it, on threads, or on a library for matrices.
#pragma once

#include <cstddef>

namespace radboost {

// out[i * n_outputs + k] = sum over j of x[i, j] * weights[j * n_outputs + k].
void linear_rows(const double* x, std::size_t n_rows, std::size_t n_columns, const double* weights, std::size_t n_outputs,
                 int n_threads, double* out);

}  // namespace radboost
