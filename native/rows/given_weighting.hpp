// Weighting for trees on weights that the caller supplies for each tree: soft-max boosting, AdaBoost.MH, SAMME, MartiBoost.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "rows/weighting.hpp"

namespace radboost {

// A weighted classification problem on some rows of the data, in any order; arrays of length `size`.
struct GivenRows {
    const std::uint32_t* rows;  // row indices
    const std::uint16_t* classes;
    const std::uint32_t* weights;  // sum over all workers at most kGrowthScale, because histograms have 32 bits
    const double* counts;          // sample weights, for leaf minimums and covers; null: all 1
    std::size_t size;
};

// Gain of predicting class k in row i: weight(i) if k is its class, otherwise 0 (two classes: -weight(i)).
class GivenWeighting : public AnswerWeighting {
public:
    GivenWeighting(std::size_t n_classes, const Collective& collective);

    // Sets the rows of the problem, which must be sorted by class.
    void take(const GivenRows& sorted);
    std::uint64_t total_growth() const { return total_growth_; }  // of all workers

    void leaf_sums(const std::int32_t* label_of_row, std::size_t n_labels, int n_threads,
                   std::int64_t* sums) const override;
    void leaf_totals(const std::int32_t* label_of_row, std::size_t n_labels, int n_threads,
                     std::int64_t* totals) const override;
    double edge_unit() const override { return 1.0 / static_cast<double>(total_growth_); }
    void gains(std::size_t begin, std::size_t count, bool shrinking, std::int64_t* table) const override;

private:
    // Owned here because the base class keeps references to both.
    struct Held {
        std::unique_ptr<RowWeights> weights;
        std::shared_ptr<RowClasses> classes;
    };
    explicit GivenWeighting(Held held);

    Held held_;
    std::uint64_t total_growth_ = 1;
};

}  // namespace radboost
