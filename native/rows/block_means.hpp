// Means over the rows of terms that are made block by block and not kept, in one pass.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "rows/row_weights.hpp"

namespace radboost {

constexpr std::size_t kBlockRows = 1024;

// Rounds terms to integers below 2^50, so that a block of them adds up in 64 bits, and adds them up for each part of the
// rows. What they are rounded by is a coarse function of the largest term of all rows; since that is known at the end only,
// the sums begin with a guess, and `finish` says whether it was right.
class BlockMeans {
public:
    BlockMeans(const RowWeights& weights, std::size_t n_values, int* exponents, std::size_t n_parts);

    // The values of the rows [begin, begin + count); they are weighted in place.
    void add(std::size_t part, std::size_t value, std::size_t begin, std::size_t count, double* terms);
    // Whether the exponents were those that the terms ask for; where not, they are now. The same on all workers.
    bool finish(double* out);

private:
    const RowWeights& weights_;
    std::size_t n_values_;
    int* exponents_;
    std::vector<double> factors_, largest_;
    std::vector<int128> sums_;  // of each part and value
};

// Means of several values per row: body(begin, count, out) writes the values of some rows, one array of kBlockRows after the
// other. `exponents` remembers between calls how large the terms are; the result does not depend on it.
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

// The largest absolute value.
double largest_size(const double* values, std::size_t n);

}  // namespace radboost
