// Random columns per node (max_features): slices of a random permutation that is a function of a key.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include "core/hashing.hpp"

namespace radboost {

class ColumnDraws {
public:
    explicit ColumnDraws(std::size_t n_columns) : shuffled_(n_columns) {
        std::iota(shuffled_.begin(), shuffled_.end(), 0u);
    }

    // Entries [first, last) of the permutation of all columns that the key determines, sorted.
    std::vector<std::uint32_t> draw(std::uint64_t key, std::size_t first, std::size_t last) {
        return draw_of(shuffled_.size(), key, first, last);
    }
    // The same with a permutation of the `allowed` columns.
    std::vector<std::uint32_t> draw(const std::vector<std::uint32_t>& allowed, std::uint64_t key, std::size_t first,
                                    std::size_t last) {
        std::vector<std::uint32_t> drawn = draw_of(allowed.size(), key, first, last);
        for (std::uint32_t& column : drawn) column = allowed[column];
        return drawn;
    }

private:
    // The same with a permutation of 0 ... n - 1, by a partial Fisher-Yates shuffle that is undone afterwards.
    std::vector<std::uint32_t> draw_of(std::size_t n, std::uint64_t key, std::size_t first, std::size_t last) {
        swapped_.clear();
        for (std::size_t k = 0; k < last; ++k) {
            const std::uint64_t word = mix(key, 0x636f6c75 + (static_cast<std::uint64_t>(k) << 32));
            const std::size_t other = k + draw_below(word, static_cast<std::uint32_t>(n - k));
            std::swap(shuffled_[k], shuffled_[other]);
            swapped_.push_back(other);
        }
        std::vector<std::uint32_t> drawn(shuffled_.begin() + static_cast<std::ptrdiff_t>(first),
                                         shuffled_.begin() + static_cast<std::ptrdiff_t>(last));
        for (std::size_t k = swapped_.size(); k-- > 0;) std::swap(shuffled_[k], shuffled_[swapped_[k]]);
        std::sort(drawn.begin(), drawn.end());
        return drawn;
    }

    std::vector<std::uint32_t> shuffled_;  // 0, 1, ... between calls
    std::vector<std::size_t> swapped_;
};

}  // namespace radboost
