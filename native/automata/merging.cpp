#include "automata/merging.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace radboost {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
// Middle values are rounded to multiples of 1 / kMiddleGrid, so that states do not differ in digits without significance.
constexpr double kMiddleGrid = 256.0;

class Merger {
public:
    Merger(const StatePool& states, const MergeRules& rules)
        : states_(states), rules_(rules), n_(rules.n_entries), wide_(states.size() * 2 * n_) {
        for (std::size_t k = 0; k < states.size(); ++k) widen(k);
    }

    Merged merge() {
        std::vector<std::int32_t> order(states_.size());
        std::iota(order.begin(), order.end(), 0);
        std::stable_sort(order.begin(), order.end(),
                         [this](std::int32_t a, std::int32_t b) { return states_.best[a] < states_.best[b]; });
        std::size_t n_near = 0;
        const std::size_t room = rules_.near < kInfinity ? rules_.n_kept - 1 : rules_.n_kept / 2;
        while (n_near < room && states_.best[order[n_near]] <= rules_.near) ++n_near;
        const std::vector<std::int32_t> far(order.begin() + static_cast<std::ptrdiff_t>(n_near), order.end());
        const std::vector<std::int32_t> groups = grouped(far, rules_.n_kept - n_near);

        Merged merged{StatePool(3 * n_), std::vector<std::int32_t>(states_.size())};
        for (std::size_t k = 0; k < n_near; ++k)
            merged.place[order[k]] = merged.states.insert(states_.row(order[k]), states_.best[order[k]]);
        const auto n_groups = static_cast<std::size_t>(*std::max_element(groups.begin(), groups.end()) + 1);
        const std::vector<double> hulls = hulls_of(far, groups, n_groups);
        std::vector<double> best(n_groups, kInfinity);
        for (std::size_t k = 0; k < far.size(); ++k)
            best[groups[k]] = std::min(best[groups[k]], states_.best[far[k]]);
        std::vector<std::int32_t> numbers(n_groups);
        for (std::size_t g = 0; g < n_groups; ++g) numbers[g] = merged.states.insert(hulls.data() + g * 3 * n_, best[g]);
        for (std::size_t k = 0; k < far.size(); ++k) merged.place[far[k]] = numbers[groups[k]];
        return merged;
    }

private:
    // Merged states, shape (n_groups, 3 n_entries). far: indices of the states to be merged; groups: group of each.
    std::vector<double> hulls_of(const std::vector<std::int32_t>& far, const std::vector<std::int32_t>& groups,
                                 std::size_t n_groups) const {
        std::vector<double> hulls(n_groups * 3 * n_), counts(n_groups);
        for (std::size_t g = 0; g < n_groups; ++g) {
            std::fill_n(hulls.begin() + static_cast<std::ptrdiff_t>(g * 3 * n_), n_, kInfinity);
            std::fill_n(hulls.begin() + static_cast<std::ptrdiff_t>((3 * g + 1) * n_), n_, -kInfinity);
        }
        for (std::size_t k = 0; k < far.size(); ++k) {
            double* hull = hulls.data() + static_cast<std::size_t>(groups[k]) * 3 * n_;
            const double* costs = states_.row(far[k]);
            const double* raised = wide_.data() + static_cast<std::size_t>(far[k]) * 2 * n_ + n_;
            counts[groups[k]] += 1.0;
            for (std::size_t entry = 0; entry < n_; ++entry) {
                hull[entry] = std::min(hull[entry], costs[entry]);
                hull[n_ + entry] = std::max(hull[n_ + entry], raised[entry]);
                hull[2 * n_ + entry] += std::min(costs[2 * n_ + entry], raised[entry]);
            }
        }
        for (std::size_t g = 0; g < n_groups; ++g) {
            double* hull = hulls.data() + g * 3 * n_;
            for (std::size_t entry = 0; entry < n_; ++entry) {
                double& middle = hull[2 * n_ + entry];
                middle = std::nearbyint(middle / counts[g] * kMiddleGrid) / kMiddleGrid + 0.0;
                // An entry that is dropped (infinite cost) in all members stays dropped.
                if (hull[entry] == kInfinity) hull[n_ + entry] = middle = kInfinity;
            }
        }
        return hulls;
    }

    // Fills wide_ for state k: the slack of each entry (its cost with the cheapest completion minus the best), and lowered
    // upper costs: those of an entry that can never be the cheapest become the lowest for which this is so.
    void widen(std::size_t k) {
        const double* low = states_.row(k);
        const double* high = low + n_;
        double* slack = wide_.data() + k * 2 * n_;
        double* raised = slack + n_;
        double best = kInfinity, surest = kInfinity;
        for (std::size_t entry = 0; entry < n_; ++entry) {
            best = std::min(best, low[entry] + rules_.least[entry]);
            if (rules_.most != nullptr) surest = std::min(surest, high[entry] + rules_.most[entry]);
        }
        for (std::size_t entry = 0; entry < n_; ++entry) {
            slack[entry] = low[entry] + rules_.least[entry] - best;
            raised[entry] = high[entry];
            if (rules_.least[entry] < kInfinity && surest < kInfinity)
                raised[entry] = std::min(high[entry], std::max(low[entry] == kInfinity ? -kInfinity : low[entry],
                                                               surest - rules_.least[entry]));
        }
    }

    // Group of each state of `far`, at most `room` groups, by the largest slack for which this is possible (bisection).
    std::vector<std::int32_t> grouped(const std::vector<std::int32_t>& far, std::size_t room) const {
        std::vector<double> slacks;
        const std::size_t stride = std::max<std::size_t>(1, far.size() / 200);
        for (std::size_t k = 0; k < far.size(); k += stride) {
            const double* slack = wide_.data() + static_cast<std::size_t>(far[k]) * 2 * n_;
            for (std::size_t entry = 0; entry < n_; ++entry)
                if (slack[entry] < kInfinity) slacks.push_back(slack[entry]);
        }
        std::sort(slacks.begin(), slacks.end());
        slacks.erase(std::unique(slacks.begin(), slacks.end()), slacks.end());
        std::vector<std::int32_t> best;
        std::size_t low = 0, high = slacks.size();
        while (low < high) {
            const std::size_t middle = (low + high) / 2;
            std::vector<std::int32_t> groups = grouped_within(far, slacks[middle], room);
            if (groups.empty()) {
                high = middle;
            } else {
                best = std::move(groups);
                low = middle + 1;
            }
        }
        if (best.empty()) best = grouped_within(far, -1.0, room);
        return best;
    }

    // Groups states with equal costs at all entries of slack <= slack_kept; empty if there are more than `room` groups. With
    // a negative slack only the pattern of infinite upper costs must agree; too many groups then become one.
    std::vector<std::int32_t> grouped_within(const std::vector<std::int32_t>& far, double slack_kept,
                                             std::size_t room) const {
        StatePool keys(2 * n_);
        std::vector<double> key(2 * n_);
        std::vector<std::int32_t> groups(far.size());
        for (std::size_t k = 0; k < far.size(); ++k) {
            const double* low = states_.row(far[k]);
            const double* slack = wide_.data() + static_cast<std::size_t>(far[k]) * 2 * n_;
            const double* raised = slack + n_;
            for (std::size_t entry = 0; entry < n_; ++entry) {
                const bool counts = slack[entry] <= slack_kept;
                key[entry] = counts ? low[entry] : 0.0;
                key[n_ + entry] = raised[entry] == kInfinity ? kInfinity : counts ? low[n_ + entry] : -1.0;
            }
            groups[k] = keys.insert(key.data(), 0.0);
            if (keys.size() > room) {
                if (slack_kept >= 0.0) return {};
                return std::vector<std::int32_t>(far.size(), 0);
            }
        }
        return groups;
    }

    const StatePool& states_;
    const MergeRules& rules_;
    std::size_t n_;
    std::vector<double> wide_;  // shape (n_states, 2, n_entries): slack, and upper costs as lowered by `widen`
};

}  // namespace

Merged merge_states(const StatePool& states, const MergeRules& rules) { return Merger(states, rules).merge(); }

}  // namespace radboost
