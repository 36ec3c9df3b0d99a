// Sums of row weights per column and bin.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "binning.hpp"

namespace radboost {

// A set of rows: `indices` null means the rows 0 .. count - 1.
struct RowSet {
    const std::uint32_t* indices;
    std::size_t count;
};

// Which columns a histogram covers: `indices` null means all of them.
struct ColumnSet {
    const std::uint32_t* indices;
    std::size_t count;
};

class HistogramBuilder {
public:
    HistogramBuilder(const BinnedData& data, int n_threads) : data_(data), n_threads_(n_threads) {}

    // histogram[slot_offsets[c] + code] = sum of weights over the rows with that code, for every column c. Integer sums:
    // the result does not depend on threads or order.
    void build(RowSet rows, const std::int64_t* weights, std::int64_t* histogram);
    // Takes the rows out of a histogram that holds them.
    void remove(RowSet rows, const std::int64_t* weights, std::int64_t* histogram) const;

private:
    const BinnedData& data_;
    int n_threads_;
    std::vector<std::vector<std::int64_t>> scratch_;  // one histogram for each thread but the first
};

// larger = parent - smaller, in the parent's place.
void subtract_histogram(std::int64_t* parent, const std::int64_t* smaller, std::size_t n_slots);

}  // namespace radboost
