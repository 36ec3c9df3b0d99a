// Penalties on rows of weights (those of one column for all outputs): value, and exact update of a row. NumPy versions for
// tests are in radboost.penalties.
#pragma once

#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

namespace radboost {

// Entry of the table of penalties in row_penalty.cpp.
struct RowPenalty {
    const char* name;
    // True if the update is `soft_threshold` of each weight, for rows of one weight and of several weights.
    bool one_by_threshold, several_by_threshold;
    // Value of the penalty for a row of n_outputs weights, such as a norm; the price multiplies it.
    double (*size)(const double* weight, std::size_t n_outputs);
    // weight = argmin over w of sum_r (curvature_r w_r^2 / 2 + slope_r w_r) + price * size(w); 0 where curvature_r is 0. All
    // arrays have shape (n_outputs,); `order` is scratch.
    void (*update)(const double* curvature, const double* slope, double price, std::size_t n_outputs, std::size_t* order,
                   double* weight);
};

// The entry of the table with this name; throws if there is none.
const RowPenalty& row_penalty_named(const std::string& name);

inline double quotient_or_zero(double above, double below) { return below > 0.0 ? above / below : 0.0; }

// argmin over w of curvature w^2 / 2 + slope w + price |w|.
inline double soft_threshold(double curvature, double slope, double price) {
    const double excess = std::abs(slope) - price;
    return excess > 0.0 ? quotient_or_zero(slope > 0.0 ? -excess : excess, curvature) : 0.0;
}

// The update of a penalty with its scratch memory.
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
