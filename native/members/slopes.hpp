// Along which coordinates the penalised objective goes down.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace radboost {

// d_j of Deep Boosting, Figure 2, lines 5-9: the derivative of F along a coordinate that is nearest to zero, times m / 2S.
//
// `growing` is the edge of h, the expectation of y h under D, so epsilon - 1/2 = -edge / 2; `threshold` is Lambda_j m / S.
// `shrinking` differs from it where the loss has a kink: it is the edge seen from the left (Multi-Class Deep Boosting,
// equations (27) and (28)). A signed coordinate may have a weight of either sign; the weight of another must not be
// negative, and at zero it can only grow.
double slope(double growing, double shrinking, double weight, double threshold, bool is_signed);

struct DescentRule {
    double scale;  // S / m
    bool is_signed;
    bool only_shrinking;  // weights that would grow stay out
    double tolerance;     // so do coordinates with |d_j| up to this
};

// The slots whose weights may move, with |d_j|. A weight of 0 stands for an empty slot.
std::vector<std::pair<std::size_t, double>> descents(const double* growing, const double* shrinking,
                                                     const double* weights, const double* prices, std::size_t n_slots,
                                                     const DescentRule& rule);

}  // namespace radboost
