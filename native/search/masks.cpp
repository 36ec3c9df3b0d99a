// Kernels on masks in plain C++ (namespace portable) and for AVX-512 (fast), and the functions that choose between them.
#include "search/masks.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "core/common.hpp"

#if defined(RADBOOST_FAST_MASKS)
// The intrinsics of GCC 12 leave registers undefined on purpose and cause these warnings where they are inlined.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include <immintrin.h>
#define RADBOOST_AVX512 __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi,avx512vbmi2,popcnt,bmi2")))
#endif

namespace radboost {

namespace portable {
namespace {

// bytes[i] = 255 if bit i of the mask is set, otherwise 0.
RADBOOST_INLINE void spread(MaskWord mask, std::uint8_t* bytes) {
    constexpr std::uint64_t kEachByte = 0x0101010101010101;
    constexpr std::uint64_t kOneBitEach = 0x8040201008040201;  // bit k of byte k
    for (std::size_t part = 0; part < 8; ++part) {
        const std::uint64_t copies = ((mask >> (8 * part)) & 255) * kEachByte & kOneBitEach;
        std::memcpy(bytes + 8 * part, &copies, sizeof copies);
    }
    for (std::size_t i = 0; i < kWordRows; ++i) bytes[i] = bytes[i] != 0 ? 255 : 0;
}

// Inverse of `spread`: bit i of the result is bytes[i], which must be 0 or 1.
RADBOOST_INLINE MaskWord collect(const std::uint8_t* bytes) {
    MaskWord mask = 0;
    for (std::size_t part = 0; part < 8; ++part) {
        std::uint64_t eight;
        std::memcpy(&eight, bytes + 8 * part, sizeof eight);
        mask |= ((eight * 0x0102040810204080) >> 56) << (8 * part);  // the factor takes bit 0 of byte k to bit 56 + k
    }
    return mask;
}

// The 64 entries of word number `word`; of the last word a padded copy, as the array may end after the highest selected row.
template <class T>
RADBOOST_INLINE const T* entries_of(const T* entries, std::size_t word, std::size_t n_words, MaskWord mask, T* copy) {
    if (word + 1 < n_words) return entries + kWordRows * word;
    const std::size_t n = highest_one(mask) + 1;
    std::fill(copy, copy + kWordRows, T{0});
    std::copy_n(entries + kWordRows * word, n, copy);
    return copy;
}

RADBOOST_INLINE void mask_weights(const std::uint32_t* weights, MaskWord mask, std::uint32_t* out) {
    for (std::size_t part = 0; part < 8; ++part) {
        const auto bits = static_cast<std::uint32_t>((mask >> (8 * part)) & 255);
        for (std::uint32_t i = 0; i < 8; ++i) out[8 * part + i] = weights[8 * part + i] & (0u - ((bits >> i) & 1u));
    }
}

}  // namespace

RADBOOST_CLONES CodeRange masked_range(const std::uint8_t* codes, const MaskWord* mask, std::size_t n_words,
                                       int missing_code, const CodeRange& bounds) {
    constexpr std::size_t kLook = 16;  // words between two checks whether the bounds are reached
    CodeRange range;
    for (std::size_t first = 0; first < n_words && !range.covers(bounds); first += kLook) {
        std::uint8_t low[kWordRows], high[kWordRows], missing[kWordRows] = {};
        std::fill(low, low + kWordRows, std::uint8_t{255});
        std::fill(high, high + kWordRows, std::uint8_t{0});
        for (std::size_t w = first; w < std::min(n_words, first + kLook); ++w) {
            if (mask[w] == 0) continue;
            std::uint8_t wanted[kWordRows], copy[kWordRows];
            spread(mask[w], wanted);
            const std::uint8_t* here = entries_of(codes, w, n_words, mask[w], copy);
            const auto lost = static_cast<std::uint8_t>(missing_code);
            for (std::size_t i = 0; missing_code >= 0 && i < kWordRows; ++i) {
                const std::uint8_t is_lost = here[i] == lost ? wanted[i] : std::uint8_t{0};
                missing[i] |= is_lost;
                wanted[i] = static_cast<std::uint8_t>(wanted[i] & ~is_lost);
            }
            for (std::size_t i = 0; i < kWordRows; ++i) {
                const auto least = static_cast<std::uint8_t>(here[i] | static_cast<std::uint8_t>(~wanted[i]));
                const auto most = static_cast<std::uint8_t>(here[i] & wanted[i]);
                low[i] = least < low[i] ? least : low[i];
                high[i] = most > high[i] ? most : high[i];
            }
        }
        range.widen({*std::min_element(low, low + kWordRows), *std::max_element(high, high + kWordRows),
                     *std::max_element(missing, missing + kWordRows) != 0});
    }
    return range;
}

RADBOOST_CLONES void masked_sums(const ColumnCut* cuts, std::size_t n_cuts, const std::uint32_t* weights,
                                 const MaskWord* mask, std::size_t n_words, std::uint32_t* sums) {
    std::fill(sums, sums + n_cuts, 0u);
    for (std::size_t w = 0; w < n_words; ++w) {
        if (mask[w] == 0) continue;
        std::uint32_t copied[kWordRows], masked[kWordRows];
        std::uint8_t codes[kWordRows];
        mask_weights(entries_of(weights, w, n_words, mask[w], copied), mask[w], masked);
        for (std::size_t k = 0; k < n_cuts; ++k) {
            const std::uint8_t* here = entries_of(cuts[k].codes, w, n_words, mask[w], codes);
            const std::uint8_t bin = cuts[k].bin;
            std::uint32_t sum = 0;
            for (std::size_t i = 0; i < kWordRows; ++i) sum += here[i] <= bin ? masked[i] : 0;
            sums[k] += sum;
        }
    }
}

RADBOOST_CLONES std::uint32_t masked_sum_of_code(const std::uint8_t* codes, std::uint8_t code,
                                                 const std::uint32_t* weights, const MaskWord* mask,
                                                 std::size_t n_words) {
    std::uint32_t total = 0;
    for (std::size_t w = 0; w < n_words; ++w) {
        if (mask[w] == 0) continue;
        std::uint32_t copied[kWordRows], masked[kWordRows];
        std::uint8_t copy[kWordRows];
        mask_weights(entries_of(weights, w, n_words, mask[w], copied), mask[w], masked);
        const std::uint8_t* here = entries_of(codes, w, n_words, mask[w], copy);
        for (std::size_t i = 0; i < kWordRows; ++i) total += here[i] == code ? masked[i] : 0;
    }
    return total;
}

RADBOOST_CLONES std::size_t split_mask(const std::uint8_t* codes, std::uint8_t bin, int left_code, const MaskWord* mask,
                                       std::size_t n_words, MaskWord* left, MaskWord* right) {
    std::size_t count = 0;
    // Without left_code the comparison is with 0, which is <= bin anyway.
    const std::uint8_t also = left_code >= 0 ? static_cast<std::uint8_t>(left_code) : std::uint8_t{0};
    for (std::size_t w = 0; w < n_words; ++w) {
        left[w] = right[w] = 0;
        if (mask[w] == 0) continue;
        std::uint8_t copy[kWordRows], goes_left[kWordRows];
        const std::uint8_t* here = entries_of(codes, w, n_words, mask[w], copy);
        for (std::size_t i = 0; i < kWordRows; ++i)
            goes_left[i] = static_cast<std::uint8_t>((here[i] <= bin) | (here[i] == also));
        left[w] = collect(goes_left) & mask[w];
        right[w] = mask[w] & ~left[w];
        count += count_ones(left[w]);
    }
    return count;
}

RADBOOST_CLONES std::size_t count_rows(const MaskWord* mask, std::size_t n_words) {
    std::size_t count = 0;
    for (std::size_t w = 0; w < n_words; ++w) count += count_ones(mask[w]);
    return count;
}

namespace {

// Writes entry(i) of every selected row i contiguously to `to`.
template <class T, class Entry>
RADBOOST_INLINE void pack_entries(const MaskWord* mask, std::size_t n_words, T* to, Entry&& entry) {
    for (std::size_t w = 0; w < n_words; ++w) {
        if (mask[w] == ~MaskWord{0}) {
            for (std::size_t i = 0; i < kWordRows; ++i) to[i] = entry(kWordRows * w + i);
            to += kWordRows;
            continue;
        }
        for (MaskWord word = mask[w]; word != 0; word &= word - 1)
            *to++ = entry(kWordRows * w + lowest_one(word));
    }
}

}  // namespace

void pack(const std::uint8_t* from, const MaskWord* mask, std::size_t n_words, std::uint8_t* to, std::size_t) {
    pack_entries(mask, n_words, to, [&](std::size_t i) { return from[i]; });
}

void pack(const std::uint32_t* from, const MaskWord* mask, std::size_t n_words, std::uint32_t* to, std::size_t) {
    pack_entries(mask, n_words, to, [&](std::size_t i) { return from[i]; });
}

void pack_numbers(std::uint32_t first, const MaskWord* mask, std::size_t n_words, std::uint32_t* to, std::size_t) {
    pack_entries(mask, n_words, to, [&](std::size_t i) { return first + static_cast<std::uint32_t>(i); });
}

RowSplit split_rows(const std::uint8_t* codes, std::uint8_t bin, int left_code, int missing_code,
                    const std::uint32_t* rows, std::uint32_t first, std::size_t n, std::uint32_t* left,
                    std::uint32_t* right) {
    const std::uint32_t* const left_begin = left;
    std::size_t missing = 0;
    const auto send = [&](std::uint32_t row) {
        // Both stores always happen and only one pointer advances: no branch to mispredict.
        const int code = codes[row];
        const bool goes_left = (code <= bin) | (code == left_code);
        missing += code == missing_code;
        *left = row;
        *right = row;
        left += goes_left;
        right += !goes_left;
    };
    if (rows == nullptr)
        for (std::size_t i = 0; i < n; ++i) send(first + static_cast<std::uint32_t>(i));
    else
        for (std::size_t i = 0; i < n; ++i) send(rows[i]);
    return {static_cast<std::size_t>(left - left_begin), missing};
}

}  // namespace portable

#if defined(RADBOOST_FAST_MASKS)

bool has_fast_masks() {
    static const bool available = [] {
        __builtin_cpu_init();
        return __builtin_cpu_supports("x86-64-v4") && __builtin_cpu_supports("avx512vbmi") &&
               __builtin_cpu_supports("avx512vbmi2");
    }();
    return available;
}

namespace fast {
namespace {

RADBOOST_AVX512 inline __m512i load_codes(const std::uint8_t* codes, MaskWord mask) {
    return _mm512_maskz_loadu_epi8(mask, codes);
}

// Reductions go through memory, because the intrinsics for halves of a register cause warnings in some compilers' headers.
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

// Columns per pass: their sums stay in registers, and the weights are loaded once for all of them.
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

// Stores at least the first `count` of the packed bytes, at most `room`. Sparse masks give few bytes; short stores, which
// seldom cross cache lines, make packing them 1.4 times as fast.
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
    constexpr std::size_t kLook = 16;  // words between two checks whether the bounds are reached
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
            // Read before anything is written, because `left` may be `rows`.
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

}  // namespace fast

#define RADBOOST_CHOOSE(...) return has_fast_masks() ? fast::__VA_ARGS__ : portable::__VA_ARGS__

#else

bool has_fast_masks() { return false; }

#define RADBOOST_CHOOSE(...) return portable::__VA_ARGS__

#endif

CodeRange masked_range(const std::uint8_t* codes, const MaskWord* mask, std::size_t n_words, int missing_code,
                       const CodeRange& bounds) {
    RADBOOST_CHOOSE(masked_range(codes, mask, n_words, missing_code, bounds));
}

void masked_sums(const ColumnCut* cuts, std::size_t n_cuts, const std::uint32_t* weights, const MaskWord* mask,
                 std::size_t n_words, std::uint32_t* sums) {
    RADBOOST_CHOOSE(masked_sums(cuts, n_cuts, weights, mask, n_words, sums));
}

std::uint32_t masked_sum_of_code(const std::uint8_t* codes, std::uint8_t code, const std::uint32_t* weights,
                                 const MaskWord* mask, std::size_t n_words) {
    RADBOOST_CHOOSE(masked_sum_of_code(codes, code, weights, mask, n_words));
}

std::size_t split_mask(const std::uint8_t* codes, std::uint8_t bin, int left_code, const MaskWord* mask,
                       std::size_t n_words, MaskWord* left, MaskWord* right) {
    RADBOOST_CHOOSE(split_mask(codes, bin, left_code, mask, n_words, left, right));
}

std::size_t count_rows(const MaskWord* mask, std::size_t n_words) { RADBOOST_CHOOSE(count_rows(mask, n_words)); }

void pack(const std::uint8_t* from, const MaskWord* mask, std::size_t n_words, std::uint8_t* to, std::size_t count) {
    RADBOOST_CHOOSE(pack(from, mask, n_words, to, count));
}

void pack(const std::uint32_t* from, const MaskWord* mask, std::size_t n_words, std::uint32_t* to, std::size_t count) {
    RADBOOST_CHOOSE(pack(from, mask, n_words, to, count));
}

void pack_numbers(std::uint32_t first, const MaskWord* mask, std::size_t n_words, std::uint32_t* to, std::size_t count) {
    RADBOOST_CHOOSE(pack_numbers(first, mask, n_words, to, count));
}

RowSplit split_rows(const std::uint8_t* codes, std::uint8_t bin, int left_code, int missing_code,
                    const std::uint32_t* rows, std::uint32_t first, std::size_t n, std::uint32_t* left,
                    std::uint32_t* right) {
    RADBOOST_CHOOSE(split_rows(codes, bin, left_code, missing_code, rows, first, n, left, right));
}

}  // namespace radboost
