// Penalties on rows of weights, of boosting with structural sparsity: the size that is paid for, and the exact update of
// one row. The NumPy versions in radboost.penalties are their oracles.
#pragma once

#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

namespace radboost {

// A row of the table of penalties, which stands with the kernels in row_penalty.cpp.
struct RowPenalty {
    const char* name;
    // Whether the update of a row of one weight, or of several, is `soft_threshold` of each.
    bool one_by_threshold, several_by_threshold;
    // What the price of a row of n_outputs weights is multiplied by.
    double (*size)(const double* weight, std::size_t n_outputs);
    // Minimizes sum over r of curvature_r w_r^2 / 2 + slope_r w_r, plus price * size(w). A weight without curvature is
    // zero. `order` has room for n_outputs places.
    void (*update)(const double* curvature, const double* slope, double price, std::size_t n_outputs, std::size_t* order,
                   double* weight);
};

// The row of the table with that name; throws where there is none.
const RowPenalty& row_penalty_named(const std::string& name);

inline double quotient_or_zero(double above, double below) { return below > 0.0 ? above / below : 0.0; }

// The minimum over w of curvature w^2 / 2 + slope w + price |w|.
inline double soft_threshold(double curvature, double slope, double price) {
    const double excess = std::abs(slope) - price;
    return excess > 0.0 ? quotient_or_zero(slope > 0.0 ? -excess : excess, curvature) : 0.0;
}

// The update of a penalty, with the memory that it needs.
class RowUpdate {
public:
    RowUpdate(const RowPenalty& penalty, std::size_t n_outputs)
        : penalty_(penalty),
          by_threshold_(n_outputs == 1 ? penalty.one_by_threshold : penalty.several_by_threshold),
          order_(n_outputs) {}

    void operator()(const double* curvature, const double* slope, double price, double* weight) {
        const std::size_t k = order_.size();
        if (!by_threshold_) return penalty_.update(curvature, slope, price, k, order_.data(), weight);
        for (std::size_t r = 0; r < k; ++r) weight[r] = soft_threshold(curvature[r], slope[r], price);
    }

private:
    const RowPenalty& penalty_;
    bool by_threshold_;
    std::vector<std::size_t> order_;
};

}  // namespace radboost
