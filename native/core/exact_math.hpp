// exp and log that give the same bits on every machine, as they use only IEEE additions, multiplications and divisions; the C
// library's versions differ in the last bit between CPUs and releases. The loss kernels use them.
// Must be compiled with -ffp-contract=off; written without branches so that loops over them vectorize.
#pragma once

#include <cstdint>
#include <cstring>

namespace radboost {

namespace detail {

constexpr double kLn2High = 0x1.62e42fee00000p-1;  // 32 significant bits: n * kLn2High is exact for |n| < 2^20
constexpr double kLn2Low = 0x1.a39ef35793c76p-33;
constexpr double kRoundToInteger = 0x1.8p52;  // adding and subtracting it rounds to the nearest integer

inline std::int64_t bits_of(double x) {
    std::int64_t bits;
    std::memcpy(&bits, &x, sizeof bits);
    return bits;
}

inline double double_of(std::int64_t bits) {
    double x;
    std::memcpy(&x, &bits, sizeof x);
    return x;
}

// 2 atanh(s) = log((1 + s) / (1 - s)) for |s| <= 0.172, by its Taylor series.
inline double twice_atanh(double s) {
    const double z = s * s;
    double p = 1.0 / 23.0;
    p = p * z + 1.0 / 21.0;
    p = p * z + 1.0 / 19.0;
    p = p * z + 1.0 / 17.0;
    p = p * z + 1.0 / 15.0;
    p = p * z + 1.0 / 13.0;
    p = p * z + 1.0 / 11.0;
    p = p * z + 1.0 / 9.0;
    p = p * z + 1.0 / 7.0;
    p = p * z + 1.0 / 5.0;
    p = p * z + 1.0 / 3.0;
    return 2.0 * s + 2.0 * s * (z * p);
}

}  // namespace detail

// e^x; arguments are cut to [-708, 709], so the result is always a finite normal number.
inline double exact_exp(double x) {
    using namespace detail;
    x = x < -708.0 ? -708.0 : x;
    x = x > 709.0 ? 709.0 : x;
    const double shifted = x * 0x1.71547652b82fep0 + kRoundToInteger;
    const double n = shifted - kRoundToInteger;
    const double r = (x - n * kLn2High) - n * kLn2Low;
    double p = 1.0 / 6227020800.0;
    p = p * r + 1.0 / 479001600.0;
    p = p * r + 1.0 / 39916800.0;
    p = p * r + 1.0 / 3628800.0;
    p = p * r + 1.0 / 362880.0;
    p = p * r + 1.0 / 40320.0;
    p = p * r + 1.0 / 5040.0;
    p = p * r + 1.0 / 720.0;
    p = p * r + 1.0 / 120.0;
    p = p * r + 1.0 / 24.0;
    p = p * r + 1.0 / 6.0;
    p = p * r + 0.5;
    p = p * (r * r) + r;
    p = p + 1.0;
    // The low bits of `shifted` hold n; moved up they add n to the exponent of p.
    const auto exponent = static_cast<std::int64_t>(static_cast<std::uint64_t>(bits_of(shifted)) << 52);
    return double_of(static_cast<std::int64_t>(static_cast<std::uint64_t>(bits_of(p)) +
                                               static_cast<std::uint64_t>(exponent)));
}

// log(1 + z) for z in [0, 1].
inline double exact_log1p_unit(double z) {
    const bool upper = z > 0.41421356237309503;
    const double reduced = upper ? (z - 1.0) * 0.5 : z;  // 1 + z = 2 (1 + reduced) in the upper part
    const double offset = upper ? 0x1.62e42fefa39efp-1 : 0.0;
    return offset + detail::twice_atanh(reduced / (2.0 + reduced));
}

// log(x) for positive normal x.
inline double exact_log(double x) {
    using namespace detail;
    const std::int64_t bits = bits_of(x);
    std::int64_t exponent = (bits >> 52) - 1023;
    double mantissa = double_of((bits & 0x000fffffffffffffLL) | 0x3ff0000000000000LL);
    if (mantissa > 1.4142135623730951) {
        mantissa *= 0.5;
        exponent += 1;
    }
    const double e = static_cast<double>(exponent);
    return e * kLn2High + (e * kLn2Low + twice_atanh((mantissa - 1.0) / (mantissa + 1.0)));
}

}  // namespace radboost
