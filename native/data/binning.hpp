// Columns cut into at most 255 bins and one more for missing values.
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

// The largest number of type T that is at most t: x <= t exactly when x <= this, for every x of type T.
template <class T>
inline T rounded_down(double t) {
    const T rounded = static_cast<T>(t);
    return static_cast<double>(rounded) > t ? std::nextafter(rounded, -std::numeric_limits<T>::infinity()) : rounded;
}

// The training rows as small integers. Column c has n_bins(c) ordinary codes 0, 1, ... and, where training saw missing
// values, the code n_bins(c) for them. A value belongs to the first bin whose threshold is at least the value; a
// categorical column holds its codes already and has no thresholds.
class BinnedData {
public:
    std::size_t n_rows = 0, n_columns = 0;
    LargeArray<std::uint8_t> by_column;  // column after column: what the partition and the masks read
    std::vector<double> thresholds;        // of all columns, one after the other
    std::vector<std::size_t> first_threshold;  // n_columns + 1
    std::vector<std::uint16_t> bin_counts;
    std::vector<std::uint8_t> has_missing;
    std::vector<std::uint8_t> is_categorical;
    std::vector<std::uint32_t> slot_offsets;  // n_columns + 1: where a column's histogram begins
    bool even_slots = false;                  // every column has 256 slots, used or not

    std::size_t n_bins(std::size_t column) const { return bin_counts[column]; }
    int missing_code(std::size_t column) const { return has_missing[column] ? bin_counts[column] : -1; }
    std::size_t n_slots() const { return slot_offsets[n_columns]; }
    double threshold(std::size_t column, std::size_t bin) const;
    // Columns of many bins get 256 slots each, so that a histogram's place needs no look-up (docs/decisions/native-core.md);
    // columns of few bins lie close together.
    void lay_out_slots();
    const std::uint8_t* column(std::size_t c) const { return by_column.data() + c * n_rows; }

    // The same row after row, for histograms and routing. Many fits do without: whoever reads `row` has it laid out first,
    // before threads start.
    void lay_out_rows(int n_threads) const;
    const std::uint8_t* row(std::size_t i) const { return by_row_.data() + i * n_columns; }
    // The rows [begin, end) row after row, without laying out all.
    void copy_rows(std::size_t begin, std::size_t end, std::uint8_t* out) const;

    // A hash of each row's codes and class: equal rows, equal hashes, whatever their position.
    std::vector<std::uint64_t> row_hashes(const std::uint16_t* classes, int n_threads) const;
    BinnedData subset(const std::int64_t* rows, std::size_t count) const;
    // The columns without any rows.
    BinnedData without_rows() const;
    // Takes the given rows of `from`, which has the same columns, in place of the present ones.
    void take_rows(const BinnedData& from, const std::uint32_t* rows, std::size_t count);
    // The same rows with the columns of all parts, in their order.
    static BinnedData side_by_side(const std::vector<const BinnedData*>& parts);

private:
    mutable LargeArray<std::uint8_t> by_row_;
};

// `weights` may be null (every row counts once). A column has min(max_bins, number of values) bins, as bin_ends.hpp divides
// them; thresholds lie midway between neighboring distinct values. Above 262,144 rows, weights of values are those of rows
// drawn by content, unless these have fewer values than there are bins. Row i of the result is row order[i] of X (row i where
// `order` is null). `categories` has the number of categories of each column, whose values are then 0, 1, ..., and -1 for a
// column of numbers; null: all columns are. With several workers X has the rows of this one, and the bins are those of all
// rows: every worker calls, with the same columns, type and max_bins.
template <class T>
BinnedData bin_blocks(const RowBlocks<T>& X, const double* weights, bool integer_weights, const std::int64_t* order,
                      const std::int32_t* categories, int max_bins, int n_threads, InterruptCheck check,
                      const Collective& collective = one_worker());

// The same of a matrix that is in memory.
template <class T>
BinnedData bin_matrix(const MatrixView<T>& X, const double* weights, bool integer_weights, const std::int64_t* order,
                      const std::int32_t* categories, int max_bins, int n_threads, InterruptCheck check,
                      const Collective& collective = one_worker()) {
    return bin_blocks<T>(OneBlock<T>(X), weights, integer_weights, order, categories, max_bins, n_threads, check, collective);
}

}  // namespace radboost
