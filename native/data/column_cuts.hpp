// Where the columns of rows are cut into bins.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "data/row_blocks.hpp"
#include "core/collective.hpp"
#include "core/common.hpp"

namespace radboost {

struct ColumnCuts {
    std::vector<double> thresholds;  // ascending; none in a categorical column
    bool empty = false;              // nothing but missing values
};

// Arguments as those of bin_blocks (binning.hpp). Blocks are visited once, or once for every few hundred columns of wide
// rows; once more where drawn rows have fewer values of a column than there are bins for it. `sketched`: quantiles come from
// summaries of all rows (sketch.hpp), and not from rows that are drawn.
template <class T>
std::vector<ColumnCuts> cut_columns(const RowBlocks<T>& blocks, const double* weights, bool integer_weights,
                                    const std::int32_t* categories, int max_bins, int n_threads, InterruptCheck check,
                                    const Collective& collective, bool sketched);

constexpr std::size_t kQuantileRows = 262144;

}  // namespace radboost
