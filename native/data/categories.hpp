// Sets of categories, for splits on categorical columns: the categories in the set go to the left child.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace radboost {

constexpr std::size_t kMostCategories = 255;  // codes 0 ... 254

struct CategorySet {
    std::array<std::uint64_t, 4> words{};

    void add(std::size_t code) { words[code / 64] |= std::uint64_t{1} << (code % 64); }
    bool has(std::size_t code) const { return ((words[code / 64] >> (code % 64)) & 1) != 0; }
};

// Child to which a split sends each code of its column: 1 left, 0 right.
using SideTable = std::array<std::uint8_t, 256>;

// missing_code: -1 if the column has no missing values.
inline SideTable sides_of(const CategorySet& left, int missing_code, bool missing_left) {
    SideTable sides;
    for (std::size_t code = 0; code < sides.size(); ++code) sides[code] = left.has(code);
    if (missing_code >= 0) sides[static_cast<std::size_t>(missing_code)] = missing_left;
    return sides;
}

}  // namespace radboost
