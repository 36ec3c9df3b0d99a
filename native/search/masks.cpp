#include "search/masks.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>

#if defined(__x86_64__) && defined(__linux__)
#define RADBOOST_MASKS 1
// The headers of GCC 12 leave registers undefined on purpose, and then warn of it where they are used.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include <immintrin.h>
#define RADBOOST_AVX512 __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi,avx512vbmi2,popcnt,bmi2")))
#endif

namespace radboost {

#if defined(RADBOOST_MASKS)

bool masks_available() {
    static const bool available = [] {
        __builtin_cpu_init();
        return __builtin_cpu_supports("x86-64-v4") && __builtin_cpu_supports("avx512vbmi") &&
               __builtin_cpu_supports("avx512vbmi2");
    }();
    return available;
}

namespace {

RADBOOST_AVX512 inline __m512i load_codes(const std::uint8_t* codes, MaskWord mask) {
    return _mm512_maskz_loadu_epi8(mask, codes);
}

// Through memory, because the intrinsics that halve a register make some compilers warn of their own headers.
RADBOOST_AVX512 inline std::uint8_t smallest(__m512i v) {
    alignas(64) std::uint8_t lanes[kWordRows];
    _mm512_store_si512(lanes, v);
    return *std::min_element(lanes, lanes + kWordRows);
}

RADBOOST_AVX512 inline std::uint8_t largest(__m512i v) {
    alignas(64) std::uint8_t lanes[kWordRows];
    _mm512_store_si512(lanes, v);
    return *std::max_element(lanes, lanes + kWordRows);
}

RADBOOST_AVX512 inline std::uint32_t sum_of_lanes(__m512i v) {
    alignas(64) std::uint32_t lanes[16];
    _mm512_store_si512(lanes, v);
    return std::accumulate(lanes, lanes + 16, std::uint32_t{0});
}

// Columns at a time: their sums stay in registers, and the weights are loaded once for all.
constexpr int kSumColumns = 10;

template <int kColumns>
RADBOOST_AVX512 void sum_columns(const ColumnCut* cuts, const std::uint32_t* weights, const MaskWord* mask,
                                 std::size_t n_words, std::uint32_t* sums) {
    __m512i totals[kColumns], bins[kColumns];
    for (int k = 0; k < kColumns; ++k) {
        totals[k] = _mm512_setzero_si512();
        bins[k] = _mm512_set1_epi8(static_cast<char>(cuts[k].bin));
    }
    for (std::size_t w = 0; w < n_words; ++w) {
        const MaskWord word = mask[w];
        if (word == 0) continue;
        __m512i weight[4];
        for (int part = 0; part < 4; ++part)
            weight[part] = _mm512_maskz_loadu_epi32(static_cast<__mmask16>(word >> (16 * part)),
                                                    weights + kWordRows * w + 16 * part);
        for (int k = 0; k < kColumns; ++k) {
            const __mmask64 left =
                _mm512_mask_cmple_epu8_mask(word, load_codes(cuts[k].codes + kWordRows * w, word), bins[k]);
            for (int part = 0; part < 4; ++part)
                totals[k] = _mm512_mask_add_epi32(totals[k], static_cast<__mmask16>(left >> (16 * part)), totals[k],
                                                  weight[part]);
        }
    }
    for (int k = 0; k < kColumns; ++k) sums[k] = sum_of_lanes(totals[k]);
}

// `count` bytes are wanted, and there is room for `room`. Thin masks pack into a few bytes: short stores, which seldom
// touch two cache lines, make packing them 1.4 times as fast.
RADBOOST_AVX512 inline void store_packed(std::uint8_t* to, __m512i packed, std::size_t count, std::size_t room) {
    if (count <= 16 && room >= 16)
        _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm512_castsi512_si128(packed));
    else if (room >= kWordRows)
        _mm512_storeu_si512(to, packed);
    else
        _mm512_mask_storeu_epi8(to, _bzhi_u64(~MaskWord{0}, static_cast<unsigned>(room)), packed);
}

RADBOOST_AVX512 inline void store_packed(std::uint32_t* to, __m512i packed, std::size_t room) {
    if (room >= 16)
        _mm512_storeu_si512(to, packed);
    else
        _mm512_mask_storeu_epi32(to, static_cast<__mmask16>(_bzhi_u32(0xffff, static_cast<unsigned>(room))), packed);
}

RADBOOST_AVX512 inline std::size_t ones(MaskWord word) { return static_cast<std::size_t>(_mm_popcnt_u64(word)); }

}  // namespace

RADBOOST_AVX512 CodeRange masked_range(const std::uint8_t* codes, const MaskWord* mask, std::size_t n_words,
                                       int missing_code, const CodeRange& bounds) {
    constexpr std::size_t kLook = 16;  // words between two looks whether the bounds are reached
    const __m512i missing = _mm512_set1_epi8(static_cast<char>(missing_code));
    CodeRange range;
    for (std::size_t first = 0; first < n_words && !range.covers(bounds); first += kLook) {
        __m512i low = _mm512_set1_epi8(-1), high = _mm512_setzero_si512();
        MaskWord any_missing = 0;
        for (std::size_t w = first; w < std::min(n_words, first + kLook); ++w) {
            MaskWord word = mask[w];
            if (word == 0) continue;
            const __m512i code = load_codes(codes + kWordRows * w, word);
            if (missing_code >= 0) {
                const MaskWord here = _mm512_mask_cmpeq_epi8_mask(word, code, missing);
                any_missing |= here;
                word &= ~here;
            }
            low = _mm512_mask_min_epu8(low, word, low, code);
            high = _mm512_mask_max_epu8(high, word, high, code);
        }
        range.widen({smallest(low), largest(high), any_missing != 0});
    }
    return range;
}

RADBOOST_AVX512 void masked_sums(const ColumnCut* cuts, std::size_t n_cuts, const std::uint32_t* weights,
                                 const MaskWord* mask, std::size_t n_words, std::uint32_t* sums) {
    std::size_t k = 0;
    for (; k + kSumColumns <= n_cuts; k += kSumColumns)
        sum_columns<kSumColumns>(cuts + k, weights, mask, n_words, sums + k);
    switch (n_cuts - k) {
        case 9: return sum_columns<9>(cuts + k, weights, mask, n_words, sums + k);
        case 8: return sum_columns<8>(cuts + k, weights, mask, n_words, sums + k);
        case 7: return sum_columns<7>(cuts + k, weights, mask, n_words, sums + k);
        case 6: return sum_columns<6>(cuts + k, weights, mask, n_words, sums + k);
        case 5: return sum_columns<5>(cuts + k, weights, mask, n_words, sums + k);
        case 4: return sum_columns<4>(cuts + k, weights, mask, n_words, sums + k);
        case 3: return sum_columns<3>(cuts + k, weights, mask, n_words, sums + k);
        case 2: return sum_columns<2>(cuts + k, weights, mask, n_words, sums + k);
        case 1: return sum_columns<1>(cuts + k, weights, mask, n_words, sums + k);
        default: return;
    }
}

RADBOOST_AVX512 std::uint32_t masked_sum_of_code(const std::uint8_t* codes, std::uint8_t code,
                                                 const std::uint32_t* weights, const MaskWord* mask,
                                                 std::size_t n_words) {
    __m512i total = _mm512_setzero_si512();
    const __m512i wanted = _mm512_set1_epi8(static_cast<char>(code));
    for (std::size_t w = 0; w < n_words; ++w) {
        const MaskWord word = mask[w];
        const MaskWord here = _mm512_mask_cmpeq_epi8_mask(word, load_codes(codes + kWordRows * w, word), wanted);
        for (int part = 0; part < 4; ++part) {
            const auto some = static_cast<__mmask16>(here >> (16 * part));
            total = _mm512_add_epi32(total, _mm512_maskz_loadu_epi32(some, weights + kWordRows * w + 16 * part));
        }
    }
    return sum_of_lanes(total);
}

RADBOOST_AVX512 std::size_t split_mask(const std::uint8_t* codes, std::uint8_t bin, int left_code, const MaskWord* mask,
                                       std::size_t n_words, MaskWord* left, MaskWord* right) {
    const __m512i bins = _mm512_set1_epi8(static_cast<char>(bin));
    const __m512i also = _mm512_set1_epi8(static_cast<char>(left_code));
    std::size_t count = 0;
    for (std::size_t w = 0; w < n_words; ++w) {
        const MaskWord word = mask[w];
        const __m512i code = load_codes(codes + kWordRows * w, word);
        MaskWord here = _mm512_mask_cmple_epu8_mask(word, code, bins);
        if (left_code >= 0) here |= _mm512_mask_cmpeq_epi8_mask(word, code, also);
        left[w] = here;
        right[w] = word & ~here;
        count += ones(here);
    }
    return count;
}

RADBOOST_AVX512 std::size_t count_rows(const MaskWord* mask, std::size_t n_words) {
    std::size_t count = 0;
    for (std::size_t w = 0; w < n_words; ++w) count += ones(mask[w]);
    return count;
}

RADBOOST_AVX512 void pack(const std::uint8_t* from, const MaskWord* mask, std::size_t n_words, std::uint8_t* to,
                          std::size_t count) {
    std::size_t done = 0;
    for (std::size_t w = 0; w < n_words && done < count; ++w) {
        const MaskWord word = mask[w];
        const std::size_t here = ones(word);
        store_packed(to + done, _mm512_maskz_compress_epi8(word, load_codes(from + kWordRows * w, word)), here,
                     count - done);
        done += here;
    }
}

RADBOOST_AVX512 void pack(const std::uint32_t* from, const MaskWord* mask, std::size_t n_words, std::uint32_t* to,
                          std::size_t count) {
    std::size_t done = 0;
    for (std::size_t w = 0; w < n_words && done < count; ++w)
        for (int part = 0; part < 4; ++part) {
            const auto some = static_cast<__mmask16>(mask[w] >> (16 * part));
            const __m512i values = _mm512_maskz_loadu_epi32(some, from + kWordRows * w + 16 * part);
            store_packed(to + done, _mm512_maskz_compress_epi32(some, values), count - done);
            done += ones(some);
        }
}

RADBOOST_AVX512 void pack_numbers(std::uint32_t first, const MaskWord* mask, std::size_t n_words, std::uint32_t* to,
                                  std::size_t count) {
    const __m512i lanes = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    std::size_t done = 0;
    for (std::size_t w = 0; w < n_words && done < count; ++w)
        for (int part = 0; part < 4; ++part) {
            const auto some = static_cast<__mmask16>(mask[w] >> (16 * part));
            const auto base = static_cast<int>(first + kWordRows * w + 16 * static_cast<unsigned>(part));
            const __m512i values = _mm512_add_epi32(lanes, _mm512_set1_epi32(base));
            store_packed(to + done, _mm512_maskz_compress_epi32(some, values), count - done);
            done += ones(some);
        }
}

RADBOOST_AVX512 RowSplit split_rows(const std::uint8_t* codes, std::uint8_t bin, int left_code, int missing_code,
                                    const std::uint32_t* rows, std::uint32_t first, std::size_t n, std::uint32_t* left,
                                    std::uint32_t* right) {
    const __m512i bins = _mm512_set1_epi8(static_cast<char>(bin));
    const __m512i also = _mm512_set1_epi8(static_cast<char>(left_code));
    const __m512i lost = _mm512_set1_epi8(static_cast<char>(missing_code));
    const __m512i lanes = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    const std::uint32_t* const left_begin = left;
    RowSplit result;
    std::size_t i = 0;
    for (; i + kWordRows <= n; i += kWordRows) {
        alignas(64) std::uint8_t gathered[kWordRows];
        __m512i numbers[4];
        __m512i code;
        if (rows != nullptr) {
            for (std::size_t k = 0; k < kWordRows; ++k) gathered[k] = codes[rows[i + k]];
            code = _mm512_load_si512(gathered);
            // Read before anything is written: `left` may be where they are.
            for (std::size_t part = 0; part < 4; ++part) numbers[part] = _mm512_loadu_si512(rows + i + 16 * part);
        } else {
            code = _mm512_loadu_si512(codes + first + i);
            for (std::size_t part = 0; part < 4; ++part)
                numbers[part] = _mm512_add_epi32(lanes, _mm512_set1_epi32(static_cast<int>(first + i + 16 * part)));
        }
        MaskWord here = _mm512_cmple_epu8_mask(code, bins);
        if (left_code >= 0) here |= _mm512_cmpeq_epi8_mask(code, also);
        if (missing_code >= 0) result.missing += ones(_mm512_cmpeq_epi8_mask(code, lost));
        for (int part = 0; part < 4; ++part) {
            const auto some = static_cast<__mmask16>(here >> (16 * part));
            const std::size_t count = ones(some);
            _mm512_storeu_si512(left, _mm512_maskz_compress_epi32(some, numbers[part]));
            _mm512_storeu_si512(right, _mm512_maskz_compress_epi32(static_cast<__mmask16>(~some), numbers[part]));
            left += count;
            right += 16 - count;
        }
    }
    for (; i < n; ++i) {
        const std::uint32_t row = rows != nullptr ? rows[i] : first + static_cast<std::uint32_t>(i);
        const int code = codes[row];
        const bool goes_left = code <= bin || code == left_code;
        result.missing += code == missing_code;
        *(goes_left ? left++ : right++) = row;
    }
    result.left = static_cast<std::size_t>(left - left_begin);
    return result;
}

#else

bool masks_available() { return false; }

namespace {
[[noreturn]] void unavailable() { throw std::logic_error("masks are not available on this CPU"); }
}  // namespace

CodeRange masked_range(const std::uint8_t*, const MaskWord*, std::size_t, int, const CodeRange&) { unavailable(); }
void masked_sums(const ColumnCut*, std::size_t, const std::uint32_t*, const MaskWord*, std::size_t, std::uint32_t*) {
    unavailable();
}
std::uint32_t masked_sum_of_code(const std::uint8_t*, std::uint8_t, const std::uint32_t*, const MaskWord*,
                                 std::size_t) {
    unavailable();
}
std::size_t split_mask(const std::uint8_t*, std::uint8_t, int, const MaskWord*, std::size_t, MaskWord*, MaskWord*) {
    unavailable();
}
std::size_t count_rows(const MaskWord*, std::size_t) { unavailable(); }
void pack(const std::uint8_t*, const MaskWord*, std::size_t, std::uint8_t*, std::size_t) { unavailable(); }
void pack(const std::uint32_t*, const MaskWord*, std::size_t, std::uint32_t*, std::size_t) { unavailable(); }
void pack_numbers(std::uint32_t, const MaskWord*, std::size_t, std::uint32_t*, std::size_t) { unavailable(); }
RowSplit split_rows(const std::uint8_t*, std::uint8_t, int, int, const std::uint32_t*, std::uint32_t, std::size_t,
                    std::uint32_t*, std::uint32_t*) {
    unavailable();
}

#endif

}  // namespace radboost
