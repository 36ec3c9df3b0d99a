// Division of a column's sorted values into bins of nearly equal weight: quantiles, but heavy values get bins of their own.
#pragma once

#include <cstddef>
#include <vector>

namespace radboost {

// Weight w of a bin when each value heavier than w gets a bin of its own and the other values fill the remaining bins
// equally: w = (total - weight of heavy values) / (n_bins - number of heavy values). weight_of(i), i < size, is the weight of
// value i; size > n_bins. Iterates from total / n_bins, as each new w is smaller and may make more values heavy.
template <class WeightOf>
double weight_of_a_bin(std::size_t size, WeightOf&& weight_of, std::size_t n_bins) {
    double total = 0;
    for (std::size_t i = 0; i < size; ++i) total += weight_of(i);
    for (double share = total / static_cast<double>(n_bins);;) {
        double heavy = 0;
        std::size_t n_heavy = 0;
        for (std::size_t i = 0; i < size; ++i) {
            const double weight = weight_of(i);
            heavy += weight > share ? weight : 0.0;
            n_heavy += weight > share;
        }
        if (n_heavy >= n_bins) return share;  // sums of fractions are rounded
        const double next = (total - heavy) / static_cast<double>(n_bins - n_heavy);
        if (!(next < share)) return share;
        share = next;
    }
}

// Ends of the bins: result[k] is the number of values in bins 0 ... k. `upto` are cumulative weights, shape (n_values + 1,):
// upto[i] is the weight of the first i values, in ascending order. There are min(n_bins, n_values) bins.
//
// 1. A value of weight w gets a bin of its own if the values at least as heavy do too and the remaining bins suffice to
//    divide the runs of other values between them into bins of weight at most w.
// 2. Each run gets one bin; further bins go one by one to the run with the most weight per bin. Runs are divided recursively.
// 3. In a run without such a value, bin k of b ends at the value that reaches k / b of the weight.
// Let t be the smallest possible weight of the heaviest bin of several values. Then values heavier than t are alone, and
// bins that end at their quantile weigh less than 2 t (docs/decisions/native-core.md).
std::vector<std::size_t> bin_ends(const std::vector<double>& upto, std::size_t n_bins);

}  // namespace radboost
