// Losses Phi(y, f) of a target and a score, for blocks of rows. The NumPy versions in radboost.losses are their oracles.
#pragma once

#include <cstddef>
#include <string>

namespace radboost {

// What the targets of a loss are: any numbers, -1 and +1, or the places 0, 1, ... of classes with a score for each.
enum class Targets { numbers, signs, classes };

// A row of the table of losses, which stands with the kernels in target_losses.cpp.
struct TargetLoss {
    const char* name;
    Targets targets;
    // No derivative is larger than this for the given parameter; 0 where there is no such bound.
    double (*largest_derivative)(double parameter);
    // Phi and dPhi/df of `count` rows, whose scores and derivatives stand row after row. Null for a loss of the user's own,
    // whose derivatives are handed in.
    void (*evaluate)(const double* targets, const double* scores, std::size_t count, std::size_t n_outputs,
                     double parameter, double* values, double* derivatives);
};

// The row of the table with that name; throws where there is none.
const TargetLoss& target_loss_named(const std::string& name);

// A loss of the table with its parameter.
struct LossOfTarget {
    const TargetLoss& kind;
    double parameter;       // of Huber's and the quantile loss
    std::size_t n_outputs;  // scores per row

    bool is_given() const { return kind.evaluate == nullptr; }
    // Numbers that a row is to be predicted by: as many as it has scores, whose mean loss is then the loss of the row; or one.
    std::size_t n_targets() const { return kind.targets == Targets::numbers && !is_given() ? n_outputs : 1; }
    double largest_derivative() const { return kind.largest_derivative(parameter) / static_cast<double>(n_targets()); }
    void evaluate(const double* targets, const double* scores, std::size_t count, double* values,
                  double* derivatives) const;
};

}  // namespace radboost
