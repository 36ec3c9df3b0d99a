#include "losses/softmax_kernels.hpp"

#include <algorithm>

#include "core/common.hpp"
#include "core/exact_math.hpp"
#include "losses/score_unit.hpp"

namespace radboost {
namespace {

// In place: e^(score - largest score of its row), given the differences.
RADBOOST_CLONES void exponentials(double* differences, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) differences[i] = exact_exp(differences[i]);
}

// One exponential per row: relative to the larger score, that of the larger is 1.
RADBOOST_CLONES void rows_of_two(const TwoClassBlock& block, float* rule, double* cost, double* size, double* wrong) {
    const float *first_costs = block.costs, *second_costs = block.costs + block.n_rows;
    for (std::size_t i = 0; i < block.n_rows; ++i) {
        const std::int32_t first = block.scores[2 * i], second = block.scores[2 * i + 1];
        const double ahead = static_cast<double>(first) - static_cast<double>(second);
        const double behind = exact_exp((ahead > 0 ? -ahead : ahead) * (1.0 / kScoreGrid));
        const double e0 = ahead >= 0 ? 1.0 : behind, e1 = ahead <= 0 ? 1.0 : behind;
        const auto c0 = static_cast<double>(first_costs[i]), c1 = static_cast<double>(second_costs[i]);
        const double share = 1.0 / (e0 + e1), paid = (e0 * c0 + e1 * c1) * share;
        const double own = paid < 1.0 ? paid : 1.0, g0 = e0 * share, g1 = e1 * share;
        const double d0 = c0 - own, d1 = c1 - own;
        cost[i] = own;
        size[i] = g0 * (d0 < 0 ? -d0 : d0) + g1 * (d1 < 0 ? -d1 : d1);
        rule[2 * i] = static_cast<float>(g0);
        rule[2 * i + 1] = static_cast<float>(g1);
        wrong[i] = (ahead < 0) == (block.classes[i] == 1) ? 0.0 : 1.0;
    }
}

}  // namespace

void softmax_rows_of_two(const TwoClassBlock& block, float* rule, double* cost, double* size, double* wrong) {
    rows_of_two(block, rule, cost, size, wrong);
}

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
