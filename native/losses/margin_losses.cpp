#include "losses/margin_losses.hpp"

#include "core/common.hpp"
#include "core/exact_math.hpp"

namespace radboost {
namespace {

constexpr double kInverseLn2 = 0x1.71547652b82fep0;

RADBOOST_CLONES void exponential(const double* u, std::size_t n, double* value, double* derivative) {
    for (std::size_t i = 0; i < n; ++i) value[i] = derivative[i] = exact_exp(u[i]);
}

RADBOOST_CLONES void logistic(const double* u, std::size_t n, double* value, double* derivative) {
    for (std::size_t i = 0; i < n; ++i) {
        const double magnitude = u[i] < 0 ? -u[i] : u[i];
        const double positive = u[i] < 0 ? 0.0 : u[i];
        const double t = exact_exp(-magnitude);
        const double numerator = u[i] < 0 ? t : 1.0;
        value[i] = (positive + exact_log1p_unit(t)) * kInverseLn2;
        derivative[i] = numerator / (1.0 + t) * kInverseLn2;
    }
}

// The table of losses, in the order of MarginLoss. To add a loss, add it to both.
struct Row {
    const char* name;
    void (*evaluate)(const double*, std::size_t, double*, double*);
};
const Row kLosses[] = {{"exponential", exponential}, {"logistic", logistic}};

}  // namespace

MarginLoss margin_loss_named(const std::string& name) {
    std::string known;
    for (std::size_t k = 0; k < std::size(kLosses); ++k) {
        if (name == kLosses[k].name) return static_cast<MarginLoss>(k);
        known += (k > 0 ? ", '" : "'") + std::string(kLosses[k].name) + "'";
    }
    throw std::invalid_argument("the native losses of margins are " + known);
}

void evaluate_loss(MarginLoss loss, const double* u, std::size_t n, double* value, double* derivative) {
    kLosses[static_cast<std::size_t>(loss)].evaluate(u, n, value, derivative);
}

}  // namespace radboost
