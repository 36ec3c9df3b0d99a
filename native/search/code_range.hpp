// The codes of a node's rows in one column, from the lowest to the highest, and the threshold that is drawn between them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/hashing.hpp"

namespace radboost {

struct CodeRange {
    std::uint8_t low = 255, high = 0;  // low > high: nothing but missing values
    bool missing = false;

    void widen(const CodeRange& other) {
        low = other.low < low ? other.low : low;
        high = other.high > high ? other.high : high;
        missing = missing || other.missing;
    }
    bool covers(const CodeRange& other) const {
        return low <= other.low && high >= other.high && (missing || !other.missing);
    }
    // The thresholds that tell such rows apart: low, ..., high - 1, and with missing values high as well, which asks
    // whether there is a value at all.
    std::uint32_t n_thresholds() const { return low > high ? 0 : std::uint32_t{high} - low + (missing ? 1 : 0); }
};

// One of the range's thresholds, of which there must be some. `key` names the node's draws.
inline std::uint8_t draw_threshold(const CodeRange& range, std::uint64_t key, std::size_t column) {
    return static_cast<std::uint8_t>(range.low + draw_below(mix(key, column), range.n_thresholds()));
}

}  // namespace radboost
