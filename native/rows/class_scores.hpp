// A score for each class, and what an objective of several classes makes of them.
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

// The gradients g(i, c) take 4 bytes per row and class: integers, quantized per unit of sample weight by one power of two for
// all rows. An answer c in row i lowers the loss at the rate g(i, c).
class ClassWeighting : public AnswerWeighting {
public:
    // Without factors: the gradients of the scores as they are. Keeps a reference to the scores.
    ClassWeighting(const ClassScores& scores, std::optional<std::vector<double>> factors);

    double slope() const { return slope_; }  // S of these factors, at the last reweighing
    // Other factors, from the next reweighing on.
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
    // A row's part of S before copies are counted.
    double slope_of(std::size_t row) const;
    // Each row's terms as integers by a power of two of its own, so that nothing has to be evaluated twice.
    void quantise(std::size_t begin, std::size_t count, const double* terms, const double* scale);
    // The gradients of a block in the unit 2^(exponent - bits) that all rows share, in which the largest row total is below
    // 2^bits.
    void share_unit(std::size_t own, std::size_t begin, std::size_t count, int exponent, int bits);
    void finish(int n_threads);

    const ClassScores& scores_;
    RowFactors factors_;
    LargeArray<std::int32_t> gradients_;       // empty where answers count alike: there row_gradients_ tell all
    std::vector<std::int32_t> row_gradients_;  // D(i) where the row has one rate
    std::vector<std::uint8_t> tied_;           // WrongAnswers::largest: several wrong classes share the largest score
    double edge_unit_ = 0, slope_ = 0;
};

// Scores take 4 bytes per row and class. They are multiples of 2^-20, known up to a constant in each row, since only
// differences count.
class ClassScores {
public:
    // Rows sorted by class. Without a loss it is evaluated elsewhere, see `reweigh_from`. Keeps references to the objective
    // and the weights.
    ClassScores(const ClassObjective& objective, std::optional<MarginLoss> loss, std::vector<std::uint16_t> classes,
                std::size_t n_classes, const RowWeights& weights);

    std::size_t n_rows() const { return classes_->n_rows(); }
    std::size_t n_classes() const { return classes_->n_classes(); }
    const RowWeights& row_weights() const { return weights_; }
    const std::shared_ptr<const RowClasses>& classes() const { return classes_; }
    const std::int32_t* values() const { return grid_.values(); }           // n_rows x n_classes, in units of 2^-20
    const std::vector<std::int32_t>& margins() const { return margins_; }  // s of "maxsum", in the same units
    // Replaces all scores, and the margins where there are any: they do not follow from the scores.
    void set(const double* scores, const double* margins);

    std::size_t n_arguments() const { return per_class() ? n_rows() * n_classes() : n_rows(); }
    // Evaluates the loss at the scores and renews the weightings. With groups their sums are written to `of_groups`.
    LossSums reweigh(const std::vector<ClassWeighting*>& weightings, int n_threads, const RowGroups* groups = nullptr,
                     LossSums* of_groups = nullptr);
    // The same from a loss evaluated elsewhere: at u(y) for every row and class where each wrong answer has its rate
    // (what stands at the row's own class is not read), or at the one argument of each row.
    LossSums reweigh_from(const double* values, const double* derivatives,
                          const std::vector<ClassWeighting*>& weightings, int n_threads,
                          const RowGroups* groups = nullptr, LossSums* of_groups = nullptr);
    // The loss at scores + eta h and its derivative, from the scores of the last reweighing. Without `want_loss` only
    // the derivative is worked out. Where "max" has a kink the derivative is the one to the right, up to rounding.
    LineSums along(const HypothesisColumns& columns, std::size_t slot, double eta, bool want_loss, int n_threads);
    // scores += eta h, or eta times a factor of each row times h, to the nearest multiple of 2^-20; eta is one.
    void step(const HypothesisColumns& columns, std::size_t slot, double eta, int n_threads,
              const double* factors = nullptr);

private:
    friend class ClassWeighting;
    // What the evaluation of a block of rows leaves behind.
    struct Scratch {
        Scratch(std::size_t rows, std::size_t classes)
            : terms(rows * classes), values(terms.size()), scale(rows), largest(scale.size()) {}
        std::vector<double> terms, values, scale;
        std::vector<std::int32_t> largest;  // score among the wrong classes
    };
    // A line through the scores: what each row needs to be evaluated anywhere on it.
    struct Line {
        std::uint64_t stamp = 0;  // of the hypothesis; 0: none
        bool vertices = true;     // all rho are -1, 0 or 1
        std::vector<float> rho;   // h(i, y_i) - h(i, k), k the one class that h gives something
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

    // Goes from evaluate(own, begin, count, scratch), which fills row_loss_, row_slope_ and the terms, to the rest.
    template <class Evaluate>
    LossSums renew(const std::vector<ClassWeighting*>& weightings, int n_threads, const RowGroups* groups,
                   LossSums* of_groups, Evaluate&& evaluate);

    // eta times the numbers of leaves, to the nearest multiples of 2^-20.
    std::vector<std::int32_t> leaf_changes(const HypothesisColumns& columns, std::size_t slot, double eta) const;
    LineSums along_leaves(const HypothesisColumns& columns, std::size_t slot, double eta, bool want_loss, int n_threads);
    void prepare_line(const HypothesisColumns& columns, std::size_t slot, int n_threads);
    LineBlock line_block(std::size_t own, std::size_t begin, std::size_t count, double* work);

    const ClassObjective& objective_;
    std::optional<MarginLoss> loss_;
    const RowWeights& weights_;
    std::shared_ptr<const RowClasses> classes_;
    ScoreGrid grid_;
    std::vector<std::int32_t> margins_;        // where answers count alike
    LargeArray<double> row_loss_, row_slope_;  // of one unit of weight, at the last reweighing
    bool current_ = false;                     // no step since the last reweighing
    Line line_;
};

}  // namespace radboost
