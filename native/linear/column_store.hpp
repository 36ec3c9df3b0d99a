// Read-only views of a design matrix, dense or CSC: `Store` of the solvers. Callers multiply by each column's scale factor.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/common.hpp"

namespace radboost {

// Partial sums of a dense dot product: a fixed number, so that every instruction set adds in the same order (equal bits).
constexpr std::size_t kLanes = 16;

// Both views have entries(column), the number of stored values, dot(column, vector), vector being of shape (n_rows,), and
// each(column, function), which calls function(row, value) for every stored value.
struct DenseColumns {
    const double* data;  // shape (n_columns, n_rows), row-major: a column is contiguous
    std::size_t n_rows, n_columns;
    RADBOOST_INLINE std::size_t entries(std::size_t) const { return n_rows; }
    RADBOOST_INLINE double dot(std::size_t column, const double* vector) const {
        const double* x = data + column * n_rows;
        double lanes[kLanes] = {};
        std::size_t i = 0;
        for (; i + kLanes <= n_rows; i += kLanes)
            for (std::size_t lane = 0; lane < kLanes; ++lane) lanes[lane] += x[i + lane] * vector[i + lane];
        double sum = 0.0;
        for (std::size_t lane = 0; lane < kLanes; ++lane) sum += lanes[lane];
        for (; i < n_rows; ++i) sum += x[i] * vector[i];
        return sum;
    }
    template <class Function>
    RADBOOST_INLINE void each(std::size_t column, Function&& function) const {
        const double* x = data + column * n_rows;
        for (std::size_t i = 0; i < n_rows; ++i) function(i, x[i]);
    }
};

// CSC with Value float or double; row indices ascend within a column, without duplicates.
template <class Value>
struct CompressedColumns {
    const std::int64_t* starts;  // SciPy's indptr, shape (n_columns + 1,)
    const std::int32_t* rows;    // SciPy's indices, shape (starts[n_columns],), as are values
    const Value* values;
    std::size_t n_rows, n_columns;

    RADBOOST_INLINE std::size_t entries(std::size_t column) const {
        return static_cast<std::size_t>(starts[column + 1] - starts[column]);
    }
    RADBOOST_INLINE double dot(std::size_t column, const double* vector) const {
        const std::int32_t* row = rows + starts[column];
        const Value* value = values + starts[column];
        const std::size_t n = entries(column);
        double first = 0.0, second = 0.0;
        std::size_t i = 0;
        for (; i + 2 <= n; i += 2) {
            first += static_cast<double>(value[i]) * vector[row[i]];
            second += static_cast<double>(value[i + 1]) * vector[row[i + 1]];
        }
        if (i < n) first += static_cast<double>(value[i]) * vector[row[i]];
        return first + second;
    }
    template <class Function>
    RADBOOST_INLINE void each(std::size_t column, Function&& function) const {
        const std::int32_t* row = rows + starts[column];
        const Value* value = values + starts[column];
        const std::size_t n = entries(column);
        for (std::size_t i = 0; i < n; ++i) function(static_cast<std::size_t>(row[i]), static_cast<double>(value[i]));
    }
    // Throws unless starts and row indices are valid; the caller checks the lengths of the arrays.
    void check() const {
        require(starts[0] == 0, "the first column must start at 0");
        for (std::size_t j = 0; j < n_columns; ++j) {
            require(starts[j] <= starts[j + 1], "the starts of the columns must ascend");
            for (std::int64_t i = starts[j]; i < starts[j + 1]; ++i) {
                require(rows[i] >= 0 && static_cast<std::size_t>(rows[i]) < n_rows, "a row number is out of range");
                require(i == starts[j] || rows[i - 1] < rows[i], "the row numbers of a column must ascend");
            }
        }
    }
};

}  // namespace radboost
