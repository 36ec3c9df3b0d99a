// Serialization of a node's histograms to int64 words, whose sum over the workers is the histograms of all rows.
// Two class weights are packed into a word. Adding words adds both without carry: sums over all workers stay below 2^32, as
// growth weights have a total of about 2^30, which rounding at most doubles. Unused slots of columns are left out.
#pragma once

#include <cstddef>
#include <cstdint>

#include "data/binning.hpp"
#include "search/statistics.hpp"

namespace radboost {

// Number of words that `write_words` writes.
std::size_t n_words(const BinnedData& data, const NodeHistograms& histograms);
void write_words(const BinnedData& data, const NodeHistograms& histograms, std::int64_t* words);
// `shape`: histograms of the same sizes as those written; its values are not read.
void read_words(const BinnedData& data, const std::int64_t* words, const NodeHistograms& shape, NodeHistograms& out);

}  // namespace radboost
