// Second half of binning: replaces values by bin codes, given the thresholds (column_cuts.hpp). Called by binning.cpp.
#pragma once

#include "data/binning.hpp"

namespace radboost {

// Fills by_column and has_missing of `out`, whose thresholds and bin_counts are set. Row i is row order[i] (null: i) of X.
template <class T>
void encode_blocks(const RowBlocks<T>& X, const std::uint32_t* order, BinnedData& out, int n_threads,
                   InterruptCheck check);

}  // namespace radboost
