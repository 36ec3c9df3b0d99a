// Scores of splits by the integer class weights of both children, for the criteria gini and edge.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "search/statistics.hpp"

namespace radboost {

// Sums over the classes of one child, from which its score is computed.
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

// Score of a split from the class weights of the node (`all`) and of its left child, shape (n,). Gini of an empty child: -1.
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

// Score that a split must exceed: that of the unsplit node, plus a margin for rounding with gini (edges are exact integers).
inline double score_to_beat(Criterion criterion, double unsplit) {
    return criterion == Criterion::edge ? unsplit : unsplit * (1 + 1e-12) + 1e-12;
}

// Two classes with monotone constraints: the leaf value v of a child with class weights N = first and P = second, and its
// score. With W = P + N and G = P - N, v is G / W clipped to the node's bounds. The Gini score (P^2 + N^2) / W = (W + G^2 /
// W) / 2 becomes (W + (2 G - W v) v) / 2 if v replaces G / W. The edge is G * sign(v).
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

// True if at most one class has weight, so that no split can improve on the node.
inline bool one_class_only(const std::int64_t* all, std::size_t n) {
    return n - static_cast<std::size_t>(std::count(all, all + n, 0)) <= 1;
}

}  // namespace radboost
