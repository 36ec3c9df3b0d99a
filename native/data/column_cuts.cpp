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
    void give_up() { too_many_ = true; }
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
// a sorted sample has value(i), and add(i, sum) adds its weight to a sum.
template <class Value, class Add>
std::vector<double> quantile_thresholds(std::size_t size, Value&& value, Add&& add, int max_bins) {
    double total = 0;
    for (std::size_t i = 0; i < size; ++i) add(i, total);
    std::vector<double> thresholds;
    double cumulative = 0;
    int k = 1;
    for (std::size_t i = 0; i < size;) {
        const auto here = value(i);
        for (; i < size && value(i) == here; ++i) add(i, cumulative);
        if (i == size) break;
        if (cumulative * max_bins < k * total) continue;
        while (k < max_bins && cumulative * max_bins >= k * total) ++k;
        thresholds.push_back(midpoint(here, value(i)));
        if (k == max_bins) break;
    }
    return thresholds;
}

// The rows whose values the quantiles are taken of, among those of this worker.
struct SampleRows {
    bool all = true;  // and of every other worker
    std::vector<std::size_t> rows;  // where it is not all of them
    std::size_t size = 0;

    const std::size_t* places() const { return all ? nullptr : rows.data(); }
    std::size_t place(std::size_t i) const { return all ? i : rows[i]; }
};

// By value.
template <class T>
std::vector<T> sorted_values(const T* values, std::size_t size) {
    std::vector<T> sample;
    sample.reserve(size);
    for (std::size_t i = 0; i < size; ++i)
        if (values[i] == values[i]) sample.push_back(without_negative_zero(values[i]));
    radix_sort(sample);
    return sample;
}

// By value, then by weight: sums must not depend on the rows' order.
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

template <class T>
std::vector<double> cut_at_quantiles(const T* values, const double* weights, const SampleRows& rows, int max_bins) {
    if (weights == nullptr) {
        const std::vector<T> sample = sorted_values(values, rows.size);
        return quantile_thresholds(
            sample.size(), [&](std::size_t i) { return sample[i]; }, [](std::size_t, double& sum) { sum += 1.0; },
            max_bins);
    }
    const std::vector<Weighted<T>> sample = sorted_with_weights(values, rows, weights);
    return quantile_thresholds(
        sample.size(), [&](std::size_t i) { return sample[i].value; },
        [&](std::size_t i, double& sum) { sum += sample[i].weight; }, max_bins);
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
// row and its repetitions give the same bins, and it does not matter which worker has which rows.
template <class T>
SampleRows draw_rows(const MatrixView<T>& X, const double* weights, bool integer_weights, int n_threads,
                     const Collective& collective) {
    SampleRows sample;
    sample.size = X.n_rows;
    double own_count = static_cast<double>(X.n_rows);
    if (weights && integer_weights) {
        own_count = 0;
        for (std::size_t row = 0; row < X.n_rows; ++row) own_count += weights[row];
    }
    const auto count = static_cast<double>(collective.sum(static_cast<std::int64_t>(own_count)));  // a whole number
    if (count <= static_cast<double>(kQuantileRows)) return sample;
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
    std::vector<std::size_t> rows;
    for (std::size_t row = 0; row < X.n_rows; ++row)
        if (drawn[row]) rows.push_back(row);
    if (collective.sum(static_cast<std::int64_t>(rows.size())) == 0) return sample;  // few distinct rows: take them all
    sample.all = false;
    sample.size = rows.size();
    sample.rows = std::move(rows);
    return sample;
}

// Values of the sample's rows, column after column, for columns first ... last - 1. All columns of a row are taken at
// once: a column at a time each visit would fetch its cache line anew.
template <class T>
void gather_sample(const MatrixView<T>& X, const SampleRows& rows, std::size_t first, std::size_t last, int n_threads,
                   LargeArray<T>& out) {
    const std::size_t size = rows.size;
    out.resize((last - first) * size);
    const std::size_t tiles = (size + kTileRows - 1) / kTileRows;
    parallel_for(n_threads, tiles, [&](std::size_t tile) {
        const std::size_t begin = tile * kTileRows, count = std::min(kTileRows, size - begin);
        for (std::size_t c = first; c < last; ++c)
            X.copy_column(c, rows.places(), begin, count, out.data() + (c - first) * size + begin);
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

// What the workers tell each other of some columns: plain numbers, one after the other.
class Letter {
public:
    Letter() = default;
    explicit Letter(std::vector<std::uint8_t> bytes) : bytes_(std::move(bytes)) {}

    template <class Number>
    void write(const std::vector<Number>& numbers) {
        const std::uint64_t size = numbers.size();
        append(&size, sizeof size);
        append(numbers.data(), numbers.size() * sizeof(Number));
    }
    template <class Number>
    std::vector<Number> read() {
        std::uint64_t size = 0;
        take(&size, sizeof size);
        require(size <= (bytes_.size() - place_) / sizeof(Number), "a letter of another worker is too short");
        std::vector<Number> numbers(size);
        take(numbers.data(), size * sizeof(Number));
        return numbers;
    }
    std::vector<Letter> exchange(const Collective& collective) const {
        std::vector<Letter> letters;
        for (auto& bytes : collective.gather(bytes_.data(), bytes_.size())) letters.emplace_back(std::move(bytes));
        return letters;
    }

private:
    void append(const void* from, std::size_t count) {
        const auto* first = static_cast<const std::uint8_t*>(from);
        bytes_.insert(bytes_.end(), first, first + count);
    }
    void take(void* to, std::size_t count) {
        require(count <= bytes_.size() - place_, "a letter of another worker is too short");
        if (count > 0) std::memcpy(to, bytes_.data() + place_, count);
        place_ += count;
    }

    std::vector<std::uint8_t> bytes_;
    std::size_t place_ = 0;
};

// The distinct values of all workers.
template <class T>
void share_distinct(std::vector<DistinctValues<T>>& distinct, std::size_t limit, const Collective& collective) {
    Letter own;
    for (const DistinctValues<T>& column : distinct) {
        own.write(std::vector<std::uint8_t>{column.too_many()});
        own.write(column.too_many() ? std::vector<T>() : column.sorted());
    }
    std::vector<Letter> letters = own.exchange(collective);
    for (DistinctValues<T>& column : distinct) {
        column = DistinctValues<T>(limit);
        bool too_many = false;
        for (Letter& letter : letters) {
            too_many |= letter.read<std::uint8_t>().at(0) != 0;
            const std::vector<T> values = letter.read<T>();
            column.add(values.data(), values.size());
        }
        if (too_many) column.give_up();
    }
}

// Rows of one value and one weight.
template <class T>
struct Run {
    T value;
    double weight;
    std::uint64_t count;
};

// The sample of one column over all workers, in the order that the sums of one worker with all rows go through.
template <class T>
class SharedSample {
public:
    void write_own(const T* values, const double* weights, bool weighted, const SampleRows& rows, Letter& letter) const {
        std::vector<T> of_runs;
        std::vector<double> weight_of_runs;
        std::vector<std::uint64_t> counts;
        const auto add = [&](T value, double weight) {
            if (!of_runs.empty() && of_runs.back() == value && weight_of_runs.back() == weight) {
                ++counts.back();
                return;
            }
            of_runs.push_back(value);
            weight_of_runs.push_back(weight);
            counts.push_back(1);
        };
        if (weights == nullptr)
            for (const T value : sorted_values(values, rows.size)) add(value, 1.0);
        else
            for (const Weighted<T>& item : sorted_with_weights(values, rows, weights)) add(item.value, item.weight);
        const bool single = std::all_of(counts.begin(), counts.end(), [](std::uint64_t count) { return count == 1; });
        letter.write(of_runs);
        letter.write(weighted ? weight_of_runs : std::vector<double>());
        letter.write(single ? std::vector<std::uint64_t>() : counts);
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
    // `whole`: no weight has a fraction, so that sums are exact in any order.
    std::vector<double> thresholds(bool whole, int max_bins) {
        std::sort(runs_.begin(), runs_.end(), [](const Run<T>& a, const Run<T>& b) {
            return a.value != b.value ? a.value < b.value : a.weight < b.weight;
        });
        return quantile_thresholds(
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
    std::vector<Run<T>> runs_;
};

}  // namespace

template <class T>
std::vector<ColumnCuts> cut_columns(const MatrixView<T>& X, const double* weights, bool integer_weights,
                                    const std::int32_t* categories, int max_bins, int n_threads, InterruptCheck check,
                                    const Collective& collective) {
    const auto categorical = [&](std::size_t c) { return categories != nullptr && categories[c] >= 0; };
    // A worker without rows has no weights; the others know.
    double facts[2] = {weights != nullptr ? 1.0 : 0.0, integer_weights ? 0.0 : 1.0};
    collective.maximum(facts, 2);
    const bool alone = collective.alone(), weighted = facts[0] > 0.0, whole = facts[1] == 0.0;
    const SampleRows rows = draw_rows(X, weights, whole, n_threads, collective);
    const std::size_t width = X.column_stride == 1 ? kGroupColumns : 1;
    const auto size_of_all = static_cast<std::size_t>(collective.sum(static_cast<std::int64_t>(rows.size)));
    // All workers take the same columns at once, however many threads they have.
    const std::size_t slice = columns_at_once<T>(size_of_all, alone ? n_threads : 1);
    const auto limit = static_cast<std::size_t>(max_bins);
    std::vector<ColumnCuts> cuts(X.n_columns);
    LargeArray<T> sample;
    for (std::size_t first = 0; first < X.n_columns; first += slice) {
        check();
        const std::size_t last = std::min(X.n_columns, first + slice);
        std::vector<DistinctValues<T>> distinct(last - first, DistinctValues<T>(limit));
        parallel_for(n_threads, (last - first + width - 1) / width, [&](std::size_t group) {
            const std::size_t begin = group * width, end = std::min(begin + width, last - first);
            look_over(X, first + begin, distinct.data() + begin, end - begin);
        });
        if (!alone) share_distinct(distinct, limit, collective);
        const auto wants_sample = [&](std::size_t c) { return distinct[c - first].too_many() && !categorical(c); };
        std::size_t sampled = first;
        while (sampled < last && !wants_sample(sampled)) ++sampled;
        if (sampled < last) gather_sample(X, rows, first, last, n_threads, sample);
        std::vector<SharedSample<T>> shared(alone ? 0 : last - first);
        if (!alone && sampled < last) {
            Letter own;
            for (std::size_t c = first; c < last; ++c)
                if (wants_sample(c))
                    shared[c - first].write_own(sample.data() + (c - first) * rows.size, weights, weighted, rows, own);
            for (Letter& letter : own.exchange(collective))
                for (std::size_t c = first; c < last; ++c)
                    if (wants_sample(c)) shared[c - first].read(letter);
        }
        parallel_for(n_threads, last - first, [&](std::size_t i) {
            if (categorical(first + i))
                check_categories(X, first + i, categories[first + i]);
            else if (!distinct[i].too_many())
                cuts[first + i] = cut_between(distinct[i]);
            else if (alone)
                cuts[first + i].thresholds = cut_at_quantiles(sample.data() + i * rows.size, weights, rows, max_bins);
            else
                cuts[first + i].thresholds = shared[i].thresholds(whole, max_bins);
        });
    }
    return cuts;
}

template std::vector<ColumnCuts> cut_columns<float>(const MatrixView<float>&, const double*, bool, const std::int32_t*, int,
                                                    int, InterruptCheck, const Collective&);
template std::vector<ColumnCuts> cut_columns<double>(const MatrixView<double>&, const double*, bool, const std::int32_t*,
                                                     int, int, InterruptCheck, const Collective&);

}  // namespace radboost
