// Binds search/masks.hpp for tests, which compare the kernels in plain C++ (`plain`) with those of the processor.
#include "search/masks.hpp"

#include "bindings/arrays.hpp"

namespace radboost {
namespace {

struct MaskKernels {};

using Codes = Vector<std::uint8_t>;
using Mask = Vector<std::uint64_t>;
using Weights = Vector<std::uint32_t>;

void require_fits(std::size_t n_rows, const Mask& mask) {
    require(mask.size() == words_for(n_rows), "the mask must have a word for each 64 rows");
    for (std::size_t row = n_rows; row < kWordRows * mask.size(); ++row)
        require(((mask.data()[row / kWordRows] >> (row % kWordRows)) & 1) == 0, "the mask has rows that do not exist");
}

auto range_of(Codes codes, Mask mask, int missing_code, std::uint8_t low, std::uint8_t high, bool missing, bool plain) {
    require_fits(codes.size(), mask);
    const CodeRange range = (plain ? portable::masked_range : masked_range)(codes.data(), mask.data(), mask.size(),
                                                                            missing_code, {low, high, missing});
    return std::make_tuple(int{range.low}, int{range.high}, range.missing);
}

Output<std::uint32_t> sums_of(CMatrix<std::uint8_t> codes, Codes bins, Weights weights, Mask mask, bool plain) {
    require_fits(weights.size(), mask);
    require(codes.shape(0) == bins.size() && codes.shape(1) == weights.size(), "the arrays do not fit together");
    std::vector<ColumnCut> cuts;
    for (std::size_t k = 0; k < bins.size(); ++k) cuts.push_back({codes.data() + k * codes.shape(1), bins.data()[k]});
    std::vector<std::uint32_t> sums(cuts.size());
    (plain ? portable::masked_sums : masked_sums)(cuts.data(), cuts.size(), weights.data(), mask.data(), mask.size(),
                                                  sums.data());
    return as_array(std::move(sums));
}

std::uint32_t sum_of_code(Codes codes, std::uint8_t code, Weights weights, Mask mask, bool plain) {
    require_fits(codes.size(), mask);
    require(codes.size() == weights.size(), "the arrays do not fit together");
    return (plain ? portable::masked_sum_of_code : masked_sum_of_code)(codes.data(), code, weights.data(), mask.data(),
                                                                       mask.size());
}

auto halves_of(Codes codes, std::uint8_t bin, int left_code, Mask mask, bool plain) {
    require_fits(codes.size(), mask);
    std::vector<std::uint64_t> left(mask.size()), right(mask.size());
    const std::size_t count = (plain ? portable::split_mask : split_mask)(codes.data(), bin, left_code, mask.data(),
                                                                          mask.size(), left.data(), right.data());
    return std::make_tuple(as_array(std::move(left)), as_array(std::move(right)), count);
}

template <class T>
Output<T> packed(Vector<T> from, Mask mask, bool plain) {
    require_fits(from.size(), mask);
    std::vector<T> to((plain ? portable::count_rows : count_rows)(mask.data(), mask.size()));
    if (plain)
        portable::pack(from.data(), mask.data(), mask.size(), to.data(), to.size());
    else
        pack(from.data(), mask.data(), mask.size(), to.data(), to.size());
    return as_array(std::move(to));
}

Output<std::uint32_t> packed_numbers(std::uint32_t first, Mask mask, bool plain) {
    std::vector<std::uint32_t> to((plain ? portable::count_rows : count_rows)(mask.data(), mask.size()));
    (plain ? portable::pack_numbers : pack_numbers)(first, mask.data(), mask.size(), to.data(), to.size());
    return as_array(std::move(to));
}

// Partition of `rows` or, if `consecutive`, of first ... codes.size() - 1.
auto rows_of(Codes codes, std::uint8_t bin, int left_code, int missing_code, std::vector<std::uint32_t> rows,
             bool consecutive, std::uint32_t first, bool plain) {
    require(first <= codes.size(), "the first row does not exist");
    for (const std::uint32_t row : rows) require(row < codes.size(), "a row does not exist");
    const std::size_t n = consecutive ? codes.size() - first : rows.size();
    std::vector<std::uint32_t> left(n + kWordRows), right(n + kWordRows);
    if (!consecutive) left = rows, left.resize(n + kWordRows);
    const RowSplit split = (plain ? portable::split_rows : split_rows)(codes.data(), bin, left_code, missing_code,
                                                                       consecutive ? nullptr : left.data(), first, n,
                                                                       left.data(), right.data());
    left.resize(split.left);
    right.resize(n - split.left);
    return std::make_tuple(as_array(std::move(left)), as_array(std::move(right)), split.missing);
}

}  // namespace

void bind_masks(nb::module_& m) {
    nb::class_<MaskKernels> masks(m, "MaskKernels", "Kernels on bit masks of rows; for tests.");
    masks.def_static("has_fast", &has_fast_masks);
    masks.def_static("range_of", &range_of);
    masks.def_static("sums_of", &sums_of);
    masks.def_static("sum_of_code", &sum_of_code);
    masks.def_static("halves_of", &halves_of);
    masks.def_static("packed_codes", &packed<std::uint8_t>);
    masks.def_static("packed_values", &packed<std::uint32_t>);
    masks.def_static("packed_numbers", &packed_numbers);
    masks.def_static("rows_of", &rows_of);
}

}  // namespace radboost
