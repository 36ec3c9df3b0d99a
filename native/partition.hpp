// Rows of a node sent to its children, in their order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "binning.hpp"

namespace radboost {

// Which side a code goes to. Missing values have the largest code of their column.
struct Question {
    std::uint32_t column, bin;
    bool missing_left;
};

struct Partition {
    std::size_t left_count = 0;
    std::size_t missing_count = 0;
};

// Rearranges `rows` so that those going left come first, both groups in their old order. `scratch` has room for all.
Partition partition_rows(const BinnedData& data, const Question& question, std::uint32_t* rows, std::size_t count,
                         std::uint32_t* scratch, int n_threads);

// Writes the child of each row instead of moving it: the last layer needs no more.
Partition assign_children(const BinnedData& data, const Question& question, const std::uint32_t* rows,
                          std::size_t count, std::int32_t left, std::int32_t right, std::int32_t* leaf_of_row,
                          int n_threads);

}  // namespace radboost
