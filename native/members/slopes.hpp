// Directional derivatives of the penalized objective by the weights of hypotheses: the choice of coordinate in DeepBoost.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace radboost {

// d_j of Cortes, Mohri and Syed (2014), Deep Boosting, Figure 2, lines 5-9: m / (2 S) times the subderivative nearest to 0.
// growing: edge of h, the expectation of y h under D, so that epsilon - 1/2 = -edge / 2. threshold: Lambda_j m / S.
// shrinking: the edge for decreasing weights, which differs where the loss has a kink (Kuznetsov, Mohri and Syed, 2014,
// Multi-Class Deep Boosting, equations (27) and (28)). is_signed: weights of either sign are allowed, otherwise weights >= 0.
double slope(double growing, double shrinking, double weight, double threshold, bool is_signed);

struct DescentRule {
    double scale;  // S / m
    bool is_signed;
    bool only_shrinking;  // skip coordinates whose |weight| would grow
    double tolerance;     // skip coordinates with |d_j| <= tolerance
};

// (slot, |d_j|) of the coordinates along which F decreases. Arrays have one entry per slot; weight 0 means an empty slot.
std::vector<std::pair<std::size_t, double>> descents(const double* growing, const double* shrinking,
                                                     const double* weights, const double* prices, std::size_t n_slots,
                                                     const DescentRule& rule);

}  // namespace radboost
