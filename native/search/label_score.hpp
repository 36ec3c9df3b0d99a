// The score of a split by the weights of the classes on its two sides.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "search/statistics.hpp"

namespace radboost {

// Classes of one side together: what the score of a child is computed from.
struct Side {
    std::int64_t weight = 0, squares = 0, largest = 0;

    void add(std::int64_t class_weight) {
        weight += class_weight;
        squares += class_weight * class_weight;
        largest = std::max(largest, class_weight);
    }
    double gini() const { return static_cast<double>(squares) / static_cast<double>(weight); }
    std::int64_t edge() const { return std::max<std::int64_t>(0, 2 * largest - weight); }
};

// `all` and `left` by class; -1 where gini finds a side without weight.
inline double split_score(Criterion criterion, const std::int64_t* all, const std::int64_t* left, std::size_t n) {
    Side here, there;
    for (std::size_t s = 0; s < n; ++s) {
        here.add(left[s]);
        there.add(all[s] - left[s]);
    }
    if (criterion == Criterion::edge) return static_cast<double>(here.edge() + there.edge());
    return here.weight == 0 || there.weight == 0 ? -1.0 : here.gini() + there.gini();
}

inline double unsplit_score(Criterion criterion, const std::int64_t* all, std::size_t n) {
    Side side;
    for (std::size_t s = 0; s < n; ++s) side.add(all[s]);
    if (criterion == Criterion::edge) return static_cast<double>(side.edge());
    return side.weight == 0 ? 0.0 : side.gini();
}

// What a split must score more than. Rounding must not make a useless split look useful; edges are whole numbers.
inline double score_to_beat(Criterion criterion, double unsplit) {
    return criterion == Criterion::edge ? unsplit : unsplit * (1 + 1e-12) + 1e-12;
}

// With two classes and monotone constraints: the value that a part of a node may have, the closest to (second - first) /
// (second + first) that the node's bounds allow, and what it scores. By gini that is (P^2 + N^2) / W = (W + G^2 / W) / 2 with
// W = P + N and G = P - N, and a value v in the place of G / W leaves (W + (2 G - W v) v) / 2 of it. By the edge it is G or -G,
// as the value's sign says.
struct BoundedAnswer {
    double value, score;

    BoundedAnswer(Criterion criterion, std::int64_t first, std::int64_t second, const Node& node) {
        const auto w = static_cast<double>(first + second), g = static_cast<double>(second - first);
        value = std::min(std::max(w > 0 ? g / w : 0.0, node.lowest), node.highest);
        if (criterion == Criterion::gini)
            score = 0.5 * (w + (2 * g - w * value) * value);
        else
            score = value > 0 ? g : value < 0 ? -g : 0.0;
    }
};

// Whether no split can improve on a node with these weights.
inline bool one_class_only(const std::int64_t* all, std::size_t n) {
    return n - static_cast<std::size_t>(std::count(all, all + n, 0)) <= 1;
}

}  // namespace radboost
