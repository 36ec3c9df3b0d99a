// What growing trees and judging hypotheses see of the training rows: integers, and nothing of the loss behind them.
//
// Scores know the loss and fill weightings; one vector of scores can fill several of them, each with factors of its own on
// the rows (several sources: D times Q(k | x) for each source k).
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

// The classes 0, 1, ... of the rows.
class RowClasses {
public:
    RowClasses(std::vector<std::uint16_t> of_row, std::size_t n_classes);
    void replace(const std::uint16_t* of_row, std::size_t n_rows);

    std::size_t n_rows() const { return of_row_.size(); }
    std::size_t n_classes() const { return n_classes_; }
    const std::vector<std::uint16_t>& of_row() const { return of_row_; }
    // The first row of each class and, last, n_rows; empty unless the rows are sorted by class.
    const std::vector<std::size_t>& begin() const { return begin_; }

private:
    void find_begins();

    std::vector<std::uint16_t> of_row_;
    std::size_t n_classes_;
    std::vector<std::size_t> begin_;
};

// Factors in [0, 1] on the rows, or none: every row has 1.
class RowFactors {
public:
    // A worker without rows has no factors either, and must still know whether there are any.
    RowFactors(std::optional<std::vector<double>> factors, std::size_t n_rows);

    // Others in their place: a fraction of each row times a number of its group.
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
    // Who else has rows of this problem.
    const Collective& collective() const { return weights_->collective(); }
    // A hash of each row's codes and of what it is to be distinguished by: equal rows, equal hashes, whatever their position.
    virtual std::vector<std::uint64_t> row_hashes(const BinnedData& data, int n_threads) const = 0;

protected:
    explicit Weighting(const RowWeights& weights) : weights_(&weights) {}

private:
    const RowWeights* weights_;
};

// The weights of one round enter the histograms as integers of about this total, quantized per unit of sample weight and
// then multiplied by the weight, so that a row of weight k and k rows of weight 1 add up to the same.
constexpr double kGrowthScale = 1073741824.0;  // 2^30

// A weighting of rows with classes, for hypotheses that answer with a class.
class AnswerWeighting : public Weighting {
public:
    std::size_t n_classes() const { return classes_->n_classes(); }
    const std::vector<std::uint16_t>& classes() const { return classes_->of_row(); }
    const std::vector<std::size_t>& class_begin() const { return classes_->begin(); }
    std::vector<std::uint64_t> row_hashes(const BinnedData& data, int n_threads) const override;

    // The weight of each row: D(i), or the sum of D(i, y) over the wrong classes y. The total over all rows is about
    // kGrowthScale; copies of a row are counted in.
    const std::uint32_t* growth_weights() const { return growth_.data(); }

    // An answer of class k gains g(i, k) at row i, so the edge of a hypothesis is the sum of g(i, answer). One channel
    // with two classes, for the second: the first has its negative. Otherwise one for each class.
    std::size_t n_channels() const { return n_classes() == 2 ? 1 : n_classes(); }
    // sums[label * n_channels + k] = sum of g(i, k) over the rows i of all workers with that label.
    virtual void leaf_sums(const std::int32_t* label_of_row, std::size_t n_labels, int n_threads,
                           std::int64_t* sums) const = 0;
    // totals[label] = sum of g(i, class of i) over the same rows: what being right everywhere gains.
    virtual void leaf_totals(const std::int32_t* label_of_row, std::size_t n_labels, int n_threads,
                             std::int64_t* totals) const = 0;
    // The edge that a sum of 1 stands for.
    virtual double edge_unit() const = 0;
    // What every answer gains in the rows [begin, begin + count), copies counted, and last the 0 of abstaining:
    // table[k * (n_classes + 1) + answer]. `shrinking`: the same seen from the left, which differs where the loss has a kink
    // (Multi-Class Deep Boosting, equation (27)).
    virtual void gains(std::size_t begin, std::size_t count, bool shrinking, std::int64_t* table) const = 0;
    // Edges as integers: sums[slot] is the sum over all rows of g(i, answer of the hypothesis there), times kValueGrid where
    // its predictions are real; 0 for empty slots.
    virtual void edge_sums(const HypothesisColumns& columns, bool shrinking, int n_threads, int128* sums) const;
    // The same for hypotheses that are given by their real predictions, a row of `values` each: n_channels sums for each.
    virtual void value_edge_sums(const float* values, std::size_t n_hypotheses, int n_threads, int128* sums) const;
    // The edge of one hypothesis, times a factor on each row, apart for each group of rows: sums[2 * group] in units of
    // edge_unit() / kValueGrid, and sums[2 * group + 1] of the absolute terms. Factors are multiples of 1 / kValueGrid where
    // the hypothesis votes, otherwise rounded with it.
    virtual void group_edge_sums(const HypothesisColumns& columns, std::size_t slot, const double* factors,
                                 const RowGroups& groups, int n_threads, int128* sums) const;
    // Whether g(i, k) is D(i) for the row's own class and -D(i) for every other, so that the growth weights tell all. The same
    // on every worker.
    virtual bool gains_follow_classes() const { return true; }
    // Otherwise: g as n_rows x n_classes, before copies are counted.
    virtual const std::int32_t* gradients() const { return nullptr; }
    // How often each row counts, where that is not once and not part of the gradients already; otherwise null.
    const std::int64_t* copies() const { return row_weights().copies(); }

protected:
    AnswerWeighting(const RowWeights& weights, std::shared_ptr<const RowClasses> classes);

    // The growth weight of a row whose fraction of the total is `share` before copies are counted in.
    std::uint32_t growth_weight(std::size_t row, double share) const;

    LargeArray<std::uint32_t> growth_;

    // The edges of slots with leaves, in units of edge_unit() / kValueGrid.
    void leaf_edge_sums(const HypothesisColumns& columns, int n_threads, int128* sums) const;

private:
    std::shared_ptr<const RowClasses> classes_;
};

}  // namespace radboost
