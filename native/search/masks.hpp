// Sets of rows as bits, 64 rows in a word, and what a search with drawn thresholds asks of them.
//
// Reading every code of a column with the others masked out beats picking codes out one by one as long as a few percent of
// the rows are wanted. Every kernel is written twice, in plain C++ and for AVX-512 (with VBMI2); which of them runs is decided
// by the processor, and both give the same.
#pragma once

#include <cstddef>
#include <cstdint>

#include "search/code_range.hpp"

namespace radboost {

using MaskWord = std::uint64_t;
constexpr std::size_t kWordRows = 64;

inline std::size_t words_for(std::size_t n_rows) { return (n_rows + kWordRows - 1) / kWordRows; }

// Whether this processor has AVX-512 with VBMI2; RADBOOST_INSTRUCTION_SET can hide it (see processor.cpp).
bool has_fast_masks();

// In all of these, bit b of mask[w] stands for row 64 w + b of the array beside it. Rows out of the mask do not matter, and
// those after the last of the mask are not read: the array may end there.

// Of the masked codes; missing_code is -1 where the column has none. All codes are known to lie in `bounds`: the search
// ends when it has reached them, which with many rows is soon.
CodeRange masked_range(const std::uint8_t* codes, const MaskWord* mask, std::size_t n_words, int missing_code,
                       const CodeRange& bounds);

struct ColumnCut {
    const std::uint8_t* codes;
    std::uint8_t bin;
};

// sums[k] = the weight of the masked rows whose code in column k is at most its bin.
void masked_sums(const ColumnCut* cuts, std::size_t n_cuts, const std::uint32_t* weights, const MaskWord* mask,
                 std::size_t n_words, std::uint32_t* sums);
// The weight of the masked rows with this code.
std::uint32_t masked_sum_of_code(const std::uint8_t* codes, std::uint8_t code, const std::uint32_t* weights,
                                 const MaskWord* mask, std::size_t n_words);

// Rows with a code up to `bin`, or equal to `left_code` (-1: none), go left. Returns how many.
std::size_t split_mask(const std::uint8_t* codes, std::uint8_t bin, int left_code, const MaskWord* mask,
                       std::size_t n_words, MaskWord* left, MaskWord* right);

std::size_t count_rows(const MaskWord* mask, std::size_t n_words);

// The masked entries one after the other; `count` of them.
void pack(const std::uint8_t* from, const MaskWord* mask, std::size_t n_words, std::uint8_t* to, std::size_t count);
void pack(const std::uint32_t* from, const MaskWord* mask, std::size_t n_words, std::uint32_t* to, std::size_t count);
// The same for the numbers first, first + 1, ...
void pack_numbers(std::uint32_t first, const MaskWord* mask, std::size_t n_words, std::uint32_t* to, std::size_t count);

struct RowSplit {
    std::size_t left = 0, missing = 0;
};

// Writes the rows whose code is at most `bin`, or equal to `left_code` (-1: none), to `left` and the others to `right`, both
// in their order. The rows are rows[0 .. n - 1], or first, first + 1, ... where `rows` is null; `left` may be where `rows`
// is. Also counts the codes equal to missing_code.
RowSplit split_rows(const std::uint8_t* codes, std::uint8_t bin, int left_code, int missing_code,
                    const std::uint32_t* rows, std::uint32_t first, std::size_t n, std::uint32_t* left,
                    std::uint32_t* right);

// The kernels in plain C++: for processors without AVX-512, and for the tests as the oracle of the others.
namespace portable {

CodeRange masked_range(const std::uint8_t* codes, const MaskWord* mask, std::size_t n_words, int missing_code,
                       const CodeRange& bounds);
void masked_sums(const ColumnCut* cuts, std::size_t n_cuts, const std::uint32_t* weights, const MaskWord* mask,
                 std::size_t n_words, std::uint32_t* sums);
std::uint32_t masked_sum_of_code(const std::uint8_t* codes, std::uint8_t code, const std::uint32_t* weights,
                                 const MaskWord* mask, std::size_t n_words);
std::size_t split_mask(const std::uint8_t* codes, std::uint8_t bin, int left_code, const MaskWord* mask,
                       std::size_t n_words, MaskWord* left, MaskWord* right);
std::size_t count_rows(const MaskWord* mask, std::size_t n_words);
void pack(const std::uint8_t* from, const MaskWord* mask, std::size_t n_words, std::uint8_t* to, std::size_t count);
void pack(const std::uint32_t* from, const MaskWord* mask, std::size_t n_words, std::uint32_t* to, std::size_t count);
void pack_numbers(std::uint32_t first, const MaskWord* mask, std::size_t n_words, std::uint32_t* to, std::size_t count);
RowSplit split_rows(const std::uint8_t* codes, std::uint8_t bin, int left_code, int missing_code,
                    const std::uint32_t* rows, std::uint32_t first, std::size_t n, std::uint32_t* left,
                    std::uint32_t* right);

}  // namespace portable

}  // namespace radboost
