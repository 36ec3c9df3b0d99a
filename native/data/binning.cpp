#include "data/binning.hpp"

#include <algorithm>
#include <limits>

#include "data/categories.hpp"
#include "data/column_cuts.hpp"
#include "data/encode.hpp"
#include "data/sketched_binning.hpp"
#include "core/hashing.hpp"
#include "core/pool.hpp"

namespace radboost {

double BinnedData::threshold(std::size_t column, std::size_t bin) const {
    // The last bin has no upper threshold: a split after it separates the missing values from all others.
    const std::size_t index = first_threshold[column] + bin;
    return index < first_threshold[column + 1] ? thresholds[index] : std::numeric_limits<double>::infinity();
}

std::vector<std::uint64_t> BinnedData::row_hashes(int n_threads) const {
    std::vector<std::uint64_t> hashes(n_rows);
    const std::size_t blocks = (n_rows + kTileRows - 1) / kTileRows;
    parallel_for(n_threads, blocks, [&](std::size_t block) {
        const std::size_t begin = block * kTileRows, count = std::min(n_rows - begin, kTileRows);
        for (std::size_t first = 0; first < n_columns; first += 8) {
            std::uint64_t words[kTileRows] = {};
            for (std::size_t c = first; c < std::min(first + 8, n_columns); ++c)
                for (std::size_t i = 0; i < count; ++i)
                    words[i] |= std::uint64_t{column(c)[begin + i]} << (8 * (c - first));
            for (std::size_t i = 0; i < count; ++i) hashes[begin + i] = mix(hashes[begin + i], words[i]);
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
    lay_out_rows(1);
    BinnedData out = without_rows();
    out.take_rows(*this, chosen.data(), count);
    return out;
}

void BinnedData::take_rows(const BinnedData& from, const std::uint32_t* rows, std::size_t count) {
    constexpr std::size_t kTogether = 64;  // rows per tile, so that writes to each column fill a cache line
    n_rows = count;
    by_row_.resize(count * n_columns);
    by_column.resize(count * n_columns);
    for (std::size_t first = 0; first < count; first += kTogether) {
        const std::size_t last = std::min(count, first + kTogether);
        for (std::size_t i = first; i < last; ++i)
            std::copy_n(from.row(rows[i]), n_columns, by_row_.data() + i * n_columns);
        for (std::size_t c = 0; c < n_columns; ++c)
            for (std::size_t i = first; i < last; ++i) by_column[c * count + i] = by_row_[i * n_columns + c];
    }
}

void BinnedData::lay_out_rows(int n_threads) const {
    if (!by_row_.empty() || n_rows * n_columns == 0) return;
    by_row_.resize(n_rows * n_columns);
    const std::size_t blocks = (n_rows + kTileRows - 1) / kTileRows;
    parallel_for(n_threads, blocks, [&](std::size_t block) {
        const std::size_t begin = block * kTileRows, end = std::min(n_rows, begin + kTileRows);
        for (std::size_t c = 0; c < n_columns; ++c) {
            const std::uint8_t* codes = column(c);
            for (std::size_t i = begin; i < end; ++i) by_row_[i * n_columns + c] = codes[i];
        }
    });
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
    for (const BinnedData* part : parts) {
        for (std::size_t c = 0; c < part->n_columns; ++c)
            out.first_threshold.push_back(out.thresholds.size() + part->first_threshold[c + 1]);
        out.by_column.insert(out.by_column.end(), part->by_column.begin(), part->by_column.end());
        out.thresholds.insert(out.thresholds.end(), part->thresholds.begin(), part->thresholds.end());
        out.bin_counts.insert(out.bin_counts.end(), part->bin_counts.begin(), part->bin_counts.end());
        out.has_missing.insert(out.has_missing.end(), part->has_missing.begin(), part->has_missing.end());
        out.is_categorical.insert(out.is_categorical.end(), part->is_categorical.begin(), part->is_categorical.end());
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

namespace {

template <class T>
BinnedData bin_with(const RowBlocks<T>& X, const double* weights, bool integer_weights, const std::uint32_t* order,
                    const std::int32_t* categories, int max_bins, int n_threads, InterruptCheck check,
                    const Collective& collective, bool sketched) {
    require(max_bins >= 2 && max_bins <= 255, "max_bins must lie between 2 and 255");
    require(n_threads >= 1, "n_threads must be at least 1");
    for (std::size_t c = 0; categories && c < X.n_columns; ++c)
        require(categories[c] >= -1 && categories[c] <= static_cast<std::int32_t>(kMostCategories),
                "a column can have at most 255 categories");
    BinnedData out;
    out.n_rows = X.n_rows();
    out.n_columns = X.n_columns;
    out.first_threshold.push_back(0);
    const std::vector<ColumnCuts> cuts =
        cut_columns(X, weights, integer_weights, categories, max_bins, n_threads, check, collective, sketched);
    for (std::size_t c = 0; c < X.n_columns; ++c) {
        const std::vector<double>& thresholds = cuts[c].thresholds;
        const bool categorical = categories && categories[c] >= 0;
        const std::size_t bins = categorical     ? static_cast<std::size_t>(categories[c])
                                 : cuts[c].empty ? 0
                                                 : thresholds.size() + 1;
        out.thresholds.insert(out.thresholds.end(), thresholds.begin(), thresholds.end());
        out.first_threshold.push_back(out.thresholds.size());
        out.bin_counts.push_back(static_cast<std::uint16_t>(bins));
        out.is_categorical.push_back(categorical);
    }
    encode_blocks(X, order, out, n_threads, check);
    std::vector<double> missing(out.has_missing.begin(), out.has_missing.end());
    collective.maximum(missing.data(), missing.size());
    for (std::size_t c = 0; c < X.n_columns; ++c) out.has_missing[c] = missing[c] > 0.0;
    out.lay_out_slots();
    return out;
}

}  // namespace

template <class T>
BinnedData bin_blocks(const RowBlocks<T>& X, const double* weights, bool integer_weights, const std::uint32_t* order,
                      const std::int32_t* categories, int max_bins, int n_threads, InterruptCheck check,
                      const Collective& collective) {
    return bin_with(X, weights, integer_weights, order, categories, max_bins, n_threads, check, collective, false);
}

template <class T>
BinnedData bin_by_sketches(const RowBlocks<T>& X, const double* weights, bool integer_weights, const std::uint32_t* order,
                           const std::int32_t* categories, int max_bins, int n_threads, InterruptCheck check,
                           const Collective& collective) {
    return bin_with(X, weights, integer_weights, order, categories, max_bins, n_threads, check, collective, true);
}

template BinnedData bin_blocks<float>(const RowBlocks<float>&, const double*, bool, const std::uint32_t*,
                                      const std::int32_t*, int, int, InterruptCheck, const Collective&);
template BinnedData bin_blocks<double>(const RowBlocks<double>&, const double*, bool, const std::uint32_t*,
                                       const std::int32_t*, int, int, InterruptCheck, const Collective&);
template BinnedData bin_by_sketches<float>(const RowBlocks<float>&, const double*, bool, const std::uint32_t*,
                                      const std::int32_t*, int, int, InterruptCheck, const Collective&);
template BinnedData bin_by_sketches<double>(const RowBlocks<double>&, const double*, bool, const std::uint32_t*,
                                       const std::int32_t*, int, int, InterruptCheck, const Collective&);

}  // namespace radboost
