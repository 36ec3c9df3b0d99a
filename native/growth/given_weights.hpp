// Ordinary classification trees: rows, classes and weights are handed in, and change completely from tree to tree.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "growth/grower.hpp"
#include "predict/routing.hpp"

namespace radboost {

// A classification problem: some rows of the data, in any order. The weights may sum to kGrowthScale at most, because
// histograms count in 32 bits. `counts` is what leaf minimums and covers are measured in; null: 1 for each row.
struct GivenRows {
    const std::uint32_t* rows;
    const std::uint16_t* classes;
    const std::uint32_t* weights;
    const double* counts;
    std::size_t size;
};

// The state of such a problem: there is no loss behind its weights. An answer gains the weight of the rows that it is right
// about, so that leaves answer by weighted majority (with two classes what it is wrong about is taken off, which comes to
// the same).
class GivenWeights : public BoostingState {
public:
    explicit GivenWeights(std::size_t n_classes);

    // The rows of the problem, sorted by class.
    void take(const GivenRows& sorted);
    std::uint64_t total_growth() const { return total_growth_; }

    void leaf_sums(const std::int32_t* label_of_row, std::size_t n_labels, int n_threads,
                   std::int64_t* sums) const override;
    double edge_unit() const override { return 1.0 / static_cast<double>(total_growth_); }

private:
    std::uint64_t total_growth_ = 1;
};

// Grows trees on problems that share their columns. Rows are copied together first, so that a tree costs what its own rows
// cost. Several threads may grow at once: each borrows a workspace, and no result depends on which.
class WeightedTrees {
public:
    // Keeps a reference to `data`.
    WeightedTrees(const BinnedData& data, std::size_t n_classes, const GrowthOptions& options);
    ~WeightedTrees();

    const BinnedData& data() const { return data_; }
    std::size_t n_classes() const { return n_classes_; }
    // `round` names the draws. A problem without rows or without weight is an error.
    AnsweringTree grow(const GivenRows& problem, std::uint64_t round, InterruptCheck check);

private:
    struct Workspace;
    std::unique_ptr<Workspace> borrow();
    void give_back(std::unique_ptr<Workspace> workspace);

    const BinnedData& data_;
    std::size_t n_classes_;
    GrowthOptions options_;
    std::mutex mutex_;
    std::vector<std::unique_ptr<Workspace>> idle_;
};

}  // namespace radboost
