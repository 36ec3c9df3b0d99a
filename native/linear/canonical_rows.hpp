// Hashes of rows, by which sparse boosting sorts them into a canonical order, and columns of the data in that order.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/matrix_view.hpp"

namespace radboost {

// out[i] += sum over columns j of (mixed bits of X[i, j]) * (odd number of column first + j), shape (n_rows,). Zeros add
// nothing, so that dense and sparse rows have equal hashes.
template <class T>
void hash_dense_rows(MatrixView<T> X, std::size_t first, int n_threads, std::uint64_t* out);

// The same for compressed rows (CSR; if by_column CSC). starts: shape (n_lines + 1,); places: column (row) of each entry.
template <class T>
void hash_compressed(const std::int64_t* starts, const std::int32_t* places, const T* values, std::size_t n_lines,
                     bool by_column, int n_threads, std::uint64_t* out);

// out[j, i] = X[rows[i], j]; out has shape (n_columns, n_rows).
template <class T>
void gather_columns(MatrixView<T> X, const std::int64_t* rows, std::size_t n_rows, int n_threads, double* out);

// Converts CSR (starts, places, values) to CSC, in which row i is row rows[i] of the input. column_starts: (n_columns + 1,).
template <class T>
void compress_columns(const std::int64_t* starts, const std::int32_t* places, const T* values,
                      const std::int64_t* rows, std::size_t n_rows, std::size_t n_columns, int n_threads,
                      std::int64_t* column_starts, std::int32_t* column_rows, T* column_values);

// If `centre`, subtracts from each column its weighted mean. columns: shape (n_columns, n_rows); centres: the means, or 0;
// squares: weighted sums of squares afterwards; both of shape (n_columns,).
void centre_columns(double* columns, std::size_t n_columns, std::size_t n_rows, const double* weights, bool centre,
                    int n_threads, double* centres, double* squares);

}  // namespace radboost
