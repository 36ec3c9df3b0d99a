// Sums of doubles in any order with equal results: terms are rounded to fixed-point integers and added exactly (128 bits).
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

#include "core/common.hpp"

namespace radboost {

// Nearest integer of x for |x| < 2^51, by an addition, which every vector unit has.
RADBOOST_INLINE std::int64_t nearest_integer(double x) {
    constexpr double kShift = 0x1.8p52;
    const double shifted = x + kShift;
    std::int64_t bits, base;
    std::memcpy(&bits, &shifted, sizeof bits);
    std::memcpy(&base, &kShift, sizeof base);
    return bits - base;
}

// Scale for terms of magnitude up to `largest`: the power of two that takes `largest` to [2^60, 2^61), but at most 2^961.
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
