// Losses Phi(y, f) of a target and a score, for gradient boosting. Tested against the NumPy versions in radboost.losses.
#pragma once

#include <cstddef>
#include <string>

namespace radboost {

// Kind of the targets y: real numbers, signs -1 and +1, or class indices 0, 1, ... with one score per class.
enum class Targets { numbers, signs, classes };

// Entry of the table of losses in target_losses.cpp.
struct TargetLoss {
    const char* name;
    Targets targets;
    // Upper bound of |dPhi/df| for the given parameter; 0 if there is none.
    double (*largest_derivative)(double parameter);
    // values = Phi, shape (count,), and derivatives = dPhi/df, shape (count, n_outputs) like `scores`. Null for the loss
    // "given", a user's own whose derivatives Python supplies.
    void (*evaluate)(const double* targets, const double* scores, std::size_t count, std::size_t n_outputs,
                     double parameter, double* values, double* derivatives);
};

// The entry of the table with this name; throws if there is none.
const TargetLoss& target_loss_named(const std::string& name);

// A loss with its parameter and number of outputs.
struct LossOfTarget {
    const TargetLoss& kind;
    double parameter;       // delta of Huber's loss, level of the quantile loss; ignored by the others
    std::size_t n_outputs;  // scores per row

    bool is_given() const { return kind.evaluate == nullptr; }
    // Targets per row: n_outputs if a built-in loss has numbers as targets (the row's loss is their mean loss), otherwise 1.
    std::size_t n_targets() const { return kind.targets == Targets::numbers && !is_given() ? n_outputs : 1; }
    double largest_derivative() const { return kind.largest_derivative(parameter) / static_cast<double>(n_targets()); }
    void evaluate(const double* targets, const double* scores, std::size_t count, double* values,
                  double* derivatives) const;
};

}  // namespace radboost
