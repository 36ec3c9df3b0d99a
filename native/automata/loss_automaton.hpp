// The deterministic automaton of a loss over all strings of one length: B of Figures 6.2(a) and 6.4(a), before exp.
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
    std::size_t max_states = 0;  // beyond which states are merged, and losses are known within bounds only
    double threshold = 0.0;      // with it, states of strings whose loss is larger by this than the least are merged first
};

// States are numbered layer by layer; `next` counts from the first state of the next layer. The loss of a string is
// `initial` + the costs of its arcs + the end of its last state, which lies between 0 and `final_width` and is, by the mean
// of the states that were merged, `final_middle`.
struct LossAutomaton {
    std::size_t length = 0, n_classes = 0;
    std::vector<std::int32_t> class_of;    // of each symbol
    std::vector<std::size_t> layer_start;  // length + 2 numbers
    std::vector<std::int32_t> next;        // [state][class], -1 where the loss of every such string is infinite
    std::vector<double> cost;              // [state][class]
    std::vector<double> final_width, final_middle;  // of each state of the last layer; 0 where the automaton is exact
    double initial = 0.0, largest_cost = 0.0;  // the second in size
    bool exact = true;

    // Whether every loss has an upper bound.
    bool bounded() const;

    std::size_t n_states() const { return layer_start.back(); }
    std::size_t layer_size(std::size_t layer) const { return layer_start[layer + 1] - layer_start[layer]; }
    // Bounds of the loss of a string.
    std::pair<double, double> loss(const std::vector<std::int32_t>& string) const;
};

// The loss of one string of any length, without the automaton.
double loss_of(const LossSource& source, const std::vector<std::int32_t>& string);

LossAutomaton determinize_loss(const LossSource& source, const LossAutomatonOptions& options, InterruptCheck check);

}  // namespace radboost
