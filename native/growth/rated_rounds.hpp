// RatedRounds: rounds of coordinate descent that each add a new tree with numbers in its leaves, at a fraction of the best step.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "growth/grower.hpp"
#include "members/columns.hpp"
#include "rows/class_scores.hpp"
#include "rows/margin_scores.hpp"

namespace radboost {

// One round: the tree after its first n_splits splits entered with the weight eta; 0: no tree lowers the objective.
struct RatedRound {
    std::size_t n_splits;
    std::int64_t bits;  // description length of these splits
    double eta;
    LossSums sums;  // after the step
    std::vector<GrownNode> nodes;
    std::vector<CategorySet> category_sets;
    std::vector<std::int32_t> ratings;  // GrownTree::ratings
};

struct RoundRule {
    double learning_rate;  // fraction of the step that is taken
    double grid;           // steps are multiples of it
    bool is_signed;        // see slope()
    int n_threads;
};

class RatedRounds {
public:
    // Price of a tree, its number of splits and their bits given.
    using Price = std::function<double(std::size_t, std::int64_t)>;

    // Keeps references to all but the rule and `bits`, the description length of a split of each column.
    template <class Scores, class Weighting>
    RatedRounds(Grower& grower, Scores& scores, Weighting& weighting, std::vector<std::int64_t> bits, Price price,
                const RoundRule& rule)
        : grower_(grower),
          columns_(scores.n_rows(), scores.n_classes()),
          bits_(std::move(bits)),
          price_(std::move(price)),
          rule_(rule),
          total_weight_(scores.row_weights().total()) {
        slope_along_ = [this, &scores](std::size_t slot, double eta) {
            return scores.along(columns_, slot, eta, false, rule_.n_threads).slope / total_weight_;
        };
        step_ = [this, &scores, &weighting](std::size_t slot, double eta) {
            scores.step(columns_, slot, eta, rule_.n_threads);
            return scores.reweigh({&weighting}, rule_.n_threads);
        };
    }
    RatedRounds(const RatedRounds&) = delete;
    RatedRounds& operator=(const RatedRounds&) = delete;

    // Makes rounds first, first + 1, ..., at most `most`. Ends after a round without a step, and before a round that is not of
    // the usual kind (a tree without an error and without a price, a step shorter than the grid).
    // slope: S / m at the present scores; last_step: see damped_step.
    std::vector<RatedRound> make(std::uint64_t first, std::size_t most, double slope, double last_step,
                                 InterruptCheck check);

    const Grower& grower() const { return grower_; }

private:
    bool make_one(std::uint64_t round, double slope, double last_step, InterruptCheck check, RatedRound& made);
    double price(std::size_t n_splits, std::int64_t bits);
    // boosting/line_search.py, damped_search, for a weight that grows from 0; the two are tested against each other.
    double damped_step(std::size_t slot, double slope, double price, double last_step) const;

    Grower& grower_;
    HypothesisColumns columns_;  // of the tree that is entering
    std::vector<std::int64_t> bits_;
    Price price_;
    RoundRule rule_;
    double total_weight_;
    std::map<std::pair<std::size_t, std::int64_t>, double> prices_;  // those asked for so far
    std::function<double(std::size_t, double)> slope_along_;         // derivative of the mean loss after a step
    std::function<LossSums(std::size_t, double)> step_;              // takes a step and reweighs the rows
};

}  // namespace radboost
