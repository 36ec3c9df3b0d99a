// Sums of row weights per column and bin.
#pragma once

#include <cstddef>
#include <cstdint>

#include "data/binning.hpp"

namespace radboost {

// Rows of a node: `indices` null means the rows 0 .. count - 1.
struct RowSet {
    const std::uint32_t* indices;
    std::size_t count;

    std::size_t operator[](std::size_t i) const { return indices ? indices[i] : i; }
};

// Which columns a search covers: `indices` null means all of them.
struct ColumnSet {
    const std::uint32_t* indices;
    std::size_t count;

    std::size_t operator[](std::size_t k) const { return indices ? indices[k] : k; }
};

// Columns handled in one sweep over the rows: their histograms stay in the first- or second-level cache.
constexpr std::size_t kTileColumns = 64;
// Row times column updates below which waking threads costs more than it brings.
constexpr std::size_t kParallelUpdates = 60000;

// histogram[slot_offsets[c] + code] += weights[row] for the rows at the indices [begin, end) and the columns
// [first, last). Integer sums: the result does not depend on threads or order.
template <class Weight>
void add_to_histogram(const BinnedData& data, RowSet rows, std::size_t begin, std::size_t end, std::size_t first,
                      std::size_t last, const Weight* weights, Weight* histogram);

// Takes rows out of a histogram that holds them.
template <class Weight>
void remove_from_histogram(const BinnedData& data, RowSet rows, std::size_t begin, std::size_t end,
                           const Weight* weights, Weight* histogram);

}  // namespace radboost
