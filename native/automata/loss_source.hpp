// A loss L(., y_i) as a weighted automaton that is not deterministic yet: the projection of U o y_i on its input.
// Weights are costs, of which smaller is heavier: numbers of the tropical semiring, or -log of those of the probability
// semiring. L is the cost of a string in both: the least cost of its paths, or -log of the sum of exp(-cost) over them.
// Storcheus, sections 6.4 and 6.5.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace radboost {

enum class CostSum { kMinimum, kLogSum };

struct CostArc {
    std::int32_t origin, target;
    double cost;
};

struct LossSource {
    CostSum sum = CostSum::kMinimum;
    std::size_t n_entries = 0;               // states of the automaton
    std::vector<double> initial, final;      // a cost for each, infinite where a string cannot begin or end
    std::vector<std::int32_t> class_of;      // of each symbol: symbols with the same arcs are one class
    std::vector<std::vector<CostArc>> arcs;  // of each class
    std::vector<CostArc> free_arcs;          // which read nothing, sorted so that the origin of none is a later target

    std::size_t n_classes() const { return arcs.size(); }
    void check() const;  // throws std::invalid_argument
};

}  // namespace radboost
