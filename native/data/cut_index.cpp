#include "data/cut_index.hpp"

#include <algorithm>
#include <limits>

#include "data/binning.hpp"
#include "core/common.hpp"

namespace radboost {
namespace {

constexpr std::size_t kValuesForCells = 2048;  // with fewer, filling the cells takes longer than they save

// Cell of x, non-decreasing in x because rounded subtraction and multiplication are monotone; NaN is in cell 0.
template <class T>
RADBOOST_INLINE std::int32_t cell_of(T x, T base, T scale) {
    const T place = (x - base) * scale;
    const T from_zero = place > T(0) ? place : T(0);
    return static_cast<std::int32_t>(from_zero < T(kCutCells - 1) ? from_zero : T(kCutCells - 1));
}

// First step s of a binary search among n_cuts cuts: the smallest power of two with s + s/2 + ... + 1 >= n_cuts.
std::int32_t search_step(std::size_t n_cuts) {
    std::int32_t step = 1;
    while (static_cast<std::size_t>(2 * step - 1) < n_cuts) step *= 2;
    return step;
}

// codes[i] = index of the first cut >= x[i], by binary search without branches, from the first cut of x's cell.
template <class T>
RADBOOST_INLINE void search_cuts(const CutIndex<T>& index, const T* x, std::size_t count, std::int32_t* codes) {
    const T* const cuts = index.cuts.data();
    const std::int32_t* const below = index.below.data();
    const T base = index.base, scale = index.scale;
    // Separate from the next loop: fused, the clipping in cell_of would be compiled to branches.
    for (std::size_t i = 0; i < count; ++i) codes[i] = cell_of(x[i], base, scale);
    for (std::size_t i = 0; i < count; ++i) codes[i] = below[codes[i]];
    for (std::int32_t step = index.first_step; step > 0; step /= 2)
        for (std::size_t i = 0; i < count; ++i) codes[i] += cuts[codes[i] + step - 1] < x[i] ? step : 0;
}

template <class T>
RADBOOST_INLINE bool write_bytes(const T* x, const std::int32_t* codes, std::size_t count, std::int32_t missing_code,
                            std::uint8_t* out) {
    std::int32_t missing = 0;
    for (std::size_t i = 0; i < count; ++i) {
        missing |= x[i] != x[i];
        out[i] = static_cast<std::uint8_t>(x[i] != x[i] ? missing_code : codes[i]);
    }
    return missing != 0;
}

}  // namespace

template <class T>
CutIndex<T>::CutIndex(const double* thresholds, std::size_t n_cuts, std::size_t n_values)
    : first_step(search_step(n_cuts)) {
    constexpr T kInfinity = std::numeric_limits<T>::infinity();
    require(n_cuts <= 255, "an index holds at most 255 cuts");
    for (std::size_t i = 0; i < cuts.size(); ++i) cuts[i] = i < n_cuts ? rounded_down<T>(thresholds[i]) : kInfinity;
    if (n_cuts < 2 || n_values < kValuesForCells) return;
    const T range = cuts[n_cuts - 1] - cuts[0], cells_per_unit = T(kCutCells - 1) / range;
    if (!(range > T(0)) || !(range < kInfinity) || !(cells_per_unit < kInfinity)) return;
    std::array<std::int32_t, kCutCells> held{};
    for (std::size_t i = 0; i < n_cuts; ++i) ++held[static_cast<std::size_t>(cell_of(cuts[i], cuts[0], cells_per_unit))];
    base = cuts[0];
    scale = cells_per_unit;
    for (std::size_t cell = 1; cell < kCutCells; ++cell) below[cell] = below[cell - 1] + held[cell - 1];
    first_step = search_step(static_cast<std::size_t>(*std::max_element(held.begin(), held.end())));
}

template class CutIndex<float>;
template class CutIndex<double>;

RADBOOST_CLONES void find_codes(const CutIndex<float>& index, const float* x, std::size_t count, std::int32_t* codes) {
    search_cuts(index, x, count, codes);
}

RADBOOST_CLONES void find_codes(const CutIndex<double>& index, const double* x, std::size_t count, std::int32_t* codes) {
    search_cuts(index, x, count, codes);
}

RADBOOST_CLONES bool write_codes(const float* x, const std::int32_t* codes, std::size_t count, std::int32_t missing_code,
                                  std::uint8_t* out) {
    return write_bytes(x, codes, count, missing_code, out);
}

RADBOOST_CLONES bool write_codes(const double* x, const std::int32_t* codes, std::size_t count, std::int32_t missing_code,
                                  std::uint8_t* out) {
    return write_bytes(x, codes, count, missing_code, out);
}

}  // namespace radboost
