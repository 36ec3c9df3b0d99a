// The histograms of a node as words that several workers add up.
//
// The sums of the classes have 32 bits each, also over the rows of all workers: the growth weights of all rows come to about
// kGrowthScale, and rounding at most doubles that. So two of them share a word of 64 bits, and adding words adds both.
// Channels and sample weights have a word each. The slots that a column does not use are left out.
#pragma once

#include <cstddef>
#include <cstdint>

#include "data/binning.hpp"
#include "search/statistics.hpp"

namespace radboost {

std::size_t n_words(const BinnedData& data, const NodeHistograms& histograms);
void write_words(const BinnedData& data, const NodeHistograms& histograms, std::int64_t* words);
// `shape`: histograms of the same kind as those that were written.
void read_words(const BinnedData& data, const std::int64_t* words, const NodeHistograms& shape, NodeHistograms& out);

}  // namespace radboost
