// A chunk of programs on a few rows at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "predict/shapley_program.hpp"

namespace radboost {

constexpr std::size_t kShapleyRows = 32;  // that go through a program together

// Whole lines of the cache: wide registers are read and written without crossing them.
struct alignas(64) RowNumbers {
    double of[kShapleyRows];
};
struct alignas(64) RowFlags {
    std::int64_t of[kShapleyRows];
};

struct ShapleyRoom {
    const double* x;
    double *sums, *pair_sums;
    double* numbers;      // for every depth of a way
    double* terms;        // of one node, for its pairs
    std::int64_t* flags;  // for every depth of a way
};

// What a thread computes in: the columns of the rows, and sums for each column and each pair of columns, kShapleyRows
// numbers each.
class ShapleyTile {
public:
    explicit ShapleyTile(const ShapleyChunk& chunk);

    double* x(std::size_t column) { return x_[column].of; }
    const double* sums(std::size_t column) const { return sums_[column].of; }
    const double* pair_sums(std::size_t pair) const { return pair_sums_[pair].of; }

    // Adds what each column, and each pair of columns, contributes to the programs' answers for the rows in `x`.
    void run(const ShapleyChunk& chunk, const CategorySet* sets);

private:
    std::vector<RowNumbers> x_, sums_, pair_sums_, numbers_, terms_;
    std::vector<RowFlags> flags_;
};

}  // namespace radboost
