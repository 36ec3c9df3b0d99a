#include "automata/loss_automaton.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "automata/completions.hpp"
#include "automata/merging.hpp"
#include "automata/minimize.hpp"
#include "automata/state_pool.hpp"
#include "core/exact_math.hpp"

namespace radboost {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
// Costs are rounded to multiples of 2^-40, so that sums in different orders give equal states.
constexpr double kGrid = 0x1p40;

double log_sum(double a, double b) {
    if (a > b) std::swap(a, b);
    if (b == kInfinity || b - a > 700.0) return a;
    return a - exact_log1p_unit(exact_exp(a - b));
}

double plus(CostSum sum, double a, double b) { return sum == CostSum::kMinimum ? std::min(a, b) : log_sum(a, b); }

void follow_free_arcs(const LossSource& source, double* costs) {
    for (const CostArc& arc : source.free_arcs)
        if (costs[arc.origin] < kInfinity)
            costs[arc.target] = plus(source.sum, costs[arc.target], costs[arc.origin] + arc.cost);
}

// `from` includes the free (epsilon) arcs; `to` does not. They are followed before the next symbol is read and at the end,
// because an entry may be dropped in between in favor of another one from which a free arc leads to it.
void read_symbol(const LossSource& source, const double* from, std::size_t symbol_class, double* to) {
    std::fill_n(to, source.n_entries, kInfinity);
    if (source.sum == CostSum::kMinimum) {
        for (const CostArc& arc : source.arcs[symbol_class])
            to[arc.target] = std::min(to[arc.target], from[arc.origin] + arc.cost);
    } else {
        for (const CostArc& arc : source.arcs[symbol_class])
            if (from[arc.origin] < kInfinity)
                to[arc.target] = log_sum(to[arc.target], from[arc.origin] + arc.cost);
    }
}

double largest_cost_of(const LossAutomaton& automaton) {
    double largest = std::abs(automaton.initial);
    for (std::size_t k = 0; k < automaton.cost.size(); ++k)
        if (automaton.next[k] >= 0) largest = std::max(largest, std::abs(automaton.cost[k]));
    for (const double width : automaton.final_width) largest = std::max(largest, width);
    return largest;
}

// Layer-wise subset construction. A state is a vector of costs by entry (state of the source), with merging three vectors:
// lower bounds, upper bounds and middle values ("parts" of n_ costs).
class Determinizer {
public:
    Determinizer(const LossSource& source, const LossAutomatonOptions& options, InterruptCheck check)
        : source_(source), options_(options), completions_(source, options.length), check_(check) {}

    // The automaton; nullopt if there are more than max_states states and `merging` is off.
    std::optional<LossAutomaton> build(bool merging) {
        merging_ = merging;
        n_ = source_.n_entries;
        LossAutomaton made;
        made.length = options_.length;
        made.n_classes = source_.n_classes();
        made.class_of = source_.class_of;
        made.layer_start = {0, 1};
        std::vector<double> costs(width(), kInfinity);
        for (std::size_t part = 0; part < width(); part += n_)
            std::copy(source_.initial.begin(), source_.initial.end(), costs.begin() + static_cast<std::ptrdiff_t>(part));
        made.initial = normalize(costs.data(), options_.length);
        require(made.initial < kInfinity, "the loss of every string of this length is infinite");
        StatePool layer(width());
        layer.insert(costs.data(), made.initial);
        least_loss_ = made.initial;
        for (std::size_t t = 0; t < options_.length; ++t) {
            std::optional<StatePool> next = extend(layer, options_.length - t - 1, made);
            if (!next) return std::nullopt;
            layer = std::move(*next);
        }
        for (std::size_t k = 0; k < layer.size(); ++k) {
            made.final_width.push_back(made.exact ? 0.0 : layer.row(k)[n_]);
            made.final_middle.push_back(made.exact ? 0.0 : layer.row(k)[2 * n_]);
        }
        return made;
    }

private:
    // Costs per state.
    std::size_t width() const { return merging_ ? 3 * n_ : n_; }

    // Normalizes a state, so that states with equal losses become equal as far as possible: drops irrelevant entries and
    // subtracts the cost of the cheapest completion, which is returned; infinite if no string can be completed.
    double normalize(double* costs, std::size_t to_come) const {
        if (to_come == 0) return finish(costs);
        double* high = merging_ ? costs + n_ : costs;
        const double* least = completions_.least(to_come);
        if (source_.sum == CostSum::kMinimum) drop_beside_the_point(costs, to_come);
        double best = kInfinity;
        for (std::size_t entry = 0; entry < n_; ++entry) {
            if (least[entry] == kInfinity) forget(costs, entry);
            best = std::min(best, costs[entry] + least[entry]);
        }
        if (best == kInfinity) return kInfinity;
        for (std::size_t entry = 0; entry < n_; ++entry) {
            if (merging_) {
                costs[entry] = std::floor((costs[entry] - best) * kGrid) / kGrid + 0.0;
                high[entry] = std::ceil((high[entry] - best) * kGrid) / kGrid + 0.0;
                double& middle = costs[2 * n_ + entry];
                middle = std::nearbyint((middle - best) * kGrid) / kGrid + 0.0;
            } else {
                costs[entry] = std::nearbyint((costs[entry] - best) * kGrid) / kGrid + 0.0;
            }
        }
        return best;
    }

    // Drops entries that cannot matter: those whose cheapest completion costs no less than any completion of another entry.
    void drop_beside_the_point(double* costs, std::size_t to_come) const {
        for (std::size_t part = 0; part < width(); part += n_) follow_free_arcs(source_, costs + part);
        const double* high = merging_ ? costs + n_ : costs;
        const double* least = completions_.least(to_come);
        const double* most = completions_.most(to_come);
        double surest = kInfinity;
        std::size_t keeper = n_;
        for (std::size_t entry = 0; entry < n_; ++entry)
            if (high[entry] + most[entry] < surest) {
                surest = high[entry] + most[entry];
                keeper = entry;
            }
        for (std::size_t entry = 0; entry < n_; ++entry)
            if (entry != keeper && costs[entry] + least[entry] >= surest) forget(costs, entry);
    }

    void forget(double* costs, std::size_t entry) const {
        for (std::size_t part = 0; part < width(); part += n_) costs[part + entry] = kInfinity;
    }

    // After the last symbol: replaces the state by its loss, a single cost, which is returned.
    double finish(double* costs) const {
        double totals[3] = {kInfinity, kInfinity, kInfinity};
        for (std::size_t part = 0; part < width(); part += n_) {
            follow_free_arcs(source_, costs + part);
            double& total = totals[part / n_];
            for (std::size_t entry = 0; entry < n_; ++entry)
                total = plus(source_.sum, total, costs[part + entry] + source_.final[entry]);
        }
        const double low = totals[0];
        if (low == kInfinity) return kInfinity;
        std::fill_n(costs, width(), kInfinity);
        costs[0] = 0.0;
        if (merging_) {
            costs[n_] = std::ceil(std::max(0.0, totals[1] - low) * kGrid) / kGrid;
            costs[2 * n_] = std::nearbyint(std::min(costs[n_], std::max(0.0, totals[2] - low)) * kGrid) / kGrid;
        }
        return low;
    }

    // Appends the arcs of a layer's states to `made` and returns the states of the next layer; nullopt if there are too many.
    std::optional<StatePool> extend(const StatePool& layer, std::size_t to_come, LossAutomaton& made) {
        StatePool found(width());
        std::vector<double> costs(width()), from(width());
        const std::size_t first = made.next.size();
        for (std::size_t k = 0; k < layer.size(); ++k) {
            if (k % 1024 == 0) check_();
            std::copy(layer.row(k), layer.row(k) + width(), from.begin());
            for (std::size_t part = 0; part < width(); part += n_) follow_free_arcs(source_, from.data() + part);
            for (std::size_t c = 0; c < source_.n_classes(); ++c) {
                for (std::size_t part = 0; part < width(); part += n_)
                    read_symbol(source_, from.data() + part, c, costs.data() + part);
                const double taken = normalize(costs.data(), to_come);
                made.cost.push_back(taken < kInfinity ? taken : 0.0);
                made.next.push_back(taken < kInfinity ? found.insert(costs.data(), layer.best[k] + made.cost.back()) : -1);
            }
            if (!merging_ && made.layer_start.back() + found.size() > options_.max_states) return std::nullopt;
        }
        require(found.size() > 0, "the loss of every string of this length is infinite");
        if (merging_) {
            const std::size_t left = options_.max_states - std::min(options_.max_states, made.layer_start.back());
            const std::size_t room = std::max<std::size_t>(2, left / (to_come + 1));
            if (found.size() > room) {
                check_();
                const bool minimum = source_.sum == CostSum::kMinimum;
                Merged merged = merge_states(found, {n_, completions_.least(to_come),
                                                     minimum ? completions_.most(to_come) : nullptr, room,
                                                     least_loss_ + options_.threshold});
                for (std::size_t k = first; k < made.next.size(); ++k)
                    if (made.next[k] >= 0) made.next[k] = merged.place[made.next[k]];
                found = std::move(merged.states);
                made.exact = false;
            }
        }
        made.layer_start.push_back(made.layer_start.back() + found.size());
        return found;
    }

    const LossSource& source_;
    LossAutomatonOptions options_;
    Completions completions_;
    InterruptCheck check_;
    bool merging_ = false;
    std::size_t n_ = 0;
    double least_loss_ = 0.0;
};

}  // namespace

bool LossAutomaton::bounded() const {
    return std::all_of(final_width.begin(), final_width.end(), [](double width) { return width < kInfinity; });
}

std::pair<double, double> LossAutomaton::loss(const std::vector<std::int32_t>& string) const {
    require(string.size() == length, "the string does not have the length that the automaton was made for");
    double total = initial;
    std::size_t state = 0;
    for (std::size_t t = 0; t < length; ++t) {
        const std::int32_t symbol = string[t];
        require(symbol >= 0 && static_cast<std::size_t>(symbol) < class_of.size(), "a symbol is not in the alphabet");
        const std::size_t arc = (layer_start[t] + state) * n_classes + static_cast<std::size_t>(class_of[symbol]);
        if (next[arc] < 0) return {kInfinity, kInfinity};
        total += cost[arc];
        state = static_cast<std::size_t>(next[arc]);
    }
    return {total, total + final_width[state]};
}

double loss_of(const LossSource& source, const std::vector<std::int32_t>& string) {
    std::vector<double> now = source.initial, next(source.n_entries);
    for (const std::int32_t symbol : string) {
        require(symbol >= 0 && static_cast<std::size_t>(symbol) < source.class_of.size(), "a symbol is not in the alphabet");
        follow_free_arcs(source, now.data());
        read_symbol(source, now.data(), static_cast<std::size_t>(source.class_of[symbol]), next.data());
        now.swap(next);
    }
    follow_free_arcs(source, now.data());
    double total = kInfinity;
    for (std::size_t entry = 0; entry < now.size(); ++entry)
        total = plus(source.sum, total, now[entry] + source.final[entry]);
    return total;
}

LossAutomaton determinize_loss(const LossSource& source, const LossAutomatonOptions& options, InterruptCheck check) {
    source.check();
    require(options.length >= 1, "strings must have at least one symbol");
    require(options.max_states >= 2 * options.length + 2, "the budget must allow for two states in every layer");
    require(options.threshold >= 0.0, "the threshold must not be negative");
    Determinizer determinizer(source, options, check);
    std::optional<LossAutomaton> made;
    if (options.threshold == kInfinity) made = determinizer.build(false);
    if (!made) made = determinizer.build(true);
    minimize(*made, check);
    made->largest_cost = largest_cost_of(*made);
    return std::move(*made);
}

}  // namespace radboost
