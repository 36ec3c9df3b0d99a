#include "binning.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "categories.hpp"
#include "hashing.hpp"
#include "pool.hpp"

namespace radboost {
namespace {

constexpr std::size_t kEncodeRows = 1024;

// A threshold t with a <= t < b, in the middle where the numbers between a and b allow it.
double midpoint(double a, double b) {
    const double middle = a / 2 + b / 2;
    return middle >= a && middle < b ? middle : a;
}

template <class T>
T without_negative_zero(T x) {
    return x == T(0) ? T(0) : x;
}

// The distinct values of a column, as long as there are not more than `limit` of them.
template <class T>
class DistinctValues {
public:
    explicit DistinctValues(std::size_t limit) : limit_(limit), table_(kSlots), used_(kSlots, 0) {}

    bool too_many() const { return found_.size() > limit_; }
    void add(T x) {
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
    std::vector<T> sorted() const {
        std::vector<T> values = found_;
        std::sort(values.begin(), values.end());
        return values;
    }

private:
    static constexpr std::size_t kSlots = 1024;  // at most a quarter full
    std::size_t limit_;
    std::vector<T> table_, found_;
    std::vector<std::uint8_t> used_;
};

// Columns that are looked over together: a cache line of a row-contiguous matrix.
constexpr std::size_t kGroupColumns = 16;

template <class T>
struct ColumnGroup {
    std::vector<DistinctValues<T>> distinct;
    std::array<std::uint8_t, kGroupColumns> missing{};
};

template <class T>
ColumnGroup<T> look_over(const MatrixView<T>& X, std::size_t first, std::size_t last, std::size_t limit) {
    ColumnGroup<T> group;
    group.distinct.assign(last - first, DistinctValues<T>(limit));
    std::size_t undecided = last - first, row = 0;
    for (; row < X.n_rows && undecided > 0; ++row) {
        undecided = 0;
        for (std::size_t c = first; c < last; ++c) {
            DistinctValues<T>& distinct = group.distinct[c - first];
            const T x = without_negative_zero(X.at(row, c));
            if (x != x)
                group.missing[c - first] = 1;
            else if (!distinct.too_many())
                distinct.add(x);
            undecided += !distinct.too_many();
        }
    }
    for (; row < X.n_rows; ++row)  // only whether anything is missing is still open
        for (std::size_t c = first; c < last; ++c) {
            const T x = X.at(row, c);
            group.missing[c - first] |= x != x;
        }
    return group;
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

// Eleven bits at a time, from the lowest: ten times as fast as sorting by comparisons.
template <class T>
void radix_sort(std::vector<T>& values) {
    constexpr int kBits = 11;
    std::vector<T> other(values.size());
    for (int shift = 0; shift < static_cast<int>(8 * sizeof(T)); shift += kBits) {
        std::array<std::size_t, (1 << kBits) + 1> place{};
        const auto digit = [&](T x) { return static_cast<std::size_t>(ordered_key(x) >> shift) & ((1 << kBits) - 1); };
        for (const T x : values) ++place[digit(x) + 1];
        for (std::size_t d = 0; d < (1 << kBits); ++d) place[d + 1] += place[d];
        for (const T x : values) other[place[digit(x)]++] = x;
        values.swap(other);
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

struct Column {
    std::vector<double> thresholds;
    bool empty = false, missing = false;
};

template <class T>
std::vector<double> cut_at_quantiles(const MatrixView<T>& X, std::size_t column, const double* weights,
                                     const std::vector<std::size_t>& sample_rows, int max_bins) {
    const std::size_t size = sample_rows.empty() ? X.n_rows : sample_rows.size();
    const auto row_at = [&](std::size_t i) { return sample_rows.empty() ? i : sample_rows[i]; };
    if (weights == nullptr) {
        std::vector<T> sample;
        sample.reserve(size);
        for (std::size_t i = 0; i < size; ++i) {
            const T x = without_negative_zero(X.at(row_at(i), column));
            if (x == x) sample.push_back(x);
        }
        radix_sort(sample);
        return quantile_thresholds(
            sample.size(), [&](std::size_t i) { return sample[i]; }, [](std::size_t) { return 1.0; }, max_bins);
    }
    std::vector<std::pair<T, double>> sample;
    sample.reserve(size);
    for (std::size_t i = 0; i < size; ++i) {
        const T x = without_negative_zero(X.at(row_at(i), column));
        if (x == x) sample.emplace_back(x, weights[row_at(i)]);
    }
    std::sort(sample.begin(), sample.end());  // by weight too: sums of equal values do not depend on the rows' order
    return quantile_thresholds(
        sample.size(), [&](std::size_t i) { return sample[i].first; }, [&](std::size_t i) { return sample[i].second; },
        max_bins);
}

template <class T>
Column cut_column(const MatrixView<T>& X, std::size_t column, const double* weights,
                  const std::vector<std::size_t>& sample_rows, const DistinctValues<T>& distinct, int max_bins) {
    Column result;
    if (distinct.too_many()) {
        result.thresholds = cut_at_quantiles(X, column, weights, sample_rows, max_bins);
        return result;
    }
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
    const std::size_t blocks = (X.n_rows + kEncodeRows - 1) / kEncodeRows;
    parallel_for(n_threads, blocks, [&](std::size_t block) {
        const std::size_t end = std::min(X.n_rows, (block + 1) * kEncodeRows);
        for (std::size_t row = block * kEncodeRows; row < end; ++row) {
            std::uint64_t hash = 0;
            for (std::size_t column = 0; column < X.n_columns; ++column) {
                const double x = without_negative_zero(X.at(row, column));
                std::uint64_t bits = 0x7ff8000000000000ULL;  // one pattern for every NaN
                if (x == x) std::memcpy(&bits, &x, sizeof bits);
                hash = (hash ^ bits) * 0x9e3779b97f4a7c15ULL;
                hash ^= hash >> 32;
            }
            drawn[row] = mix(hash) < limit;
        }
    });
    for (std::size_t row = 0; row < X.n_rows; ++row)
        if (drawn[row]) rows.push_back(row);
    return rows;  // few distinct rows can leave it empty: then all rows are used
}

// The first of 256 ascending cuts that is not below x, for many x at once: eight halvings without a branch.
template <class T>
RADBOOST_INLINE void search_cuts(const T* cuts, const T* x, std::size_t count, std::int32_t* codes) {
    for (std::size_t i = 0; i < count; ++i) codes[i] = cuts[127] < x[i] ? 128 : 0;
    for (std::int32_t step = 64; step > 0; step /= 2)
        for (std::size_t i = 0; i < count; ++i) codes[i] += cuts[codes[i] + step - 1] < x[i] ? step : 0;
}

RADBOOST_CLONES void find_codes(const float* cuts, const float* x, std::size_t count, std::int32_t* codes) {
    search_cuts(cuts, x, count, codes);
}

RADBOOST_CLONES void find_codes(const double* cuts, const double* x, std::size_t count, std::int32_t* codes) {
    search_cuts(cuts, x, count, codes);
}

template <class T>
void encode_rows(const MatrixView<T>& X, const std::int64_t* order, BinnedData& out, std::size_t begin,
                 std::size_t end) {
    T cuts[256], x[kEncodeRows];
    std::int32_t codes[kEncodeRows];
    const std::size_t count = end - begin;
    for (std::size_t c = 0; c < X.n_columns; ++c) {
        for (std::size_t i = 0; i < count; ++i)
            x[i] = X.at(order ? static_cast<std::size_t>(order[begin + i]) : begin + i, c);
        if (out.is_categorical[c]) {
            for (std::size_t i = 0; i < count; ++i) codes[i] = x[i] != x[i] ? 0 : static_cast<std::int32_t>(x[i]);
        } else {
            const std::size_t n_cuts = out.first_threshold[c + 1] - out.first_threshold[c];
            for (std::size_t i = 0; i < 256; ++i)
                cuts[i] = i < n_cuts ? rounded_down<T>(out.threshold(c, i)) : std::numeric_limits<T>::infinity();
            find_codes(cuts, x, count, codes);
        }
        std::uint8_t* column = out.by_column.data() + c * out.n_rows + begin;
        std::uint8_t* by_row = out.by_row.data() + begin * out.n_columns + c;
        const auto missing_code = static_cast<std::int32_t>(out.bin_counts[c]);
        for (std::size_t i = 0; i < count; ++i) {
            const auto code = static_cast<std::uint8_t>(x[i] != x[i] ? missing_code : codes[i]);
            column[i] = code;
            by_row[i * out.n_columns] = code;
        }
    }
}

}  // namespace

double BinnedData::threshold(std::size_t column, std::size_t bin) const {
    // The last bin has no threshold: a split there parts the missing values from all others.
    const std::size_t index = first_threshold[column] + bin;
    return index < first_threshold[column + 1] ? thresholds[index] : std::numeric_limits<double>::infinity();
}

std::vector<std::uint64_t> BinnedData::row_hashes(const std::uint16_t* classes, int n_threads) const {
    std::vector<std::uint64_t> hashes(n_rows);
    const std::size_t blocks = (n_rows + kEncodeRows - 1) / kEncodeRows;
    parallel_for(n_threads, blocks, [&](std::size_t block) {
        const std::size_t end = std::min(n_rows, (block + 1) * kEncodeRows);
        for (std::size_t row = block * kEncodeRows; row < end; ++row) {
            const std::uint8_t* codes = by_row.data() + row * n_columns;
            std::uint64_t hash = classes[row];
            std::size_t c = 0;
            for (; c + 8 <= n_columns; c += 8) {
                std::uint64_t word;
                std::memcpy(&word, codes + c, 8);
                hash = (hash ^ word) * 0x9e3779b97f4a7c15ULL;
                hash ^= hash >> 32;
            }
            for (; c < n_columns; ++c) hash = (hash ^ codes[c]) * 0x9e3779b97f4a7c15ULL;
            hashes[row] = mix(hash);
        }
    });
    return hashes;
}

BinnedData BinnedData::without_rows() const {
    BinnedData out;
    out.n_columns = n_columns;
    out.thresholds = thresholds;
    out.first_threshold = first_threshold;
    out.bin_counts = bin_counts;
    out.has_missing = has_missing;
    out.is_categorical = is_categorical;
    out.slot_offsets = slot_offsets;
    out.even_slots = even_slots;
    return out;
}

BinnedData BinnedData::subset(const std::int64_t* rows, std::size_t count) const {
    std::vector<std::uint32_t> chosen(count);
    for (std::size_t i = 0; i < count; ++i) {
        require(rows[i] >= 0 && static_cast<std::size_t>(rows[i]) < n_rows, "row index out of range");
        chosen[i] = static_cast<std::uint32_t>(rows[i]);
    }
    BinnedData out = without_rows();
    out.take_rows(*this, chosen.data(), count);
    return out;
}

void BinnedData::take_rows(const BinnedData& from, const std::uint32_t* rows, std::size_t count) {
    constexpr std::size_t kTogether = 64;  // rows whose codes of a column are written side by side
    n_rows = count;
    by_row.resize(count * n_columns);
    by_column.resize(count * n_columns);
    for (std::size_t first = 0; first < count; first += kTogether) {
        const std::size_t last = std::min(count, first + kTogether);
        for (std::size_t i = first; i < last; ++i) {
            const std::uint8_t* codes = from.by_row.data() + std::size_t{rows[i]} * n_columns;
            std::copy(codes, codes + n_columns, by_row.data() + i * n_columns);
        }
        for (std::size_t c = 0; c < n_columns; ++c)
            for (std::size_t i = first; i < last; ++i) by_column[c * count + i] = by_row[i * n_columns + c];
    }
}

BinnedData BinnedData::side_by_side(const std::vector<const BinnedData*>& parts) {
    require(!parts.empty(), "nothing to put together");
    BinnedData out;
    out.n_rows = parts[0]->n_rows;
    out.first_threshold.push_back(0);
    for (const BinnedData* part : parts) {
        require(part->n_rows == out.n_rows, "the parts have different numbers of rows");
        out.n_columns += part->n_columns;
    }
    out.by_row.resize(out.n_rows * out.n_columns);
    std::size_t first = 0;
    for (const BinnedData* part : parts) {
        for (std::size_t row = 0; row < out.n_rows; ++row)
            std::copy_n(part->by_row.data() + row * part->n_columns, part->n_columns,
                        out.by_row.data() + row * out.n_columns + first);
        for (std::size_t c = 0; c < part->n_columns; ++c)
            out.first_threshold.push_back(out.thresholds.size() + part->first_threshold[c + 1]);
        out.by_column.insert(out.by_column.end(), part->by_column.begin(), part->by_column.end());
        out.thresholds.insert(out.thresholds.end(), part->thresholds.begin(), part->thresholds.end());
        out.bin_counts.insert(out.bin_counts.end(), part->bin_counts.begin(), part->bin_counts.end());
        out.has_missing.insert(out.has_missing.end(), part->has_missing.begin(), part->has_missing.end());
        out.is_categorical.insert(out.is_categorical.end(), part->is_categorical.begin(), part->is_categorical.end());
        first += part->n_columns;
    }
    out.lay_out_slots();
    return out;
}

void BinnedData::lay_out_slots() {
    std::size_t used = 0;
    for (std::size_t c = 0; c < n_columns; ++c) used += bin_counts[c] + std::size_t{has_missing[c]};
    even_slots = used >= n_columns * 192;
    slot_offsets.assign(1, 0);
    for (std::size_t c = 0; c < n_columns; ++c)
        slot_offsets.push_back(slot_offsets.back() + (even_slots ? 256u : bin_counts[c] + std::uint32_t{has_missing[c]}));
}

template <class T>
BinnedData bin_matrix(const MatrixView<T>& X, const double* weights, bool integer_weights, const std::int64_t* order,
                      const std::int32_t* categories, int max_bins, int n_threads, InterruptCheck check) {
    require(max_bins >= 2 && max_bins <= 255, "max_bins must lie between 2 and 255");
    require(n_threads >= 1, "n_threads must be at least 1");
    for (std::size_t c = 0; categories && c < X.n_columns; ++c)
        require(categories[c] >= -1 && categories[c] <= static_cast<std::int32_t>(kMostCategories),
                "a column can have at most 255 categories");
    BinnedData out;
    out.n_rows = X.n_rows;
    out.n_columns = X.n_columns;
    const std::vector<std::size_t> sample = draw_rows(X, weights, integer_weights, n_threads);
    std::vector<Column> columns(X.n_columns);
    const std::size_t width = X.column_stride == 1 ? kGroupColumns : 1;
    const std::size_t groups = (X.n_columns + width - 1) / width;
    // In slices, so that Ctrl-C is looked at between them.
    const std::size_t slice = static_cast<std::size_t>(n_threads) * 4;
    for (std::size_t begin = 0; begin < groups; begin += slice) {
        check();
        const std::size_t end = std::min(groups, begin + slice);
        std::vector<ColumnGroup<T>> looks(end - begin);
        parallel_for(n_threads, end - begin, [&](std::size_t i) {
            const std::size_t first = (begin + i) * width;
            looks[i] = look_over(X, first, std::min(first + width, X.n_columns), static_cast<std::size_t>(max_bins));
        });
        const std::size_t first = begin * width, last = std::min(end * width, X.n_columns);
        parallel_for(n_threads, last - first, [&](std::size_t i) {
            const ColumnGroup<T>& look = looks[i / width];
            const std::size_t c = first + i;
            if (categories && categories[c] >= 0)
                check_categories(X, c, categories[c]);
            else
                columns[c] = cut_column(X, c, weights, sample, look.distinct[i % width], max_bins);
            columns[c].missing = look.missing[i % width] != 0;
        });
    }
    out.first_threshold.push_back(0);
    for (std::size_t c = 0; c < X.n_columns; ++c) {
        const Column& column = columns[c];
        const bool categorical = categories && categories[c] >= 0;
        const std::size_t bins = categorical      ? static_cast<std::size_t>(categories[c])
                                 : column.empty ? 0
                                                : column.thresholds.size() + 1;
        out.thresholds.insert(out.thresholds.end(), column.thresholds.begin(), column.thresholds.end());
        out.first_threshold.push_back(out.thresholds.size());
        out.bin_counts.push_back(static_cast<std::uint16_t>(bins));
        out.has_missing.push_back(column.missing);
        out.is_categorical.push_back(categorical);
    }
    out.lay_out_slots();
    out.by_row.resize(X.n_rows * X.n_columns);
    out.by_column.resize(X.n_rows * X.n_columns);
    const std::size_t blocks = (X.n_rows + kEncodeRows - 1) / kEncodeRows;
    const std::size_t batch = static_cast<std::size_t>(n_threads) * 256;
    for (std::size_t first = 0; first < blocks; first += batch) {
        check();
        parallel_for(n_threads, std::min(batch, blocks - first), [&](std::size_t i) {
            const std::size_t begin = (first + i) * kEncodeRows;
            encode_rows(X, order, out, begin, std::min(X.n_rows, begin + kEncodeRows));
        });
    }
    return out;
}

template BinnedData bin_matrix<float>(const MatrixView<float>&, const double*, bool, const std::int64_t*,
                                      const std::int32_t*, int, int, InterruptCheck);
template BinnedData bin_matrix<double>(const MatrixView<double>&, const double*, bool, const std::int64_t*,
                                       const std::int32_t*, int, int, InterruptCheck);

}  // namespace radboost
