// Lossless compression of int64 arrays, such as histograms, that workers send each other.
//
// Format: the count (8 bytes, little-endian), then blocks of 512 numbers. A block has a header byte, an optional bitmap of
// nonzero entries, and its entries (with a bitmap only the nonzero ones), all in the fewest bytes that hold each of them.
// Entries are the signed numbers, or their unsigned 32-bit halves, because histograms hold two class weights per word
// (search/histogram_words). Of these four forms the shortest is taken; a block of zeros is the header 0 alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace radboost {

std::vector<std::uint8_t> pack(const std::int64_t* numbers, std::size_t count);
// Adds the packed numbers to `sums` (length `count`), modulo 2^64. For other bytes or counts throws, `sums` then undefined.
void add_packed(const std::uint8_t* bytes, std::size_t size, std::int64_t* sums, std::size_t count);

}  // namespace radboost
