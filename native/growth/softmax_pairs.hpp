// The binary problems that a round of soft-max boosting is made of: pairs (row, label), drawn or all, and a tree for each label.
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

// Which of the pairs (row, label) a round learns from.
enum class Pairs {
    all,      // every one, weighted by its part of the gradient (Proposition 2)
    by_rule,  // drawn from rho(x) g(z | x), weighted by |Delta c| (Algorithm 2)
    by_gradient  // drawn in proportion to their part of the gradient, all weighted alike
};

Pairs pairs_named(const std::string& name);

class SoftmaxPairs {
public:
    // Keeps a reference to the scores.
    SoftmaxPairs(SoftmaxScores& scores, const BinnedData& data, std::uint64_t seed, int n_threads);

    struct Pair {
        std::uint32_t row;
        float weight;  // with the sign of Delta c
    };

    // M pairs into the lists of their labels. Draw j is a function of (seed, round, j) and of the rows' content.
    void draw(Pairs pairs, std::size_t n_samples, std::uint64_t round, int n_threads);
    const std::vector<std::vector<Pair>>& drawn() const { return drawn_; }  // by label; the pairs of this worker's rows

    // One tree for each label that has a pair with weight, and the directions of the scores along them; the other labels keep
    // their scores. Returns the edge R_M(h) of equation (8), of all labels together.
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
    // The rows of all workers in the order of their hashes, which depends on their content alone: copies of a row stand
    // together, and where a row stood in the data does not matter.
    std::vector<std::uint32_t> canonical_;     // a row of this worker, or kElsewhere
    std::vector<std::uint32_t> worker_of_;     // who has it; empty with one worker
    std::vector<std::uint64_t> cumulative_;    // of what the draws of a round are proportional to, in that order
    double mass_unit_ = 1;                     // what a mass of 1 stands for
    std::vector<std::vector<Pair>> drawn_;     // by label
    std::vector<std::shared_ptr<AnsweringTree>> grown_;
};

}  // namespace radboost
