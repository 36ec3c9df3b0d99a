// Random draws by hashing keys such as (seed, round, row hash): a draw depends on its key, not on the draws before it.
#pragma once

#include <cstdint>

namespace radboost {

// The finalizer of SplitMix64 (Steele, Lea and Flood, 2014), a bijection: an input bit changes about half of the output bits.
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
