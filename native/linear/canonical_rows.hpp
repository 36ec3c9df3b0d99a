// Rows in an order that depends on their content alone, as columns.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/matrix_view.hpp"

namespace radboost {

// out[i] += the bits of the cells of row i, spread, times an odd number for each column. Zeros add nothing, so that a
// row has one hash whether it is dense or sparse. The columns count from `first`.
template <class T>
void hash_dense_rows(MatrixView<T> X, std::size_t first, int n_threads, std::uint64_t* out);

// The same for compressed rows (or columns, if `by_column`): `starts` has an entry per line and one more.
template <class T>
void hash_compressed(const std::int64_t* starts, const std::int32_t* places, const T* values, std::size_t n_lines,
                     bool by_column, int n_threads, std::uint64_t* out);

// out[j, i] = X[rows[i], j].
template <class T>
void gather_columns(MatrixView<T> X, const std::int64_t* rows, std::size_t n_rows, int n_threads, double* out);

// Compressed rows to compressed columns, with row rows[i] in place i. `column_starts` has n_columns + 1 entries.
template <class T>
void compress_columns(const std::int64_t* starts, const std::int32_t* places, const T* values,
                      const std::int64_t* rows, std::size_t n_rows, std::size_t n_columns, int n_threads,
                      std::int64_t* column_starts, std::int32_t* column_rows, T* column_values);

// Subtracts their weighted means from contiguous columns if `centre`; `centres` and `squares` become the means and what
// is left of the weighted squares.
void centre_columns(double* columns, std::size_t n_columns, std::size_t n_rows, const double* weights, bool centre,
                    int n_threads, double* centres, double* squares);

}  // namespace radboost
