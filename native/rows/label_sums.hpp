// Integer sums over the rows of all workers, grouped by a label such as the leaf index.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "rows/row_weights.hpp"

namespace radboost {

// sums[label] = sum of value(i) over the rows i with label_of_row[i] == label; shape (n_labels,).
template <class Value>
void sum_by_label(const RowWeights& weights, const std::int32_t* label_of_row, std::size_t n_labels, int n_threads,
                  std::int64_t* sums, Value value) {
    const auto found = weights.add<std::int64_t>(
        n_labels, weights.n_rows(), n_threads, [&](std::size_t begin, std::size_t end, std::int64_t* own) {
            // Neighboring rows often have equal labels: four sums in turn avoid store-to-load stalls.
            std::vector<std::int64_t> lanes(4 * n_labels, 0);
            std::int64_t* lane_sums = lanes.data();
            std::size_t i = begin;
            for (; i + 4 <= end; i += 4)
                for (std::size_t lane = 0; lane < 4; ++lane)
                    lane_sums[lane * n_labels + static_cast<std::size_t>(label_of_row[i + lane])] += value(i + lane);
            for (; i < end; ++i) lane_sums[static_cast<std::size_t>(label_of_row[i])] += value(i);
            for (std::size_t k = 0; k < lanes.size(); ++k) own[k % n_labels] += lanes[k];
        });
    std::copy(found.begin(), found.end(), sums);
}

}  // namespace radboost
