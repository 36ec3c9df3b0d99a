// The deterministic automaton B of a loss on strings of one length: Storcheus, PhD thesis, NYU 2021, Figures 6.2(a), 6.4(a).
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "automata/loss_source.hpp"
#include "core/common.hpp"

namespace radboost {

struct LossAutomatonOptions {
    std::size_t length = 0;
    std::size_t max_states = 0;  // with more, states are merged, and losses are only known within bounds
    double threshold = 0.0;      // if finite, states that only strings with loss > minimum + threshold pass are merged first
};

// States are numbered layer by layer; `next` is an index within the next layer. The loss of a string is initial + costs of
// its arcs + a final cost in [0, final_width] of its last state; final_middle is the mean of it over merged states.
struct LossAutomaton {
    std::size_t length = 0, n_classes = 0;
    std::vector<std::int32_t> class_of;    // class of each symbol: symbols of a class have equal arcs
    std::vector<std::size_t> layer_start;  // first state of each layer, then the number of states; length + 2 entries
    std::vector<std::int32_t> next;        // shape (n_states, n_classes); -1: the loss is infinite
    std::vector<double> cost;              // shape (n_states, n_classes)
    std::vector<double> final_width, final_middle;  // of each state of the last layer; 0 if exact
    double initial = 0.0, largest_cost = 0.0;  // largest_cost: maximum absolute value of all costs
    bool exact = true;  // no states were merged

    // True if every loss has a finite upper bound.
    bool bounded() const;

    std::size_t n_states() const { return layer_start.back(); }
    std::size_t layer_size(std::size_t layer) const { return layer_start[layer + 1] - layer_start[layer]; }
    // Lower and upper bound of the loss of a string.
    std::pair<double, double> loss(const std::vector<std::int32_t>& string) const;
};

// Exact loss of one string of any length, without determinization.
double loss_of(const LossSource& source, const std::vector<std::int32_t>& string);

// Weighted determinization (Mohri, 1997) for strings of options.length symbols, with merging if states exceed the limit.
LossAutomaton determinize_loss(const LossSource& source, const LossAutomatonOptions& options, InterruptCheck check);

}  // namespace radboost
