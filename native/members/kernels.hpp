// Values K(centre, x) in [-1, 1] of the kernel hypotheses, one pair at a time: they depend on nothing but the pair.
#pragma once

#include <cstddef>

namespace radboost {

enum class Kernel {
    rbf,        // exp(-gamma |x - c|^2)
    laplacian,  // exp(-gamma |x - c|_1)
    cosine      // x . c / (|x| |c|), 0 where one of them is 0 or too long for a double
};

// out[k * n_rows + i] = K(centres[k], X[i]), rounded to the grid of HypothesisColumns. Both matrices are in C order.
void kernel_values(Kernel kernel, double gamma, const double* centres, std::size_t n_centres, const double* X,
                   std::size_t n_rows, std::size_t n_columns, int n_threads, float* out);

}  // namespace radboost
