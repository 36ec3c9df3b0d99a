// A loss L(., y_i) between strings, for one true string y_i, as a nondeterministic weighted automaton: the input projection
// of U o y_i for a transducer U (Storcheus, PhD thesis, NYU 2021, sections 6.4 and 6.5). Weights are costs. The loss of a
// string is the minimum cost of its paths (kMinimum), or -log of the sum of exp(-cost) over them (kLogSum).
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
    std::size_t n_entries = 0;               // number of states, called entries
    std::vector<double> initial, final;      // cost of beginning and ending in each; infinite: not allowed
    std::vector<std::int32_t> class_of;      // class of each symbol: symbols of a class have equal arcs
    std::vector<std::vector<CostArc>> arcs;  // arcs of each class
    std::vector<CostArc> free_arcs;          // epsilon arcs, in topological order

    std::size_t n_classes() const { return arcs.size(); }
    void check() const;  // throws std::invalid_argument
};

}  // namespace radboost
