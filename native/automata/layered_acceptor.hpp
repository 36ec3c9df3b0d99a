// Automaton A over strings of one length: Storcheus, PhD thesis, NYU 2021, Figure 6.2(d). Callers keep the scores of its arcs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace radboost {

// Every arc leads to the next layer. Arcs are numbered layer by layer and within a layer by origin; states within their
// layer. Strings begin in state 0 of layer 0 and may end in every state of the last layer.
struct LayeredAcceptor {
    std::vector<std::int32_t> layer_size;          // number of states of each of the length + 1 layers
    std::vector<std::vector<std::size_t>> leaving;  // [layer][state]: its first arc; one entry more, as in CSR's indptr
    std::vector<std::int32_t> symbol, target;      // of each arc; target: state in the next layer
    std::int32_t alphabet_size = 0;

    std::size_t length() const { return leaving.size(); }
    std::size_t n_arcs() const { return symbol.size(); }
};

// Linear chain: accepts all strings of this length; a state is the last order - 1 symbols (fewer at the beginning). The arcs
// of layer s = 0, 1, ... are the substrings of `order` symbols that end at position s, in lexicographic order.
LayeredAcceptor chain(std::size_t length, std::int32_t alphabet_size, int order);

// Acceptor with the given arcs, which must be sorted by layer and origin. Throws std::invalid_argument if they are not valid.
LayeredAcceptor acceptor_of(std::vector<std::int32_t> layer_size, std::int32_t alphabet_size,
                            const std::vector<std::int32_t>& layer, const std::vector<std::int32_t>& origin,
                            std::vector<std::int32_t> symbol, std::vector<std::int32_t> target);

}  // namespace radboost
