// GrowthTarget: interface of the growers to what a tree is fitted to, classes (AnswerWeighting) or gradients.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "growth/grown_tree.hpp"
#include "rows/gradient_scores.hpp"
#include "rows/row_weights.hpp"
#include "rows/weighting.hpp"
#include "search/statistics.hpp"

namespace radboost {

// Sample weights of this worker's rows as integers ("masses").
struct RowMasses {
    std::vector<std::int64_t> of_row;  // empty: all 1
    std::int64_t minimum = 0;  // minimum mass of a child, if the search must check it (SplitSearch); otherwise 0

    std::int64_t of(std::size_t row) const { return of_row.empty() ? 1 : of_row[row]; }
    std::int64_t sum(const RowSet& rows) const;
};

class GrowthTarget {
public:
    virtual ~GrowthTarget() = default;

    virtual const RowWeights& row_weights() const = 0;
    virtual std::size_t n_rows() const = 0;
    // Fills the masses and returns their scale, the mass of a sample weight of 1.
    virtual double read_masses(double minimum_leaf_weight, RowMasses& masses) = 0;
    // Hash of each row's codes and class or targets, shape (n_rows,).
    virtual std::vector<std::uint64_t> row_hashes(const BinnedData& data, int n_threads) const = 0;
    virtual std::unique_ptr<NodeStatistics> make_statistics(const BinnedData& data) const = 0;
    // The weighting of a classification target; null for gradients.
    virtual const AnswerWeighting* classes() const { return nullptr; }
    // True if there are monotone constraints.
    virtual bool monotone() const = 0;

    // Number of sums per node (GrownTree::sums).
    virtual std::size_t n_channels() const = 0;
    // GrownTree::sums by label, shape (n_labels, n_channels), over the rows of all workers.
    virtual void leaf_sums(const std::int32_t* label_of_row, std::size_t n_labels, int n_threads,
                           std::int64_t* sums) const = 0;
    // The same for one leaf that was grown on all rows, from Node::sums. Returns false if they do not suffice.
    virtual bool read_sums(const Node& leaf, std::int64_t* sums) const = 0;
    // True if the last channel is the mass.
    virtual bool sums_end_with_mass() const = 0;
    // Calls tree.list_candidates, if candidates are chosen by edges.
    virtual void list_candidates(bool every_size, int n_threads, GrownTree& tree) const = 0;
};

// Classification target. Keeps a reference to the weighting. rated: see GrownTree; directions: see make_statistics.
std::unique_ptr<GrowthTarget> class_target(const AnswerWeighting& weighting, Criterion criterion, bool rated = false,
                                           std::vector<std::int8_t> directions = {});

// Regression target. Keeps references to both; directions: see make_variance_statistics.
std::unique_ptr<GrowthTarget> gradient_target(const GradientWeighting& weighting,
                                              const std::vector<std::int8_t>& directions);

}  // namespace radboost
