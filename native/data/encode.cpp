#include "data/encode.hpp"

#include <algorithm>
#include <atomic>

#include "data/cut_index.hpp"
#include "core/pool.hpp"

namespace radboost {
namespace {

template <class T>
class Encoder {
public:
    Encoder(std::size_t n_rows, BinnedData& out) : out_(out), missing_(out.n_columns) {
        indices_.reserve(out.n_columns);
        for (std::size_t c = 0; c < out.n_columns; ++c) {
            const std::size_t first = out.first_threshold[c];
            indices_.emplace_back(out.thresholds.data() + first, out.first_threshold[c + 1] - first, n_rows);
        }
    }

    // Encodes rows i = begin ... begin + count - 1: row order[i] (null: i) of X to output row i or, if not null, places[i].
    void encode(const MatrixView<T>& X, const std::uint32_t* order, const std::uint32_t* places, std::size_t begin,
                std::size_t count) {
        T x[kTileRows];
        std::int32_t codes[kTileRows];
        std::uint8_t apart[kTileRows];
        for (std::size_t c = 0; c < X.n_columns; ++c) {
            X.copy_column(c, order, begin, count, x);
            if (out_.is_categorical[c])
                for (std::size_t i = 0; i < count; ++i) codes[i] = x[i] != x[i] ? 0 : static_cast<std::int32_t>(x[i]);
            else
                find_codes(indices_[c], x, count, codes);
            std::uint8_t* const column = out_.by_column.data() + c * out_.n_rows;
            if (write_codes(x, codes, count, out_.bin_counts[c], places ? apart : column + begin))
                missing_[c].store(1, std::memory_order_relaxed);
            if (places)
                for (std::size_t i = 0; i < count; ++i) column[places[begin + i]] = apart[i];
        }
    }

    void tell_missing() {
        for (std::size_t c = 0; c < out_.n_columns; ++c) out_.has_missing[c] = missing_[c].load(std::memory_order_relaxed);
    }

private:
    BinnedData& out_;
    std::vector<CutIndex<T>> indices_;
    std::vector<std::atomic<std::uint8_t>> missing_;
};

// Inverse permutation of `order` (null: identity): the output row of each input row.
std::vector<std::uint32_t> places_of(const std::uint32_t* order, std::size_t n_rows) {
    std::vector<std::uint32_t> places(n_rows);
    for (std::size_t i = 0; i < n_rows; ++i) places[order ? order[i] : i] = static_cast<std::uint32_t>(i);
    return places;
}

}  // namespace

template <class T>
void encode_blocks(const RowBlocks<T>& X, const std::uint32_t* order, BinnedData& out, int n_threads,
                   InterruptCheck check) {
    out.by_column.resize(X.n_rows() * X.n_columns);
    out.has_missing.assign(X.n_columns, 0);
    Encoder<T> encoder(X.n_rows(), out);
    // The rows of a single block are read in their new order, so that writes are contiguous.
    const bool single = X.n_blocks() == 1;
    const std::vector<std::uint32_t> places = single ? std::vector<std::uint32_t>() : places_of(order, X.n_rows());
    const std::size_t batch = static_cast<std::size_t>(n_threads) * 1024;
    for (std::size_t b = 0; b < X.n_blocks(); ++b) {
        check();
        X.visit(b, [&](const MatrixView<T>& block) {
            const std::size_t tiles = (block.n_rows + kTileRows - 1) / kTileRows;
            for (std::size_t first = 0; first < tiles; first += batch) {
                check();
                parallel_for(n_threads, std::min(batch, tiles - first), [&](std::size_t i) {
                    const std::size_t begin = (first + i) * kTileRows;
                    encoder.encode(block, single ? order : nullptr, single ? nullptr : places.data() + X.first_row(b), begin,
                                   std::min(kTileRows, block.n_rows - begin));
                });
            }
        });
    }
    encoder.tell_missing();
}

template void encode_blocks<float>(const RowBlocks<float>&, const std::uint32_t*, BinnedData&, int, InterruptCheck);
template void encode_blocks<double>(const RowBlocks<double>&, const std::uint32_t*, BinnedData&, int, InterruptCheck);

}  // namespace radboost
