// Sums of doubles that do not depend on the order or the grouping of the terms: the terms become integers by one scale,
// fixed by the largest of them, and integers add exactly (128 bits).
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

#include "core/common.hpp"

namespace radboost {

// The nearest integer, by an addition that every vector unit has: exact below 2^51.
RADBOOST_INLINE std::int64_t nearest_integer(double x) {
    constexpr double kShift = 0x1.8p52;
    const double shifted = x + kShift;
    std::int64_t bits, base;
    std::memcpy(&bits, &shifted, sizeof bits);
    std::memcpy(&base, &kShift, sizeof base);
    return bits - base;
}

// The scale for terms of magnitude up to `largest`: a power of two that takes them below 2^61. Below 2^-900 the terms
// are taken for zero.
class FixedScale {
public:
    explicit FixedScale(double largest) {
        int exponent = 0;
        std::frexp(largest, &exponent);
        shift_ = exponent < -900 ? 961 : 61 - exponent;
        factor_ = std::ldexp(1.0, shift_);
    }
    double factor() const { return factor_; }
    std::int64_t fixed(double term) const { return std::llrint(term * factor_); }
    double value(int128 sum) const { return std::ldexp(static_cast<double>(sum), -shift_); }

private:
    int shift_;
    double factor_;
};

}  // namespace radboost
