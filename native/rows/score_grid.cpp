#include "rows/score_grid.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "core/common.hpp"
#include "core/pool.hpp"

namespace radboost {
namespace {

constexpr std::int64_t kLargestStep = std::int64_t{1} << 28;

}  // namespace

std::int32_t ScoreGrid::admit(double step, int n_threads) {
    const double scaled = step * kScoreGrid;
    require(scaled == std::nearbyint(scaled), "steps must be multiples of 2^-20");
    require(std::fabs(scaled) <= static_cast<double>(kLargestStep), "steps must not be longer than 256");
    const auto whole = static_cast<std::int32_t>(scaled);
    const std::int64_t size = std::abs(std::int64_t{whole});
    if (largest_ + size > kLargest) recentre(n_threads);
    largest_ += size;
    return whole;
}

// Shifts each row so that its largest score is 0. Scores are clipped at -1024: such a class contributes less than e^-1024.
void ScoreGrid::recentre(int n_threads) {
    const std::size_t n = scores_.size() / n_classes_;
    const std::size_t parts = std::min(std::max<std::size_t>(1, n), row_parts(scores_.size(), n_threads));
    std::vector<double> largest(parts, 0.0);
    parallel_for(n_threads, parts, [&](std::size_t part) {
        for (std::size_t i = range_begin(n, parts, part); i < range_begin(n, parts, part + 1); ++i) {
            std::int32_t* row = scores_.data() + i * n_classes_;
            const std::int64_t top = *std::max_element(row, row + n_classes_);
            for (std::size_t c = 0; c < n_classes_; ++c) {
                row[c] = static_cast<std::int32_t>(std::max(row[c] - top, -kLargest));
                largest[part] = std::max(largest[part], -static_cast<double>(row[c]));
            }
        }
    });
    largest_ = static_cast<std::int64_t>(collective_.maximum(*std::max_element(largest.begin(), largest.end())));
}

void ScoreGrid::set(const double* scores) {
    const std::size_t n = scores_.size() / n_classes_;
    for (std::size_t i = 0; i < n; ++i) {
        const double* row = scores + i * n_classes_;
        const double top = *std::max_element(row, row + n_classes_);
        for (std::size_t c = 0; c < n_classes_; ++c)
            scores_[i * n_classes_ + c] = static_cast<std::int32_t>(
                std::max(std::nearbyint((row[c] - top) * kScoreGrid), -static_cast<double>(kLargest)));
    }
    recentre(1);
}

}  // namespace radboost
