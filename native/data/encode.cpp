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
    Encoder(const MatrixView<T>& X, const std::int64_t* order, BinnedData& out)
        : X_(X), order_(order), out_(out), missing_(X.n_columns) {
        indices_.reserve(X.n_columns);
        for (std::size_t c = 0; c < X.n_columns; ++c) {
            const std::size_t first = out.first_threshold[c];
            indices_.emplace_back(out.thresholds.data() + first, out.first_threshold[c + 1] - first, X.n_rows);
        }
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
            if (write_codes(x, codes, count, out_.bin_counts[c], column))
                missing_[c].store(1, std::memory_order_relaxed);
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
    out.by_column.resize(X.n_rows * X.n_columns);
    out.has_missing.assign(X.n_columns, 0);
    Encoder<T> encoder(X, order, out);
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
