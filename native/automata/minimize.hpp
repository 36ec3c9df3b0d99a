#pragma once

#include "automata/loss_automaton.hpp"

namespace radboost {

// Merges the states of a layer from which every string costs the same: from the last layer to the first, states with the
// same arcs are one.
void minimize(LossAutomaton& automaton, InterruptCheck check);

}  // namespace radboost
