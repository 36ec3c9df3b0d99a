// Loops over blocks of rows that belong to one class: from scores to row losses and the weights of the wrong answers.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/common.hpp"
#include "core/exact_math.hpp"
#include "losses/margin_losses.hpp"
#include "losses/score_unit.hpp"

namespace radboost {

constexpr double kInverseLn2 = 0x1.71547652b82fep0;
constexpr double kEuler = 0x1.5bf0a8b145769p1;

// Beyond this argument exp is cut, so that sums over classes and products with weights stay finite.
constexpr double kLargestArgument = 640.0;

// Scores evaluated together: their terms stay in the first-level cache.
constexpr std::size_t kBlockElements = 1024;

// 1 + gap, cut where exp would leave the range.
RADBOOST_INLINE double class_argument(std::int32_t gap, MarginLoss loss) {
    const double u = 1.0 + static_cast<double>(gap) * (1.0 / kScoreGrid);
    return loss == MarginLoss::exponential && u > kLargestArgument ? kLargestArgument : u;
}

// Consecutive rows of the class `own`; the scores are rows x classes.
struct ClassBlock {
    const std::int32_t* scores;
    std::size_t rows, classes, own;
};

// What a block leaves behind for each row and each wrong answer. The weight of answer c in row r is
// scale[r] * terms[r * classes + c]; the row's own class has the term 0.
struct BlockTerms {
    double* terms;
    double* values;  // scratch of the size of `terms`
    double* scale;
    double* slope;  // sum of the weights
    double* loss;
};

// The largest score among the wrong classes of each row.
void largest_wrong(const ClassBlock& block, std::int32_t* largest);
// u = 1 - f(own) + f(c), at most kLargestArgument for the exponential loss.
void class_arguments(const ClassBlock& block, MarginLoss loss, double* u);
// Sums over the wrong classes of Phi and Phi', given for every class in `values` and `terms`.
void sum_terms(const ClassBlock& block, const BlockTerms& out);
// Multi-Class Deep Boosting, equations (9) and (23) with Phi_1 = log2(1 + u), Phi_2 = exp.
void compsum_terms(const ClassBlock& block, const std::int32_t* largest, const BlockTerms& out);

// The weights of a row as integers that sum to less than 2^30: gradients[r, c] = round(terms[r, c] * factor[r]).
constexpr int kGradientBits = 30;
void quantise_terms(const double* terms, const double* factor, std::size_t rows, std::size_t classes,
                    std::int32_t* gradients);
// Shifts them to the unit that all rows share (beyond 30 bits nothing is left), gives the wrong classes their negatives
// and the own class the sum.
void shift_to_shared_unit(std::size_t rows, std::size_t classes, std::size_t own, const int* shift,
                          std::int32_t* gradients);

// The gradients of max: -weight at the wrong classes with the largest score, `tied` where they are several.
void max_gradients(const ClassBlock& block, const std::int32_t* largest, const std::int32_t* weight,
                   std::int32_t* gradients, std::uint8_t* tied);

// One evaluation on a line: from factor = exp(-eta rho) to the loss of each row and its derivative. `part` is what moves
// along: a sum of Phi(u(y)) out of `base` with the exponential loss, a share of 1 + sum of exp(u(y)) with compsum.
void line_exponential(const double* part, const double* base, const float* rho, const double* factor, std::size_t n,
                      double* value, double* slope);
void line_compsum(const double* part, const float* rho, const double* factor, std::size_t n, double* slope);
void line_compsum_loss(const double* part, const double* base, const double* factor, std::size_t n, double* value);
// exp(-eta rho) for any rho, and for rho in {-1, 0, 1} without evaluating it for each row.
void line_factors(const float* rho, std::size_t n, double eta, bool vertices, double* factor);

}  // namespace radboost
