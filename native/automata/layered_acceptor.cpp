#include "automata/layered_acceptor.hpp"

#include <algorithm>

#include "core/common.hpp"

namespace radboost {

LayeredAcceptor chain(std::size_t length, std::int32_t alphabet_size, int order) {
    require(length >= 1 && alphabet_size >= 1 && order >= 1, "a chain needs a length, an alphabet and an order");
    LayeredAcceptor made;
    made.alphabet_size = alphabet_size;
    std::int64_t largest = 1;
    for (int k = 1; k < order; ++k) {
        largest *= alphabet_size;
        require(largest * alphabet_size < (std::int64_t{1} << 31), "alphabet_size ** order is too large");
    }
    std::int64_t states = 1;
    made.layer_size.push_back(1);
    for (std::size_t t = 0; t < length; ++t) {
        const std::int64_t next = std::min(largest, states * alphabet_size);
        std::vector<std::size_t> leaving;
        for (std::int64_t state = 0; state < states; ++state) {
            leaving.push_back(made.n_arcs());
            for (std::int32_t symbol = 0; symbol < alphabet_size; ++symbol) {
                made.symbol.push_back(symbol);
                made.target.push_back(static_cast<std::int32_t>((state * alphabet_size + symbol) % next));
            }
        }
        leaving.push_back(made.n_arcs());
        made.leaving.push_back(std::move(leaving));
        made.layer_size.push_back(static_cast<std::int32_t>(next));
        states = next;
    }
    return made;
}

LayeredAcceptor acceptor_of(std::vector<std::int32_t> layer_size, std::int32_t alphabet_size,
                            const std::vector<std::int32_t>& layer, const std::vector<std::int32_t>& origin,
                            std::vector<std::int32_t> symbol, std::vector<std::int32_t> target) {
    require(layer_size.size() >= 2 && layer_size[0] == 1, "a layered acceptor has one state in its first layer");
    for (const std::int32_t size : layer_size) require(size >= 1, "every layer needs a state");
    require(layer.size() == symbol.size() && origin.size() == symbol.size() && target.size() == symbol.size(),
            "arcs need a layer, an origin, a symbol and a target each");
    LayeredAcceptor made;
    made.alphabet_size = alphabet_size;
    std::size_t arc = 0;
    for (std::size_t t = 0; t + 1 < layer_size.size(); ++t) {
        std::vector<std::size_t> leaving;
        for (std::int32_t state = 0; state < layer_size[t]; ++state) {
            leaving.push_back(arc);
            for (; arc < symbol.size() && layer[arc] == static_cast<std::int32_t>(t) && origin[arc] == state; ++arc) {
                require(symbol[arc] >= 0 && symbol[arc] < alphabet_size, "an arc has a symbol outside the alphabet");
                require(target[arc] >= 0 && target[arc] < layer_size[t + 1], "an arc leads to a state that does not exist");
            }
        }
        leaving.push_back(arc);
        made.leaving.push_back(std::move(leaving));
    }
    require(arc == symbol.size(), "arcs must be sorted by layer and origin, and leave states that exist");
    made.layer_size = std::move(layer_size);
    made.symbol = std::move(symbol);
    made.target = std::move(target);
    return made;
}

}  // namespace radboost
