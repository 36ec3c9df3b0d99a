#include "core/largest.hpp"

#include "core/common.hpp"

namespace radboost {

RADBOOST_CLONES double largest_of(const double* values, std::size_t n, double largest) {
    double lanes[8] = {largest, largest, largest, largest, largest, largest, largest, largest};
    std::size_t i = 0;
    for (; i + 8 <= n; i += 8)
        for (std::size_t k = 0; k < 8; ++k) lanes[k] = lanes[k] < values[i + k] ? values[i + k] : lanes[k];
    for (; i < n; ++i) lanes[0] = lanes[0] < values[i] ? values[i] : lanes[0];
    for (const double lane : lanes) largest = largest < lane ? lane : largest;
    return largest;
}

}  // namespace radboost
