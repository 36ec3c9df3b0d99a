// BinnedData, the training matrix as uint8 bin codes (LightGBM's Dataset, XGBoost's QuantileDMatrix), and its construction.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "data/row_blocks.hpp"
#include "core/collective.hpp"
#include "core/common.hpp"
#include "core/large_array.hpp"
#include "core/matrix_view.hpp"

namespace radboost {

// Largest number of type T (float, double) that is at most t; so x <= t if and only if x <= result, for every x of type T.
template <class T>
inline T rounded_down(double t) {
    const T rounded = static_cast<T>(t);
    return static_cast<double>(rounded) > t ? std::nextafter(rounded, -std::numeric_limits<T>::infinity()) : rounded;
}

// Binned training rows. Column c has the ordinary codes 0 ... n_bins(c) - 1, n_bins(c) <= 255, and, if training data had
// missing values there, the code n_bins(c) for them. In a numeric column with thresholds t, code b means t[b - 1] < x <= t[b],
// without a bound below the first and above the last; in a categorical column codes are categories, and there is no t.
class BinnedData {
public:
    std::size_t n_rows = 0, n_columns = 0;
    LargeArray<std::uint8_t> by_column;  // codes, shape (n_columns, n_rows), row-major
    std::vector<double> thresholds;        // of all columns, concatenated; n_bins(c) - 1 per numeric column, ascending
    std::vector<std::size_t> first_threshold;  // n_columns + 1 offsets into `thresholds`
    std::vector<std::uint16_t> bin_counts;     // n_bins(c); the flags below are 0 or 1 per column
    std::vector<std::uint8_t> has_missing;
    std::vector<std::uint8_t> is_categorical;
    std::vector<std::uint32_t> slot_offsets;  // n_columns + 1: first histogram entry ("slot") of each column
    bool even_slots = false;                  // every column has 256 slots, used or not: offset = 256 c

    std::size_t n_bins(std::size_t column) const { return bin_counts[column]; }
    int missing_code(std::size_t column) const { return has_missing[column] ? bin_counts[column] : -1; }  // -1: none
    std::size_t n_slots() const { return slot_offsets[n_columns]; }
    double threshold(std::size_t column, std::size_t bin) const;  // largest value of the bin; infinity for the last one
    // Sets slot_offsets: 256 slots per column if three quarters of these are used, otherwise one per code of the column.
    void lay_out_slots();
    const std::uint8_t* column(std::size_t c) const { return by_column.data() + c * n_rows; }

    // Makes the row-major copy, shape (n_rows, n_columns), that `row` points into, unless it exists. Histograms, and routing
    // rows to child nodes, need it; many fits do not. Call it before `row` is used by several threads.
    void lay_out_rows(int n_threads) const;
    const std::uint8_t* row(std::size_t i) const { return by_row_.data() + i * n_columns; }

    // Hash h of each row's codes, shape (n_rows,), equal for equal rows: from h = 0, h = mix(h, word) for each word of
    // eight codes, the last one padded with zeros. It is a bijection: rows of at most eight columns never collide.
    std::vector<std::uint64_t> row_hashes(int n_threads) const;
    BinnedData subset(const std::int64_t* rows, std::size_t count) const;  // copy of the rows at these indices
    // Copy of the bins of the columns (thresholds, counts, slots), with zero rows.
    BinnedData without_rows() const;
    // Replaces the rows by rows[0 ... count - 1] of `from`, which must have the same columns and a row-major copy.
    void take_rows(const BinnedData& from, const std::uint32_t* rows, std::size_t count);
    // Concatenates the columns of the parts, which have the same number of rows.
    static BinnedData side_by_side(const std::vector<const BinnedData*>& parts);

private:
    mutable LargeArray<std::uint8_t> by_row_;
};

// Bins the rows of X. A numeric column gets min(max_bins, number of distinct values) bins at weighted quantiles (bin_ends.hpp);
// thresholds lie midway between neighboring distinct values. NaN is a missing value. Above 262,144 rows, the weights of
// values come from about 131,072 sampled rows, unless these have fewer distinct values of a column than bins are allowed.
// `weights`: shape (n_rows,), or null (every row counts once). integer_weights: all of them are integers.
// `order`: row i of the result is row order[i] of X; null: row i. Callers sort rows by class with it.
// `categories`: per column the number k of categories, with values 0 ... k - 1, or -1 if numeric; null: all are numeric.
// With several workers X has the rows of this one and the bins are those of all rows; all workers must call the function.
template <class T>
BinnedData bin_blocks(const RowBlocks<T>& X, const double* weights, bool integer_weights, const std::uint32_t* order,
                      const std::int32_t* categories, int max_bins, int n_threads, InterruptCheck check,
                      const Collective& collective = one_worker());

// The same for a matrix in memory.
template <class T>
BinnedData bin_matrix(const MatrixView<T>& X, const double* weights, bool integer_weights, const std::uint32_t* order,
                      const std::int32_t* categories, int max_bins, int n_threads, InterruptCheck check,
                      const Collective& collective = one_worker()) {
    return bin_blocks<T>(OneBlock<T>(X), weights, integer_weights, order, categories, max_bins, n_threads, check, collective);
}

}  // namespace radboost
