// Where the bins of a column end, given the weight of each of its values.
#pragma once

#include <cstddef>
#include <vector>

namespace radboost {

// The weight of a bin where `n_bins` are divided among `size` > n_bins values: a value with more than that has a bin of its
// own, and the others share the rest of the weight and of the bins.
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

// The number of values up to the end of each bin. upto[i] is the weight of the first i values, and upto[0] is 0.
//
// There are as many bins as asked for, or as values. A value has a bin of its own where the values at least as heavy leave
// enough bins for the others, in runs between them, to weigh no more than this value each. Runs get their bins one by one,
// the next where a bin weighs most, and are divided in the same way. Where no value is heavy, bin k ends at the value that
// reaches k / n_bins of the weight. Let t be the weight of the heaviest bin of several values where the values are divided so
// that it is smallest. Then values heavier than t are alone, and bins of several values weigh less than 2 t:
// docs/decisions/native-core.md.
std::vector<std::size_t> bin_ends(const std::vector<double>& upto, std::size_t n_bins);

}  // namespace radboost
