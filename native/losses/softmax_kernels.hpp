// The soft-max rule g and its expected cost on blocks of rows: Geist (2015), Soft-max boosting, equations (2) and (4). g(z |
// x) is the softmax of the scores psi(x), the probability with which the stochastic classifier predicts class z.
#pragma once

#include <cstddef>
#include <cstdint>

namespace radboost {

// `scores`: shape (n_rows, n_classes), in units of 2^-20. costs[i][z] = c_i(z) in [0, 1]: cost of predicting z for row i.
struct SoftmaxBlock {
    const std::int32_t* scores;
    const float* const* costs;
    std::size_t n_rows, n_classes;
};

// rule[i, z] = g(z | x_i), shape (n_rows, n_classes), and cost[i] = sum_z g(z | x_i) c_i(z), shape (n_rows,).
void softmax_rows(const SoftmaxBlock& block, double* rule, double* cost);

// The same for two classes, with equal bits, and size[i] = sum_z g(z | x_i) |c_i(z) - cost[i]|, the L1 norm of the gradient.
// `costs`: shape (2, n_rows), class by class. wrong[i]: 1 if row i is misclassified (the first class wins ties), otherwise 0.
struct TwoClassBlock {
    const std::int32_t* scores;
    const float* costs;
    const std::uint16_t* classes;
    std::size_t n_rows;
};
void softmax_rows_of_two(const TwoClassBlock& block, float* rule, double* cost, double* size, double* wrong);

// scores[i, z] -= step * h[z * stride + i], with h in {-1, 0, 1} and `step` in units of 2^-20.
void move_scores(std::int32_t* scores, std::size_t n_rows, std::size_t n_classes, const std::int8_t* h,
                 std::size_t stride, std::int32_t step);

}  // namespace radboost
