// Multi-class scores of the training rows, their loss under a ClassObjective (losses/), and the gradients that trees fit.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "losses/class_objectives.hpp"
#include "rows/margin_scores.hpp"
#include "rows/score_grid.hpp"
#include "rows/weighting.hpp"

namespace radboost {

class ClassScores;

// Gradients g(i, c) = -dloss(i) / df(i, c), as int32, shape (n_rows, n_classes): quantized per unit of sample weight by one
// power of two for all rows. A hypothesis that predicts c in row i decreases the loss at the rate g(i, c).
class ClassWeighting : public AnswerWeighting {
public:
    // `factors`: see RowFactors; they multiply the gradients of each row. Keeps a reference to the scores.
    ClassWeighting(const ClassScores& scores, std::optional<std::vector<double>> factors);

    double slope() const { return slope_; }  // S = sum of w factor slope over the rows, at the last reweighing
    // Replaces the factors by shares[i] * of_group[group of i], from the next reweighing on.
    void set_factors(const double* shares, const RowGroups& groups, const double* of_group, int n_threads) {
        factors_.replace(shares, groups, of_group, n_threads);
    }

    void leaf_sums(const std::int32_t* label_of_row, std::size_t n_labels, int n_threads,
                   std::int64_t* sums) const override;
    void leaf_totals(const std::int32_t* label_of_row, std::size_t n_labels, int n_threads,
                     std::int64_t* totals) const override;
    double edge_unit() const override { return edge_unit_; }
    bool gains_follow_classes() const override;
    const std::int32_t* gradients() const override { return gradients_.data(); }
    void gains(std::size_t begin, std::size_t count, bool shrinking, std::int64_t* table) const override;

private:
    friend class ClassScores;
    // Contribution of a row to S, for one copy of it.
    double slope_of(std::size_t row) const;
    // First step for WrongAnswers::each: terms as integers in units of each row's own, before the common unit is known.
    void quantise(std::size_t begin, std::size_t count, const double* terms, const double* scale);
    // Second step: the gradients of a block in the common unit 2^(exponent - bits), in which no row slope reaches 2^bits.
    void share_unit(std::size_t own, std::size_t begin, std::size_t count, int exponent, int bits);
    void finish(int n_threads);

    const ClassScores& scores_;
    RowFactors factors_;
    LargeArray<std::int32_t> gradients_;       // empty for WrongAnswers::alike, where row_gradients_ suffice
    std::vector<std::int32_t> row_gradients_;  // D(i), shape (n_rows,); empty for WrongAnswers::each
    std::vector<std::uint8_t> tied_;           // WrongAnswers::largest: 1 if several wrong classes have the largest score
    double edge_unit_ = 0, slope_ = 0;
};

// Scores f(i, c) as int32 multiples of 2^-20, shape (n_rows, n_classes), up to a constant per row (see ScoreGrid).
class ClassScores {
public:
    // The rows must be sorted by class. Without a loss, use `reweigh_from`. Keeps references to the objective and weights.
    ClassScores(const ClassObjective& objective, std::optional<MarginLoss> loss, std::vector<std::uint16_t> classes,
                std::size_t n_classes, const RowWeights& weights);

    std::size_t n_rows() const { return classes_->n_rows(); }
    std::size_t n_classes() const { return classes_->n_classes(); }
    const RowWeights& row_weights() const { return weights_; }
    const std::shared_ptr<const RowClasses>& classes() const { return classes_; }
    const std::int32_t* values() const { return grid_.values(); }           // n_rows x n_classes, in units of 2^-20
    const std::vector<std::int32_t>& margins() const { return margins_; }  // s of "maxsum", in the same units
    // Replaces all scores, shape (n_rows, n_classes), and for "maxsum" the margins, shape (n_rows,).
    void set(const double* scores, const double* margins);

    // Number of arguments u at which the loss is evaluated, the length of the arrays of `reweigh_from`.
    std::size_t n_arguments() const { return per_class() ? n_rows() * n_classes() : n_rows(); }
    // Evaluates the loss at the scores and updates the weightings. With `groups` writes their sums to of_groups (n_groups,).
    LossSums reweigh(const std::vector<ClassWeighting*>& weightings, int n_threads, const RowGroups* groups = nullptr,
                     LossSums* of_groups = nullptr);
    // The same for a user's loss, evaluated in Python: Phi and Phi' at u(y) for WrongAnswers::each, shape (n_rows, n_classes)
    // (entries of the own class are ignored), otherwise at the one argument of each row, shape (n_rows,).
    LossSums reweigh_from(const double* values, const double* derivatives,
                          const std::vector<ClassWeighting*>& weightings, int n_threads,
                          const RowGroups* groups = nullptr, LossSums* of_groups = nullptr);
    // Loss at scores + eta h (0 unless want_loss) and its derivative by eta. Call `reweigh` before, and no `step` in between.
    // At a kink of "max" the derivative is the one for increasing eta, up to rounding.
    LineSums along(const HypothesisColumns& columns, std::size_t slot, double eta, bool want_loss, int n_threads);
    // scores += eta * factors[i] * h (factors null: 1), rounded to multiples of 2^-20; eta must be such a multiple.
    void step(const HypothesisColumns& columns, std::size_t slot, double eta, int n_threads,
              const double* factors = nullptr);

private:
    friend class ClassWeighting;
    // Buffers for the evaluation of a block of rows; see BlockTerms.
    struct Scratch {
        Scratch(std::size_t rows, std::size_t classes)
            : terms(rows * classes), values(terms.size()), scale(rows), largest(scale.size()) {}
        std::vector<double> terms, values, scale;
        std::vector<std::int32_t> largest;  // largest score among the wrong classes
    };
    // State of the line search along one hypothesis, one entry per row; see LineBlock.
    struct Line {
        std::uint64_t stamp = 0;  // stamp of the hypothesis (HypothesisColumns); 0: none
        bool vertices = true;     // all rho are -1, 0 or 1
        std::vector<float> rho;   // margin of h: h if it predicts the row's class, otherwise -h
        std::vector<double> part, other;
        std::vector<double> value, slope;
    };

    bool per_class() const { return objective_.wrong_answers == WrongAnswers::each; }
    std::size_t block_rows() const { return std::max<std::size_t>(1, kBlockElements / n_classes()); }
    ClassBlock block(std::size_t own, std::size_t begin, std::size_t count) const;
    std::size_t parts(int n_threads) const;
    // Calls function(own, begin, count) for blocks of rows of one class that cover [begin, end).
    template <class Function>
    void for_blocks(std::size_t begin, std::size_t end, Function&& function) const {
        while (begin < end) {
            const std::size_t own = classes_->of_row()[begin];
            const std::size_t count = std::min({block_rows(), end - begin, classes_->begin()[own + 1] - begin});
            function(own, begin, count);
            begin += count;
        }
    }

    // Common part of `reweigh` and `reweigh_from`: calls evaluate(own, begin, count, scratch), which fills row_loss_,
    // row_slope_ and the terms of a block, then sums and updates the weightings.
    template <class Evaluate>
    LossSums renew(const std::vector<ClassWeighting*>& weightings, int n_threads, const RowGroups* groups,
                   LossSums* of_groups, Evaluate&& evaluate);

    // eta times the leaf values, in units of 2^-20; shape (n_leaves, n_classes).
    std::vector<std::int32_t> leaf_changes(const HypothesisColumns& columns, std::size_t slot, double eta) const;
    LineSums along_leaves(const HypothesisColumns& columns, std::size_t slot, double eta, bool want_loss, int n_threads);
    void prepare_line(const HypothesisColumns& columns, std::size_t slot, int n_threads);
    LineBlock line_block(std::size_t own, std::size_t begin, std::size_t count, double* work);

    const ClassObjective& objective_;
    std::optional<MarginLoss> loss_;
    const RowWeights& weights_;
    std::shared_ptr<const RowClasses> classes_;
    ScoreGrid grid_;
    std::vector<std::int32_t> margins_;        // only for WrongAnswers::alike
    LargeArray<double> row_loss_, row_slope_;  // per unit of sample weight, at the last reweighing
    bool current_ = false;                     // no step since the last reweighing
    Line line_;
};

}  // namespace radboost
