// Exact weighted means over all rows of terms that are computed block by block and not stored, nearly always in one pass.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "rows/row_weights.hpp"

namespace radboost {

constexpr std::size_t kBlockRows = 1024;

// Rounds terms to integers of at most 50 bits and sums them. The scale is 2^(50 - exponent), where the exponent is a coarse
// function of the largest term. It is guessed; `finish` tells if the guess was wrong and the pass must be repeated.
class BlockMeans {
public:
    // n_values: number of means. exponents: guesses, shape (n_values,). n_parts: parts of the rows, summed by threads.
    BlockMeans(const RowWeights& weights, std::size_t n_values, int* exponents, std::size_t n_parts);

    // Adds the terms of mean number `value` for the rows [begin, begin + count), unweighted; overwrites `terms`.
    void add(std::size_t part, std::size_t value, std::size_t begin, std::size_t count, double* terms);
    // Writes the means, shape (n_values,). Returns true if the exponents were right, else corrects them. All workers call it.
    bool finish(double* out);

private:
    const RowWeights& weights_;
    std::size_t n_values_;
    int* exponents_;
    std::vector<double> factors_, largest_;
    std::vector<int128> sums_;  // shape (n_parts, n_values), like largest_
};

// Means of n_values values per row, written to `out`. body(begin, count, to) writes the values of the rows [begin, begin +
// count) to `to`, shape (n_values, kBlockRows). `exponents`: guesses, kept between calls; no result depends on them.
template <class Body>
void block_means(const RowWeights& weights, std::size_t n_values, int* exponents, int n_threads, double* out, Body&& body) {
    const std::size_t n = weights.n_rows(), parts = row_parts(n, n_threads);
    for (bool settled = false; !settled;) {
        BlockMeans means(weights, n_values, exponents, parts);
        parallel_for(n_threads, parts, [&](std::size_t part) {
            std::vector<double> values(n_values * kBlockRows);
            const std::size_t end = range_begin(n, parts, part + 1);
            for (std::size_t begin = range_begin(n, parts, part); begin < end; begin += kBlockRows) {
                const std::size_t count = std::min(kBlockRows, end - begin);
                body(begin, count, values.data());
                for (std::size_t v = 0; v < n_values; ++v) means.add(part, v, begin, count, values.data() + v * kBlockRows);
            }
        });
        settled = means.finish(out);
    }
}

// max |values[i]|; 0 for n = 0.
double largest_size(const double* values, std::size_t n);

}  // namespace radboost
