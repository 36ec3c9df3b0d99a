// Sets of a column's categories: what a split sends left.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace radboost {

constexpr std::size_t kMostCategories = 255;  // their codes are 0 .. 254

struct CategorySet {
    std::array<std::uint64_t, 4> words{};

    void add(std::size_t code) { words[code / 64] |= std::uint64_t{1} << (code % 64); }
    bool has(std::size_t code) const { return ((words[code / 64] >> (code % 64)) & 1) != 0; }
};

// A split's answer for every code of its column.
using SideTable = std::array<std::uint8_t, 256>;  // 1: left

inline SideTable sides_of(const CategorySet& left, int missing_code, bool missing_left) {
    SideTable sides;
    for (std::size_t code = 0; code < sides.size(); ++code) sides[code] = left.has(code);
    if (missing_code >= 0) sides[static_cast<std::size_t>(missing_code)] = missing_left;
    return sides;
}

}  // namespace radboost
