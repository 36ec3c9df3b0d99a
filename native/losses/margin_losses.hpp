// Losses Phi of a margin. The NumPy versions in radboost.losses are their oracles.
#pragma once

#include <cstddef>
#include <string>

namespace radboost {

enum class MarginLoss { exponential, logistic };  // Phi(u) = exp(u), Phi(u) = log2(1 + exp(u))

// Throws for a name that is not in the table of the losses.
MarginLoss margin_loss_named(const std::string& name);

// Phi(u_i) and Phi'(u_i).
void evaluate_loss(MarginLoss loss, const double* u, std::size_t n, double* value, double* derivative);

}  // namespace radboost
