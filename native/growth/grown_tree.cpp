#include "growth/grown_tree.hpp"

#include <algorithm>
#include <cmath>

namespace radboost {

// round(kValueGrid * gain / total), where |gain| <= total < 2^62.
std::int32_t GrownTree::rating(std::size_t node, std::size_t answer) const {
    if (!kept.empty()) return kept[node];
    const std::int64_t* gain = sums_of(node);
    const int128 total = gain[n_channels - 1], scaled = int128{gain[answer]} * static_cast<std::int64_t>(kValueGrid);
    if (total <= 0) return 0;
    const int128 nearest = (2 * (scaled < 0 ? -scaled : scaled) + total) / (2 * total);
    return static_cast<std::int32_t>(scaled < 0 ? -nearest : nearest);
}

int128 GrownTree::best_gain(std::size_t node) const {
    const std::int64_t* gain = sums_of(node);
    if (rated) {
        int128 edge = 0;
        for (std::size_t k = 0; k < n_answers(); ++k) edge += int128{gain[k]} * rating(node, k);
        return edge;
    }
    if (!kept.empty()) return kept[node] * int128{gain[0]};
    if (n_channels == 1) return std::max(gain[0], -gain[0]);
    return std::max<std::int64_t>(0, *std::max_element(gain, gain + n_channels));
}

void GrownTree::keep_directions(const std::vector<std::int8_t>& directions, const std::vector<std::int64_t>& totals) {
    const std::size_t size = nodes.size();
    std::vector<std::int64_t> could(size, 0);
    for (std::size_t label = 0; label < size; ++label) could[static_cast<std::size_t>(node_of_label[label])] = totals[label];
    for (std::size_t i = size; i-- > 0;)
        if (nodes[i].left >= 0) {
            const auto left = static_cast<std::size_t>(nodes[i].left);
            could[i] = could[left] + could[left + 1];
        }
    std::vector<double> lowest(size, -1.0), highest(size, 1.0);
    const auto value = [&](std::size_t i, std::size_t bounds) {
        const double share = could[i] > 0 ? static_cast<double>(*sums_of(i)) / static_cast<double>(could[i]) : 0.0;
        return std::min(std::max(share, lowest[bounds]), highest[bounds]);
    };
    // One sign for all nodes with value 0, so that the order of votes is that of the values.
    const std::int32_t undecided = *sums_of(0) < 0 ? -1 : 1;
    kept.assign(size, 0);
    for (std::size_t i = 0; i < size; ++i) {
        const double own = value(i, i);
        if (rated)
            kept[i] = static_cast<std::int32_t>(std::lrint(own * kValueGrid));
        else
            kept[i] = own > 0 ? 1 : own < 0 ? -1 : undecided;
        if (nodes[i].left < 0) continue;
        const auto left = static_cast<std::size_t>(nodes[i].left);
        for (const std::size_t child : {left, left + 1}) {
            lowest[child] = lowest[i];
            highest[child] = highest[i];
        }
        const int direction = directions[nodes[i].column];
        if (direction == 0) continue;
        const double middle = 0.5 * value(left, i) + 0.5 * value(left + 1, i);
        highest[direction > 0 ? left : left + 1] = middle;
        lowest[direction > 0 ? left + 1 : left] = middle;
    }
}

std::vector<std::size_t> GrownTree::parents() const {
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < nodes.size(); ++i)
        if (nodes[i].left >= 0) found.push_back(i);
    std::sort(found.begin(), found.end(),
              [&](std::size_t a, std::size_t b) { return nodes[a].left < nodes[b].left; });
    return found;
}

std::vector<std::int32_t> GrownTree::split_columns() const {
    std::vector<std::int32_t> columns;
    for (const std::size_t parent : parents()) columns.push_back(static_cast<std::int32_t>(nodes[parent].column));
    return columns;
}

void GrownTree::list_candidates(bool every_size, double edge_unit) {
    if (rated) edge_unit /= kValueGrid;
    candidate_splits.clear();
    candidate_edges.clear();
    const std::vector<std::size_t> parent_of_split = parents();
    int128 edge = best_gain(0);
    if (parent_of_split.empty()) {
        // No useful split: the constant hypothesis, a member of H_1, is a candidate.
        candidate_splits.push_back(0);
        candidate_edges.push_back(static_cast<double>(edge) * edge_unit);
    }
    for (std::size_t s = 0; s < parent_of_split.size(); ++s) {
        const auto left = static_cast<std::size_t>(nodes[parent_of_split[s]].left);
        edge += best_gain(left) + best_gain(left + 1) - best_gain(parent_of_split[s]);
        const bool ends_layer = s + 1 == parent_of_split.size() ||
                                depths[parent_of_split[s + 1]] != depths[parent_of_split[s]];
        if (!every_size && !ends_layer) continue;
        candidate_splits.push_back(static_cast<std::int32_t>(s + 1));
        candidate_edges.push_back(static_cast<double>(edge) * edge_unit);
    }
}

std::vector<std::int32_t> GrownTree::ratings(std::size_t n_splits) const {
    const std::size_t size = 2 * n_splits + 1, width = n_answers();
    require(rated && size <= nodes.size(), "the tree has fewer splits, or no ratings");
    std::vector<std::int32_t> found(size * width);
    for (std::size_t i = 0; i < size; ++i)
        for (std::size_t k = 0; k < width; ++k) found[i * width + k] = rating(i, k);
    return found;
}

std::vector<std::size_t> GrownTree::leaf_of_label(std::size_t n_splits) const {
    // A node below the truncated tree predicts like the leaf above it.
    std::vector<std::size_t> of_node(nodes.size());
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        if (i <= 2 * n_splits) of_node[i] = i;
        if (nodes[i].left < 0 || !(i > 2 * n_splits || is_leaf(i, n_splits))) continue;
        const auto left = static_cast<std::size_t>(nodes[i].left);
        of_node[left] = of_node[left + 1] = of_node[i];
    }
    std::vector<std::size_t> of_label(node_of_label.size());
    for (std::size_t label = 0; label < of_label.size(); ++label)
        of_label[label] = of_node[static_cast<std::size_t>(node_of_label[label])];
    return of_label;
}

std::size_t GrownTree::store_rated(std::size_t n_splits, HypothesisColumns& columns, int n_threads) const {
    require(columns.n_rows() == leaf_of_row.size(), "the columns have another number of rows");
    require(columns.width() == n_answers(), "the columns are for another number of classes");
    const std::vector<std::int32_t> numbers = ratings(n_splits);
    std::vector<std::int32_t> place(2 * n_splits + 1, -1), table;
    for (std::size_t i = 0; i <= 2 * n_splits; ++i) {
        if (!is_leaf(i, n_splits)) continue;
        place[i] = static_cast<std::int32_t>(table.size() / n_answers());
        table.insert(table.end(), numbers.data() + i * n_answers(), numbers.data() + (i + 1) * n_answers());
    }
    std::vector<std::int32_t> of_label;
    for (const std::size_t node : leaf_of_label(n_splits)) of_label.push_back(std::max(0, place[node]));
    return columns.add_leaves(leaf_of_row.data(), of_label.data(), table, n_threads);
}

std::vector<std::int32_t> GrownTree::answers(std::size_t n_splits) const {
    const std::size_t size = 2 * n_splits + 1;
    require(size <= nodes.size(), "the tree has fewer splits");
    // A root with all gains 0 predicts class 1 of two classes; with more it abstains.
    std::vector<std::int32_t> answers(size, n_channels == 1 ? 1 : kAbstains);
    for (std::size_t i = 0; i < size; ++i) {
        if (!kept.empty()) {
            answers[i] = kept[i] > 0;
            continue;
        }
        const std::int64_t* gain = sums_of(i);
        const std::int64_t* best = std::max_element(gain, gain + n_channels);
        // A node with all gains 0 predicts like its parent.
        const bool undecided = std::all_of(gain, gain + n_channels, [](std::int64_t g) { return g == 0; });
        if (!undecided && n_channels == 1)
            answers[i] = *best > 0;
        else if (!undecided)
            answers[i] = *best > 0 ? static_cast<std::int32_t>(best - gain) : kAbstains;
        const std::int32_t left = nodes[i].left;
        if (left >= 0 && static_cast<std::size_t>(left) < size)
            answers[static_cast<std::size_t>(left)] = answers[static_cast<std::size_t>(left) + 1] = answers[i];
    }
    return answers;
}

void GrownTree::store(std::size_t n_splits, HypothesisColumns& columns, std::size_t slot, int n_threads) const {
    require(columns.n_rows() == leaf_of_row.size(), "the columns have another number of rows");
    const std::vector<std::int32_t> above = answers(n_splits);
    std::vector<std::int32_t> of_label;
    for (const std::size_t node : leaf_of_label(n_splits)) of_label.push_back(above[node]);
    columns.set_answers(slot, leaf_of_row.data(), of_label.data(), of_label.size(), n_threads);
}

}  // namespace radboost
