#include "predict/linear_rows.hpp"

#include <algorithm>

#include "core/common.hpp"
#include "core/pool.hpp"

namespace radboost {

void linear_rows(const double* x, std::size_t n_rows, std::size_t n_columns, const double* weights, std::size_t n_outputs,
                 int n_threads, double* out) {
    const std::size_t parts = row_parts(n_rows * (1 + n_columns), n_threads);
    parallel_for(n_threads, parts, [&](std::size_t part) {
        const std::size_t end = range_begin(n_rows, parts, part + 1);
        for (std::size_t i = range_begin(n_rows, parts, part); i < end; ++i) {
            double* sums = out + i * n_outputs;
            std::fill(sums, sums + n_outputs, 0.0);
            for (std::size_t j = 0; j < n_columns; ++j) {
                const double value = x[i * n_columns + j];
                if (value == 0.0) continue;  // sparse rows stay cheap
                for (std::size_t k = 0; k < n_outputs; ++k) sums[k] += value * weights[j * n_outputs + k];
            }
        }
    });
}

}  // namespace radboost
