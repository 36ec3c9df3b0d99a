// Computes the thresholds of all columns, the first half of binning (binning.cpp); encode.hpp is the second.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "data/row_blocks.hpp"
#include "core/collective.hpp"
#include "core/common.hpp"

namespace radboost {

struct ColumnCuts {
    std::vector<double> thresholds;  // ascending, one fewer than bins; none in a categorical column
    bool empty = false;              // every value is missing
};

// Arguments as in bin_blocks (binning.hpp); returns one entry per column. `sketched`: quantiles come from summaries of all
// rows (sketch.hpp) instead of a sample. Each block is visited once per group of columns (for most tables one group has them
// all), and once more if the sample has fewer distinct values of a column than bins are allowed.
template <class T>
std::vector<ColumnCuts> cut_columns(const RowBlocks<T>& blocks, const double* weights, bool integer_weights,
                                    const std::int32_t* categories, int max_bins, int n_threads, InterruptCheck check,
                                    const Collective& collective, bool sketched);

constexpr std::size_t kQuantileRows = 262144;  // with more rows, about half as many are sampled for the quantiles

}  // namespace radboost
