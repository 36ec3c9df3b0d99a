// Integers in few bytes, for the wire between workers.
//
// The numbers go in blocks of 512. A block has one byte that says how it is written, and then its entries, all in the fewest
// bytes that hold each of them; where many are zero, a bitmap comes first and only the others follow. The entries are the
// numbers, with their sign, or the two halves of 32 bits of each, without: class weights share words (search/histogram_words).
// Whichever way is the shortest is taken. Before the blocks stands the number of all numbers, in eight bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace radboost {

std::vector<std::uint8_t> pack(const std::int64_t* numbers, std::size_t count);
// Adds what was packed to `sums`, around the end of the 64 bits. Bytes that `pack` does not make, or another number of numbers,
// are an error; `sums` is of no use then.
void add_packed(const std::uint8_t* bytes, std::size_t size, std::int64_t* sums, std::size_t count);

}  // namespace radboost
