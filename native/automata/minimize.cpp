#include "automata/minimize.hpp"

#include <cmath>

#include "automata/state_pool.hpp"

namespace radboost {

void minimize(LossAutomaton& automaton, InterruptCheck check) {
    const std::size_t n_classes = automaton.n_classes;
    std::vector<std::vector<double>> layers(automaton.length + 1);  // arcs of the remaining states: targets, then costs
    std::vector<std::int32_t> place(automaton.layer_size(automaton.length));
    StatePool ends(2);
    for (std::size_t k = 0; k < place.size(); ++k) {
        const double end[2] = {automaton.final_width[k], automaton.final_middle[k]};
        place[k] = ends.insert(end, 0.0);
    }
    automaton.final_width.clear();
    automaton.final_middle.clear();
    for (std::size_t k = 0; k < ends.size(); ++k) {
        automaton.final_width.push_back(ends.row(k)[0]);
        automaton.final_middle.push_back(ends.row(k)[1]);
    }
    std::vector<std::size_t> sizes(automaton.length + 1);
    sizes[automaton.length] = ends.size();
    std::vector<double> row(2 * n_classes);
    for (std::size_t t = automaton.length; t-- > 0;) {
        check();
        StatePool kept(2 * n_classes);
        std::vector<std::int32_t> numbers(automaton.layer_size(t));
        for (std::size_t k = 0; k < numbers.size(); ++k) {
            const std::size_t first = (automaton.layer_start[t] + k) * n_classes;
            for (std::size_t c = 0; c < n_classes; ++c) {
                const std::int32_t target = automaton.next[first + c];
                row[c] = target < 0 ? -1.0 : static_cast<double>(place[target]);
                // Rounded to multiples of 2^-38, because sums in different orders differ in their last bits.
                row[n_classes + c] = std::nearbyint(automaton.cost[first + c] * 0x1p38) * 0x1p-38 + 0.0;
            }
            numbers[k] = kept.insert(row.data(), 0.0);
        }
        layers[t].assign(kept.row(0), kept.row(0) + kept.size() * 2 * n_classes);
        sizes[t] = kept.size();
        place = std::move(numbers);
    }
    automaton.next.clear();
    automaton.cost.clear();
    for (std::size_t t = 0; t < automaton.length; ++t) {
        for (std::size_t k = 0; k < sizes[t]; ++k) {
            const double* arcs = layers[t].data() + k * 2 * n_classes;
            for (std::size_t c = 0; c < n_classes; ++c) {
                automaton.next.push_back(static_cast<std::int32_t>(arcs[c]));
                automaton.cost.push_back(arcs[n_classes + c]);
            }
        }
        automaton.layer_start[t + 1] = automaton.layer_start[t] + sizes[t];
    }
    automaton.layer_start[automaton.length + 1] = automaton.layer_start[automaton.length] + sizes[automaton.length];
}

}  // namespace radboost
