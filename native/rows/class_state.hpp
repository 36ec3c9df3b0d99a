// The state of boosting with a score for each class: Multi-Class Deep Boosting, equations (6) to (9).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "losses/class_kernels.hpp"
#include "rows/margins.hpp"
#include "rows/state.hpp"

namespace radboost {

class HypothesisColumns;

// With u(y) = 1 - f(y_i) + f(y) over the wrong classes y, a row costs
enum class ClassObjective {
    sum,      // the sum of Phi(u(y)), equation (7)
    compsum,  // log2(1 + sum of exp(u(y))), equation (9); with the logistic loss
    maxsum,   // Phi(1 - s), s the weighted sum of the margins of the hypotheses, equation (8)
    max       // the largest Phi(u(y)), equation (6)
};

// Scores and gradients take 4 bytes per row and class each. Scores are multiples of 2^-20, known up to a constant in
// each row, since only differences count. The gradients g(i, c) are integers, quantised per unit of sample weight by one
// power of two for all rows: an answer c in row i lowers the loss at the rate g(i, c).
class ClassState : public BoostingState {
public:
    // Rows sorted by class. Without a loss (it is evaluated elsewhere, see `reweigh_from`): sum, maxsum and max.
    ClassState(ClassObjective objective, std::optional<MarginLoss> loss, std::vector<std::uint16_t> classes,
               std::size_t n_classes, std::vector<double> weights);

    const std::int32_t* scores() const { return scores_.data(); }            // n_rows x n_classes, in units of 2^-20
    const std::vector<std::int32_t>& margins() const { return margins_; }  // s of maxsum, in the same units

    std::size_t n_arguments() const { return per_class() ? n_rows() * n_classes() : n_rows(); }
    // Evaluates the loss at the scores and renews the gradients.
    LossSums reweigh(int n_threads);
    // The same from a loss evaluated elsewhere: at u(y) for every row and class (sum; what stands at the row's own class
    // is not read), or at the one argument of each row (maxsum, max).
    LossSums reweigh_from(const double* values, const double* derivatives, int n_threads);
    // The loss at scores + eta h and its derivative, from the scores of the last reweighing. Without `want_loss` only
    // the derivative is worked out. Where max has a kink the derivative is the one to the right, up to rounding.
    LineSums along(const HypothesisColumns& columns, std::size_t slot, double eta, bool want_loss, int n_threads);
    // scores += eta h; eta is a multiple of 2^-20.
    void step(const HypothesisColumns& columns, std::size_t slot, double eta, int n_threads);

    void leaf_sums(const std::int32_t* label_of_row, std::size_t n_labels, int n_threads,
                   std::int64_t* sums) const override;
    double edge_unit() const override { return edge_unit_; }
    const std::int32_t* gradients() const override { return gradients_.empty() ? nullptr : gradients_.data(); }
    // What every answer gains in the rows [begin, begin + count), copies counted, and last the 0 of abstaining:
    // table[k * (n_classes + 1) + answer]. `shrinking`: the same seen from the left, which differs where several wrong
    // classes tie for the maximum (equation (27)).
    void gains(std::size_t begin, std::size_t count, bool shrinking, std::int64_t* table) const;

private:
    struct Partial;
    struct Scratch;
    // A line through the scores: what each row needs to be evaluated anywhere on it.
    struct Line {
        std::uint64_t stamp = 0;  // of the hypothesis; 0: none
        bool vertices = true;     // all rho are -1, 0 or 1
        std::vector<float> rho;   // h(i, y_i) - h(i, k), k the one class that h gives something
        std::vector<double> part, other;
        std::vector<double> value, slope;
    };

    bool per_class() const { return objective_ == ClassObjective::sum || objective_ == ClassObjective::compsum; }
    std::size_t block_rows() const { return std::max<std::size_t>(1, kBlockElements / n_classes()); }
    ClassBlock block(std::size_t own, std::size_t begin, std::size_t count) const;
    std::size_t parts(int n_threads) const;
    // Calls function(own, begin, count) for blocks of rows of one class that cover [begin, end).
    template <class Function>
    void for_blocks(std::size_t begin, std::size_t end, Function&& function) const {
        while (begin < end) {
            const std::size_t own = classes()[begin];
            const std::size_t count = std::min({block_rows(), end - begin, class_begin()[own + 1] - begin});
            function(own, begin, count);
            begin += count;
        }
    }

    // Goes from evaluate(own, begin, count, scratch), which fills row_loss_, row_slope_ and the terms, to the rest.
    template <class Evaluate>
    LossSums renew(int n_threads, Evaluate&& evaluate);
    void evaluate(std::size_t own, std::size_t begin, std::size_t count, Scratch& scratch);
    void quantise(std::size_t begin, std::size_t count, Scratch& scratch);
    LossSums finish(std::vector<Partial>& partial, int n_threads);
    void settle(std::size_t own, std::size_t begin, std::size_t count, int exponent, int bits, Scratch& scratch);
    void recentre(int n_threads);

    void prepare_line(const HypothesisColumns& columns, std::size_t slot, int n_threads);
    void prepare_rows(std::size_t own, std::size_t begin, std::size_t count, const std::uint16_t* answers);
    void evaluate_line(std::size_t own, std::size_t begin, std::size_t count, double eta, bool want_loss);
    void evaluate_right_rows(std::size_t own, std::size_t begin, std::size_t count, double eta);

    ClassObjective objective_;
    std::optional<MarginLoss> loss_;
    LargeArray<std::int32_t> scores_;
    LargeArray<std::int32_t> gradients_;       // empty for maxsum, where row_gradients_ tell all
    std::vector<std::int32_t> row_gradients_;  // D(i) of maxsum and max
    std::vector<std::int32_t> margins_;        // of maxsum
    std::vector<std::uint8_t> tied_;           // max: several wrong classes share the largest score
    LargeArray<double> row_loss_, row_slope_;  // of one unit of weight, at the last reweighing
    double edge_unit_ = 0;
    std::int64_t largest_score_ = 0;  // a bound on |scores_|
    bool current_ = false;            // no step since the last reweighing
    Line line_;
};

}  // namespace radboost
