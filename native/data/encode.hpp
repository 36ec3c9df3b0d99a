// Values into the codes of their bins.
#pragma once

#include "data/binning.hpp"

namespace radboost {

// Fills by_column and has_missing of `out`, whose columns are cut already. Row i is row order[i] of X (row i where
// `order` is null).
template <class T>
void encode_blocks(const RowBlocks<T>& X, const std::int64_t* order, BinnedData& out, int n_threads,
                   InterruptCheck check);

}  // namespace radboost
