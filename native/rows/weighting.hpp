// Weighting: integer gradients and weights of the training rows, by which trees are grown and hypotheses scored. It hides the
// loss; the ...Scores classes evaluate the loss and fill one weighting or several, each with its own factors on the rows
// (multiple-source boosting: D times Q(k | x), the probability that the row is from source k).
//
// "Answer" in names means predicted class; "gain" g(i, k) is the decrease of the loss in row i for predicting class k.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "core/collective.hpp"
#include "core/common.hpp"
#include "core/large_array.hpp"
#include "data/binning.hpp"
#include "rows/row_groups.hpp"
#include "rows/row_weights.hpp"

namespace radboost {

class HypothesisColumns;

// True class 0 ... n_classes - 1 of each row.
class RowClasses {
public:
    RowClasses(std::vector<std::uint16_t> of_row, std::size_t n_classes);
    void replace(const std::uint16_t* of_row, std::size_t n_rows);

    std::size_t n_rows() const { return of_row_.size(); }
    std::size_t n_classes() const { return n_classes_; }
    const std::vector<std::uint16_t>& of_row() const { return of_row_; }
    // First row of each class, then n_rows, shape (n_classes + 1,); empty unless the rows are sorted by class.
    const std::vector<std::size_t>& begin() const { return begin_; }

private:
    void find_begins();

    std::vector<std::uint16_t> of_row_;
    std::size_t n_classes_;
    std::vector<std::size_t> begin_;
};

// Optional factors in [0, 1] that multiply the gradient of each row; without them all are 1.
class RowFactors {
public:
    // `factors`: shape (n_rows,), or nullopt. A worker without rows passes an empty vector if the others have factors.
    RowFactors(std::optional<std::vector<double>> factors, std::size_t n_rows);

    // factors[i] = shares[i] * of_group[group of i], both in [0, 1].
    void replace(const double* shares, const RowGroups& groups, const double* of_group, int n_threads);

    bool given() const { return given_; }
    double operator[](std::size_t row) const { return given_ ? factors_[row] : 1.0; }

private:
    bool given_;
    std::vector<double> factors_;
};

class Weighting {
public:
    virtual ~Weighting() = default;
    Weighting(const Weighting&) = delete;
    Weighting& operator=(const Weighting&) = delete;

    std::size_t n_rows() const { return weights_->n_rows(); }
    const RowWeights& row_weights() const { return *weights_; }
    double total_weight() const { return weights_->total(); }
    const Collective& collective() const { return weights_->collective(); }
    // Hash of each row's bin codes and class (or targets), shape (n_rows,): the key of row sampling, equal for equal rows.
    virtual std::vector<std::uint64_t> row_hashes(const BinnedData& data, int n_threads) const = 0;

protected:
    explicit Weighting(const RowWeights& weights) : weights_(&weights) {}

private:
    const RowWeights* weights_;
};

// Total of the growth weights, the integer weights in histograms. They are quantized per unit of sample weight and then
// multiplied by it, so that a row of weight k equals k rows of weight 1.
constexpr double kGrowthScale = 1073741824.0;  // 2^30

// Weighting for classification: hypotheses predict classes. Array arguments of methods have one entry per row of this worker.
class AnswerWeighting : public Weighting {
public:
    std::size_t n_classes() const { return classes_->n_classes(); }
    const std::vector<std::uint16_t>& classes() const { return classes_->of_row(); }
    const std::vector<std::size_t>& class_begin() const { return classes_->begin(); }
    std::vector<std::uint64_t> row_hashes(const BinnedData& data, int n_threads) const override;

    // Growth weight of each row: D(i), with several classes the sum of D(i, y) over the wrong classes y, times the copies of
    // the row; scaled to a total of about kGrowthScale over all workers.
    const std::uint32_t* growth_weights() const { return growth_.data(); }

    // Channels of gains: one per class; with two classes only that of class 1, because g(i, 0) = -g(i, 1).
    std::size_t n_channels() const { return n_classes() == 2 ? 1 : n_classes(); }
    // sums[label * n_channels + k] = sum of g(i, k) over the rows i of all workers with that label.
    virtual void leaf_sums(const std::int32_t* label_of_row, std::size_t n_labels, int n_threads,
                           std::int64_t* sums) const = 0;
    // totals[label] = sum of g(i, class of i) over the same rows: the largest possible edge.
    virtual void leaf_totals(const std::int32_t* label_of_row, std::size_t n_labels, int n_threads,
                             std::int64_t* totals) const = 0;
    // Edge per unit of the integer gains.
    virtual double edge_unit() const = 0;
    // Gains times copies of the rows [begin, begin + count), shape (count, n_classes + 1); the last column is 0, for
    // abstention. `shrinking`: gains for a decreasing weight of the hypothesis, which differ where the loss has a kink
    // (Kuznetsov, Mohri and Syed, 2014, Multi-Class Deep Boosting, equation (27)).
    virtual void gains(std::size_t begin, std::size_t count, bool shrinking, std::int64_t* table) const = 0;
    // Integer edges (n_slots,): sum over all rows of g(i, predicted class), if real times prediction * kValueGrid.
    virtual void edge_sums(const HypothesisColumns& columns, bool shrinking, int n_threads, int128* sums) const;
    // The same for real predictions `values`, shape (n_hypotheses, n_rows): shape (n_hypotheses,) for MarginWeighting,
    // otherwise (n_hypotheses, n_classes), as if predictions were for each class.
    virtual std::vector<int128> value_edge_sums(const float* values, std::size_t n_hypotheses, int n_threads) const;
    // Edge of one hypothesis with a factor on each row, per group: sums[2 g] = sum of gain * prediction * factor over group
    // g, sums[2 g + 1] = sum of the absolute terms, in units of edge_unit() / kValueGrid (to which factors are rounded).
    virtual void group_edge_sums(const HypothesisColumns& columns, std::size_t slot, const double* factors,
                                 const RowGroups& groups, int n_threads, int128* sums) const;
    // True if g(i, k) is D(i) for the row's class and -D(i) for all others, so that growth weights suffice.
    virtual bool gains_follow_classes() const { return true; }
    // Otherwise g for one copy of each row, shape (n_rows, n_classes).
    virtual const std::int32_t* gradients() const { return nullptr; }
    // Number of copies of each row; null if all are 1 or if weights are factors, which are part of the gradients.
    const std::int64_t* copies() const { return row_weights().copies(); }

protected:
    AnswerWeighting(const RowWeights& weights, std::shared_ptr<const RowClasses> classes);

    // Growth weight of a row; `share`: the fraction of the total weight D that one copy of it has.
    std::uint32_t growth_weight(std::size_t row, double share) const;

    LargeArray<std::uint32_t> growth_;

    // `edge_sums` of the slots with leaf values, in units of edge_unit() / kValueGrid.
    void leaf_edge_sums(const HypothesisColumns& columns, int n_threads, int128* sums) const;

private:
    std::shared_ptr<const RowClasses> classes_;
};

}  // namespace radboost
