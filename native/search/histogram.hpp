// Histograms: sums of row weights by column and bin code. A slot is the histogram entry of one code of one column.
#pragma once

#include <cstddef>
#include <cstdint>

#include "data/binning.hpp"

namespace radboost {

// Rows of a node: `indices` (count,), or rows 0 ... count - 1 if null.
struct RowSet {
    const std::uint32_t* indices;
    std::size_t count;

    std::size_t operator[](std::size_t i) const { return indices ? indices[i] : i; }
};

// Columns of a search: `indices` (count,), or columns 0 ... count - 1 if null.
struct ColumnSet {
    const std::uint32_t* indices;
    std::size_t count;

    std::size_t operator[](std::size_t k) const { return indices ? indices[k] : k; }
};

// Columns per pass over the rows: their histograms stay in the first- or second-level cache.
constexpr std::size_t kTileColumns = 64;
// Histogram updates (rows times columns) from which several threads are faster than one.
constexpr std::size_t kParallelUpdates = 60000;

// histogram[slot_offsets[c] + code of row in c] += weights[row] for rows[begin ... end - 1] and columns [first, last).
// histogram: shape (n_slots,); weights: shape (n_rows,), Weight is uint32 or int64.
template <class Weight>
void add_to_histogram(const BinnedData& data, RowSet rows, std::size_t begin, std::size_t end, std::size_t first,
                      std::size_t last, const Weight* weights, Weight* histogram);

// Subtracts rows[begin ... end - 1], all columns, from a histogram.
template <class Weight>
void remove_from_histogram(const BinnedData& data, RowSet rows, std::size_t begin, std::size_t end,
                           const Weight* weights, Weight* histogram);

}  // namespace radboost
