// Bounds of the cost of a string's remaining symbols, from every state of a LossSource; used during determinization.
#pragma once

#include <cstddef>
#include <vector>

#include "automata/loss_source.hpp"

namespace radboost {

// For each number of remaining symbols, 0 to `length`, and each state ("entry") of the source: `least`, the minimum cost of a
// path over all strings, and `most`, an upper bound of the cheapest path of every string (the value of the game in which an
// opponent chooses each symbol and we answer it with an arc). Infinite if there is no path.
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
