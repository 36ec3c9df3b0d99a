// Common parts of the bindings of growers: conversion of options, and of trees to arrays.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "bindings/arrays.hpp"
#include "growth/grower.hpp"

namespace radboost {

using Groups = std::vector<std::vector<std::uint32_t>>;  // interaction constraints: groups of columns

inline GrowthOptions growth_options(const std::string& growth, const std::string& criterion, int max_depth,
                                    std::size_t max_leaves, std::size_t max_features, double subsample,
                                    bool random_thresholds, double minimum_leaf_weight, std::uint64_t seed,
                                    int n_threads) {
    require(growth == "layers" || growth == "best_first" || growth == "stump_pair",
            "unknown growth: 'layers', 'best_first' and 'stump_pair' are known");
    require(criterion == "edge" || criterion == "gini" || criterion == "variance",
            "unknown criterion: 'edge', 'gini' and 'variance' are known");
    GrowthOptions options;
    options.growth = growth == "layers" ? Growth::layers : growth == "best_first" ? Growth::best_first : Growth::stump_pair;
    options.criterion = criterion == "edge" ? Criterion::edge : criterion == "gini" ? Criterion::gini : Criterion::variance;
    options.max_depth = max_depth;
    options.max_leaves = max_leaves;
    options.max_features = max_features;
    options.subsample = subsample;
    options.random_thresholds = random_thresholds;
    options.minimum_leaf_weight = minimum_leaf_weight;
    options.seed = seed;
    options.n_threads = n_threads;
    return options;
}

// Arrays of the first answers.size() nodes of a tree: feature (-1: leaf), threshold, left, missing_left, value, cover, gain,
// category_nodes (nodes that split by categories), and their sets as four uint64 each. answers: predicted class of each node
// as a leaf. The value of a leaf is -1 or +1 with two classes, otherwise a class, or -1 for abstention.
inline auto tree_arrays(const BinnedData& data, const std::vector<GrownNode>& nodes,
                        const std::vector<CategorySet>& category_sets, const std::vector<std::int32_t>& answers,
                        bool two_classes, double mass_scale) {
    const std::size_t size = answers.size();
    std::vector<std::int32_t> feature(size, -1), left(size, -1);
    std::vector<double> threshold(size, 0), value(size, 0), cover(size), gain(size, 0);
    std::vector<std::uint8_t> missing_left(size, 0);
    std::vector<std::int32_t> category_nodes;
    std::vector<std::uint64_t> category_words;
    for (std::size_t i = 0; i < size; ++i) {
        const GrownNode& node = nodes[i];
        cover[i] = static_cast<double>(node.cover) / mass_scale;
        if (node.left >= 0 && static_cast<std::size_t>(node.left) < size) {
            feature[i] = static_cast<std::int32_t>(node.column);
            if (!node.by_categories) {
                threshold[i] = data.threshold(node.column, node.bin);
            } else {
                const CategorySet& set = category_sets[node.bin];
                category_nodes.push_back(static_cast<std::int32_t>(i));
                category_words.insert(category_words.end(), set.words.begin(), set.words.end());
            }
            left[i] = node.left;
            missing_left[i] = node.missing_left;
            gain[i] = node.gain;
        } else {
            value[i] = two_classes ? 2 * answers[i] - 1 : answers[i];
        }
    }
    return std::make_tuple(as_array(std::move(feature)), as_array(std::move(threshold)), as_array(std::move(left)),
                          as_array(std::move(missing_left)), as_array(std::move(value)), as_array(std::move(cover)),
                          as_array(std::move(gain)), as_array(std::move(category_nodes)),
                          as_array(std::move(category_words)));
}

// The same for a tree of `size` nodes with real leaf values, shape (size, n_outputs). With several outputs the value of a
// leaf is an index in an array of vectors, which is returned last.
inline auto number_arrays(const BinnedData& data, const std::vector<GrownNode>& nodes,
                          const std::vector<CategorySet>& category_sets, const std::vector<double>& values,
                          std::size_t n_outputs, std::size_t size, double mass_scale) {
    require(values.size() == size * n_outputs, "every node needs a number for each output");
    auto arrays = tree_arrays(data, nodes, category_sets, std::vector<std::int32_t>(size, 0), false, mass_scale);
    const std::int32_t* left = std::get<2>(arrays).data();
    std::vector<double> numbers(size, 0.0), vectors;
    for (std::size_t i = 0; i < size; ++i) {
        if (left[i] >= 0) continue;
        numbers[i] = n_outputs == 1 ? values[i] : static_cast<double>(vectors.size() / n_outputs);
        if (n_outputs > 1)
            vectors.insert(vectors.end(), values.begin() + static_cast<std::ptrdiff_t>(i * n_outputs),
                           values.begin() + static_cast<std::ptrdiff_t>((i + 1) * n_outputs));
    }
    std::get<4>(arrays) = as_array(std::move(numbers));
    return std::tuple_cat(std::move(arrays), std::make_tuple(as_array(std::move(vectors))));
}

}  // namespace radboost
