// What the symbols still to be read can cost, from every entry of a loss.
#pragma once

#include <cstddef>
#include <vector>

#include "automata/loss_source.hpp"

namespace radboost {

// For each number of symbols to come, 0 to `length`, and each entry: the least cost of a path over all strings, and a cost
// that no string exceeds on its cheapest path (the value of a game in which the reader of the string answers each symbol
// with an arc). Infinite where there is none.
class Completions {
public:
    Completions(const LossSource& source, std::size_t length);

    const double* least(std::size_t to_come) const { return least_.data() + to_come * n_entries_; }
    const double* most(std::size_t to_come) const { return most_.data() + to_come * n_entries_; }

private:
    std::size_t n_entries_;
    std::vector<double> least_, most_;
};

}  // namespace radboost
