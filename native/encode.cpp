#include "encode.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <limits>

#include "pool.hpp"

namespace radboost {
namespace {

constexpr std::int32_t kCells = 1024;
constexpr std::size_t kRowsForCells = 2048;  // with fewer, filling the cells takes longer than they save

// The cuts of a column, and an index into them: the range between the first and the last cut in cells of equal width, with
// the number of cuts below each cell. Where the cuts are spread like those of most data a cell holds one or two, and a
// value needs two or three look-ups instead of eight: of the time of binning, a sixth for 1,000,000 x 28 normal numbers
// and a third for images.
template <class T>
struct CutIndex {
    std::array<T, 384> cuts;  // ascending, then infinity: a search may step past the last of 256
    std::array<std::int32_t, kCells> below{};
    T base = 0, scale = 0;
    std::int32_t first_step = 128;  // 2 * first_step - 1 is at least the number of cuts in any cell
};

// Rounded sums and products keep the order of what goes in, so that cells are ascending in x; NaN is in the first.
template <class T>
RADBOOST_INLINE std::int32_t cell_of(T x, T base, T scale) {
    const T place = (x - base) * scale;
    const T from_zero = place > T(0) ? place : T(0);
    return static_cast<std::int32_t>(from_zero < T(kCells - 1) ? from_zero : T(kCells - 1));
}

template <class T>
void build_index(const BinnedData& data, std::size_t column, CutIndex<T>& index) {
    const std::size_t n_cuts = data.first_threshold[column + 1] - data.first_threshold[column];
    for (std::size_t i = 0; i < index.cuts.size(); ++i)
        index.cuts[i] = i < n_cuts ? rounded_down<T>(data.threshold(column, i)) : std::numeric_limits<T>::infinity();
    const auto search_range = [](std::size_t most) {
        std::int32_t step = 1;
        while (static_cast<std::size_t>(2 * step - 1) < most) step *= 2;
        return step;
    };
    index.first_step = search_range(n_cuts);
    if (n_cuts < 2 || data.n_rows < kRowsForCells) return;
    const T range = index.cuts[n_cuts - 1] - index.cuts[0], scale = T(kCells - 1) / range;
    if (!(range > T(0)) || !(range < std::numeric_limits<T>::infinity()) ||
        !(scale < std::numeric_limits<T>::infinity()))
        return;
    std::array<std::int32_t, kCells> held{};
    for (std::size_t i = 0; i < n_cuts; ++i) ++held[static_cast<std::size_t>(cell_of(index.cuts[i], index.cuts[0], scale))];
    index.base = index.cuts[0];
    index.scale = scale;
    for (std::size_t cell = 1; cell < kCells; ++cell) index.below[cell] = index.below[cell - 1] + held[cell - 1];
    index.first_step = search_range(static_cast<std::size_t>(*std::max_element(held.begin(), held.end())));
}

// The first cut that is not below x, for many x at once: halvings without a branch.
template <class T>
RADBOOST_INLINE void search_cuts(const CutIndex<T>& index, const T* x, std::size_t count, std::int32_t* codes) {
    const T* const cuts = index.cuts.data();
    const std::int32_t* const below = index.below.data();
    const T base = index.base, scale = index.scale;
    // A loop of its own: together with the look-up it would become branches on the ends of the range.
    for (std::size_t i = 0; i < count; ++i) codes[i] = cell_of(x[i], base, scale);
    for (std::size_t i = 0; i < count; ++i) codes[i] = below[codes[i]];
    for (std::int32_t step = index.first_step; step > 0; step /= 2)
        for (std::size_t i = 0; i < count; ++i) codes[i] += cuts[codes[i] + step - 1] < x[i] ? step : 0;
}

RADBOOST_CLONES void find_codes(const CutIndex<float>& index, const float* x, std::size_t count, std::int32_t* codes) {
    search_cuts(index, x, count, codes);
}

RADBOOST_CLONES void find_codes(const CutIndex<double>& index, const double* x, std::size_t count, std::int32_t* codes) {
    search_cuts(index, x, count, codes);
}

template <class T>
RADBOOST_INLINE bool settle(const T* x, const std::int32_t* codes, std::size_t count, std::int32_t missing_code,
                            std::uint8_t* out) {
    std::int32_t missing = 0;
    for (std::size_t i = 0; i < count; ++i) {
        missing |= x[i] != x[i];
        out[i] = static_cast<std::uint8_t>(x[i] != x[i] ? missing_code : codes[i]);
    }
    return missing != 0;
}

// Puts the code for missing values in its places, and tells whether there are any.
RADBOOST_CLONES bool settle_codes(const float* x, const std::int32_t* codes, std::size_t count, std::int32_t missing_code,
                                  std::uint8_t* out) {
    return settle(x, codes, count, missing_code, out);
}

RADBOOST_CLONES bool settle_codes(const double* x, const std::int32_t* codes, std::size_t count, std::int32_t missing_code,
                                  std::uint8_t* out) {
    return settle(x, codes, count, missing_code, out);
}

template <class T>
class Encoder {
public:
    Encoder(const MatrixView<T>& X, const std::int64_t* order, BinnedData& out, int n_threads)
        : X_(X), order_(order), out_(out), indices_(X.n_columns), missing_(X.n_columns) {
        parallel_for(n_threads, X.n_columns, [&](std::size_t c) {
            if (!out.is_categorical[c]) build_index(out, c, indices_[c]);
        });
    }

    void encode(std::size_t begin, std::size_t count) {
        T x[kTileRows];
        std::int32_t codes[kTileRows];
        for (std::size_t c = 0; c < X_.n_columns; ++c) {
            X_.copy_column(c, order_, begin, count, x);
            if (out_.is_categorical[c])
                for (std::size_t i = 0; i < count; ++i) codes[i] = x[i] != x[i] ? 0 : static_cast<std::int32_t>(x[i]);
            else
                find_codes(indices_[c], x, count, codes);
            std::uint8_t* const column = out_.by_column.data() + c * out_.n_rows + begin;
            if (settle_codes(x, codes, count, out_.bin_counts[c], column))
                missing_[c].store(1, std::memory_order_relaxed);
            std::uint8_t* const by_row = out_.by_row.data() + begin * out_.n_columns + c;
            for (std::size_t i = 0; i < count; ++i) by_row[i * out_.n_columns] = column[i];
        }
    }

    void tell_missing() {
        for (std::size_t c = 0; c < X_.n_columns; ++c) out_.has_missing[c] = missing_[c].load(std::memory_order_relaxed);
    }

private:
    const MatrixView<T>& X_;
    const std::int64_t* order_;
    BinnedData& out_;
    std::vector<CutIndex<T>> indices_;
    std::vector<std::atomic<std::uint8_t>> missing_;
};

}  // namespace

template <class T>
void encode_matrix(const MatrixView<T>& X, const std::int64_t* order, BinnedData& out, int n_threads,
                   InterruptCheck check) {
    out.by_row.resize(X.n_rows * X.n_columns);
    out.by_column.resize(X.n_rows * X.n_columns);
    out.has_missing.assign(X.n_columns, 0);
    Encoder<T> encoder(X, order, out, n_threads);
    const std::size_t tiles = (X.n_rows + kTileRows - 1) / kTileRows;
    const std::size_t batch = static_cast<std::size_t>(n_threads) * 1024;
    for (std::size_t first = 0; first < tiles; first += batch) {
        check();
        parallel_for(n_threads, std::min(batch, tiles - first), [&](std::size_t i) {
            const std::size_t begin = (first + i) * kTileRows;
            encoder.encode(begin, std::min(kTileRows, X.n_rows - begin));
        });
    }
    encoder.tell_missing();
}

template void encode_matrix<float>(const MatrixView<float>&, const std::int64_t*, BinnedData&, int, InterruptCheck);
template void encode_matrix<double>(const MatrixView<double>&, const std::int64_t*, BinnedData&, int, InterruptCheck);

}  // namespace radboost
