#include "data/column_cuts.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <utility>

#include "core/hashing.hpp"
#include "core/large_array.hpp"
#include "core/pool.hpp"

namespace radboost {
namespace {

// A threshold t with a <= t < b, in the middle where the numbers between a and b allow it.
double midpoint(double a, double b) {
    const double middle = a / 2 + b / 2;
    return middle >= a && middle < b ? middle : a;
}

template <class T>
RADBOOST_INLINE T without_negative_zero(T x) {
    return x == T(0) ? T(0) : x;
}

// The distinct values of a column, as long as there are not more than `limit` of them.
template <class T>
class DistinctValues {
public:
    explicit DistinctValues(std::size_t limit) : limit_(limit) {}

    bool too_many() const { return too_many_; }
    void add(const T* x, std::size_t count) {
        for (std::size_t i = 0; i < count; ++i) {
            // Grey values, counts and codes: whole numbers below 256 need no hash.
            if (x[i] >= T(0) && x[i] < T(256) && x[i] == static_cast<T>(static_cast<int>(x[i])))
                small_[static_cast<std::size_t>(x[i])] = 1;
            else if (x[i] == x[i] && found_.size() <= limit_)
                add_to_table(x[i]);
        }
        std::size_t n = found_.size();
        for (const std::uint8_t seen : small_) n += seen;
        too_many_ = n > limit_;
    }
    std::vector<T> sorted() const {
        std::vector<T> values = found_;
        for (std::size_t i = 0; i < small_.size(); ++i)
            if (small_[i]) values.push_back(static_cast<T>(i));
        std::sort(values.begin(), values.end());
        return values;
    }

private:
    void add_to_table(T x) {
        if (used_.empty()) {
            table_.resize(kSlots);
            used_.assign(kSlots, 0);
        }
        const double wide = x;
        std::uint64_t bits;
        std::memcpy(&bits, &wide, sizeof bits);
        std::size_t slot = mix(bits) % kSlots;
        while (used_[slot] && table_[slot] != x) slot = (slot + 1) % kSlots;
        if (used_[slot]) return;
        used_[slot] = 1;
        table_[slot] = x;
        found_.push_back(x);
    }

    static constexpr std::size_t kSlots = 1024;  // at most a quarter full
    std::size_t limit_;
    bool too_many_ = false;
    std::array<std::uint8_t, 256> small_{};
    std::vector<T> table_, found_;
    std::vector<std::uint8_t> used_;
};

// Columns that are looked over together: a cache line of a row-contiguous matrix.
constexpr std::size_t kGroupColumns = 16;

// Ends where every column is known to have too many values, which is soon where there are many.
template <class T>
void look_over(const MatrixView<T>& X, std::size_t first, DistinctValues<T>* distinct, std::size_t n_columns) {
    T x[kTileRows];
    bool undecided = true;
    for (std::size_t row = 0; row < X.n_rows && undecided; row += kTileRows) {
        const std::size_t count = std::min(kTileRows, X.n_rows - row);
        undecided = false;
        for (std::size_t c = 0; c < n_columns; ++c) {
            if (distinct[c].too_many()) continue;
            X.copy_column(first + c, row, count, x);
            distinct[c].add(x, count);
            undecided |= !distinct[c].too_many();
        }
    }
}

// Numbers as integers of the same order.
std::uint32_t ordered_key(float x) {
    std::uint32_t bits;
    std::memcpy(&bits, &x, sizeof bits);
    return bits & 0x80000000u ? ~bits : bits | 0x80000000u;
}

std::uint64_t ordered_key(double x) {
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

// By value, eleven bits at a time from the lowest: ten times as fast as sorting by comparisons.
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

// The values after which a bin ends: the smallest v whose cumulative weight reaches k / max_bins of the total. Item i of
// a sorted sample is (value(i), weight(i)).
template <class Value, class Weight>
std::vector<double> quantile_thresholds(std::size_t size, Value&& value, Weight&& weight, int max_bins) {
    double total = 0;
    for (std::size_t i = 0; i < size; ++i) total += weight(i);
    std::vector<double> thresholds;
    double cumulative = 0;
    int k = 1;
    for (std::size_t i = 0; i < size;) {
        const auto here = value(i);
        for (; i < size && value(i) == here; ++i) cumulative += weight(i);
        if (i == size) break;
        if (cumulative * max_bins < k * total) continue;
        while (k < max_bins && cumulative * max_bins >= k * total) ++k;
        thresholds.push_back(midpoint(here, value(i)));
        if (k == max_bins) break;
    }
    return thresholds;
}

// `rows` are those of the sample's values; empty: all rows in their order.
template <class T>
std::vector<double> cut_at_quantiles(const T* values, std::size_t size, const double* weights,
                                     const std::vector<std::size_t>& rows, int max_bins) {
    if (weights == nullptr) {
        std::vector<T> sample;
        sample.reserve(size);
        for (std::size_t i = 0; i < size; ++i)
            if (values[i] == values[i]) sample.push_back(without_negative_zero(values[i]));
        radix_sort(sample);
        return quantile_thresholds(
            sample.size(), [&](std::size_t i) { return sample[i]; }, [](std::size_t) { return 1.0; }, max_bins);
    }
    std::vector<Weighted<T>> sample;
    sample.reserve(size);
    for (std::size_t i = 0; i < size; ++i)
        if (values[i] == values[i])
            sample.push_back({without_negative_zero(values[i]), weights[rows.empty() ? i : rows[i]]});
    radix_sort(sample);
    for (std::size_t i = 0; i < sample.size();) {  // by weight too: sums must not depend on the rows' order
        std::size_t end = i + 1;
        while (end < sample.size() && sample[end].value == sample[i].value) ++end;
        std::sort(sample.begin() + static_cast<std::ptrdiff_t>(i), sample.begin() + static_cast<std::ptrdiff_t>(end),
                  [](const Weighted<T>& a, const Weighted<T>& b) { return a.weight < b.weight; });
        i = end;
    }
    return quantile_thresholds(
        sample.size(), [&](std::size_t i) { return sample[i].value; }, [&](std::size_t i) { return sample[i].weight; },
        max_bins);
}

template <class T>
ColumnCuts cut_between(const DistinctValues<T>& distinct) {
    ColumnCuts result;
    const std::vector<T> values = distinct.sorted();
    result.empty = values.empty();
    for (std::size_t i = 0; i + 1 < values.size(); ++i) result.thresholds.push_back(midpoint(values[i], values[i + 1]));
    return result;
}

// A categorical column holds codes, or NaN.
template <class T>
void check_categories(const MatrixView<T>& X, std::size_t column, std::int32_t n_categories) {
    for (std::size_t row = 0; row < X.n_rows; ++row) {
        const T x = X.at(row, column);
        require(x != x || (x >= 0 && x < static_cast<T>(n_categories) && x == std::floor(x)),
                "a category is not one of the column's codes");
    }
}

// Takes another column into the hashes of rows; side by side, because a multiplication waits for the one before it.
template <class T>
RADBOOST_INLINE void hash_values(const T* x, std::size_t count, std::uint64_t* hashes) {
    for (std::size_t i = 0; i < count; ++i) {
        const double wide = without_negative_zero(x[i]);
        std::uint64_t bits;
        std::memcpy(&bits, &wide, sizeof bits);
        bits = wide == wide ? bits : 0x7ff8000000000000ULL;  // one pattern for every NaN
        const std::uint64_t hash = (hashes[i] ^ bits) * 0x9e3779b97f4a7c15ULL;
        hashes[i] = hash ^ (hash >> 32);
    }
}

RADBOOST_CLONES void hash_column(const float* x, std::size_t count, std::uint64_t* hashes) {
    hash_values(x, count, hashes);
}

RADBOOST_CLONES void hash_column(const double* x, std::size_t count, std::uint64_t* hashes) {
    hash_values(x, count, hashes);
}

// Rows for the quantiles of large data, drawn by a hash of their values: copies of a row enter together, so a weighted
// row and its repetitions give the same bins. Empty: use all rows.
template <class T>
std::vector<std::size_t> draw_rows(const MatrixView<T>& X, const double* weights, bool integer_weights,
                                   int n_threads) {
    double count = static_cast<double>(X.n_rows);
    if (weights && integer_weights) {
        count = 0;
        for (std::size_t row = 0; row < X.n_rows; ++row) count += weights[row];
    }
    std::vector<std::size_t> rows;
    if (count <= static_cast<double>(kQuantileRows)) return rows;
    const double share = static_cast<double>(kQuantileRows / 2) / count;
    const auto limit = static_cast<std::uint64_t>(share * 18446744073709551616.0);
    std::vector<std::uint8_t> drawn(X.n_rows);
    const std::size_t tiles = (X.n_rows + kTileRows - 1) / kTileRows;
    parallel_for(n_threads, tiles, [&](std::size_t tile) {
        const std::size_t begin = tile * kTileRows, size = std::min(kTileRows, X.n_rows - begin);
        T x[kTileRows];
        std::uint64_t hashes[kTileRows] = {};
        for (std::size_t column = 0; column < X.n_columns; ++column) {
            X.copy_column(column, begin, size, x);
            hash_column(x, size, hashes);
        }
        for (std::size_t i = 0; i < size; ++i) drawn[begin + i] = mix(hashes[i]) < limit;
    });
    for (std::size_t row = 0; row < X.n_rows; ++row)
        if (drawn[row]) rows.push_back(row);
    return rows;  // few distinct rows can leave it empty: then all rows are used
}

// Values of the sample's rows, column after column, for columns first ... last - 1. All columns of a row are taken at
// once: a column at a time each visit would fetch its cache line anew.
template <class T>
void gather_sample(const MatrixView<T>& X, const std::vector<std::size_t>& rows, std::size_t first, std::size_t last,
                   int n_threads, LargeArray<T>& out) {
    const std::size_t size = rows.empty() ? X.n_rows : rows.size();
    out.resize((last - first) * size);
    const std::size_t tiles = (size + kTileRows - 1) / kTileRows;
    parallel_for(n_threads, tiles, [&](std::size_t tile) {
        const std::size_t begin = tile * kTileRows, count = std::min(kTileRows, size - begin);
        for (std::size_t c = first; c < last; ++c)
            X.copy_column(c, rows.empty() ? nullptr : rows.data(), begin, count, out.data() + (c - first) * size + begin);
    });
}

// How many columns are cut before Ctrl-C is looked at again: few enough for their samples to stay small beside the bins.
template <class T>
std::size_t columns_at_once(std::size_t sample_size, int n_threads) {
    constexpr std::size_t kSampleBytes = std::size_t{1} << 24;
    const std::size_t affordable = kSampleBytes / (sizeof(T) * std::max<std::size_t>(sample_size, 1));
    const std::size_t least = kGroupColumns, most = kGroupColumns * 4 * static_cast<std::size_t>(n_threads);
    return std::clamp(affordable / kGroupColumns * kGroupColumns, least, most);
}

}  // namespace

template <class T>
std::vector<ColumnCuts> cut_columns(const MatrixView<T>& X, const double* weights, bool integer_weights,
                                    const std::int32_t* categories, int max_bins, int n_threads, InterruptCheck check) {
    const auto categorical = [&](std::size_t c) { return categories != nullptr && categories[c] >= 0; };
    const std::vector<std::size_t> rows = draw_rows(X, weights, integer_weights, n_threads);
    const std::size_t size = rows.empty() ? X.n_rows : rows.size();
    const std::size_t width = X.column_stride == 1 ? kGroupColumns : 1;
    const std::size_t slice = columns_at_once<T>(size, n_threads);
    std::vector<ColumnCuts> cuts(X.n_columns);
    LargeArray<T> sample;
    for (std::size_t first = 0; first < X.n_columns; first += slice) {
        check();
        const std::size_t last = std::min(X.n_columns, first + slice);
        std::vector<DistinctValues<T>> distinct(last - first, DistinctValues<T>(static_cast<std::size_t>(max_bins)));
        parallel_for(n_threads, (last - first + width - 1) / width, [&](std::size_t group) {
            const std::size_t begin = group * width, end = std::min(begin + width, last - first);
            look_over(X, first + begin, distinct.data() + begin, end - begin);
        });
        const auto wants_sample = [&](std::size_t c) { return distinct[c - first].too_many() && !categorical(c); };
        std::size_t sampled = first;
        while (sampled < last && !wants_sample(sampled)) ++sampled;
        if (sampled < last) gather_sample(X, rows, first, last, n_threads, sample);
        parallel_for(n_threads, last - first, [&](std::size_t i) {
            if (categorical(first + i))
                check_categories(X, first + i, categories[first + i]);
            else if (distinct[i].too_many())
                cuts[first + i].thresholds = cut_at_quantiles(sample.data() + i * size, size, weights, rows, max_bins);
            else
                cuts[first + i] = cut_between(distinct[i]);
        });
    }
    return cuts;
}

template std::vector<ColumnCuts> cut_columns<float>(const MatrixView<float>&, const double*, bool, const std::int32_t*, int,
                                                    int, InterruptCheck);
template std::vector<ColumnCuts> cut_columns<double>(const MatrixView<double>&, const double*, bool, const std::int32_t*,
                                                     int, int, InterruptCheck);

}  // namespace radboost
