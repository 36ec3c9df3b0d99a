// Sets of rows as bit masks, 64 rows per word, and the kernels on them that LayerGrower needs for random thresholds.
// Reading all codes of a column and masking is faster than gathering the codes of selected rows if at least a few percent of
// the rows are selected. Every kernel exists in plain C++ and for AVX-512 with VBMI2, with equal results.
#pragma once

#include <cstddef>
#include <cstdint>

#include "search/code_range.hpp"

namespace radboost {

using MaskWord = std::uint64_t;
constexpr std::size_t kWordRows = 64;

inline std::size_t words_for(std::size_t n_rows) { return (n_rows + kWordRows - 1) / kWordRows; }

// True if this processor has AVX-512 with VBMI2; RADBOOST_INSTRUCTION_SET can hide it (see processor.cpp).
bool has_fast_masks();

// In all functions, bit b of mask[w], w < n_words, selects entry 64 w + b of the arrays `codes`, `weights` or `from`. Entries
// after the last selected one are not read: the array may end there.

// Range of the selected codes; missing_code: -1 if none. All codes must lie in `bounds`; stops when both bounds are seen.
CodeRange masked_range(const std::uint8_t* codes, const MaskWord* mask, std::size_t n_words, int missing_code,
                       const CodeRange& bounds);

// Codes of a column and a threshold: codes <= bin go left.
struct ColumnCut {
    const std::uint8_t* codes;
    std::uint8_t bin;
};

// sums[k] = total weight of the selected rows with cuts[k].codes <= cuts[k].bin.
void masked_sums(const ColumnCut* cuts, std::size_t n_cuts, const std::uint32_t* weights, const MaskWord* mask,
                 std::size_t n_words, std::uint32_t* sums);
// Total weight of the selected rows with this code.
std::uint32_t masked_sum_of_code(const std::uint8_t* codes, std::uint8_t code, const std::uint32_t* weights,
                                 const MaskWord* mask, std::size_t n_words);

// Divides the selected rows: `left` if code <= bin or code == left_code (-1: none), else `right`. Returns the size of `left`.
std::size_t split_mask(const std::uint8_t* codes, std::uint8_t bin, int left_code, const MaskWord* mask,
                       std::size_t n_words, MaskWord* left, MaskWord* right);

std::size_t count_rows(const MaskWord* mask, std::size_t n_words);

// Copies the selected entries contiguously to `to`; `count` must be their number.
void pack(const std::uint8_t* from, const MaskWord* mask, std::size_t n_words, std::uint8_t* to, std::size_t count);
void pack(const std::uint32_t* from, const MaskWord* mask, std::size_t n_words, std::uint32_t* to, std::size_t count);
// The same with from[i] = first + i.
void pack_numbers(std::uint32_t first, const MaskWord* mask, std::size_t n_words, std::uint32_t* to, std::size_t count);

// Numbers of rows that go left, and whose value is missing.
struct RowSplit {
    std::size_t left = 0, missing = 0;
};

// Stable partition of row indices: rows whose code is <= bin or equals left_code (-1: none) are written to `left`, the others
// to `right`. The rows are rows[0 ... n - 1], or first ... first + n - 1 if `rows` is null; `left` may be `rows`.
RowSplit split_rows(const std::uint8_t* codes, std::uint8_t bin, int left_code, int missing_code,
                    const std::uint32_t* rows, std::uint32_t first, std::size_t n, std::uint32_t* left,
                    std::uint32_t* right);

// The kernels in plain C++: for processors without AVX-512, and as the reference in tests.
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
