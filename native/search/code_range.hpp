// Range of a node's bin codes in one column, and the random threshold that is drawn from it (extremely randomized trees).
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/hashing.hpp"

namespace radboost {

struct CodeRange {
    std::uint8_t low = 255, high = 0;  // low > high: all values are missing
    bool missing = false;

    void widen(const CodeRange& other) {
        low = other.low < low ? other.low : low;
        high = other.high > high ? other.high : high;
        missing = missing || other.missing;
    }
    bool covers(const CodeRange& other) const {
        return low <= other.low && high >= other.high && (missing || !other.missing);
    }
    // Number of useful thresholds: low ... high - 1 and, with missing values, high, which separates these from all others.
    std::uint32_t n_thresholds() const { return low > high ? 0 : std::uint32_t{high} - low + (missing ? 1 : 0); }
};

// Uniformly random threshold of the range, which must have one; `key` is a hash of (seed, round, node).
inline std::uint8_t draw_threshold(const CodeRange& range, std::uint64_t key, std::size_t column) {
    return static_cast<std::uint8_t>(range.low + draw_below(mix(key, column), range.n_thresholds()));
}

}  // namespace radboost
