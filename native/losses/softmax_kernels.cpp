#include "losses/softmax_kernels.hpp"

#include <algorithm>

#include "core/common.hpp"
#include "core/exact_math.hpp"
#include "losses/score_unit.hpp"

namespace radboost {
namespace {

// e^(score - the largest of its row), which is at most 1.
RADBOOST_CLONES void exponentials(double* differences, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) differences[i] = exact_exp(differences[i]);
}

}  // namespace

void softmax_rows(const SoftmaxBlock& block, double* rule, double* cost) {
    const std::size_t n_classes = block.n_classes;
    for (std::size_t i = 0; i < block.n_rows; ++i) {
        const std::int32_t* row = block.scores + i * n_classes;
        const std::int32_t top = *std::max_element(row, row + n_classes);
        double* out = rule + i * n_classes;
        for (std::size_t z = 0; z < n_classes; ++z)
            out[z] = static_cast<double>(std::int64_t{row[z]} - top) * (1.0 / kScoreGrid);
    }
    exponentials(rule, block.n_rows * n_classes);
    for (std::size_t i = 0; i < block.n_rows; ++i) {
        double* row = rule + i * n_classes;
        const float* costs = block.costs[i];
        double sum = 0, weighted = 0;
        for (std::size_t z = 0; z < n_classes; ++z) {
            sum += row[z];
            weighted += row[z] * static_cast<double>(costs[z]);
        }
        const double share = 1.0 / sum;
        for (std::size_t z = 0; z < n_classes; ++z) row[z] *= share;
        cost[i] = std::min(1.0, weighted * share);
    }
}

void move_scores(std::int32_t* scores, std::size_t n_rows, std::size_t n_classes, const std::int8_t* h,
                 std::size_t stride, std::int32_t step) {
    for (std::size_t z = 0; z < n_classes; ++z) {
        const std::int8_t* line = h + z * stride;
        for (std::size_t i = 0; i < n_rows; ++i) scores[i * n_classes + z] -= step * line[i];
    }
}

}  // namespace radboost
