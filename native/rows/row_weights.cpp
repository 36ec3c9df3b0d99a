#include "rows/row_weights.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "core/exact_sum.hpp"

namespace radboost {

RowWeights::RowWeights(std::size_t n_rows, std::vector<double> weights, double most_copies,
                       const Collective& collective)
    : n_rows_(n_rows), weights_(std::move(weights)), most_copies_(most_copies), collective_(&collective) {
    require(weights_.empty() || weights_.size() == n_rows, "one weight per row is needed");
    count();
}

void RowWeights::replace(const double* weights, std::size_t n_rows) {
    n_rows_ = n_rows;
    weights_.assign(weights, weights ? weights + n_rows : nullptr);
    count();
}

// Computes all members that follow from the weights. A worker without rows learns here whether the others have weights.
void RowWeights::count() {
    double facts[3] = {weights_.empty() ? 0.0 : 1.0, 0.0, 0.0};  // given; some are not integers; the largest
    for (const double w : weights_) {
        require(w > 0 && w <= 0x1p52, "weights must be positive and at most 2^52");
        if (w != std::floor(w)) facts[1] = 1.0;
        facts[2] = std::max(facts[2], w);
    }
    collective_->maximum(facts, 3);
    n_rows_of_all_ = static_cast<std::size_t>(collective_->sum(static_cast<std::int64_t>(n_rows_)));
    given_ = facts[0] > 0;
    require(!given_ || weights_.size() == n_rows_, "the workers must all have weights, or none of them");
    factors_ = facts[1] > 0;
    largest_factor_ = factors_ ? facts[2] : 1.0;
    copies_.clear();
    if (given_ && !factors_) copies_.assign(weights_.begin(), weights_.end());
    total_ = static_cast<double>(n_rows_of_all_);
    if (given_) {
        const std::vector<double> ones(n_rows_, 1.0);
        total_ = sum(ones.data(), 1);
    }
    require(total_ <= 0x1p52, "the sum of the weights must be at most 2^52");
    if (given_ && !factors_ && total_ >= most_copies_) {
        factors_ = true;
        largest_factor_ = facts[2];
        copies_.clear();
    }
}

std::vector<std::int64_t> RowWeights::masses(double scale) const {
    std::vector<std::int64_t> masses;
    masses.reserve(weights_.size());
    for (const double w : weights_) masses.push_back(std::llrint(w * scale));
    return masses;
}

double RowWeights::sum(const double* values, int n_threads) const {
    const double most = largest(1, 0.0, n_rows_, n_threads, [&](std::size_t begin, std::size_t end, double* found) {
        double tops[8] = {};  // eight independent maxima, for pipelining
        std::size_t i = begin;
        for (; i + std::size(tops) <= end; i += std::size(tops))
            for (std::size_t k = 0; k < std::size(tops); ++k)
                tops[k] = std::max(tops[k], std::fabs(unit(i + k, values[i + k])));
        for (; i < end; ++i) tops[0] = std::max(tops[0], std::fabs(unit(i, values[i])));
        *found = *std::max_element(std::begin(tops), std::end(tops));
    })[0];
    const FixedScale scale(most);
    return scale.value(add<int128>(1, n_rows_, n_threads, [&](std::size_t begin, std::size_t end, int128* sum) {
        int128 own = 0;
        for (std::size_t i = begin; i < end; ++i) own += int128{scale.fixed(unit(i, values[i]))} * times(i);
        *sum = own;
    })[0]);
}

std::vector<double> RowWeights::group_sums(const double* values, const RowGroups& groups, int n_threads) const {
    require(groups.n_rows() == n_rows_, "one group per row is needed");
    const double most = largest(1, 0.0, n_rows_, n_threads, [&](std::size_t begin, std::size_t end, double* found) {
        for (std::size_t i = begin; i < end; ++i) *found = std::max(*found, std::fabs(unit(i, values[i])));
    })[0];
    const FixedScale scale(most);
    const auto sums = add<int128>(groups.n_groups(), n_rows_, n_threads, [&](std::size_t begin, std::size_t end, int128* own) {
        for (std::size_t i = begin; i < end; ++i) own[groups[i]] += int128{scale.fixed(unit(i, values[i]))} * times(i);
    });
    std::vector<double> found;
    for (const int128 sum : sums) found.push_back(scale.value(sum));
    return found;
}

double RowWeights::maximum(const double* values, int n_threads) const {
    constexpr double kLowest = -std::numeric_limits<double>::infinity();
    return largest(1, kLowest, n_rows_, n_threads, [&](std::size_t begin, std::size_t end, double* found) {
        for (std::size_t i = begin; i < end; ++i) *found = std::max(*found, values[i]);
    })[0];
}

}  // namespace radboost
