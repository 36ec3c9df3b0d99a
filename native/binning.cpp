#include "binning.hpp"

#include <algorithm>
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

// The distinct values of a column in ascending order, or more than `limit` of them (then unsorted and incomplete).
template <class T>
std::vector<T> distinct_values(const MatrixView<T>& X, std::size_t column, std::size_t limit, bool& missing) {
    constexpr std::size_t kSlots = 1024;  // at most a quarter full
    std::vector<T> table(kSlots), found;
    std::vector<std::uint8_t> used(kSlots, 0);
    missing = false;
    for (std::size_t row = 0; row < X.n_rows; ++row) {
        const T x = without_negative_zero(X.at(row, column));
        if (x != x) {
            missing = true;
            continue;
        }
        if (found.size() > limit) continue;  // only whether anything is missing is still open
        const double wide = x;
        std::uint64_t bits;
        std::memcpy(&bits, &wide, sizeof bits);
        std::size_t slot = mix(bits) % kSlots;
        while (used[slot] && table[slot] != x) slot = (slot + 1) % kSlots;
        if (!used[slot]) {
            used[slot] = 1;
            table[slot] = x;
            found.push_back(x);
        }
    }
    if (found.size() <= limit) std::sort(found.begin(), found.end());
    return found;
}

// The values after which a bin ends: the smallest v whose cumulative weight reaches k / max_bins of the total.
template <class T>
std::vector<double> quantile_thresholds(std::vector<std::pair<T, double>>& sample, int max_bins) {
    std::sort(sample.begin(), sample.end());
    double total = 0;
    for (const auto& item : sample) total += item.second;
    std::vector<double> thresholds;
    double cumulative = 0;
    int k = 1;
    for (std::size_t i = 0; i < sample.size();) {
        const T value = sample[i].first;
        for (; i < sample.size() && sample[i].first == value; ++i) cumulative += sample[i].second;
        if (i == sample.size()) break;
        if (cumulative * max_bins < k * total) continue;
        while (k < max_bins && cumulative * max_bins >= k * total) ++k;
        thresholds.push_back(midpoint(value, sample[i].first));
        if (k == max_bins) break;
    }
    return thresholds;
}

struct Column {
    std::vector<double> thresholds;
    bool empty = false, missing = false;
};

template <class T>
Column cut_column(const MatrixView<T>& X, std::size_t column, const double* weights,
                  const std::vector<std::size_t>& sample_rows, int max_bins) {
    Column result;
    const std::vector<T> distinct = distinct_values(X, column, static_cast<std::size_t>(max_bins), result.missing);
    result.empty = distinct.empty();
    if (distinct.size() <= static_cast<std::size_t>(max_bins)) {
        for (std::size_t i = 0; i + 1 < distinct.size(); ++i)
            result.thresholds.push_back(midpoint(distinct[i], distinct[i + 1]));
        return result;
    }
    std::vector<std::pair<T, double>> sample;
    sample.reserve(sample_rows.empty() ? X.n_rows : sample_rows.size());
    const auto add = [&](std::size_t row) {
        const T x = without_negative_zero(X.at(row, column));
        if (x == x) sample.emplace_back(x, weights ? weights[row] : 1.0);
    };
    if (sample_rows.empty())
        for (std::size_t row = 0; row < X.n_rows; ++row) add(row);
    else
        for (const std::size_t row : sample_rows) add(row);
    result.thresholds = quantile_thresholds(sample, max_bins);
    return result;
}

// A column whose values are the codes of its categories.
template <class T>
bool any_category_missing(const MatrixView<T>& X, std::size_t column, std::int32_t n_categories) {
    bool missing = false;
    for (std::size_t row = 0; row < X.n_rows; ++row) {
        const T x = X.at(row, column);
        missing |= x != x;
        require(x != x || (x >= 0 && x < static_cast<T>(n_categories) && x == std::floor(x)),
                "a category is not one of the column's codes");
    }
    return missing;
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

BinnedData BinnedData::subset(const std::int64_t* rows, std::size_t count) const {
    BinnedData out;
    out.n_rows = count;
    out.n_columns = n_columns;
    out.thresholds = thresholds;
    out.first_threshold = first_threshold;
    out.bin_counts = bin_counts;
    out.has_missing = has_missing;
    out.is_categorical = is_categorical;
    out.slot_offsets = slot_offsets;
    out.even_slots = even_slots;
    out.by_row.resize(count * n_columns);
    out.by_column.resize(count * n_columns);
    for (std::size_t i = 0; i < count; ++i) {
        require(rows[i] >= 0 && static_cast<std::size_t>(rows[i]) < n_rows, "row index out of range");
        const std::uint8_t* from = by_row.data() + static_cast<std::size_t>(rows[i]) * n_columns;
        for (std::size_t c = 0; c < n_columns; ++c) {
            out.by_row[i * n_columns + c] = from[c];
            out.by_column[c * count + i] = from[c];
        }
    }
    return out;
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
    // In slices, so that Ctrl-C is looked at between them.
    const std::size_t slice = static_cast<std::size_t>(n_threads) * 4;
    for (std::size_t first = 0; first < X.n_columns; first += slice) {
        check();
        parallel_for(n_threads, std::min(slice, X.n_columns - first), [&](std::size_t i) {
            const std::size_t c = first + i;
            if (categories && categories[c] >= 0)
                columns[c].missing = any_category_missing(X, c, categories[c]);
            else
                columns[c] = cut_column(X, c, weights, sample, max_bins);
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
