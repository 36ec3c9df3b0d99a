// Runs Shapley programs on tiles of 32 rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "predict/shapley_program.hpp"

namespace radboost {

constexpr std::size_t kShapleyRows = 32;  // rows per tile

// One number per row, aligned so that vector loads do not cross cache lines.
struct alignas(64) RowNumbers {
    double of[kShapleyRows];
};
struct alignas(64) RowFlags {
    std::int64_t of[kShapleyRows];
};

// Pointers to the arrays of a ShapleyTile; all have kShapleyRows entries per item.
struct ShapleyRoom {
    const double* x;
    double *sums, *pair_sums;
    double* numbers;      // per depth of a path, see Run in shapley_rows.cpp
    double* terms;        // of one node, per quadrature point
    std::int64_t* flags;  // per depth of a path
};

// Workspace of a thread: values of the rows by column, and sums by column and by pair of columns, kShapleyRows numbers each.
class ShapleyTile {
public:
    explicit ShapleyTile(const ShapleyChunk& chunk);

    double* x(std::size_t column) { return x_[column].of; }
    const double* sums(std::size_t column) const { return sums_[column].of; }
    const double* pair_sums(std::size_t pair) const { return pair_sums_[pair].of; }

    // Sets the sums to the contributions of each column and pair of columns to the programs' predictions for the rows in `x`.
    void run(const ShapleyChunk& chunk, const CategorySet* sets);

private:
    std::vector<RowNumbers> x_, sums_, pair_sums_, numbers_, terms_;
    std::vector<RowFlags> flags_;
};

}  // namespace radboost
