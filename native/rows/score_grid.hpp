// Multi-class scores as 32-bit fixed-point integers, so that sums of steps are exact in any order.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/collective.hpp"
#include "core/large_array.hpp"
#include "losses/score_unit.hpp"

namespace radboost {

// Scores (n_rows, n_classes) in units of 1 / kScoreGrid, up to a constant per row: rows are shifted if they could overflow.
class ScoreGrid {
public:
    static constexpr std::int64_t kLargest = (std::int64_t{1} << 30) - 1;

    ScoreGrid(std::size_t n_rows, std::size_t n_classes, const Collective& collective)
        : n_classes_(n_classes), collective_(collective), scores_(n_rows * n_classes, 0) {}

    const std::int32_t* values() const { return scores_.data(); }
    std::int32_t* values() { return scores_.data(); }
    const std::int32_t* row(std::size_t i) const { return scores_.data() + i * n_classes_; }

    // Replaces all scores; each row is shifted so that its largest score is 0.
    void set(const double* scores);
    // Returns the step in units of the grid; afterwards each score may once be changed by at most that much without overflow
    // (rows are shifted if necessary). Throws unless the step is a multiple of 2^-20 with |step| <= 256.
    std::int32_t admit(double step, int n_threads);

private:
    void recentre(int n_threads);

    std::size_t n_classes_;
    const Collective& collective_;
    LargeArray<std::int32_t> scores_;
    std::int64_t largest_ = 0;  // upper bound of |score| over all workers
};

}  // namespace radboost
