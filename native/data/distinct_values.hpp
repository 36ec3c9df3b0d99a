// The set of distinct values of a column while there are few, and its union over workers; used by column_cuts.cpp.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "data/letter.hpp"
#include "core/hashing.hpp"
#include "core/matrix_view.hpp"

namespace radboost {

// Distinct values of a column other than NaN; beyond `limit` (at most 255) of them only too_many() is meaningful.
template <class T>
class DistinctValues {
public:
    explicit DistinctValues(std::size_t limit) : limit_(limit) {}

    bool too_many() const { return too_many_; }
    void give_up() { too_many_ = true; }
    void add(const T* x, std::size_t count) {
        for (std::size_t i = 0; i < count; ++i) {
            // Integers below 256 (pixels, counts, codes) are marked in an array and need no hash.
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

    static constexpr std::size_t kSlots = 1024;  // open addressing, at most a quarter full
    std::size_t limit_;
    bool too_many_ = false;
    std::array<std::uint8_t, 256> small_{};  // 1 for each integer 0 ... 255 that occurs
    std::vector<T> table_, found_;           // the other values: hash table, and in order of first occurrence
    std::vector<std::uint8_t> used_;         // which slots of the table are occupied
};

// Columns that are scanned together: a cache line of a row-major float32 matrix.
constexpr std::size_t kGroupColumns = 16;

// Adds columns first ... first + n_columns - 1 of X to `distinct`; stops once all of these have too many values.
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

// Replaces each column's distinct values by their union over all workers (collective).
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

}  // namespace radboost
