#include "rows/state.hpp"

#include <algorithm>
#include <cmath>

#include "core/exact_sum.hpp"
#include "core/pool.hpp"

namespace radboost {
namespace {

constexpr std::size_t kRowsPerTask = 16384;  // fewer rows are not worth waking a thread

std::vector<std::size_t> first_rows(const std::vector<std::uint16_t>& classes, std::size_t n_classes) {
    if (!std::is_sorted(classes.begin(), classes.end())) return {};
    std::vector<std::size_t> first(n_classes + 1, classes.size());
    for (std::size_t i = classes.size(); i-- > 0;) first[classes[i]] = i;
    for (std::size_t c = n_classes; c-- > 0;) first[c] = std::min(first[c], first[c + 1]);
    return first;
}

}  // namespace

std::size_t row_parts(std::size_t n_rows, int n_threads) {
    return std::max<std::size_t>(1, std::min<std::size_t>(static_cast<std::size_t>(n_threads), n_rows / kRowsPerTask));
}

BoostingState::BoostingState(std::vector<std::uint16_t> class_of_row, std::size_t n_classes,
                             std::vector<double> weights, bool fold_large_weights)
    : growth_(class_of_row.size(), 0),
      class_of_row_(std::move(class_of_row)),
      n_classes_(n_classes),
      weights_(std::move(weights)),
      fold_large_weights_(fold_large_weights) {
    require(n_classes >= 2 && n_classes <= 65534, "the number of classes must lie between 2 and 65534");
    count_rows();
}

void BoostingState::replace_rows(const std::uint16_t* class_of_row, const double* weights, std::size_t n_rows) {
    growth_.resize(n_rows);
    class_of_row_.assign(class_of_row, class_of_row + n_rows);
    weights_.assign(weights, weights ? weights + n_rows : nullptr);
    count_rows();
}

// What follows from the classes and the weights of the rows.
void BoostingState::count_rows() {
    for (const std::uint16_t c : class_of_row_) require(c < n_classes_, "a row has a class that does not exist");
    require(weights_.empty() || weights_.size() == class_of_row_.size(), "one weight per row is needed");
    integer_weights_ = true;
    for (const double w : weights_) {
        require(w > 0 && w <= 0x1p52, "weights must be positive and at most 2^52");
        integer_weights_ = integer_weights_ && w == std::floor(w);
    }
    class_begin_ = first_rows(class_of_row_, n_classes_);
    copies_.clear();
    if (integer_weights_) copies_.assign(weights_.begin(), weights_.end());
    total_weight_ = static_cast<double>(class_of_row_.size());
    if (!weights_.empty()) {
        const std::vector<double> ones(class_of_row_.size(), 1.0);
        total_weight_ = weighted_sum(ones.data(), 1);
    }
    require(total_weight_ <= 0x1p52, "the sum of the weights must be at most 2^52");
    if (fold_large_weights_ && repeats() && total_weight_ >= kLargeWeight) {
        integer_weights_ = false;
        copies_.clear();
    }
}

std::uint32_t BoostingState::growth_weight(std::size_t row, double share) const {
    const double scaled = share * kGrowthScale;
    if (!repeats()) return static_cast<std::uint32_t>(std::llrint(scaled));
    if (total_weight_ >= kLargeWeight) return static_cast<std::uint32_t>(std::llrint(scaled * weights_[row]));
    return static_cast<std::uint32_t>(std::llrint(scaled) * copies_[row]);
}

double BoostingState::weighted_sum(const double* values, int n_threads) const {
    const std::size_t n = n_rows(), parts = row_parts(n, n_threads);
    std::vector<double> largest_of_part(parts, 0.0);
    parallel_for(n_threads, parts, [&](std::size_t part) {
        double largest = 0;
        for (std::size_t i = range_begin(n, parts, part); i < range_begin(n, parts, part + 1); ++i)
            largest = std::max(largest, std::fabs(unit(i, values[i])));
        largest_of_part[part] = largest;
    });
    const FixedScale scale(*std::max_element(largest_of_part.begin(), largest_of_part.end()));
    std::vector<int128> sums(parts, 0);
    parallel_for(n_threads, parts, [&](std::size_t part) {
        int128 sum = 0;
        for (std::size_t i = range_begin(n, parts, part); i < range_begin(n, parts, part + 1); ++i) {
            const int128 term = scale.fixed(unit(i, values[i]));
            sum += repeats() ? term * copies_[i] : term;
        }
        sums[part] = sum;
    });
    int128 total = 0;
    for (const int128 sum : sums) total += sum;
    return scale.value(total);
}

}  // namespace radboost
