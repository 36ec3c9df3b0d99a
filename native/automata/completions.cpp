#include "automata/completions.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <string>

#include "core/common.hpp"

namespace radboost {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

bool is_cost(double x) { return x == x && x != -kInfinity; }

void lower_along(const std::vector<CostArc>& free_arcs, std::vector<double>& costs) {
    for (auto arc = free_arcs.rbegin(); arc != free_arcs.rend(); ++arc)
        costs[arc->origin] = std::min(costs[arc->origin], arc->cost + costs[arc->target]);
}

}  // namespace

void LossSource::check() const {
    require(n_entries > 0 && initial.size() == n_entries && final.size() == n_entries,
            "a loss needs a cost to begin and to end for each of its states");
    const auto check_arcs = [this](const std::vector<CostArc>& some) {
        for (const CostArc& arc : some) {
            require(arc.origin >= 0 && static_cast<std::size_t>(arc.origin) < n_entries && arc.target >= 0 &&
                        static_cast<std::size_t>(arc.target) < n_entries,
                    "an arc of the loss leads to a state that does not exist");
            require(is_cost(arc.cost), "an arc of the loss has a cost that is no number");
        }
    };
    for (const auto& some : arcs) check_arcs(some);
    check_arcs(free_arcs);
    std::vector<bool> left(n_entries, false);
    for (const CostArc& arc : free_arcs) {
        left[arc.origin] = true;
        require(!left[arc.target], "the arcs that read nothing are not in topological order");
    }
    for (std::size_t entry = 0; entry < n_entries; ++entry)
        require(is_cost(initial[entry]) && is_cost(final[entry]), "a state of the loss has a cost that is no number");
    for (const std::int32_t k : class_of)
        require(k >= 0 && static_cast<std::size_t>(k) < arcs.size(), "a symbol has a class that does not exist");
}

Completions::Completions(const LossSource& source, std::size_t length)
    : n_entries_(source.n_entries), least_((length + 1) * n_entries_), most_((length + 1) * n_entries_) {
    std::vector<double> now = source.final;
    lower_along(source.free_arcs, now);
    std::copy(now.begin(), now.end(), least_.begin());
    std::copy(now.begin(), now.end(), most_.begin());
    for (std::size_t to_come = 1; to_come <= length; ++to_come) {
        double* least_now = least_.data() + to_come * n_entries_;
        double* most_now = most_.data() + to_come * n_entries_;
        std::fill(least_now, least_now + n_entries_, kInfinity);
        std::fill(most_now, most_now + n_entries_, -kInfinity);
        for (const auto& arcs : source.arcs) {
            for (const bool largest : {false, true}) {
                const double* later = largest ? most(to_come - 1) : least(to_come - 1);
                now.assign(n_entries_, kInfinity);
                for (const CostArc& arc : arcs)
                    now[arc.origin] = std::min(now[arc.origin], arc.cost + later[arc.target]);
                lower_along(source.free_arcs, now);
                for (std::size_t entry = 0; entry < n_entries_; ++entry) {
                    if (largest)
                        most_now[entry] = std::max(most_now[entry], now[entry]);
                    else
                        least_now[entry] = std::min(least_now[entry], now[entry]);
                }
            }
        }
    }
}

}  // namespace radboost
