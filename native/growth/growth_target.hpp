// What growing needs to know of a weighting, whichever it is: of classes, or of gradients.
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

// Sample weights of this worker's rows as integers: empty where every row has 1, which then stands for one row.
struct RowMasses {
    std::vector<std::int64_t> of_row;
    std::int64_t minimum = 0;  // asked of both children of a split, where the search compares masses; 0: no matter

    std::int64_t of(std::size_t row) const { return of_row.empty() ? 1 : of_row[row]; }
    std::int64_t sum(const RowSet& rows) const;
};

class GrowthTarget {
public:
    virtual ~GrowthTarget() = default;

    virtual const RowWeights& row_weights() const = 0;
    virtual std::size_t n_rows() const = 0;
    // Fills the masses, with the least mass of a leaf where the search has to look at it. Returns the mass that a sample
    // weight of 1 stands for.
    virtual double read_masses(double minimum_leaf_weight, RowMasses& masses) = 0;
    // Rows with the same codes and the same class or target have the same hash.
    virtual std::vector<std::uint64_t> row_hashes(const BinnedData& data, int n_threads) const = 0;
    virtual std::unique_ptr<NodeStatistics> make_statistics(const BinnedData& data) const = 0;
    // The classes, where there are any.
    virtual const AnswerWeighting* classes() const { return nullptr; }
    // Whether some columns are monotone.
    virtual bool monotone() const = 0;

    // The sums of a grown tree's nodes (GrownTree::sums).
    virtual std::size_t n_channels() const = 0;
    // sums[label * n_channels + k] over the rows of all workers with that label.
    virtual void leaf_sums(const std::int32_t* label_of_row, std::size_t n_labels, int n_threads,
                           std::int64_t* sums) const = 0;
    // The same for a leaf that was grown on all of its rows. Says whether the node's own sums tell that.
    virtual bool read_sums(const Node& leaf, std::int64_t* sums) const = 0;
    // Whether the last channel is the mass.
    virtual bool sums_end_with_mass() const = 0;
    virtual void list_candidates(bool every_size, int n_threads, GrownTree& tree) const = 0;
};

// Keeps a reference to the weighting, whose rows must be sorted by class.
// With `rated` leaves answer with numbers, and the last channel is what being right everywhere would gain. `directions` as in
// make_statistics.
std::unique_ptr<GrowthTarget> class_target(const AnswerWeighting& weighting, Criterion criterion, bool rated = false,
                                           std::vector<std::int8_t> directions = {});

// `directions` as in make_variance_statistics, which it outlives.
std::unique_ptr<GrowthTarget> gradient_target(const GradientWeighting& weighting,
                                              const std::vector<std::int8_t>& directions);

}  // namespace radboost
