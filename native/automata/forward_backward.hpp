// Gradients of structured objectives by the forward-backward algorithm on the composition C = A o B of the automata of scores
// (A) and losses (B): Storcheus, PhD thesis, NYU 2021, Figures 6.2(a) and 6.4(a), lines 6 to 12.
#pragma once

#include <cstddef>
#include <vector>

#include "automata/layered_acceptor.hpp"
#include "automata/loss_automaton.hpp"

namespace radboost {

// Results for the distribution over strings with probability exp(loss + score) / Z.
struct Flow {
    std::vector<double> log_z;    // log Z; for an inexact loss by its middle value, lower bound and upper bound
    std::vector<double> through;  // of each arc of A: probability that a string takes it
    // log of the same by the lower and by the upper bounds, each divided by its own Z; empty for an exact loss.
    std::vector<std::vector<double>> log_through;
    bool infinite_loss = false;   // a string that the scores allow has infinite loss; then nothing else is set
};

// potentials: score of each arc of A, shape (n_arcs,); -infinity forbids an arc. certify: also compute the bounds (slower).
Flow forward_backward(const LayeredAcceptor& scores, const double* potentials, const LossAutomaton& loss, bool certify,
                      InterruptCheck check);

// Lower and upper bound of the expected loss for the distribution over strings with probability proportional to exp(score).
std::pair<double, double> expected_loss(const LayeredAcceptor& scores, const double* potentials,
                                        const LossAutomaton& loss, InterruptCheck check);

}  // namespace radboost
