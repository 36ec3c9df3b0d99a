// A matrix that is owned elsewhere, such as a NumPy array, with any strides.
#pragma once

#include <cstddef>
#include <cstdint>

namespace radboost {

// Strides in elements.
template <class T>
struct MatrixView {
    const T* data;
    std::size_t n_rows, n_columns;
    std::ptrdiff_t row_stride, column_stride;

    const T& at(std::size_t row, std::size_t column) const {
        return data[static_cast<std::ptrdiff_t>(row) * row_stride +
                    static_cast<std::ptrdiff_t>(column) * column_stride];
    }

    // out[i] = entry of the column in row rows[begin + i], or row begin + i if `rows` is null; i = 0 ... count - 1.
    template <class Index>
    void copy_column(std::size_t column, const Index* rows, std::size_t begin, std::size_t count, T* out) const {
        const T* const first = data + static_cast<std::ptrdiff_t>(column) * column_stride;
        if (rows != nullptr) {
            for (std::size_t i = 0; i < count; ++i)
                out[i] = first[static_cast<std::ptrdiff_t>(rows[begin + i]) * row_stride];
        } else {
            for (std::size_t i = 0; i < count; ++i)
                out[i] = first[static_cast<std::ptrdiff_t>(begin + i) * row_stride];
        }
    }
    void copy_column(std::size_t column, std::size_t begin, std::size_t count, T* out) const {
        copy_column(column, static_cast<const std::int64_t*>(nullptr), begin, count, out);
    }
};

// Rows per tile: a tile is read column by column while its cache lines stay in the first-level cache.
constexpr std::size_t kTileRows = 256;

}  // namespace radboost
