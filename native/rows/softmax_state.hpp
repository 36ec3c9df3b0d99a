// The state of soft-max boosting: scores psi, the rule g, its costs, and the binary problems that a round is made of.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "growth/given_weights.hpp"
#include "rows/margins.hpp"

namespace radboost {

// Which of the pairs (row, label) a round learns from.
enum class Pairs {
    all,      // every one, weighted by its part of the gradient (Proposition 2)
    by_rule,  // drawn from rho(x) g(z | x), weighted by |Delta c| (Algorithm 2)
    by_gradient  // drawn in proportion to their part of the gradient, all weighted alike
};

struct SoftmaxSums {
    double risk;   // the mean of the expected costs, equation (4), with costs in [0, 1]
    double error;  // share of the weight whose class does not have the largest score first
    double size;   // the mean of the sum over z of |g(z | x) Delta c(z)|: the largest slope that any h can have
};

class SoftmaxState {
public:
    // `costs` has a row of K for each class, or for each row, all in [0, 1].
    SoftmaxState(const BinnedData& data, std::vector<std::uint16_t> classes, std::size_t n_classes,
                 std::vector<double> weights, std::vector<float> costs, bool costs_per_row, std::uint64_t seed,
                 int n_threads);

    std::size_t n_rows() const { return classes_.size(); }
    std::size_t n_classes() const { return n_classes_; }
    double total_weight() const { return sums_.total_weight(); }
    const LargeArray<std::int32_t>& scores() const { return scores_; }  // multiples of 2^-20
    const LargeArray<float>& rule() const { return rule_; }            // g(z | x_i)
    const std::vector<double>& row_costs() const { return row_costs_; }
    // Each row is moved so that its largest score is 0: only differences count.
    void set_scores(const double* scores);

    // Renews rule and costs from the scores.
    SoftmaxSums evaluate(int n_threads);
    // One tree for each class that has a pair with weight; the others keep their scores. Returns the edge R_M(h) of
    // equation (8), of all classes together.
    double grow(WeightedTrees& trees, Pairs pairs, std::size_t n_samples, std::uint64_t round, int n_threads,
                InterruptCheck check);
    const std::vector<std::shared_ptr<AnsweringTree>>& trees() const { return grown_; }  // null: no tree for the class
    const LargeArray<std::int8_t>& directions() const { return h_; }                     // class x row
    // Puts -1, 0 and +1 in the place of what grown trees say: those of an earlier fit, to take its steps once more.
    void set_directions(const std::int8_t* directions);
    // The derivative of the risk along psi - a h at a = 0, negated: <gradient, h>_N.
    double slope(int n_threads) const;
    // The risk at psi - a h, and the same there.
    std::pair<double, double> along(double a, int n_threads) const;
    // psi -= a h; a is a multiple of 2^-20.
    void step(double a, int n_threads);

private:
    struct Entry {  // a pair of a class's problem
        std::uint32_t row;
        float weight;  // with the sign of Delta c
    };
    const float* costs_of(std::size_t row) const {
        return costs_.data() + (costs_per_row_ ? row : classes_[row]) * n_classes_;
    }
    void order_rows(const BinnedData& data, int n_threads);
    std::size_t parts(int n_threads) const;
    template <class Function>
    void for_blocks(int n_threads, Function&& function) const;
    void lay_out(Pairs pairs);
    std::size_t draw_row(std::uint64_t word) const;
    void draw(Pairs pairs, std::size_t n_samples, std::uint64_t round, int n_threads);
    double grow_class(WeightedTrees& trees, std::size_t z, Pairs pairs, std::uint64_t round, InterruptCheck check);
    void recentre(int n_threads);

    std::size_t n_classes_;
    std::vector<std::uint16_t> classes_;
    MarginState sums_;  // exact sums over the rows
    std::vector<float> costs_;
    bool costs_per_row_;
    std::uint64_t seed_;
    LargeArray<std::int32_t> scores_;
    std::int64_t largest_score_ = 0;
    LargeArray<float> rule_;
    std::vector<double> row_costs_, row_sizes_;  // what the rule pays, and the sum over z of |g Delta c|
    std::vector<std::uint32_t> canonical_;    // rows in an order that their content decides
    std::vector<std::uint64_t> cumulative_;   // of what the draws of a round are proportional to, in that order
    double mass_unit_ = 1;                    // what a mass of 1 stands for
    std::vector<std::vector<Entry>> entries_;  // by class
    std::vector<std::shared_ptr<AnsweringTree>> grown_;
    LargeArray<std::int8_t> h_;
};

}  // namespace radboost
