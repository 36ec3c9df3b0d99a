// Binning by approximate quantiles of all rows (sketches) instead of exact quantiles of a sample.
#pragma once

#include "data/binning.hpp"

namespace radboost {

// As bin_blocks, with quantiles from sketches (sketch.hpp). The rank error is at most (2 + ceil(log2 k)) / 8 times the weight
// of an average bin, k being the largest number of blocks of a worker. Bins depend on how rows are divided into blocks.
template <class T>
BinnedData bin_by_sketches(const RowBlocks<T>& X, const double* weights, bool integer_weights, const std::uint32_t* order,
                           const std::int32_t* categories, int max_bins, int n_threads, InterruptCheck check,
                           const Collective& collective = one_worker());

}  // namespace radboost
