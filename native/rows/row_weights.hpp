// Sample weights and weighted sums over the rows: the only code that turns weights into integers or adds over rows.
// Terms become fixed-point integers, with one scale given by the largest of them, and integers add exactly. So no sum depends
// on the order of the rows, on threads, or on which worker has which rows. A term is rounded for one copy of its row and then
// multiplied by the number of copies, so that a row of weight 3 equals three rows.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "core/collective.hpp"
#include "core/common.hpp"
#include "core/pool.hpp"
#include "rows/row_groups.hpp"

namespace radboost {

class RowWeights {
public:
    // From this sum on, 30 bits are too few for the growth weight of one copy, and the product of weight and D is rounded.
    static constexpr double kLargeTotal = 16777216.0;  // 2^24

    // `weights`: shape (n_rows,), positive; empty: all 1. Integers are numbers of copies, unless they sum to `most_copies` or
    // more; other weights are factors of the terms. Keeps a reference to the collective; all workers have weights, or none.
    RowWeights(std::size_t n_rows, std::vector<double> weights,
               double most_copies = std::numeric_limits<double>::infinity(), const Collective& collective = one_worker());

    // Replaces the rows; `weights` null: all 1. All workers must call it.
    void replace(const double* weights, std::size_t n_rows);

    std::size_t n_rows() const { return n_rows_; }                     // of this worker
    std::size_t n_rows_of_all() const { return n_rows_of_all_; }       // of all workers
    const Collective& collective() const { return *collective_; }
    double total() const { return total_; }                            // sum of the weights over all workers
    bool given() const { return given_; }                              // false: all weights are 1
    const std::vector<double>& values() const { return weights_; }     // empty unless given
    const std::int64_t* copies() const { return copies_.empty() ? nullptr : copies_.data(); }  // null unless copies
    bool whole() const { return !factors_; }                           // weights are numbers of copies, or all 1

    // A row's term in a sum is round(unit(row, value) * scale) * times(row).
    double unit(std::size_t row, double value) const { return factors_ ? value * weights_[row] : value; }
    std::int64_t times(std::size_t row) const { return copies_.empty() ? 1 : copies_[row]; }
    // The largest weight if weights are factors, otherwise 1.
    double largest_factor() const { return largest_factor_; }

    // Integers round(weight * scale), shape (n_rows,); empty unless given.
    std::vector<std::int64_t> masses(double scale) const;

    // Over the rows of all workers, for values of shape (n_rows,): sum of w v; sum of w v / sum of w; largest v (no NaN).
    double sum(const double* values, int n_threads) const;
    double mean(const double* values, int n_threads) const { return sum(values, n_threads) / total_; }
    double maximum(const double* values, int n_threads) const;
    // Sum of w v over the rows of each group, shape (n_groups,).
    std::vector<double> group_sums(const double* values, const RowGroups& groups, int n_threads) const;

    // `width` integer sums over the rows of all workers: body(begin, end, sums) adds the terms of rows [begin, end) to
    // `sums`, shape (width,). `n_steps`: total work, in elementary steps; decides the number of threads.
    template <class Integer, class Body>
    std::vector<Integer> add(std::size_t width, std::size_t n_steps, int n_threads, Body&& body) const {
        const std::size_t parts = std::min(std::max<std::size_t>(1, n_rows_), row_parts(n_steps, n_threads));
        std::vector<Integer> sums(parts * width, Integer{0});
        parallel_for(n_threads, parts, [&](std::size_t part) {
            body(range_begin(n_rows_, parts, part), range_begin(n_rows_, parts, part + 1), sums.data() + part * width);
        });
        for (std::size_t k = width; k < sums.size(); ++k) sums[k % width] += sums[k];
        sums.resize(width);
        collective_->sum(sums.data(), width);
        return sums;
    }
    // The same for `width` maxima, which start at `lowest`.
    template <class Body>
    std::vector<double> largest(std::size_t width, double lowest, std::size_t n_steps, int n_threads, Body&& body) const {
        const std::size_t parts = std::min(std::max<std::size_t>(1, n_rows_), row_parts(n_steps, n_threads));
        std::vector<double> found(parts * width, lowest);
        parallel_for(n_threads, parts, [&](std::size_t part) {
            body(range_begin(n_rows_, parts, part), range_begin(n_rows_, parts, part + 1), found.data() + part * width);
        });
        for (std::size_t k = width; k < found.size(); ++k) found[k % width] = std::max(found[k % width], found[k]);
        found.resize(width);
        collective_->maximum(found.data(), width);
        return found;
    }

private:
    void count();

    std::size_t n_rows_, n_rows_of_all_ = 0;
    std::vector<double> weights_;
    std::vector<std::int64_t> copies_;
    double most_copies_;
    const Collective* collective_;
    bool given_ = false, factors_ = false;
    double total_ = 0, largest_factor_ = 1;
};

}  // namespace radboost
