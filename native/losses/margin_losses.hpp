// Losses Phi(u) of a margin, u = 1 - y f, that bound the 0-1 loss. Tested against the NumPy versions in radboost.losses.
#pragma once

#include <cstddef>
#include <string>

namespace radboost {

enum class MarginLoss { exponential, logistic };  // Phi(u) = exp(u), Phi(u) = log2(1 + exp(u))

// The loss "exponential" or "logistic"; throws for another name.
MarginLoss margin_loss_named(const std::string& name);

// value[i] = Phi(u[i]) and derivative[i] = Phi'(u[i]); arrays of length n. Either output may be `u`.
void evaluate_loss(MarginLoss loss, const double* u, std::size_t n, double* value, double* derivative);

}  // namespace radboost
