// Bins whose ends are known up to a small fraction of the rows.
#pragma once

#include "data/binning.hpp"

namespace radboost {

// As bin_blocks, but the bins come from summaries of all rows (sketch.hpp) in place of rows that are drawn: the weights of
// the values up to each are right up to (2 + ceil(log2 k)) / 8 of a bin of equal weight, k being the largest number of blocks
// of a worker. They depend on how the rows are divided into blocks, and not on their order.
template <class T>
BinnedData bin_by_sketches(const RowBlocks<T>& X, const double* weights, bool integer_weights, const std::int64_t* order,
                           const std::int32_t* categories, int max_bins, int n_threads, InterruptCheck check,
                           const Collective& collective = one_worker());

}  // namespace radboost
