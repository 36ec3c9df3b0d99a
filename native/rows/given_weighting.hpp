// Weights that are handed in and change completely from tree to tree: there is no loss behind them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "rows/weighting.hpp"

namespace radboost {

// A classification problem: some rows of the data, in any order. The weights of all workers may sum to kGrowthScale at most,
// because histograms count in 32 bits. `counts` is what leaf minimums and covers are measured in; null: 1 for each row.
struct GivenRows {
    const std::uint32_t* rows;
    const std::uint16_t* classes;
    const std::uint32_t* weights;
    const double* counts;
    std::size_t size;
};

// An answer gains the weight of the rows that it is right about, so that leaves answer by weighted majority (with two classes
// what it is wrong about is taken off, which comes to the same).
class GivenWeighting : public AnswerWeighting {
public:
    GivenWeighting(std::size_t n_classes, const Collective& collective);

    // The rows of the problem, sorted by class.
    void take(const GivenRows& sorted);
    std::uint64_t total_growth() const { return total_growth_; }  // of all workers

    void leaf_sums(const std::int32_t* label_of_row, std::size_t n_labels, int n_threads,
                   std::int64_t* sums) const override;
    void leaf_totals(const std::int32_t* label_of_row, std::size_t n_labels, int n_threads,
                     std::int64_t* totals) const override;
    double edge_unit() const override { return 1.0 / static_cast<double>(total_growth_); }
    void gains(std::size_t begin, std::size_t count, bool shrinking, std::int64_t* table) const override;

private:
    // Held for the base class, which keeps references to both.
    struct Held {
        std::unique_ptr<RowWeights> weights;
        std::shared_ptr<RowClasses> classes;
    };
    explicit GivenWeighting(Held held);

    Held held_;
    std::uint64_t total_growth_ = 1;
};

}  // namespace radboost
