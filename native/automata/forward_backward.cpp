#include "automata/forward_backward.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <unordered_map>

#include "core/exact_math.hpp"

namespace radboost {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
// If losses differ by more, sums are computed with logarithms; below this, underflow loses less than exp(-100) of the total.
constexpr double kLinearRange = 600.0;

double log_add(double a, double b) {
    if (a < b) std::swap(a, b);
    if (b == -kInfinity || a - b > 700.0) return a;
    return a + exact_log1p_unit(exact_exp(b - a));
}

// Arithmetic on nonnegative numbers, stored as they are (Linear) or as logarithms (Logarithmic).
struct Linear {
    static constexpr double kZero = 0.0;
    static double of_log(double x) { return x == -kInfinity ? 0.0 : exact_exp(x); }
    static double log_of(double x) { return x > 0.0 ? exact_log(x) : -kInfinity; }
    static double times(double a, double b) { return a * b; }
    static double plus(double a, double b) { return a + b; }
    static double share(double part, double whole) { return part / whole; }
};

struct Logarithmic {
    static constexpr double kZero = -kInfinity;
    static double of_log(double x) { return x; }
    static double log_of(double x) { return x; }
    static double times(double a, double b) { return a + b; }
    static double plus(double a, double b) { return log_add(a, b); }
    static double share(double part, double whole) { return Linear::of_log(part - whole); }
};

// Weight pushing: log of the conditional probability of each arc given its origin, and log of the total over all strings.
struct Pushed {
    std::vector<double> log_share;
    double log_total = 0.0;
};

Pushed push_scores(const LayeredAcceptor& scores, const double* potentials) {
    Pushed pushed;
    pushed.log_share.assign(scores.n_arcs(), -kInfinity);
    std::vector<double> later(static_cast<std::size_t>(scores.layer_size.back()), 0.0);
    for (std::size_t t = scores.length(); t-- > 0;) {
        std::vector<double> now(static_cast<std::size_t>(scores.layer_size[t]), -kInfinity);
        for (std::size_t state = 0; state < now.size(); ++state) {
            const std::size_t first = scores.leaving[t][state], last = scores.leaving[t][state + 1];
            double largest = -kInfinity;
            for (std::size_t arc = first; arc < last; ++arc)
                largest = std::max(largest, potentials[arc] + later[scores.target[arc]]);
            if (largest == -kInfinity) continue;
            double sum = 0.0;
            for (std::size_t arc = first; arc < last; ++arc)
                sum += Linear::of_log(potentials[arc] + later[scores.target[arc]] - largest);
            now[state] = largest + exact_log(sum);
            for (std::size_t arc = first; arc < last; ++arc)
                pushed.log_share[arc] = potentials[arc] + later[scores.target[arc]] - now[state];
        }
        later = std::move(now);
    }
    pushed.log_total = later[0];
    return pushed;
}

// States of the composition in one layer: pairs of states of A and B that some string reaches.
struct Pairs {
    std::vector<std::int32_t> score_state, loss_state;
    std::vector<std::size_t> first_step;  // of each pair: its first entry in `steps`
    std::vector<std::int32_t> steps;  // per arc of A that leaves the pair: its target pair in the next layer; -1: none
};

// Assigns indices to the pairs of a layer, in the order of their first occurrence.
class PairNumbers {
public:
    PairNumbers(std::size_t n_scores, std::size_t n_losses) : n_losses_(n_losses) {
        if (n_scores * n_losses <= (std::size_t{1} << 24)) dense_.assign(n_scores * n_losses, -1);
    }

    std::int32_t number(std::int32_t score_state, std::int32_t loss_state, Pairs& pairs) {
        const std::size_t key = static_cast<std::size_t>(score_state) * n_losses_ + static_cast<std::size_t>(loss_state);
        const auto fresh = static_cast<std::int32_t>(pairs.score_state.size());
        std::int32_t& slot = dense_.empty() ? sparse_.emplace(key, -1).first->second : dense_[key];
        if (slot < 0) {
            slot = fresh;
            pairs.score_state.push_back(score_state);
            pairs.loss_state.push_back(loss_state);
        }
        return slot;
    }

private:
    std::size_t n_losses_;
    std::vector<std::int32_t> dense_;
    std::unordered_map<std::size_t, std::int32_t> sparse_;
};

// The layers of A o B. Sets infinite_loss if an allowed string has infinite loss.
std::vector<Pairs> compose(const LayeredAcceptor& scores, const Pushed& pushed, const LossAutomaton& loss,
                           InterruptCheck check, bool& infinite_loss) {
    std::vector<Pairs> layers(loss.length + 1);
    layers[0].score_state = layers[0].loss_state = {0};
    for (std::size_t t = 0; t < loss.length; ++t) {
        check();
        Pairs& pairs = layers[t];
        PairNumbers numbers(static_cast<std::size_t>(scores.layer_size[t + 1]), loss.layer_size(t + 1));
        for (std::size_t k = 0; k < pairs.score_state.size(); ++k) {
            pairs.first_step.push_back(pairs.steps.size());
            const std::int32_t state = pairs.score_state[k];
            const std::size_t row = (loss.layer_start[t] + static_cast<std::size_t>(pairs.loss_state[k])) * loss.n_classes;
            for (std::size_t arc = scores.leaving[t][state]; arc < scores.leaving[t][state + 1]; ++arc) {
                if (pushed.log_share[arc] == -kInfinity) {
                    pairs.steps.push_back(-1);
                    continue;
                }
                const std::int32_t next = loss.next[row + static_cast<std::size_t>(loss.class_of[scores.symbol[arc]])];
                if (next < 0) {
                    infinite_loss = true;
                    return {};
                }
                pairs.steps.push_back(numbers.number(scores.target[arc], next, layers[t + 1]));
            }
        }
    }
    return layers;
}

// Upper bound of the difference of the losses of two strings.
double range_of(const LossAutomaton& loss) {
    double range = 0.0;
    for (std::size_t t = 0; t < loss.length; ++t) {
        double smallest = kInfinity, largest = -kInfinity;
        for (std::size_t k = loss.layer_start[t] * loss.n_classes; k < loss.layer_start[t + 1] * loss.n_classes; ++k) {
            if (loss.next[k] < 0) continue;
            smallest = std::min(smallest, loss.cost[k]);
            largest = std::max(largest, loss.cost[k]);
        }
        range += largest - smallest;
    }
    return range + *std::max_element(loss.final_width.begin(), loss.final_width.end());
}

// The forward-backward algorithm with kEnds = 1 (exact loss) or 3 (middle, lower and upper) values of the final states.
template <class Number, std::size_t kEnds>
class Flows {
public:
    Flows(const LayeredAcceptor& scores, const Pushed& pushed, const LossAutomaton& loss, const std::vector<Pairs>& layers)
        : scores_(scores), loss_(loss), layers_(layers), share_(pushed.log_share.size()), weight_(loss.cost.size()) {
        for (std::size_t k = 0; k < share_.size(); ++k) share_[k] = Number::of_log(pushed.log_share[k]);
        // Costs are shifted by the minimum of their layer, so that nothing overflows; the shifts are added to log Z.
        for (std::size_t t = 0; t < loss.length; ++t) {
            const std::size_t first = loss.layer_start[t] * loss.n_classes, last = loss.layer_start[t + 1] * loss.n_classes;
            double smallest = kInfinity;
            for (std::size_t k = first; k < last; ++k)
                if (loss.next[k] >= 0) smallest = std::min(smallest, loss.cost[k]);
            for (std::size_t k = first; k < last; ++k) weight_[k] = Number::of_log(loss.cost[k] - smallest);
            shift_ += smallest;
        }
    }

    Flow run(double log_total, InterruptCheck check) {
        forward(check);
        Flow flow;
        through_.assign(kEnds, std::vector<double>(share_.size(), Number::kZero));
        backward(check);
        for (double& share : through_[0]) share = Number::share(share, beta_[0][0]);
        flow.through = std::move(through_[0]);
        for (std::size_t e = 1; e < kEnds; ++e) {
            const double whole = Number::log_of(beta_[0][e]);
            for (double& share : through_[e]) share = Number::log_of(share) - whole;
            flow.log_through.push_back(std::move(through_[e]));
        }
        for (std::size_t e = 0; e < kEnds; ++e)
            flow.log_z.push_back(log_total + loss_.initial + shift_ + Number::log_of(beta_[0][e]));
        return flow;
    }

private:
    double weight(std::size_t t, std::size_t pair, std::size_t arc) const {
        const std::size_t row = (loss_.layer_start[t] + static_cast<std::size_t>(layers_[t].loss_state[pair])) * loss_.n_classes;
        return Number::times(share_[arc], weight_[row + static_cast<std::size_t>(loss_.class_of[scores_.symbol[arc]])]);
    }

    void forward(InterruptCheck check) {
        alpha_.resize(loss_.length + 1);
        alpha_[0] = {Number::of_log(0.0)};
        for (std::size_t t = 0; t < loss_.length; ++t) {
            check();
            const Pairs& pairs = layers_[t];
            std::vector<double>& next = alpha_[t + 1];
            next.assign(layers_[t + 1].score_state.size(), Number::kZero);
            for (std::size_t k = 0; k < pairs.score_state.size(); ++k) {
                std::size_t step = pairs.first_step[k];
                const std::int32_t state = pairs.score_state[k];
                for (std::size_t arc = scores_.leaving[t][state]; arc < scores_.leaving[t][state + 1]; ++arc, ++step) {
                    const std::int32_t to = pairs.steps[step];
                    if (to >= 0) next[to] = Number::plus(next[to], Number::times(alpha_[t][k], weight(t, k, arc)));
                }
            }
        }
    }

    void backward(InterruptCheck check) {
        beta_.resize(layers_.back().score_state.size());
        for (std::size_t k = 0; k < beta_.size(); ++k) {
            const auto state = static_cast<std::size_t>(layers_.back().loss_state[k]);
            const std::array<double, 3> ends{loss_.final_middle[state], 0.0, loss_.final_width[state]};
            for (std::size_t e = 0; e < kEnds; ++e) beta_[k][e] = Number::of_log(ends[e]);
        }
        for (std::size_t t = loss_.length; t-- > 0;) {
            check();
            const Pairs& pairs = layers_[t];
            std::vector<std::array<double, kEnds>> now(pairs.score_state.size());
            for (std::size_t k = 0; k < now.size(); ++k) {
                now[k].fill(Number::kZero);
                std::size_t step = pairs.first_step[k];
                const std::int32_t state = pairs.score_state[k];
                for (std::size_t arc = scores_.leaving[t][state]; arc < scores_.leaving[t][state + 1]; ++arc, ++step) {
                    const std::int32_t to = pairs.steps[step];
                    if (to < 0) continue;
                    const double w = weight(t, k, arc);
                    for (std::size_t e = 0; e < kEnds; ++e) {
                        const double rest = Number::times(w, beta_[to][e]);
                        now[k][e] = Number::plus(now[k][e], rest);
                        double& through = through_[e][arc];
                        through = Number::plus(through, Number::times(alpha_[t][k], rest));
                    }
                }
            }
            beta_ = std::move(now);
        }
    }

    const LayeredAcceptor& scores_;
    const LossAutomaton& loss_;
    const std::vector<Pairs>& layers_;
    std::vector<double> share_, weight_;
    double shift_ = 0.0;
    std::vector<std::vector<double>> alpha_;
    std::vector<std::array<double, kEnds>> beta_;
    std::vector<std::vector<double>> through_;
};

template <class Number>
Flow flow_of(const LayeredAcceptor& scores, const Pushed& pushed, const LossAutomaton& loss,
             const std::vector<Pairs>& layers, bool certify, InterruptCheck check) {
    if (loss.exact || !certify) return Flows<Number, 1>(scores, pushed, loss, layers).run(pushed.log_total, check);
    return Flows<Number, 3>(scores, pushed, loss, layers).run(pushed.log_total, check);
}

void check_sizes(const LayeredAcceptor& scores, const LossAutomaton& loss) {
    require(scores.length() == loss.length, "the scores and the loss are for strings of different lengths");
    require(static_cast<std::size_t>(scores.alphabet_size) == loss.class_of.size(),
            "the scores and the loss have different alphabets");
}

}  // namespace

Flow forward_backward(const LayeredAcceptor& scores, const double* potentials, const LossAutomaton& loss, bool certify,
                      InterruptCheck check) {
    check_sizes(scores, loss);
    const Pushed pushed = push_scores(scores, potentials);
    require(pushed.log_total > -kInfinity, "no string has a finite score");
    Flow flow;
    const std::vector<Pairs> layers = compose(scores, pushed, loss, check, flow.infinite_loss);
    if (flow.infinite_loss) return flow;
    return range_of(loss) <= kLinearRange ? flow_of<Linear>(scores, pushed, loss, layers, certify, check)
                                          : flow_of<Logarithmic>(scores, pushed, loss, layers, certify, check);
}

std::pair<double, double> expected_loss(const LayeredAcceptor& scores, const double* potentials,
                                        const LossAutomaton& loss, InterruptCheck check) {
    check_sizes(scores, loss);
    const Pushed pushed = push_scores(scores, potentials);
    require(pushed.log_total > -kInfinity, "no string has a finite score");
    bool infinite_loss = false;
    const std::vector<Pairs> layers = compose(scores, pushed, loss, check, infinite_loss);
    if (infinite_loss) return {kInfinity, kInfinity};
    std::vector<double> chance{1.0}, so_far{loss.initial};  // per pair: probability, and that times the mean loss
    for (std::size_t t = 0; t < loss.length; ++t) {
        const Pairs& pairs = layers[t];
        std::vector<double> next_chance(layers[t + 1].score_state.size()), next_loss(next_chance.size());
        for (std::size_t k = 0; k < chance.size(); ++k) {
            std::size_t step = pairs.first_step[k];
            const std::int32_t state = pairs.score_state[k];
            const std::size_t row = (loss.layer_start[t] + static_cast<std::size_t>(pairs.loss_state[k])) * loss.n_classes;
            for (std::size_t arc = scores.leaving[t][state]; arc < scores.leaving[t][state + 1]; ++arc, ++step) {
                const std::int32_t to = pairs.steps[step];
                if (to < 0) continue;
                const double share = Linear::of_log(pushed.log_share[arc]);
                const double cost = loss.cost[row + static_cast<std::size_t>(loss.class_of[scores.symbol[arc]])];
                next_chance[to] += share * chance[k];
                next_loss[to] += share * (so_far[k] + cost * chance[k]);
            }
        }
        chance = std::move(next_chance);
        so_far = std::move(next_loss);
    }
    double low = 0.0, wide = 0.0;
    for (std::size_t k = 0; k < chance.size(); ++k) {
        low += so_far[k];
        wide += chance[k] * loss.final_width[layers.back().loss_state[k]];
    }
    return {low, low + wide};
}

}  // namespace radboost
