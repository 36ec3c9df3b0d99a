// Which columns a node looks at.
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

    // The columns at the indices [first, last) of a shuffle named by the key, ascending.
    std::vector<std::uint32_t> draw(std::uint64_t key, std::size_t first, std::size_t last) {
        return draw_of(shuffled_.size(), key, first, last);
    }
    // The same among these columns, which are ascending.
    std::vector<std::uint32_t> draw(const std::vector<std::uint32_t>& allowed, std::uint64_t key, std::size_t first,
                                    std::size_t last) {
        std::vector<std::uint32_t> drawn = draw_of(allowed.size(), key, first, last);
        for (std::uint32_t& column : drawn) column = allowed[column];
        return drawn;
    }

private:
    // Of the first n numbers.
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

    std::vector<std::uint32_t> shuffled_;  // 0, 1, ... again after every draw
    std::vector<std::size_t> swapped_;
};

}  // namespace radboost
