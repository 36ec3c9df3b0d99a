// Mergeable quantile sketches of a column, with a bound of their error; used by column_cuts.cpp when `sketched`.
//
// A sketch is a list of (value, weight) items, ascending. Let R(x) be the weight of all values <= x and R'(x) the weight of
// the items <= x. Compression to size s replaces neighboring items of total weight at most e by one, with the largest of
// their values and the sum of their weights. e is weight_of_a_bin for s bins (bin_ends.hpp), so e <= W / s, W being the total
// weight. Then R'(x) <= R(x) <= R'(x) + e, because only the weight of the group around x is missing. Between min(s, number of
// values) and 2 s + 1 items are left: two neighboring groups together weigh more than e, or a heavier value is between them.
// Merging adds weights and errors. Blocks are merged in pairs, pairs of pairs and so on, each time compressed, so k blocks of
// a worker have a rank error of at most (2 + ceil(log2 k)) W / s: one W / s for each block, each level, and the compression
// before sending. The bins equal those of data in which each value has moved up by no more weight than this error.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "data/letter.hpp"
#include "data/quantiles.hpp"

namespace radboost {

template <class T>
class Sketch {
public:
    // Items of a sketch per bin: the size s is kPerBin * max_bins.
    static constexpr std::size_t kPerBin = 8;

    explicit Sketch(std::size_t size) : size_(size) {}

    // Adds the values of a block (they may be NaN), with the weights of its rows (null: all 1).
    void add(const T* values, const double* weights, const SampleRows& rows) {
        std::vector<Weighted<T>> items;
        if (weights == nullptr)
            for (const T value : sorted_values(values, rows.size)) append(items, {value, 1.0});
        else
            for (const Weighted<T>& item : sorted_with_weights(values, rows, weights)) append(items, item);
        if (items.empty()) return;
        items = compressed(items);
        std::size_t level = 0;
        for (; level < levels_.size() && !levels_[level].empty(); ++level) {
            items = compressed(merged({std::move(levels_[level]), std::move(items)}));
            levels_[level].clear();
        }
        if (level == levels_.size()) levels_.emplace_back();
        levels_[level] = std::move(items);
    }
    // Writes all levels, merged and compressed, and clears them.
    void write(Letter& letter) {
        std::vector<T> values;
        std::vector<double> weights;
        for (const Weighted<T>& item : compressed(merged(std::move(levels_)))) {
            values.push_back(item.value);
            weights.push_back(item.weight);
        }
        levels_.clear();
        letter.write(values);
        letter.write(weights);
    }
    // Adds the sketch that a worker wrote, without compression.
    void read(Letter& letter) {
        const auto values = letter.read<T>();
        const auto weights = letter.read<double>();
        require(values.size() == weights.size(), "a letter of another worker is not whole");
        levels_.emplace_back();
        for (std::size_t i = 0; i < values.size(); ++i) levels_.back().push_back({values[i], weights[i]});
    }
    // At most max_bins - 1 thresholds, ascending; each is a value of the data, the last of its bin.
    std::vector<double> thresholds(int max_bins) const {
        const std::vector<Weighted<T>> items = merged(levels_);
        return bin_thresholds(
            items.size(), [&](std::size_t i) { return items[i].value; },
            [&](std::size_t i, double& sum) { sum += items[i].weight; }, max_bins,
            [](double here, double) { return here; });
    }

private:
    static void append(std::vector<Weighted<T>>& items, const Weighted<T>& item) {
        if (!items.empty() && items.back().value == item.value)
            items.back().weight += item.weight;
        else
            items.push_back(item);
    }
    static std::vector<Weighted<T>> merged(const std::vector<std::vector<Weighted<T>>>& parts) {
        std::vector<Weighted<T>> all, items;
        for (const auto& part : parts) all.insert(all.end(), part.begin(), part.end());
        std::sort(all.begin(), all.end(), [](const Weighted<T>& a, const Weighted<T>& b) {
            return a.value != b.value ? a.value < b.value : a.weight < b.weight;
        });
        for (const Weighted<T>& item : all) append(items, item);
        return items;
    }
    std::vector<Weighted<T>> compressed(const std::vector<Weighted<T>>& items) const {
        if (items.size() <= size_) return items;
        const double most = weight_of_a_bin(items.size(), [&](std::size_t i) { return items[i].weight; }, size_);
        std::vector<Weighted<T>> groups;
        for (const Weighted<T>& item : items) {
            if (!groups.empty() && groups.back().weight + item.weight <= most)
                groups.back() = {item.value, groups.back().weight + item.weight};
            else
                groups.push_back(item);
        }
        return groups;
    }

    std::size_t size_;
    std::vector<std::vector<Weighted<T>>> levels_;  // level i: sketch of 2^i blocks, or empty
};

}  // namespace radboost
