// Classification trees on rows, classes and weights that the caller supplies for each tree, as in soft-max boosting or SAMME.
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

// Grows trees on subsets of the rows of one data set. The rows of a problem are copied first, so that a tree's cost depends
// on its own rows only. Several threads may call `grow` at once; each borrows a workspace.
class WeightedTrees {
public:
    // Keeps references to `data` and to the collective, whose workers have the other rows of the problems.
    WeightedTrees(const BinnedData& data, std::size_t n_classes, const GrowthOptions& options,
                  const Collective& collective = one_worker());
    ~WeightedTrees();

    const BinnedData& data() const { return data_; }
    std::size_t n_classes() const { return n_classes_; }
    const Collective& collective() const { return collective_; }
    // Grows one tree; `round` is part of the key of random draws. Throws if all weights are 0. With several workers all must
    // call it for the same problems in the same order (even without rows), and not from tasks of the thread pool.
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
