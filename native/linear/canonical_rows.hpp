// Row hashes, by which linear/columns.py sorts rows so that results do not depend on their order, and columns so sorted.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/matrix_view.hpp"

namespace radboost {

// Adds the hash of each row to out, shape (n_rows,): sum_j mix(bits of X[i, j], first + j + 1) modulo 2^64 over cells not 0,
// so that dense and sparse rows have equal hashes. first: index of X[:, 0] in the whole row, which may be hashed in parts.
template <class T>
void hash_dense_rows(MatrixView<T> X, std::size_t first, int n_threads, std::uint64_t* out);

// The same for all columns, in CSR or, if by_column, CSC: SciPy's indptr, shape (n_lines + 1,), indices and data.
template <class T>
void hash_compressed(const std::int64_t* starts, const std::int32_t* indices, const T* values, std::size_t n_lines,
                     bool by_column, int n_threads, std::uint64_t* out);

// out[j, i] = X[rows[i], j] for i < n_rows, the length of `rows`; out has shape (n_columns, n_rows).
template <class T>
void gather_columns(MatrixView<T> X, const std::int64_t* rows, std::size_t n_rows, int n_threads, double* out);

// Converts CSR to CSC; row i < n_rows is input row rows[i]. column_starts, _rows, _values: the result's indptr, indices, data.
template <class T>
void compress_columns(const std::int64_t* starts, const std::int32_t* indices, const T* values,
                      const std::int64_t* rows, std::size_t n_rows, std::size_t n_columns, int n_threads,
                      std::int64_t* column_starts, std::int32_t* column_rows, T* column_values);

// If `centre`, subtracts centres[j] = sum_i w_i x_ji, j < n_columns, in place, else centres[j] = 0. Then
// sums_of_squares[j] = sum_i w_i x_ji^2. columns x: (n_columns, n_rows); weights w: (n_rows,), must sum to 1.
void centre_columns(double* columns, std::size_t n_columns, std::size_t n_rows, const double* weights, bool centre,
                    int n_threads, double* centres, double* sums_of_squares);

}  // namespace radboost
