// What growing trees and judging hypotheses need to know of the training rows: classes, sample weights, and the weights
// that the objective puts on the rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/collective.hpp"
#include "core/common.hpp"
#include "core/large_array.hpp"

namespace radboost {

// The weights of one round enter the histograms as integers of about this total, quantised per unit of sample weight and
// then multiplied by the weight, so that a row of weight k and k rows of weight 1 add up to the same.
constexpr double kGrowthScale = 1073741824.0;  // 2^30
// From this sum of sample weights on a unit of weight is too small for 30 bits, and the product is quantised instead.
constexpr double kLargeWeight = 16777216.0;  // 2^24

class BoostingState {
public:
    virtual ~BoostingState() = default;
    BoostingState(const BoostingState&) = delete;
    BoostingState& operator=(const BoostingState&) = delete;

    // Who else has rows of this problem.
    const Collective& collective() const { return one_worker(); }
    std::size_t n_rows() const { return class_of_row_.size(); }
    std::size_t n_classes() const { return n_classes_; }
    const std::vector<std::uint16_t>& classes() const { return class_of_row_; }
    // The first row of each class and, last, n_rows; empty unless the rows are sorted by class.
    const std::vector<std::size_t>& class_begin() const { return class_begin_; }

    const std::vector<double>& weights() const { return weights_; }  // empty: every row counts once
    double total_weight() const { return total_weight_; }
    bool integer_weights() const { return integer_weights_; }
    // sum of w v, independent of the order of the rows.
    double weighted_sum(const double* values, int n_threads) const;

    // What the objective takes a row for: D(i), or the sum of D(i, y) over the wrong classes y. Their total is about
    // kGrowthScale; copies of a row are counted in.
    const std::uint32_t* growth_weights() const { return growth_.data(); }

    // An answer of class k gains g(i, k) at row i, so the edge of a hypothesis is the sum of g(i, answer). One channel
    // with two classes, for the second: the first has its negative. Otherwise one for each class.
    std::size_t n_channels() const { return n_classes_ == 2 ? 1 : n_classes_; }
    // sums[label * n_channels + k] = sum of g(i, k) over the rows i with that label.
    virtual void leaf_sums(const std::int32_t* label_of_row, std::size_t n_labels, int n_threads,
                           std::int64_t* sums) const = 0;
    // The edge that a sum of 1 stands for.
    virtual double edge_unit() const = 0;
    // g as n_rows x n_classes, before copies are counted; null where g(i, k) is D(i) for the row's own class and -D(i)
    // for every other, so that the growth weights tell all.
    virtual const std::int32_t* gradients() const { return nullptr; }
    // How often each row counts, where that is not once and not part of the gradients already; otherwise null.
    const std::int64_t* copies() const { return copies_.empty() ? nullptr : copies_.data(); }

protected:
    // `fold_large_weights`: beyond a sum of kLargeWeight integer weights are multiplied in before quantising as well.
    BoostingState(std::vector<std::uint16_t> class_of_row, std::size_t n_classes, std::vector<double> weights,
                  bool fold_large_weights);

    // Other rows take the place of the present ones; `weights` null: every row counts once.
    void replace_rows(const std::uint16_t* class_of_row, const double* weights, std::size_t n_rows);

    // A term as it enters a sum before the multiplication by an integer weight; other weights are multiplied in at once.
    double unit(std::size_t row, double value) const { return integer_weights_ ? value : value * weights_[row]; }
    bool repeats() const { return !copies_.empty(); }
    // The growth weight of a row whose share of the total is `share` before an integer weight is counted in.
    std::uint32_t growth_weight(std::size_t row, double share) const;

    LargeArray<std::uint32_t> growth_;

private:
    void count_rows();

    std::vector<std::uint16_t> class_of_row_;
    std::size_t n_classes_;
    std::vector<std::size_t> class_begin_;
    std::vector<double> weights_;
    std::vector<std::int64_t> copies_;
    bool fold_large_weights_;
    bool integer_weights_ = true;
    double total_weight_ = 0;
};

// Ranges of rows for the threads.
std::size_t row_parts(std::size_t n_rows, int n_threads);

}  // namespace radboost
