#include "data/sample_rows.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/hashing.hpp"
#include "core/pool.hpp"

namespace radboost {
namespace {

// Updates the hashes of `count` rows by their values x in one more column. Equal numbers hash equally: as double, -0.0
// as 0.0, NaNs alike. Inlined into both hash_column, which are compiled for each instruction set (core/compiler.hpp).
template <class T>
RADBOOST_INLINE void hash_values(const T* x, std::size_t count, std::uint64_t* hashes) {
    for (std::size_t i = 0; i < count; ++i) {
        const double wide = without_negative_zero(x[i]);
        std::uint64_t bits;
        std::memcpy(&bits, &wide, sizeof bits);
        bits = wide == wide ? bits : 0x7ff8000000000000ULL;  // a quiet NaN
        const std::uint64_t hash = (hashes[i] ^ bits) * 0x9e3779b97f4a7c15ULL;  // 2^64 / golden ratio, odd
        hashes[i] = hash ^ (hash >> 32);
    }
}

RADBOOST_CLONES void hash_column(const float* x, std::size_t count, std::uint64_t* hashes) {
    hash_values(x, count, hashes);
}
RADBOOST_CLONES void hash_column(const double* x, std::size_t count, std::uint64_t* hashes) {
    hash_values(x, count, hashes);
}

}  // namespace

template <class T>
SampleRows draw_rows(const MatrixView<T>& X, std::uint64_t limit, int n_threads) {
    std::vector<std::uint8_t> drawn(X.n_rows);  // flags; bytes, as threads write neighbors
    const std::size_t tiles = (X.n_rows + kTileRows - 1) / kTileRows;
    parallel_for(n_threads, tiles, [&](std::size_t tile) {
        const std::size_t begin = tile * kTileRows, size = std::min(kTileRows, X.n_rows - begin);
        T x[kTileRows];
        std::uint64_t hashes[kTileRows] = {};
        for (std::size_t column = 0; column < X.n_columns; ++column) {
            X.copy_column(column, begin, size, x);
            hash_column(x, size, hashes);
        }
        for (std::size_t i = 0; i < size; ++i) drawn[begin + i] = mix(hashes[i]) < limit;  // mix: uniform 64 bits
    });
    SampleRows sample;
    sample.all = false;
    for (std::size_t row = 0; row < X.n_rows; ++row)
        if (drawn[row]) sample.rows.push_back(row);
    sample.size = sample.rows.size();
    return sample;
}

template <class T>
void gather_sample(const MatrixView<T>& X, const SampleRows& rows, std::size_t first, std::size_t last, int n_threads,
                   LargeArray<T>& out) {
    const std::size_t size = rows.size;
    out.resize((last - first) * size);
    const std::size_t tiles = (size + kTileRows - 1) / kTileRows;
    parallel_for(n_threads, tiles, [&](std::size_t tile) {
        const std::size_t begin = tile * kTileRows, count = std::min(kTileRows, size - begin);
        for (std::size_t c = first; c < last; ++c)
            X.copy_column(c, rows.places(), begin, count, out.data() + (c - first) * size + begin);
    });
}

template SampleRows draw_rows<float>(const MatrixView<float>&, std::uint64_t, int);
template SampleRows draw_rows<double>(const MatrixView<double>&, std::uint64_t, int);
template void gather_sample<float>(const MatrixView<float>&, const SampleRows&, std::size_t, std::size_t, int,
                                   LargeArray<float>&);
template void gather_sample<double>(const MatrixView<double>&, const SampleRows&, std::size_t, std::size_t, int,
                                    LargeArray<double>&);

}  // namespace radboost
