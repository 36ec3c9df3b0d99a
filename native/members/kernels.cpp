#include "members/kernels.hpp"

#include <algorithm>
#include <cmath>

#include "members/columns.hpp"
#include "core/exact_math.hpp"
#include "core/pool.hpp"

namespace radboost {
namespace {

double kernel_value(Kernel kernel, double gamma, const double* a, const double* b, std::size_t d) {
    double sum = 0, aa = 0, bb = 0;
    switch (kernel) {
        case Kernel::rbf:
            for (std::size_t j = 0; j < d; ++j) sum += (a[j] - b[j]) * (a[j] - b[j]);
            return exact_exp(-gamma * sum);
        case Kernel::laplacian:
            for (std::size_t j = 0; j < d; ++j) sum += std::fabs(a[j] - b[j]);
            return exact_exp(-gamma * sum);
        case Kernel::cosine:
            for (std::size_t j = 0; j < d; ++j) {
                sum += a[j] * b[j];
                aa += a[j] * a[j];
                bb += b[j] * b[j];
            }
            break;
    }
    const double norm = std::sqrt(aa) * std::sqrt(bb);
    return norm > 0 && std::isfinite(norm) && std::isfinite(sum) ? std::max(-1.0, std::min(1.0, sum / norm)) : 0.0;
}

}  // namespace

void kernel_values(Kernel kernel, double gamma, const double* centres, std::size_t n_centres, const double* X,
                   std::size_t n_rows, std::size_t n_columns, int n_threads, float* out) {
    parallel_for(n_threads, n_centres, [&](std::size_t k) {
        for (std::size_t i = 0; i < n_rows; ++i) {
            const double value = kernel_value(kernel, gamma, centres + k * n_columns, X + i * n_columns, n_columns);
            out[k * n_rows + i] = static_cast<float>(std::nearbyint(value * kValueGrid) / kValueGrid);
        }
    });
}

}  // namespace radboost
