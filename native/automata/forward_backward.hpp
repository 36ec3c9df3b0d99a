// C = A o B, and what flows through its arcs: lines 6 to 12 of Figures 6.2(a) and 6.4(a).
#pragma once

#include <cstddef>
#include <vector>

#include "automata/layered_acceptor.hpp"
#include "automata/loss_automaton.hpp"

namespace radboost {

// Of strings drawn with odds exp(loss + score). Three numbers where the loss is known within bounds: by the middle
// losses, by the lower bounds, by the upper ones; one where it is exact.
struct Flow {
    std::vector<double> log_z;
    std::vector<double> through;               // of each arc of A: the weight of the strings that take it / Z
    // The logarithms of the same by the lower and by the upper bounds, each in units of its own Z; none where it is exact.
    std::vector<std::vector<double>> log_through;
    bool infinite_loss = false;                // of a string that the scores allow: nothing else is filled in then
};

// `potentials`: a score for each arc of A, -infinity for one that must not be taken. Without `certify` the bounds are not
// asked for, which is faster.
Flow forward_backward(const LayeredAcceptor& scores, const double* potentials, const LossAutomaton& loss, bool certify,
                      InterruptCheck check);

// The expected loss of strings drawn with odds exp(score): bounds.
std::pair<double, double> expected_loss(const LayeredAcceptor& scores, const double* potentials,
                                        const LossAutomaton& loss, InterruptCheck check);

}  // namespace radboost
