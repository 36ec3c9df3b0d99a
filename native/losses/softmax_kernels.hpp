// The soft-max rule on blocks of rows: Soft-max boosting, equations (2) and (4).
#pragma once

#include <cstddef>
#include <cstdint>

namespace radboost {

// Scores are multiples of 2^-20, rows x classes; `costs` has the row of costs of each row, scaled to [0, 1].
struct SoftmaxBlock {
    const std::int32_t* scores;
    const float* const* costs;
    std::size_t n_rows, n_classes;
};

// rule[i, z] = g(z | x_i), without overflow whatever the scores, and cost[i] = sum of g(z | x_i) c_i(z).
void softmax_rows(const SoftmaxBlock& block, double* rule, double* cost);

// The same for two classes, bit for bit, and the sizes of the gradient: size[i] = sum of g(z | x_i) |c_i(z) - cost[i]|. `costs`
// has the costs of the first class for all rows, then those of the second. wrong[i] is 1 where
// the class with the largest score, the first of those, is not `classes[i]`, otherwise 0.
struct TwoClassBlock {
    const std::int32_t* scores;
    const float* costs;
    const std::uint16_t* classes;
    std::size_t n_rows;
};
void softmax_rows_of_two(const TwoClassBlock& block, float* rule, double* cost, double* size, double* wrong);

// scores -= step * h; `h` has a row for each class, `stride` apart, and one sign (or 0) for each row.
void move_scores(std::int32_t* scores, std::size_t n_rows, std::size_t n_classes, const std::int8_t* h,
                 std::size_t stride, std::int32_t step);

}  // namespace radboost
