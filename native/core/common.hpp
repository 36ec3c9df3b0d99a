// Types and small helpers that every kernel shares.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>

namespace radboost {

__extension__ typedef __int128 int128;

// One clone of a hot loop per instruction set, picked when the library is loaded. Without contraction into fused
// multiply-adds (-ffp-contract=off) all clones give the same bits (tests/test_fingerprints.py runs each of them).
#if defined(__x86_64__) && defined(__linux__) && !defined(RADBOOST_SANITIZE)
#define RADBOOST_CLONES_BY_PROCESSOR
#define RADBOOST_CLONES __attribute__((target_clones("default", "avx2", "arch=x86-64-v4")))
#else
#define RADBOOST_CLONES
#endif

// Inlined into every clone, so that it is compiled for the clone's instruction set.
#define RADBOOST_INLINE inline __attribute__((always_inline))

// Kept out of a hot loop that seldom needs it.
#define RADBOOST_NOINLINE __attribute__((noinline))

// Called between pieces of work; throws to stop a long computation (the bindings check for Ctrl-C here).
using InterruptCheck = void (*)();

inline void require(bool condition, const char* message) {
    if (!condition) throw std::invalid_argument(message);
}

// Splits [0, n) into `parts` nearly equal ranges; the begin of range `k` (k == parts gives n).
inline std::size_t range_begin(std::size_t n, std::size_t parts, std::size_t k) {
    return static_cast<std::size_t>((n / parts) * k + (n % parts) * k / parts);
}

}  // namespace radboost
