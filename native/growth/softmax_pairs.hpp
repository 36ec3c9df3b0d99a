// One round of soft-max boosting (Geist, 2015, Soft-max boosting): weighted binary problems on pairs (row, label), all or
// sampled, and one tree per label. Delta c(z) is the cost of label z minus the expected cost of the rule g.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "data/binning.hpp"
#include "growth/given_weights.hpp"
#include "rows/softmax_scores.hpp"

namespace radboost {

// The pairs (row, label z) on which the trees of a round are grown.
enum class Pairs {
    all,      // all pairs, weighted by their part of the gradient, g(z | x) |Delta c(z)| (Geist, 2015, Proposition 2)
    by_rule,  // sampled in proportion to g(z | x), weighted by |Delta c(z)| (Geist, 2015, Algorithm 2)
    by_gradient  // sampled in proportion to their part of the gradient, with equal weights
};

// The value with this name ("all", "by_rule", "by_gradient"); throws for another name.
Pairs pairs_named(const std::string& name);

class SoftmaxPairs {
public:
    // Keeps a reference to the scores.
    SoftmaxPairs(SoftmaxScores& scores, const BinnedData& data, std::uint64_t seed, int n_threads);

    struct Pair {
        std::uint32_t row;
        float weight;  // its sign, that of Delta c(label), is the class in the binary problem
    };

    // Samples n_samples pairs. Sample j is a function of (seed, round, j) and of the rows' content, not of their order.
    void draw(Pairs pairs, std::size_t n_samples, std::uint64_t round, int n_threads);
    const std::vector<std::vector<Pair>>& drawn() const { return drawn_; }  // by label; only pairs of this worker's rows

    // Grows one tree per label that has a pair with nonzero weight, and sets the scores' directions() to their predictions (0
    // for the other labels). Returns the edge R_M(h) of Geist (2015), equation (8), over all labels.
    double grow(WeightedTrees& trees, Pairs pairs, std::size_t n_samples, std::uint64_t round, int n_threads,
                InterruptCheck check);
    const std::vector<std::shared_ptr<AnsweringTree>>& trees() const { return grown_; }  // null: no tree for the label

private:
    static constexpr std::uint32_t kElsewhere = UINT32_MAX;

    void order_rows(const BinnedData& data, int n_threads);
    void lay_out(Pairs pairs);
    std::uint32_t row_at(std::uint64_t place) const;
    double grow_label(WeightedTrees& trees, std::size_t z, Pairs pairs, std::uint64_t round, InterruptCheck check);

    SoftmaxScores& scores_;
    std::uint64_t seed_;
    // All rows of all workers, sorted by hash: an order by content, with copies of a row together.
    std::vector<std::uint32_t> canonical_;     // index of the row on this worker, or kElsewhere
    std::vector<std::uint32_t> worker_of_;     // rank of the worker that has it; empty with one worker
    std::vector<std::uint64_t> cumulative_;    // cumulative masses (sampling weights) in this order; empty: all are equal
    double mass_unit_ = 1;                     // sampling weight of a mass of 1
    std::vector<std::vector<Pair>> drawn_;     // by label
    std::vector<std::shared_ptr<AnsweringTree>> grown_;
};

}  // namespace radboost
