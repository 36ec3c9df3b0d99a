// Summaries of the values of a column that are small, can be merged, and know how wrong they are.
//
// A summary is a list of values with weights, ascending. Of every x it says the weight R'(x) of the values up to x, in
// place of the true R(x). Compressing it to size s makes one item of neighbors whose weights sum to at most e, the largest of
// their values with the sum of their weights. e is the weight of one of s bins when values that weigh more have a bin of their
// own (bin_ends.hpp), so that e <= W / s, W being all weight. Then R'(x) <= R(x) <= R'(x) + e, because only the weight of the
// group around x is missing. At least min(s, number of values) items are left, and at most 2 s + 1: two neighboring groups
// weigh more than e together, or a heavier value is between them. Merging adds weights and errors. Blocks are merged in
// pairs, and pairs of pairs, each time compressed; so k blocks of a worker end with an error of at most
// (2 + ceil(log2 k)) W / s: once for each block, once for every level, and once for what is sent. The bins are those of a
// table in which each value has moved up, by no more weight than this error.
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
    // Items of a summary for each bin that is asked for.
    static constexpr std::size_t kPerBin = 8;

    explicit Sketch(std::size_t size) : size_(size) {}

    // The values of a block, NaN among them, with the weights of its rows (null: every row counts once).
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
    // Takes the summary of another worker as it is.
    void read(Letter& letter) {
        const auto values = letter.read<T>();
        const auto weights = letter.read<double>();
        require(values.size() == weights.size(), "a letter of another worker is not whole");
        levels_.emplace_back();
        for (std::size_t i = 0; i < values.size(); ++i) levels_.back().push_back({values[i], weights[i]});
    }
    // At most max_bins - 1 values after which bins end.
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
    std::vector<std::vector<Weighted<T>>> levels_;  // of 1, 2, 4, ... blocks; empty where there is none
};

}  // namespace radboost
