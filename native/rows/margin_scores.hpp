// Binary boosting: scores f of the training rows, the loss of their margins y f (y = -1 or +1), and the weights D of rows.
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
    double loss;   // sum of w * loss; w are the sample weights, the loss is Phi(1 - y f) or that of a ClassObjective
    double slope;  // S = sum of w Phi', the normalizer of D
    double error;  // sum of w over the misclassified rows (y f <= 0; ties for the largest score count as wrong)
};

struct LineSums {
    double loss;   // sum of w * loss at f + eta h; with two classes the loss is Phi(1 - y (f + eta h))
    double slope;  // its derivative by eta; with two classes -sum of w y h Phi'
};

// Scale of D y as integers, from which the edges of hypotheses and leaves are summed: the sum of |D y| is about 2^61. It is
// quantized per unit of sample weight and then multiplied by the weight, like the growth weights.
constexpr double kEdgeScale = 2305843009213693952.0;  // 2^61

class MarginScores;

class MarginWeighting : public AnswerWeighting {
public:
    // `factors`: see RowFactors; they multiply D. Keeps a reference to the scores.
    MarginWeighting(const MarginScores& scores, std::optional<std::vector<double>> factors);

    const std::int64_t* edge_weights() const { return edge_.data(); }  // D(i) y(i) kEdgeScale, shape (n_rows,)
    // S = sum of w factor Phi', at the last reweighing.
    double slope() const { return slope_; }
    // Replaces the factors by shares[i] * of_group[group of i], from the next reweighing on.
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
    std::vector<int128> value_edge_sums(const float* values, std::size_t n_hypotheses, int n_threads) const override;
    void group_edge_sums(const HypothesisColumns& columns, std::size_t slot, const double* factors, const RowGroups& groups,
                         int n_threads, int128* sums) const override;

private:
    friend class MarginScores;
    // Reweighing has two steps, because the normalizer S is known only after all rows: `put` stores Phi' times the factors of
    // some rows in edge_, as the bits of doubles; `quantise` replaces them by integers.
    void put(const double* derivatives, std::size_t first, std::size_t count);
    void quantise(double slope, int n_threads);

    const MarginScores& scores_;
    RowFactors factors_;
    LargeArray<std::int64_t> edge_;
    double slope_ = 0;
};

class MarginScores {
public:
    // `classes`: 0 or 1 per row. Without a loss, use `reweigh_from`. Keeps a reference to the weights.
    MarginScores(std::optional<MarginLoss> loss, std::vector<std::uint16_t> classes, const RowWeights& weights);

    std::size_t n_rows() const { return labels_.size(); }
    std::size_t n_classes() const { return 2; }
    std::size_t n_arguments() const { return n_rows(); }  // arguments u = 1 - y f of the loss
    const RowWeights& row_weights() const { return weights_; }
    const std::shared_ptr<const RowClasses>& classes() const { return classes_; }
    const std::vector<std::int8_t>& labels() const { return labels_; }  // y: -1 or +1
    const LargeArray<double>& values() const { return scores_; }
    void set(const double* scores) { scores_.assign(scores, scores + n_rows()); }

    // Evaluates the loss and updates the weightings (Cortes, Mohri and Syed, 2014, (5)). of_groups: sums by group.
    LossSums reweigh(const std::vector<MarginWeighting*>& weightings, int n_threads, const RowGroups* groups = nullptr,
                     LossSums* of_groups = nullptr);
    // The same for a user's loss, evaluated in Python: Phi and Phi' at u = 1 - y f, shape (n_rows,).
    LossSums reweigh_from(const double* values, const double* derivatives,
                          const std::vector<MarginWeighting*>& weightings, int n_threads,
                          const RowGroups* groups = nullptr, LossSums* of_groups = nullptr);
    // Loss at scores + eta h (0 unless want_loss) and its derivative by eta.
    LineSums along(const HypothesisColumns& columns, std::size_t slot, double eta, bool want_loss, int n_threads) const;
    // scores += eta * factors[i] * h (factors null: 1).
    void step(const HypothesisColumns& columns, std::size_t slot, double eta, int n_threads,
              const double* factors = nullptr);

private:
    double largest_argument(int n_threads) const;
    // Common part of `reweigh` and `reweigh_from`: calls evaluate(first, count, values, derivatives) for blocks of rows, then
    // sums and updates the weightings. largest_loss and largest_slope bound Phi and Phi' over all workers.
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
