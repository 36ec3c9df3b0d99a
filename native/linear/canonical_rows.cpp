#include "linear/canonical_rows.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

#include "linear/column_store.hpp"
#include "core/common.hpp"
#include "core/hashing.hpp"
#include "core/pool.hpp"

namespace radboost {
namespace {

constexpr std::size_t kTile = 64;
constexpr std::size_t kShares = 4;  // tasks of compress_columns, each for about a fourth of the entries

RADBOOST_INLINE std::uint64_t cell_hash(double value, std::size_t column) {
    value += 0.0;  // -0.0 is 0.0
    std::uint64_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    return bits ? mix(bits, column + 1) : 0;
}

RADBOOST_CLONES void hash_column(const double* x, std::size_t count, std::size_t column, std::uint64_t* out) {
    for (std::size_t i = 0; i < count; ++i) out[i] += cell_hash(x[i], column);
}

RADBOOST_CLONES void centre_column(double* column, std::size_t n_rows, const double* weights, bool centre,
                                   double* mean, double* square) {
    *mean = 0.0;
    if (centre) {
        *mean = DenseColumns{column, n_rows, 1}.dot(0, weights);
        for (std::size_t i = 0; i < n_rows; ++i) column[i] -= *mean;
    }
    double lanes[kLanes] = {};
    std::size_t i = 0;
    for (; i + kLanes <= n_rows; i += kLanes)
        for (std::size_t lane = 0; lane < kLanes; ++lane)
            lanes[lane] += column[i + lane] * column[i + lane] * weights[i + lane];
    double sum = 0.0;
    for (std::size_t lane = 0; lane < kLanes; ++lane) sum += lanes[lane];
    for (; i < n_rows; ++i) sum += column[i] * column[i] * weights[i];
    *square = sum;
}

}  // namespace

template <class T>
void hash_dense_rows(MatrixView<T> X, std::size_t first, int n_threads, std::uint64_t* out) {
    parallel_for(n_threads, (X.n_rows + kTileRows - 1) / kTileRows, [&](std::size_t task) {
        double x[kTileRows];
        const std::size_t begin = task * kTileRows, count = std::min(kTileRows, X.n_rows - begin);
        for (std::size_t j = 0; j < X.n_columns; ++j) {
            for (std::size_t i = 0; i < count; ++i) x[i] = static_cast<double>(X.at(begin + i, j));
            hash_column(x, count, first + j, out + begin);
        }
    });
}

template <class T>
void hash_compressed(const std::int64_t* starts, const std::int32_t* indices, const T* values, std::size_t n_lines,
                     bool by_column, int n_threads, std::uint64_t* out) {
    if (by_column) {
        for (std::size_t line = 0; line < n_lines; ++line)
            for (std::int64_t at = starts[line]; at < starts[line + 1]; ++at)
                out[indices[at]] += cell_hash(static_cast<double>(values[at]), line);
        return;
    }
    parallel_for(n_threads, (n_lines + kTileRows - 1) / kTileRows, [&](std::size_t task) {
        for (std::size_t line = task * kTileRows; line < std::min(n_lines, (task + 1) * kTileRows); ++line)
            for (std::int64_t at = starts[line]; at < starts[line + 1]; ++at)
                out[line] += cell_hash(static_cast<double>(values[at]), static_cast<std::size_t>(indices[at]));
    });
}

template <class T>
void gather_columns(MatrixView<T> X, const std::int64_t* rows, std::size_t n_rows, int n_threads, double* out) {
    const std::size_t tiles = (n_rows + kTile - 1) / kTile;
    parallel_for(n_threads, tiles, [&](std::size_t tile) {
        const std::size_t begin = tile * kTile, end = std::min(n_rows, begin + kTile);
        for (std::size_t left = 0; left < X.n_columns; left += kTile) {
            const std::size_t right = std::min(X.n_columns, left + kTile);
            double block[kTile][kTile];  // transposed within the first-level cache
            for (std::size_t i = begin; i < end; ++i)
                for (std::size_t j = left; j < right; ++j)
                    block[j - left][i - begin] = static_cast<double>(X.at(static_cast<std::size_t>(rows[i]), j));
            for (std::size_t j = left; j < right; ++j)
                std::copy(block[j - left], block[j - left] + (end - begin), out + j * n_rows + begin);
        }
    });
}

template <class T>
void compress_columns(const std::int64_t* starts, const std::int32_t* indices, const T* values,
                      const std::int64_t* rows, std::size_t n_rows, std::size_t n_columns,
                      int n_threads, std::int64_t* column_starts, std::int32_t* column_rows, T* column_values) {
    std::fill(column_starts, column_starts + n_columns + 1, std::int64_t{0});
    for (std::size_t i = 0; i < n_rows; ++i)
        for (std::int64_t at = starts[rows[i]]; at < starts[rows[i] + 1]; ++at) ++column_starts[indices[at] + 1];
    for (std::size_t j = 0; j < n_columns; ++j) column_starts[j + 1] += column_starts[j];
    std::vector<std::int64_t> next(column_starts, column_starts + n_columns);
    // Each task reads all entries and writes those of its own range of columns, which stay in the cache.
    const std::int64_t n_entries = column_starts[n_columns];
    parallel_for(n_threads, kShares, [&](std::size_t share) {
        const auto bound = [&](std::size_t part) {
            const auto entry = static_cast<std::int64_t>(range_begin(static_cast<std::size_t>(n_entries), kShares, part));
            return std::lower_bound(column_starts, column_starts + n_columns, entry) - column_starts;
        };
        const std::ptrdiff_t first = bound(share);
        const std::ptrdiff_t last = share + 1 == kShares ? static_cast<std::ptrdiff_t>(n_columns) : bound(share + 1);
        for (std::size_t i = 0; i < n_rows; ++i)
            for (std::int64_t at = starts[rows[i]]; at < starts[rows[i] + 1]; ++at) {
                if (indices[at] < first || indices[at] >= last) continue;
                const std::int64_t to = next[static_cast<std::size_t>(indices[at])]++;
                column_rows[to] = static_cast<std::int32_t>(i);
                column_values[to] = values[at];
            }
    });
}

void centre_columns(double* columns, std::size_t n_columns, std::size_t n_rows, const double* weights, bool centre,
                    int n_threads, double* centres, double* sums_of_squares) {
    parallel_for(n_threads, n_columns, [&](std::size_t j) {
        centre_column(columns + j * n_rows, n_rows, weights, centre, centres + j, sums_of_squares + j);
    });
}

#define RADBOOST_VALUES(T)                                                                                             \
    template void hash_dense_rows(MatrixView<T>, std::size_t, int, std::uint64_t*);                                    \
    template void hash_compressed(const std::int64_t*, const std::int32_t*, const T*, std::size_t, bool, int,          \
                                  std::uint64_t*);                                                                     \
    template void gather_columns(MatrixView<T>, const std::int64_t*, std::size_t, int, double*);                       \
    template void compress_columns(const std::int64_t*, const std::int32_t*, const T*, const std::int64_t*,            \
                                   std::size_t, std::size_t, int, std::int64_t*, std::int32_t*, T*);
RADBOOST_VALUES(float)
RADBOOST_VALUES(double)
#undef RADBOOST_VALUES

}  // namespace radboost
