// Everything that depends on the compiler, operating system or processor. RADBOOST_PORTABLE selects the fallback for unknown
// compilers; a test build with it checks that the fallback makes the same models.
#pragma once

#include <cstddef>
#include <cstdint>

#if defined(__BYTE_ORDER__) && defined(__ORDER_LITTLE_ENDIAN__)
static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "codes are read eight at a time, the first in the lowest byte");
#endif

#if !defined(RADBOOST_PORTABLE)
#if defined(__GNUC__) || defined(__clang__)
#define RADBOOST_GNU_BUILTINS
#elif defined(_MSC_VER) && defined(_WIN64)
#define RADBOOST_MSVC_INTRINSICS
#include <intrin.h>
#endif
// glibc only: musl has no indirect functions, by which the loader picks a clone.
#if defined(__x86_64__) && defined(__linux__) && defined(__GLIBC__) && !defined(RADBOOST_SANITIZE)
#define RADBOOST_CLONES_BY_PROCESSOR
#endif
#if defined(__x86_64__) && defined(__linux__)
#define RADBOOST_FAST_MASKS
#endif
#if defined(__SIZEOF_INT128__)
#define RADBOOST_HAS_INT128
#endif
#endif

// One clone of a hot loop per instruction set, picked when the library is loaded. Without contraction into fused
// multiply-adds (-ffp-contract=off) all clones give the same bits (tests/test_fingerprints.py runs each of them).
#if defined(RADBOOST_CLONES_BY_PROCESSOR)
#define RADBOOST_CLONES __attribute__((target_clones("default", "avx2", "arch=x86-64-v4")))
#else
#define RADBOOST_CLONES
#endif

// RADBOOST_INLINE: inlined into every clone, so that it is compiled for the clone's instruction set.
// RADBOOST_NOINLINE: kept out of a hot loop that seldom needs it.
#if defined(RADBOOST_GNU_BUILTINS)
#define RADBOOST_INLINE inline __attribute__((always_inline))
#define RADBOOST_NOINLINE __attribute__((noinline))
#elif defined(RADBOOST_MSVC_INTRINSICS)
#define RADBOOST_INLINE __forceinline
#define RADBOOST_NOINLINE __declspec(noinline)
#else
#define RADBOOST_INLINE inline
#define RADBOOST_NOINLINE
#endif

// Precedes a loop without dependences between iterations: none reads or writes memory that another one writes.
#if defined(RADBOOST_GNU_BUILTINS) && defined(__clang__)
#define RADBOOST_INDEPENDENT_TURNS _Pragma("clang loop vectorize(assume_safety)")
#elif defined(RADBOOST_GNU_BUILTINS)
#define RADBOOST_INDEPENDENT_TURNS _Pragma("GCC ivdep")
#elif defined(RADBOOST_MSVC_INTRINSICS)
#define RADBOOST_INDEPENDENT_TURNS __pragma(loop(ivdep))
#else
#define RADBOOST_INDEPENDENT_TURNS
#endif

namespace radboost {

// Index, 0 to 63, of the lowest set bit, and below of the highest; `word` must not be 0.
RADBOOST_INLINE std::size_t lowest_one(std::uint64_t word) {
#if defined(RADBOOST_GNU_BUILTINS)
    return static_cast<std::size_t>(__builtin_ctzll(word));
#elif defined(RADBOOST_MSVC_INTRINSICS)
    unsigned long place;
    _BitScanForward64(&place, word);
    return place;
#else
    std::size_t place = 0;
    for (; (word & 1) == 0; word >>= 1) ++place;
    return place;
#endif
}

RADBOOST_INLINE std::size_t highest_one(std::uint64_t word) {
#if defined(RADBOOST_GNU_BUILTINS)
    return 63 - static_cast<std::size_t>(__builtin_clzll(word));
#elif defined(RADBOOST_MSVC_INTRINSICS)
    unsigned long place;
    _BitScanReverse64(&place, word);
    return place;
#else
    std::size_t place = 0;
    while ((word >>= 1) != 0) ++place;
    return place;
#endif
}

RADBOOST_INLINE std::size_t count_ones(std::uint64_t word) {
#if defined(RADBOOST_GNU_BUILTINS)
    return static_cast<std::size_t>(__builtin_popcountll(word));
#else  // not every x86-64 processor has the instruction behind __popcnt64
    word -= (word >> 1) & 0x5555555555555555;
    word = (word & 0x3333333333333333) + ((word >> 2) & 0x3333333333333333);
    word = (word + (word >> 4)) & 0x0f0f0f0f0f0f0f0f;
    return static_cast<std::size_t>((word * 0x0101010101010101) >> 56);
#endif
}

// Hints that the cache line at this address is read soon; no effect on results.
RADBOOST_INLINE void prefetch([[maybe_unused]] const void* place) {
#if defined(RADBOOST_GNU_BUILTINS)
    __builtin_prefetch(place);
#elif defined(RADBOOST_MSVC_INTRINSICS) && defined(_M_X64)
    _mm_prefetch(static_cast<const char*>(place), _MM_HINT_T0);
#endif
}

}  // namespace radboost
