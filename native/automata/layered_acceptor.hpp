// The automaton of the scores: A of Figure 6.2(d), or any other whose arcs lead from one layer to the next (a beam).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace radboost {

// Arcs are numbered layer by layer and within a layer by origin; states within their layer. Strings begin in state 0 of
// layer 0 and may end in every state of the last layer.
struct LayeredAcceptor {
    std::vector<std::int32_t> layer_size;          // states, of length + 1 layers
    std::vector<std::vector<std::size_t>> leaving;  // [layer][state]: its first arc; one more number ends the layer
    std::vector<std::int32_t> symbol, target;      // of each arc
    std::int32_t alphabet_size = 0;

    std::size_t length() const { return leaving.size(); }
    std::size_t n_arcs() const { return symbol.size(); }
};

// Every string over the alphabet; a state holds the last `order` - 1 symbols, fewer at the beginning. The arcs of layer s
// are the substrings z that end there, in lexicographic order.
LayeredAcceptor chain(std::size_t length, std::int32_t alphabet_size, int order);

// Any arcs, sorted by layer and origin; throws std::invalid_argument.
LayeredAcceptor acceptor_of(std::vector<std::int32_t> layer_size, std::int32_t alphabet_size,
                            const std::vector<std::int32_t>& layer, const std::vector<std::int32_t>& origin,
                            std::vector<std::int32_t> symbol, std::vector<std::int32_t> target);

}  // namespace radboost
