// Rows of a node sent to its children, in their order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "data/binning.hpp"
#include "data/categories.hpp"
#include "search/histogram.hpp"

namespace radboost {

// Which side a code goes to: left up to `bin`, or where `left` has it in a categorical column. Missing values have the
// largest code of their column.
struct Question {
    std::uint32_t column, bin;
    bool missing_left;
    CategorySet left;
};

struct Partition {
    std::size_t left_count = 0;
    std::size_t missing_count = 0;
};

// Writes `rows` to `out` so that those going left come first, both groups in their old order. `out` may be where the rows
// already are; `scratch` has room for all.
Partition partition_rows(const BinnedData& data, const Question& question, RowSet rows, std::uint32_t* out,
                         std::uint32_t* scratch, int n_threads);

// Writes the child of each row instead of moving it: the last layer needs no more.
Partition assign_children(const BinnedData& data, const Question& question, RowSet rows, std::int32_t left,
                          std::int32_t right, std::int32_t* leaf_of_row, int n_threads);

}  // namespace radboost
