// Kernel hypotheses h(x) = K(center, x) in [-1, 1], computed pair by pair, so that values do not depend on other rows.
#pragma once

#include <cstddef>

namespace radboost {

enum class Kernel {
    rbf,        // exp(-gamma |x - c|^2)
    laplacian,  // exp(-gamma |x - c|_1)
    cosine      // x . c / (|x| |c|); 0 if a norm is 0 or overflows
};

// out[k, i] = K(centres[k], X[i]), rounded to multiples of 1 / kValueGrid; row-major, shape (n_centres, n_rows).
void kernel_values(Kernel kernel, double gamma, const double* centres, std::size_t n_centres, const double* X,
                   std::size_t n_rows, std::size_t n_columns, int n_threads, float* out);

}  // namespace radboost
