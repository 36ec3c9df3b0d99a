// Quantile binning of a column by the weights of its distinct values; values too heavy for a bin get bins of their own.
#pragma once

#include <cstddef>
#include <vector>

namespace radboost {

// Mean weight w of the remaining bins when each heavy value, of weight > w, has a bin of its own. Also for sketch.hpp.
// Solves w = (total - weight of heavy values) / (n_bins - number of heavy values) by iteration from total / n_bins: as
// w falls, more values become heavy. weight_of(i), i < size, is the weight of value i; size > n_bins >= 1.
template <class WeightOf>
double weight_of_a_bin(std::size_t size, WeightOf&& weight_of, std::size_t n_bins) {
    double total = 0;
    for (std::size_t i = 0; i < size; ++i) total += weight_of(i);
    for (double bin_weight = total / static_cast<double>(n_bins);;) {
        double heavy = 0;
        std::size_t n_heavy = 0;
        for (std::size_t i = 0; i < size; ++i) {
            const double weight = weight_of(i);
            heavy += weight > bin_weight ? weight : 0.0;
            n_heavy += weight > bin_weight;
        }
        if (n_heavy >= n_bins) return bin_weight;  // by rounding only: exactly, they would outweigh the total
        const double next = (total - heavy) / static_cast<double>(n_bins - n_heavy);
        if (!(next < bin_weight)) return bin_weight;
        bin_weight = next;
    }
}

// Ends of the min(n_bins, n_values) bins, none empty: result[k] is the number of values in bins 0 ... k.
// cumulative[i]: weight of the first i of the ascending distinct values, shape (n_values + 1,). For quantiles.hpp.
// 1. The h heaviest values get a bin each: as many of those above weight_of_a_bin as leave h + sum of ceil(R_j / w) <=
//    n_bins. w is the weight of the lightest of them; R_j are the weights of the runs (sequences) of values between.
// 2. Each run gets one bin; others go one by one to the run with the most weight per bin. Runs are divided likewise.
// 3. A run with h = 0 is divided at weighted quantiles: bin k of b ends at the value that reaches k / b of the weight.
//
// Let t be the smallest possible weight of the heaviest bin of several values. Then values heavier than t are alone,
// and bins that end at their quantile weigh less than 2 t (docs/decisions/native-core.md).
std::vector<std::size_t> bin_ends(const std::vector<double>& cumulative, std::size_t n_bins);

}  // namespace radboost
