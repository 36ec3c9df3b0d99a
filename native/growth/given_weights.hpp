// Ordinary classification trees: rows, classes and weights are handed in, and change completely from tree to tree.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "growth/grower.hpp"
#include "growth/routing.hpp"
#include "rows/given_weighting.hpp"

namespace radboost {

// Grows trees on problems that share their columns. Rows are copied together first, so that a tree costs what its own rows
// cost. Several threads may grow at once: each borrows a workspace, and no result depends on which.
class WeightedTrees {
public:
    // Keeps references to `data` and to the collective whose workers have the other rows of the problems.
    WeightedTrees(const BinnedData& data, std::size_t n_classes, const GrowthOptions& options,
                  const Collective& collective = one_worker());
    ~WeightedTrees();

    const BinnedData& data() const { return data_; }
    std::size_t n_classes() const { return n_classes_; }
    const Collective& collective() const { return collective_; }
    // `round` names the draws. A problem without weight is an error. With several workers all of them grow their parts of the
    // same problems, in the same order and outside of the tasks of threads; a worker may have no rows of a problem.
    AnsweringTree grow(const GivenRows& problem, std::uint64_t round, InterruptCheck check);

private:
    struct Workspace;
    std::unique_ptr<Workspace> borrow();
    void give_back(std::unique_ptr<Workspace> workspace);

    const BinnedData& data_;
    std::size_t n_classes_;
    GrowthOptions options_;
    const Collective& collective_;
    std::mutex mutex_;
    std::vector<std::unique_ptr<Workspace>> idle_;
};

}  // namespace radboost
