// Soft-max boosting: scores psi, the stochastic rule g that they stand for, and what it pays.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "rows/score_grid.hpp"
#include "rows/weighting.hpp"

namespace radboost {

struct SoftmaxSums {
    double risk;   // the mean of the expected costs, equation (4), with costs in [0, 1]
    double error;  // fraction of the weight whose class does not have the largest score first
    double size;   // the mean of the sum over z of |g(z | x) Delta c(z)|: the largest slope that any h can have
};

class SoftmaxScores {
public:
    // `costs` has a row of K for each class, or for each row, all in [0, 1]. Keeps a reference to the weights.
    SoftmaxScores(std::vector<std::uint16_t> classes, std::size_t n_classes, std::vector<float> costs, bool costs_per_row,
                  const RowWeights& weights);

    std::size_t n_rows() const { return classes_->n_rows(); }
    std::size_t n_classes() const { return classes_->n_classes(); }
    const RowWeights& row_weights() const { return weights_; }
    const RowClasses& classes() const { return *classes_; }
    const ScoreGrid& grid() const { return grid_; }
    const float* costs_of(std::size_t row) const {
        return costs_.data() + (costs_per_row_ ? row : classes_->of_row()[row]) * n_classes();
    }
    bool costs_per_row() const { return costs_per_row_; }
    const LargeArray<float>& rule() const { return rule_; }  // g(z | x_i)
    const std::vector<double>& row_costs() const { return row_costs_; }
    // The sum over z of |g(z | x_i) Delta c(z)| for each row.
    const std::vector<double>& row_sizes() const { return row_sizes_; }
    // Each row is moved so that its largest score is 0: only differences count.
    void set(const double* scores) { grid_.set(scores); }

    // h of a round, class x row: what `slope`, `along` and `step` go along. Whoever grows the trees fills it.
    LargeArray<std::int8_t>& directions() { return h_; }
    const LargeArray<std::int8_t>& directions() const { return h_; }
    // Those of an earlier fit, -1, 0 and +1, to take its steps once more.
    void set_directions(const std::int8_t* directions);

    // Renews rule and costs from the scores.
    SoftmaxSums evaluate(int n_threads);
    // The derivative of the risk along psi - a h at a = 0, negated: <gradient, h>_N.
    double slope(int n_threads) const;
    // The risk at psi - a h, and the same there.
    std::pair<double, double> along(double a, int n_threads) const;
    // psi -= a h; a is a multiple of 2^-20.
    void step(double a, int n_threads);

private:
    std::size_t parts(int n_threads) const;
    void evaluate_two(std::size_t begin, std::size_t count);
    template <class Function>
    void for_blocks(int n_threads, Function&& function) const;

    const RowWeights& weights_;
    std::shared_ptr<const RowClasses> classes_;
    std::vector<float> costs_;
    bool costs_per_row_;
    ScoreGrid grid_;
    LargeArray<float> rule_;
    std::vector<double> row_costs_, row_sizes_;  // what the rule pays, and the sum over z of |g Delta c|
    std::vector<double> wrong_;                  // for `evaluate`: 1 where another class has the largest score
    LargeArray<std::int8_t> h_;
};

}  // namespace radboost
