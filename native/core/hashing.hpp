// Keyed chance: a draw is a function of what it is for, never of how many draws came before it.
#pragma once

#include <cstdint>

namespace radboost {

// The finaliser of SplitMix64: a bijection of 64-bit words that passes avalanche tests.
inline std::uint64_t mix(std::uint64_t x) {
    x += 0x9e3779b97f4a7c15ULL;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
    return x ^ (x >> 31);
}

inline std::uint64_t mix(std::uint64_t key, std::uint64_t value) { return mix(key ^ mix(value)); }

// Uniform integer in [0, n), n >= 1, from the upper half of a hashed word (n < 2^32: the bias is below 2^-32).
inline std::uint32_t draw_below(std::uint64_t word, std::uint32_t n) {
    return static_cast<std::uint32_t>(((word >> 32) * static_cast<std::uint64_t>(n)) >> 32);
}

}  // namespace radboost
