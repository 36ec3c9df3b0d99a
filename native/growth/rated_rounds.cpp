#include "growth/rated_rounds.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "members/slopes.hpp"

namespace radboost {
namespace {

// As in boosting/coordinate.py and boosting/line_search.py, where they are explained.
constexpr double kSlopeTolerance = 1e-9, kSmallestSlope = 1e-280, kNoError = 1e-9;
constexpr double kShortOf = 0.75, kShortestStep = 0.015625, kLargestStep = 16.0;
constexpr int kEvaluations = 120;

}  // namespace

double RatedRounds::price(std::size_t n_splits, std::int64_t bits) {
    const auto key = std::make_pair(n_splits, bits);
    const auto known = prices_.find(key);
    return known != prices_.end() ? known->second : prices_[key] = price_(n_splits, bits);
}

double RatedRounds::damped_step(std::size_t slot, double slope, double price, double last_step) const {
    const double start = slope + price;
    double at = kShortOf * std::min(std::max(last_step, kShortestStep), kLargestStep);
    for (int k = 0; k < kEvaluations; ++k) {
        const double there = slope_along_(slot, at) + price;
        const double predicted =
            there > start ? at * (start / (start - there)) : std::numeric_limits<double>::infinity();
        if (there <= 0) return std::min({predicted, at / rule_.learning_rate, kLargestStep});
        at = kShortOf * predicted;
    }
    return 0;
}

bool RatedRounds::make_one(std::uint64_t round, double slope, double last_step, InterruptCheck check, RatedRound& made) {
    if (slope <= kSmallestSlope) return false;
    grower_.grow(round, check);
    const GrownTree& tree = grower_.tree();
    const std::vector<std::int32_t> split_columns = tree.split_columns();
    double steepest = kSlopeTolerance, edge = 0, its_price = 0;
    std::size_t split = 0;
    std::int64_t bits = 0;
    for (std::size_t k = 0; k < tree.candidate_splits.size(); ++k) {
        const auto n_splits = static_cast<std::size_t>(tree.candidate_splits[k]);
        for (; split < n_splits; ++split) bits += bits_[static_cast<std::size_t>(split_columns[split])];
        const double candidate = tree.candidate_edges[k], its = price(n_splits, bits);
        const double size =
            std::abs(radboost::slope(candidate, candidate, 0.0, its / slope, rule_.is_signed));
        if (size <= steepest) continue;
        steepest = size;
        edge = candidate;
        its_price = its;
        made.n_splits = n_splits;
        made.bits = bits;
    }
    if (steepest <= kSlopeTolerance) return true;
    if (its_price == 0 && std::abs(edge) > 1 - 2 * kNoError) return false;
    const std::size_t slot = tree.store_rated(made.n_splits, columns_, rule_.n_threads);
    const double step = damped_step(slot, -edge * slope, its_price, last_step);
    made.eta = std::trunc(rule_.learning_rate * step / rule_.grid) * rule_.grid;
    if (made.eta != 0) made.sums = step_(slot, made.eta);
    columns_.release(slot);
    if (made.eta == 0) return false;
    const auto size = static_cast<std::ptrdiff_t>(2 * made.n_splits + 1);
    made.nodes.assign(tree.nodes.begin(), tree.nodes.begin() + size);
    made.category_sets = tree.category_sets;
    made.ratings = tree.ratings(made.n_splits);
    return true;
}

std::vector<RatedRound> RatedRounds::make(std::uint64_t first, std::size_t most, double slope, double last_step,
                                          InterruptCheck check) {
    std::vector<RatedRound> made;
    for (std::size_t k = 0; k < most; ++k) {
        RatedRound one{};
        if (!make_one(first + k, slope, last_step, check, one)) break;
        if (one.eta == 0) {
            made.push_back(one);
            break;
        }
        slope = one.sums.slope / total_weight_;
        last_step = std::abs(one.eta) / rule_.learning_rate;
        made.push_back(std::move(one));
    }
    return made;
}

}  // namespace radboost
