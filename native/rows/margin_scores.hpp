// Two classes and one column of scores: the loss of the margins y f, and the weights D that it puts on the rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "losses/margin_losses.hpp"
#include "rows/weighting.hpp"

namespace radboost {

class HypothesisColumns;

struct LossSums {
    double loss;   // sum of w Phi, or of what the objective makes of Phi
    double slope;  // S = sum of w Phi', the normalizer of D
    double error;  // sum of w over the rows whose class does not have the largest score alone (y f <= 0)
};

struct LineSums {
    double loss;   // at f + eta h: sum of w Phi(1 - y (f + eta h)) with two classes
    double slope;  // its derivative in eta: - sum of w y h Phi'
};

// D y of a round, scaled to a total of about 2^61: what the edges of hypotheses and leaves are summed from. It is
// quantized per unit of sample weight and then multiplied by the weight, like the growth weights.
constexpr double kEdgeScale = 2305843009213693952.0;  // 2^61

class MarginScores;

class MarginWeighting : public AnswerWeighting {
public:
    // Without factors: D of the scores as it is. Keeps references to the scores' rows.
    MarginWeighting(const MarginScores& scores, std::optional<std::vector<double>> factors);

    const std::int64_t* edge_weights() const { return edge_.data(); }
    // S of these factors, at the last reweighing.
    double slope() const { return slope_; }
    // Other factors, from the next reweighing on.
    void set_factors(const double* shares, const RowGroups& groups, const double* of_group, int n_threads) {
        factors_.replace(shares, groups, of_group, n_threads);
    }

    void leaf_sums(const std::int32_t* label_of_row, std::size_t n_labels, int n_threads,
                   std::int64_t* sums) const override;
    void leaf_totals(const std::int32_t* label_of_row, std::size_t n_labels, int n_threads,
                     std::int64_t* totals) const override;
    double edge_unit() const override { return 1.0 / kEdgeScale; }
    void gains(std::size_t begin, std::size_t count, bool shrinking, std::int64_t* table) const override;
    void edge_sums(const HypothesisColumns& columns, bool shrinking, int n_threads, int128* sums) const override;
    void value_edge_sums(const float* values, std::size_t n_hypotheses, int n_threads, int128* sums) const override;
    void group_edge_sums(const HypothesisColumns& columns, std::size_t slot, const double* factors, const RowGroups& groups,
                         int n_threads, int128* sums) const override;

private:
    friend class MarginScores;
    // Reweighing has two steps, because D is known up to its sum first: `put` keeps Phi' times the factors of some rows, as
    // the bits of doubles in the place of the edge weights; `quantise` makes the integers of them.
    void put(const double* derivatives, std::size_t first, std::size_t count);
    void quantise(double slope, int n_threads);

    const MarginScores& scores_;
    RowFactors factors_;
    LargeArray<std::int64_t> edge_;
    double slope_ = 0;
};

// The first class is y = -1, the second y = +1.
class MarginScores {
public:
    // Without a loss it is evaluated elsewhere, see `reweigh_from`. Keeps a reference to the weights.
    MarginScores(std::optional<MarginLoss> loss, std::vector<std::uint16_t> classes, const RowWeights& weights);

    std::size_t n_rows() const { return labels_.size(); }
    std::size_t n_classes() const { return 2; }
    std::size_t n_arguments() const { return n_rows(); }
    const RowWeights& row_weights() const { return weights_; }
    const std::shared_ptr<const RowClasses>& classes() const { return classes_; }
    const std::vector<std::int8_t>& labels() const { return labels_; }
    const LargeArray<double>& values() const { return scores_; }
    void set(const double* scores) { scores_.assign(scores, scores + n_rows()); }

    // Evaluates the loss at the scores and renews the weightings (Deep Boosting, equation (5)). With groups their sums are
    // written to `of_groups`.
    LossSums reweigh(const std::vector<MarginWeighting*>& weightings, int n_threads, const RowGroups* groups = nullptr,
                     LossSums* of_groups = nullptr);
    // The same from a loss that was evaluated elsewhere, at 1 - y f of each row.
    LossSums reweigh_from(const double* values, const double* derivatives,
                          const std::vector<MarginWeighting*>& weightings, int n_threads,
                          const RowGroups* groups = nullptr, LossSums* of_groups = nullptr);
    // The loss along scores + eta h, and its derivative in eta.
    LineSums along(const HypothesisColumns& columns, std::size_t slot, double eta, bool want_loss, int n_threads) const;
    // scores += eta h, or eta times a factor of each row times h.
    void step(const HypothesisColumns& columns, std::size_t slot, double eta, int n_threads,
              const double* factors = nullptr);

private:
    double largest_argument(int n_threads) const;
    // Calls evaluate(first, count, values, derivatives) for blocks of rows, and goes from there to the sums and weightings.
    template <class Evaluate>
    LossSums renew(double largest_loss, double largest_slope, const std::vector<MarginWeighting*>& weightings, int n_threads,
                   const RowGroups* groups, LossSums* of_groups, Evaluate&& evaluate);

    std::optional<MarginLoss> loss_;
    const RowWeights& weights_;
    std::shared_ptr<const RowClasses> classes_;
    std::vector<std::int8_t> labels_;
    LargeArray<double> scores_;
};

}  // namespace radboost
