// Merging of states in determinization (loss_automaton.cpp): fewer states, but losses are only known within bounds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "automata/state_pool.hpp"

namespace radboost {

// Options. A state of the pool is 3 * n_entries costs: lower bounds, upper bounds, middle values.
struct MergeRules {
    std::size_t n_entries;
    const double* least;      // Completions::least, shape (n_entries,)
    const double* most;       // Completions::most; null for CostSum::kLogSum, where no entry can be dropped
    std::size_t n_kept;       // maximum number of states after merging
    double near;              // states that a string with at most this loss passes are not merged, if n_kept allows
};

struct Merged {
    StatePool states;
    std::vector<std::int32_t> place;  // new index of each old state
};

// Keeps the states of the strings with the lowest losses, and merges others that agree on their most relevant entries: those
// whose cost with the cheapest completion is within a slack of the state's best. The slack is the largest that leaves at most
// n_kept states. A merged state has the minimum of the lower bounds, the maximum of the upper bounds, so that they bound the
// loss of every string, and the mean of the middle values.
Merged merge_states(const StatePool& states, const MergeRules& rules);

}  // namespace radboost
