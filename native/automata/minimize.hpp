// Minimization of deterministic loss automata.
#pragma once

#include "automata/loss_automaton.hpp"

namespace radboost {

// Merges equivalent states, from the last layer to the first: states of a layer whose arcs have equal targets and costs.
void minimize(LossAutomaton& automaton, InterruptCheck check);

}  // namespace radboost
