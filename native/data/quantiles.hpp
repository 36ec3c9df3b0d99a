// Bin thresholds of one column by weighted quantiles of its values, in one array or over blocks and workers (SharedSample).
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "data/bin_ends.hpp"
#include "data/letter.hpp"
#include "data/sample_rows.hpp"
#include "core/hashing.hpp"
#include "core/matrix_view.hpp"

namespace radboost {

// Threshold t with a <= t < b: the mean of a and b, or a if the mean is rounded to b.
inline double midpoint(double a, double b) {
    const double middle = a / 2 + b / 2;
    return middle >= a && middle < b ? middle : a;
}

// Bits of a number as an unsigned integer, such that integers compare like the numbers (not NaN).
inline std::uint32_t ordered_key(float x) {
    std::uint32_t bits;
    std::memcpy(&bits, &x, sizeof bits);
    return bits & 0x80000000u ? ~bits : bits | 0x80000000u;
}

inline std::uint64_t ordered_key(double x) {
    std::uint64_t bits;
    std::memcpy(&bits, &x, sizeof bits);
    return bits & 0x8000000000000000u ? ~bits : bits | 0x8000000000000000u;
}

template <class T>
struct Weighted {
    T value;
    double weight;
};

template <class T>
T value_of(T x) {
    return x;
}

template <class T>
T value_of(const Weighted<T>& x) {
    return x.value;
}

// Sorts by value: least-significant-digit radix sort with digits of 11 bits, ten times as fast as std::sort.
template <class Item>
void radix_sort(std::vector<Item>& items) {
    constexpr int kBits = 11;
    using Key = decltype(ordered_key(value_of(items[0])));
    std::vector<Item> other(items.size());
    for (int shift = 0; shift < static_cast<int>(8 * sizeof(Key)); shift += kBits) {
        std::array<std::size_t, (1 << kBits) + 1> place{};
        const auto digit = [&](const Item& x) {
            return static_cast<std::size_t>(ordered_key(value_of(x)) >> shift) & ((1 << kBits) - 1);
        };
        for (const Item& x : items) ++place[digit(x) + 1];
        for (std::size_t d = 0; d < (1 << kBits); ++d) place[d + 1] += place[d];
        for (const Item& x : items) other[place[digit(x)]++] = x;
        items.swap(other);
    }
}

// Thresholds, at most max_bins - 1, of a sample of `size` items in ascending order. value(i) is the value of item i, add(i,
// sum) adds its weight to `sum`, between(a, b) returns a threshold t with a <= t < b.
template <class Value, class Add, class Between = double (*)(double, double)>
std::vector<double> bin_thresholds(std::size_t size, Value&& value, Add&& add, int max_bins,
                                   Between&& between = midpoint) {
    std::vector<decltype(value(0))> values;
    std::vector<double> cumulative(1);  // weights, as bin_ends takes them
    values.reserve(size);
    cumulative.reserve(size + 1);
    double sum = 0;
    for (std::size_t i = 0; i < size;) {
        values.push_back(value(i));
        for (; i < size && value(i) == values.back(); ++i) add(i, sum);
        cumulative.push_back(sum);
    }
    std::vector<double> thresholds;
    for (const std::size_t end : bin_ends(cumulative, static_cast<std::size_t>(max_bins)))
        if (end < values.size()) thresholds.push_back(between(values[end - 1], values[end]));
    return thresholds;
}

// The values without NaN, ascending.
template <class T>
std::vector<T> sorted_values(const T* values, std::size_t size) {
    std::vector<T> sample;
    sample.reserve(size);
    for (std::size_t i = 0; i < size; ++i)
        if (values[i] == values[i]) sample.push_back(without_negative_zero(values[i]));
    radix_sort(sample);
    return sample;
}

// values[i] (of sampled row i) with its weight, without NaN, sorted by value and then by weight, so that floating-point sums
// of weights do not depend on the order of the rows. `weights` has all rows of the block.
template <class T>
std::vector<Weighted<T>> sorted_with_weights(const T* values, const SampleRows& rows, const double* weights) {
    std::vector<Weighted<T>> sample;
    sample.reserve(rows.size);
    for (std::size_t i = 0; i < rows.size; ++i)
        if (values[i] == values[i]) sample.push_back({without_negative_zero(values[i]), weights[rows.place(i)]});
    radix_sort(sample);
    for (std::size_t i = 0; i < sample.size();) {
        std::size_t end = i + 1;
        while (end < sample.size() && sample[end].value == sample[i].value) ++end;
        std::sort(sample.begin() + static_cast<std::ptrdiff_t>(i), sample.begin() + static_cast<std::ptrdiff_t>(end),
                  [](const Weighted<T>& a, const Weighted<T>& b) { return a.weight < b.weight; });
        i = end;
    }
    return sample;
}

// Thresholds from the values of the sampled rows, shape (rows.size,); `weights` has all rows, or is null.
template <class T>
std::vector<double> cut_at_quantiles(const T* values, const double* weights, const SampleRows& rows, int max_bins) {
    if (weights == nullptr) {
        const std::vector<T> sample = sorted_values(values, rows.size);
        return bin_thresholds(
            sample.size(), [&](std::size_t i) { return sample[i]; }, [](std::size_t, double& sum) { sum += 1.0; },
            max_bins);
    }
    const std::vector<Weighted<T>> sample = sorted_with_weights(values, rows, weights);
    return bin_thresholds(
        sample.size(), [&](std::size_t i) { return sample[i].value; },
        [&](std::size_t i, double& sum) { sum += sample[i].weight; }, max_bins);
}

// `count` rows with this value and weight.
template <class T>
struct Run {
    T value;
    double weight;
    std::uint64_t count;
};

// Sample of one column, collected over blocks and workers. Its sums go over the rows in the same order as if a single worker
// had them in one block, so the thresholds are equal. Equal (value, weight) pairs are counted, which saves memory.
template <class T>
class SharedSample {
public:
    // Adds the values of a block's sampled rows (they may be NaN). `weights`: of all rows of the block, or null (all 1).
    void add(const T* values, const double* weights, const SampleRows& rows) {
        const std::size_t before = runs_.size();
        const auto add = [&](T value, double weight) {
            if (runs_.size() > before && runs_.back().value == value && runs_.back().weight == weight)
                ++runs_.back().count;
            else
                runs_.push_back({value, weight, 1});
        };
        if (weights == nullptr)
            for (const T value : sorted_values(values, rows.size)) add(value, 1.0);
        else
            for (const Weighted<T>& item : sorted_with_weights(values, rows, weights)) add(item.value, item.weight);
        if (runs_.size() > 2 * n_merged_ + kFewRuns) merge();
    }
    // Adds all rows of a block, for columns where few values are frequent: a direct-mapped table counts (value, weight) pairs
    // and evicts a pair to `runs_` on a collision, so that little is left to sort.
    void add_few_values(const MatrixView<T>& X, std::size_t column, const double* weights) {
        std::vector<Run<T>> table(kTableSlots);
        for (std::size_t row = 0; row < X.n_rows; ++row) {
            const T value = without_negative_zero(X.at(row, column));
            if (value != value) continue;
            const double weight = weights == nullptr ? 1.0 : weights[row];
            Run<T>& run = table[mix(ordered_key(static_cast<double>(value)), ordered_key(weight)) % kTableSlots];
            if (run.value != value || run.weight != weight) {
                if (run.count > 0) runs_.push_back(run);
                run = {value, weight, 0};
                if (runs_.size() > 2 * n_merged_ + kFewRuns) merge();
            }
            ++run.count;
        }
        for (const Run<T>& run : table)
            if (run.count > 0) runs_.push_back(run);
    }
    // Writes values, weights (none if not `weighted`) and counts (none if all are 1).
    void write(bool weighted, Letter& letter) {
        merge();
        std::vector<T> values;
        std::vector<double> weights;
        std::vector<std::uint64_t> counts;
        const bool single = std::all_of(runs_.begin(), runs_.end(), [](const Run<T>& run) { return run.count == 1; });
        for (const Run<T>& run : runs_) {
            values.push_back(run.value);
            if (weighted) weights.push_back(run.weight);
            if (!single) counts.push_back(run.count);
        }
        letter.write(values);
        letter.write(weights);
        letter.write(counts);
    }
    void read(Letter& letter) {
        const auto values = letter.read<T>();
        const auto weights = letter.read<double>();
        const auto counts = letter.read<std::uint64_t>();
        require((weights.empty() || weights.size() == values.size()) && (counts.empty() || counts.size() == values.size()),
                "a letter of another worker is not whole");
        for (std::size_t i = 0; i < values.size(); ++i)
            runs_.push_back({values[i], weights.empty() ? 1.0 : weights[i], counts.empty() ? 1 : counts[i]});
    }
    // `whole`: all weights are integers, so that sums are exact; otherwise weights are added one by one, as in one block.
    std::vector<double> thresholds(bool whole, int max_bins) {
        merge();
        return bin_thresholds(
            runs_.size(), [&](std::size_t i) { return runs_[i].value; },
            [&](std::size_t i, double& sum) {
                const Run<T>& run = runs_[i];
                if (whole)
                    sum += run.weight * static_cast<double>(run.count);
                else
                    for (std::uint64_t k = 0; k < run.count; ++k) sum += run.weight;
            },
            max_bins);
    }

private:
    // Sorts the runs and joins equal ones.
    void merge() {
        std::sort(runs_.begin(), runs_.end(), [](const Run<T>& a, const Run<T>& b) {
            return a.value != b.value ? a.value < b.value : a.weight < b.weight;
        });
        std::size_t n = 0;
        for (std::size_t i = 0; i < runs_.size(); ++i) {
            if (n > 0 && runs_[n - 1].value == runs_[i].value && runs_[n - 1].weight == runs_[i].weight)
                runs_[n - 1].count += runs_[i].count;
            else
                runs_[n++] = runs_[i];
        }
        runs_.resize(n);
        n_merged_ = n;
    }

    static constexpr std::size_t kFewRuns = 16384, kTableSlots = 4096;
    std::vector<Run<T>> runs_;
    std::size_t n_merged_ = 0;
};

}  // namespace radboost
