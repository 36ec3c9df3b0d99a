// Fewer states in a layer, at the price of losses that are known within bounds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "automata/state_pool.hpp"

namespace radboost {

// What merging asks of a layer. Rows hold the lower costs, then the upper ones, then those in the middle.
struct MergeRules {
    std::size_t n_entries;
    const double* least;      // of completions, for each entry (`Completions`)
    const double* most;       // of completions, or null where costs are summed and none is beside the point
    std::size_t n_kept;       // states that may remain
    double near;              // states through which a string has at most this loss are kept as they are, as far as they fit
};

struct Merged {
    StatePool states;
    std::vector<std::int32_t> place;  // of each state that there was
};

// The states of the best strings stay. The others are merged where they agree on the entries that can matter most: those
// whose costs, with the cheapest completion, are within a slack of the state's best. The slack is the largest that fits.
// A merged state has the least of the lower costs and the largest of the upper ones, so that the loss of every string
// stays between the two, and the mean of those in the middle.
Merged merge_states(const StatePool& states, const MergeRules& rules);

}  // namespace radboost
