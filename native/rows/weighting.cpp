#include "rows/weighting.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/hashing.hpp"
#include "core/pool.hpp"

namespace radboost {

RowClasses::RowClasses(std::vector<std::uint16_t> of_row, std::size_t n_classes)
    : of_row_(std::move(of_row)), n_classes_(n_classes) {
    require(n_classes >= 2 && n_classes <= 65534, "the number of classes must lie between 2 and 65534");
    find_begins();
}

void RowClasses::replace(const std::uint16_t* of_row, std::size_t n_rows) {
    of_row_.assign(of_row, of_row + n_rows);
    find_begins();
}

void RowClasses::find_begins() {
    for (const std::uint16_t c : of_row_) require(c < n_classes_, "a row has a class that does not exist");
    begin_.clear();
    if (!std::is_sorted(of_row_.begin(), of_row_.end())) return;
    begin_.assign(n_classes_ + 1, of_row_.size());
    for (std::size_t i = of_row_.size(); i-- > 0;) begin_[of_row_[i]] = i;
    for (std::size_t c = n_classes_; c-- > 0;) begin_[c] = std::min(begin_[c], begin_[c + 1]);
}

namespace {

void require_shares(const double* factors, std::size_t n) {
    bool inside = true;
    for (std::size_t i = 0; i < n; ++i) inside &= factors[i] >= 0 && factors[i] <= 1;
    require(inside, "factors must lie in [0, 1]");
}

}  // namespace

RowFactors::RowFactors(std::optional<std::vector<double>> factors, std::size_t n_rows)
    : given_(factors.has_value()), factors_(given_ ? std::move(*factors) : std::vector<double>()) {
    require(!given_ || factors_.size() == n_rows, "one factor per row is needed");
    require_shares(factors_.data(), factors_.size());
}

void RowFactors::replace(const double* shares, const RowGroups& groups, const double* of_group, int n_threads) {
    const std::size_t n = groups.n_rows(), parts = row_parts(n, n_threads);
    require(n == factors_.size(), "factors take the place of as many others");
    require_shares(of_group, groups.n_groups());
    parallel_for(n_threads, parts, [&](std::size_t part) {
        const std::size_t begin = range_begin(n, parts, part), end = range_begin(n, parts, part + 1);
        require_shares(shares + begin, end - begin);
        for (std::size_t i = begin; i < end; ++i) factors_[i] = shares[i] * of_group[groups[i]];
    });
}

AnswerWeighting::AnswerWeighting(const RowWeights& weights, std::shared_ptr<const RowClasses> classes)
    : Weighting(weights), growth_(weights.n_rows(), 0), classes_(std::move(classes)) {
    require(classes_->n_rows() == weights.n_rows(), "one class per row is needed");
}

std::vector<std::uint64_t> AnswerWeighting::row_hashes(const BinnedData& data, int n_threads) const {
    std::vector<std::uint64_t> hashes = data.row_hashes(n_threads);
    for (std::size_t i = 0; i < hashes.size(); ++i) hashes[i] = mix(hashes[i], classes()[i]);
    return hashes;
}

std::uint32_t AnswerWeighting::growth_weight(std::size_t row, double share) const {
    const double scaled = share * kGrowthScale;
    if (copies() == nullptr) return static_cast<std::uint32_t>(std::llrint(scaled));
    if (total_weight() >= RowWeights::kLargeTotal)
        return static_cast<std::uint32_t>(std::llrint(scaled * row_weights().values()[row]));
    return static_cast<std::uint32_t>(std::llrint(scaled) * copies()[row]);
}

}  // namespace radboost
