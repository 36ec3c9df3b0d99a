// Multi-class loss kernels over blocks of rows of one class: from scores to row losses and derivatives by wrong class.
// Notation: f(c) is the score of class c, `own` the row's true class, u(c) = 1 - f(own) + f(c) the argument of the loss Phi.
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

// Arguments of exp are clipped here, so that sums over classes and products with weights stay finite.
constexpr double kLargestArgument = 640.0;

// Scores (rows times classes) per block, small enough for the first-level cache.
constexpr std::size_t kBlockElements = 1024;

// u = 1 + gap, clipped for the exponential loss; `gap` = f(c) - f(own) in units of 1 / kScoreGrid.
RADBOOST_INLINE double class_argument(std::int32_t gap, MarginLoss loss) {
    const double u = 1.0 + static_cast<double>(gap) * (1.0 / kScoreGrid);
    return loss == MarginLoss::exponential && u > kLargestArgument ? kLargestArgument : u;
}

// Consecutive rows of the class `own`; `scores` has shape (rows, classes), in units of 1 / kScoreGrid.
struct ClassBlock {
    const std::int32_t* scores;
    std::size_t rows, classes, own;
};

// Outputs for a block. The derivative of row r's loss by the score of wrong class c is scale[r] * terms[r * classes + c],
// called the weight of c; the term of the own class is 0. scale, slope and loss have shape (rows,).
struct BlockTerms {
    double* terms;
    double* values;  // Phi(u(c)), or scratch; shape of `terms`
    double* scale;
    double* slope;  // sum of the weights over wrong classes, that is minus the derivative by f(own)
    double* loss;
};

// The largest score among the wrong classes of each row.
void largest_wrong(const ClassBlock& block, std::int32_t* largest);
// u(c), shape (rows, classes), at most kLargestArgument for the exponential loss.
void class_arguments(const ClassBlock& block, MarginLoss loss, double* u);
// loss and slope as the sums over wrong classes of out.values = Phi(u(c)) and out.terms = Phi'(u(c)), which are given.
void sum_terms(const ClassBlock& block, const BlockTerms& out);
// Kuznetsov, Mohri and Syed (2014), Multi-Class Deep Boosting, equations (9) and (23), Phi_1 = log2(1 + u), Phi_2 = exp.
void compsum_terms(const ClassBlock& block, const std::int32_t* largest, const BlockTerms& out);

// gradients[r, c] = round(terms[r, c] * factor[r]); factors must make the sum of each row less than 2^kGradientBits.
constexpr int kGradientBits = 30;
void quantise_terms(const double* terms, const double* factor, std::size_t rows, std::size_t classes,
                    std::int32_t* gradients);
// Converts each row from its own unit to the common one: shifts row r right by shift[r] bits (more than 30: zeros), rounded,
// negates the wrong classes, and gives the own class their sum, so that each row sums to 0.
void shift_to_shared_unit(std::size_t rows, std::size_t classes, std::size_t own, const int* shift,
                          std::int32_t* gradients);

// Gradients of the objective "max": -weight[r] at the wrong classes with the largest score, +weight[r] at the own class, 0
// elsewhere. tied[r] = 1 if several wrong classes have the largest score.
void max_gradients(const ClassBlock& block, const std::int32_t* largest, const std::int32_t* weight,
                   std::int32_t* gradients, std::uint8_t* tied);

// Line search at step eta: loss `value` and derivative `slope` of each row from factor = exp(-eta rho). `base`: row loss at
// eta = 0; `part`: portion multiplied by `factor`, of the loss (exponential), or a fraction of 1 + sum exp(u(c)) (compsum).
void line_exponential(const double* part, const double* base, const float* rho, const double* factor, std::size_t n,
                      double* value, double* slope);
void line_compsum(const double* part, const float* rho, const double* factor, std::size_t n, double* slope);
void line_compsum_loss(const double* part, const double* base, const double* factor, std::size_t n, double* value);
// factor[i] = exp(-eta rho[i]); `vertices`: all rho are -1, 0 or 1, so that two exponentials suffice.
void line_factors(const float* rho, std::size_t n, double eta, bool vertices, double* factor);

}  // namespace radboost
