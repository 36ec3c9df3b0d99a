// Scores of several classes as 32-bit integers, so that sums of steps are exact in any order.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/collective.hpp"
#include "core/large_array.hpp"
#include "losses/score_unit.hpp"

namespace radboost {

// n_rows x n_classes scores. Only the differences between the classes of a row count: rows are moved as a whole where the
// scores would leave the range.
class ScoreGrid {
public:
    static constexpr std::int64_t kLargest = (std::int64_t{1} << 30) - 1;

    ScoreGrid(std::size_t n_rows, std::size_t n_classes, const Collective& collective)
        : n_classes_(n_classes), collective_(collective), scores_(n_rows * n_classes, 0) {}

    const std::int32_t* values() const { return scores_.data(); }
    std::int32_t* values() { return scores_.data(); }
    const std::int32_t* row(std::size_t i) const { return scores_.data() + i * n_classes_; }

    // Each row is moved so that its largest score is 0.
    void set(const double* scores);
    // The step in units of the grid, after room for it has been made. Throws unless it is a multiple of 2^-20 and no longer
    // than 256. Every score may then change by as much, once.
    std::int32_t admit(double step, int n_threads);

private:
    void recentre(int n_threads);

    std::size_t n_classes_;
    const Collective& collective_;
    LargeArray<std::int32_t> scores_;
    std::int64_t largest_ = 0;  // a bound on the absolute values of all workers
};

}  // namespace radboost
