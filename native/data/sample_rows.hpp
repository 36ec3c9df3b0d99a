// Rows for the quantiles of large data, drawn by a hash of their values: copies of a row enter together, so a weighted
// row and its repetitions give the same bins, and it does not matter which block or which worker has which rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/common.hpp"
#include "core/large_array.hpp"
#include "core/matrix_view.hpp"

namespace radboost {

// The rows whose values the quantiles are taken of, among those of a block.
struct SampleRows {
    bool all = true;
    std::vector<std::size_t> rows;  // where it is not all of them
    std::size_t size = 0;

    const std::size_t* places() const { return all ? nullptr : rows.data(); }
    std::size_t place(std::size_t i) const { return all ? i : rows[i]; }
};

template <class T>
RADBOOST_INLINE T without_negative_zero(T x) {
    return x == T(0) ? T(0) : x;
}

// The rows of a block whose hashes are below `limit`.
template <class T>
SampleRows draw_rows(const MatrixView<T>& X, std::uint64_t limit, int n_threads);

// Values of the sample's rows, column after column, for columns first ... last - 1. All columns of a row are taken at
// once: a column at a time each visit would fetch its cache line anew.
template <class T>
void gather_sample(const MatrixView<T>& X, const SampleRows& rows, std::size_t first, std::size_t last, int n_threads,
                   LargeArray<T>& out);

}  // namespace radboost
