// Partition of a node's rows between its children, stable (the order of the rows is kept). Called by NodeGrower.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "data/binning.hpp"
#include "data/categories.hpp"
#include "search/histogram.hpp"

namespace radboost {

// The test of a split: codes <= bin (in a categorical column: in the set `left`) go left, missing values if missing_left.
struct Question {
    std::uint32_t column, bin;
    bool missing_left;
    CategorySet left;
};

// Numbers of rows that went left, and whose value is missing.
struct Partition {
    std::size_t left_count = 0;
    std::size_t missing_count = 0;
};

// Stable partition of the row indices to `out`, which may be rows.indices; `scratch` must have rows.count entries.
Partition partition_rows(const BinnedData& data, const Question& question, RowSet rows, std::uint32_t* out,
                         std::uint32_t* scratch, int n_threads);

// For the last layer: does not move rows, but sets leaf_of_row[row] to the label `left` or `right`.
Partition assign_children(const BinnedData& data, const Question& question, RowSet rows, std::int32_t left,
                          std::int32_t right, std::int32_t* leaf_of_row, int n_threads);

}  // namespace radboost
