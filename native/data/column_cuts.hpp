// Where the columns of a matrix are cut into bins.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/collective.hpp"
#include "core/common.hpp"
#include "core/matrix_view.hpp"

namespace radboost {

struct ColumnCuts {
    std::vector<double> thresholds;  // ascending; none in a categorical column
    bool empty = false;              // nothing but missing values
};

// Arguments as those of bin_matrix (binning.hpp).
template <class T>
std::vector<ColumnCuts> cut_columns(const MatrixView<T>& X, const double* weights, bool integer_weights,
                                    const std::int32_t* categories, int max_bins, int n_threads, InterruptCheck check,
                                    const Collective& collective);

constexpr std::size_t kQuantileRows = 262144;

}  // namespace radboost
