// Sampling of rows for the quantiles of large data. A row is drawn by a hash of its values, so copies of a row are drawn
// together: a row of weight k and k copies give the same bins, and the division into blocks and workers does not matter.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/common.hpp"
#include "core/large_array.hpp"
#include "core/matrix_view.hpp"

namespace radboost {

// The sampled rows of a block.
struct SampleRows {
    bool all = true;
    std::vector<std::size_t> rows;  // ascending indices, unless `all`
    std::size_t size = 0;

    const std::size_t* places() const { return all ? nullptr : rows.data(); }  // row indices; null: all rows
    std::size_t place(std::size_t i) const { return all ? i : rows[i]; }       // row index of sampled row i
};

template <class T>
RADBOOST_INLINE T without_negative_zero(T x) {
    return x == T(0) ? T(0) : x;
}

// The rows of a block whose 64-bit hash is below `limit`: a fraction limit / 2^64 of distinct rows.
template <class T>
SampleRows draw_rows(const MatrixView<T>& X, std::uint64_t limit, int n_threads);

// Copies the sampled rows of columns first ... last - 1 to `out`, shape (last - first, rows.size). Tiles of rows are copied
// with all columns, so that each cache line of a row-major X is fetched once.
template <class T>
void gather_sample(const MatrixView<T>& X, const SampleRows& rows, std::size_t first, std::size_t last, int n_threads,
                   LargeArray<T>& out);

}  // namespace radboost
