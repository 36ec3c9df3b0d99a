// Ordinary classification trees: rows, classes and weights are handed in, and change completely from tree to tree.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "growth/grower.hpp"
#include "growth/routing.hpp"

namespace radboost {

// A classification problem: some rows of the data, in any order. With several workers these are the rows of one of them, none
// perhaps. The weights may sum to kGrowthScale at most, because histograms count in 32 bits. `counts` is what leaf minimums and covers are measured in; null: 1 for each row.
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
    // Keeps a reference to the collective.
    GivenWeights(std::size_t n_classes, const Collective& workers);

    // The rows of the problem, sorted by class.
    void take(const GivenRows& sorted);
    std::int64_t total_growth() const { return total_growth_; }  // of all workers

    void leaf_sums(const std::int32_t* label_of_row, std::size_t n_labels, int n_threads,
                   std::int64_t* sums) const override;
    double edge_unit() const override { return 1.0 / static_cast<double>(total_growth_); }

private:
    const Collective& workers_;
    std::int64_t total_growth_ = 1;
};

// Grows trees on problems that share their columns. Rows are copied together first, so that a tree costs what its own rows
// cost. Several threads may grow at once: each borrows a workspace, and no result depends on which.
class WeightedTrees {
public:
    // Keeps references to `data` and to the workers that have rows of the problems.
    WeightedTrees(const BinnedData& data, std::size_t n_classes, const GrowthOptions& options,
                  const Collective& workers = one_worker());
    ~WeightedTrees();

    const BinnedData& data() const { return data_; }
    std::size_t n_classes() const { return n_classes_; }
    const Collective& workers() const { return workers_; }
    // `round` names the draws. A problem without weight is an error. With several workers all of them grow their parts of the
    // same problems in the same order, outside of the tasks of threads.
    AnsweringTree grow(const GivenRows& problem, std::uint64_t round, InterruptCheck check);

private:
    struct Workspace;
    std::unique_ptr<Workspace> borrow();
    void give_back(std::unique_ptr<Workspace> workspace);

    const BinnedData& data_;
    std::size_t n_classes_;
    GrowthOptions options_;
    const Collective& workers_;
    std::mutex mutex_;
    std::vector<std::unique_ptr<Workspace>> idle_;
};

}  // namespace radboost
