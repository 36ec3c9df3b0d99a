// `int128`, a signed 128-bit integer: the compiler's where it has one, otherwise WideInteger, a pair of 64-bit words. Both
// give equal results (tests/native/wide_integers.cpp) as long as nothing overflows.
#pragma once

#include <cmath>
#include <cstdint>
#include <type_traits>

#include "core/compiler.hpp"

namespace radboost {

// Two's complement. Conversions that can lose digits are explicit; those to integers, bool too, take the lower word alone.
class WideInteger {
public:
    constexpr WideInteger() = default;
    template <class Integer, class = std::enable_if_t<std::is_integral_v<Integer>>>
    constexpr WideInteger(Integer value) : low_(static_cast<std::uint64_t>(value)), high_(sign_of(value)) {}

    template <class Integer, class = std::enable_if_t<std::is_integral_v<Integer>>>
    constexpr explicit operator Integer() const {
        return static_cast<Integer>(low_);
    }
    // Rounds to nearest, ties to even, as conversions of built-in integers do.
    explicit operator double() const {
        const bool negative = high_ >> 63;
        const WideInteger size = negative ? -*this : *this;
        const int width = size.bit_width();
        if (width <= 53) return negative ? -static_cast<double>(size.low_) : static_cast<double>(size.low_);
        const int dropped = width - 53;
        const WideInteger rest = size - (size.shifted_right(dropped) << dropped), half = WideInteger{1} << (dropped - 1);
        auto kept = static_cast<std::int64_t>(size.shifted_right(dropped));
        if (rest != half ? half.below(rest) : (kept & 1) != 0) ++kept;
        return std::ldexp(static_cast<double>(negative ? -kept : kept), dropped);
    }

    friend constexpr WideInteger operator+(const WideInteger& a, const WideInteger& b) {
        const std::uint64_t low = a.low_ + b.low_;
        return {low, a.high_ + b.high_ + (low < a.low_ ? 1 : 0)};
    }
    constexpr WideInteger operator-() const { return {~low_ + 1, ~high_ + (low_ == 0 ? 1 : 0)}; }
    friend constexpr WideInteger operator-(const WideInteger& a, const WideInteger& b) { return a + -b; }
    friend constexpr WideInteger operator*(const WideInteger& a, const WideInteger& b) {
        const WideInteger low = product(a.low_, b.low_);
        return {low.low_, low.high_ + a.low_ * b.high_ + a.high_ * b.low_};
    }
    // Rounds toward zero, like division of built-in integers.
    friend constexpr WideInteger operator/(const WideInteger& a, const WideInteger& b) {
        const bool a_negative = a.high_ >> 63, b_negative = b.high_ >> 63;
        const WideInteger quotient = (a_negative ? -a : a).divided_by(b_negative ? -b : b);
        return a_negative != b_negative ? -quotient : quotient;
    }
    friend constexpr WideInteger operator&(const WideInteger& a, const WideInteger& b) {
        return {a.low_ & b.low_, a.high_ & b.high_};
    }
    // Shifts by 0 <= bits < 128; >> copies the sign bit.
    constexpr WideInteger operator<<(int bits) const {
        if (bits == 0) return *this;
        if (bits >= 64) return {0, low_ << (bits - 64)};
        return {low_ << bits, (high_ << bits) | (low_ >> (64 - bits))};
    }
    constexpr WideInteger operator>>(int bits) const {
        const WideInteger shifted = shifted_right(bits);
        if (bits == 0 || high_ >> 63 == 0) return shifted;
        return shifted + (WideInteger{-1} << (128 - bits));
    }
    constexpr WideInteger& operator+=(const WideInteger& other) { return *this = *this + other; }

    friend constexpr bool operator==(const WideInteger& a, const WideInteger& b) {
        return a.low_ == b.low_ && a.high_ == b.high_;
    }
    friend constexpr bool operator!=(const WideInteger& a, const WideInteger& b) { return !(a == b); }
    friend constexpr bool operator<(const WideInteger& a, const WideInteger& b) {
        constexpr std::uint64_t kSign = std::uint64_t{1} << 63;
        return WideInteger{a.low_, a.high_ ^ kSign}.below({b.low_, b.high_ ^ kSign});
    }
    friend constexpr bool operator>(const WideInteger& a, const WideInteger& b) { return b < a; }
    friend constexpr bool operator<=(const WideInteger& a, const WideInteger& b) { return !(b < a); }
    friend constexpr bool operator>=(const WideInteger& a, const WideInteger& b) { return !(a < b); }

    // Full 128-bit product of two unsigned words, from products of their 32-bit halves.
    static constexpr WideInteger product(std::uint64_t a, std::uint64_t b) {
        constexpr std::uint64_t kHalf = 0xffffffff;
        const std::uint64_t low = (a & kHalf) * (b & kHalf), high = (a >> 32) * (b >> 32);
        const std::uint64_t mid = (a >> 32) * (b & kHalf) + (low >> 32), mid2 = (a & kHalf) * (b >> 32) + (mid & kHalf);
        return {(mid2 << 32) | (low & kHalf), high + (mid >> 32) + (mid2 >> 32)};
    }

private:
    constexpr WideInteger(std::uint64_t low, std::uint64_t high) : low_(low), high_(high) {}
    template <class Integer>
    static constexpr std::uint64_t sign_of(Integer value) {
        if constexpr (std::is_signed_v<Integer>) return value < 0 ? ~std::uint64_t{0} : 0;
        return 0;
    }

    // The helpers below treat their operands as unsigned.
    constexpr WideInteger shifted_right(int bits) const {
        if (bits == 0) return *this;
        if (bits >= 64) return {high_ >> (bits - 64), 0};
        return {(low_ >> bits) | (high_ << (64 - bits)), high_ >> bits};
    }
    constexpr bool below(const WideInteger& other) const {
        return high_ != other.high_ ? high_ < other.high_ : low_ < other.low_;
    }
    constexpr int bit_width() const {
        int width = 0;
        for (std::uint64_t word = high_ != 0 ? high_ : low_; word != 0; word >>= 1) ++width;
        return high_ != 0 ? width + 64 : width;
    }
    // Binary long division, rounded down; the divisor must not be 0.
    constexpr WideInteger divided_by(const WideInteger& divisor) const {
        if (high_ == 0 && divisor.high_ == 0) return {low_ / divisor.low_, 0};
        WideInteger quotient, rest;
        for (int digit = bit_width() - 1; digit >= 0; --digit) {
            rest = (rest << 1) + (shifted_right(digit) & WideInteger{1});
            quotient = quotient << 1;
            if (rest.below(divisor)) continue;
            rest = rest - divisor;
            quotient = quotient + WideInteger{1};
        }
        return quotient;
    }

    std::uint64_t low_ = 0, high_ = 0;
};

#if defined(RADBOOST_HAS_INT128)
__extension__ typedef __int128 int128;
#else
using int128 = WideInteger;
#endif

// floor(a * b / 2^64): the upper word of the product.
inline std::uint64_t high_product(std::uint64_t a, std::uint64_t b) {
#if defined(RADBOOST_HAS_INT128)
    __extension__ typedef unsigned __int128 uint128;
    return static_cast<std::uint64_t>((static_cast<uint128>(a) * b) >> 64);
#else
    return static_cast<std::uint64_t>(WideInteger::product(a, b) >> 64);  // the cast drops the copies of the sign bit
#endif
}

}  // namespace radboost
