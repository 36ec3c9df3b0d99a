// Soft-max boosting (Geist, 2015): scores psi, the stochastic classifier g = softmax(psi), and its expected cost.
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
    double risk;   // weighted mean of the expected costs, Geist (2015), equation (4); costs in [0, 1]
    double error;  // weighted fraction of misclassified rows (in a tie the first class is predicted)
    double size;   // weighted mean of sum_z |g(z | x) (c(z) - expected cost)|: upper bound of `slope` over all h
};

class SoftmaxScores {
public:
    // `costs` in [0, 1]: shape (n_rows, n_classes) if costs_per_row, otherwise (n_classes, n_classes), a row per true class.
    SoftmaxScores(std::vector<std::uint16_t> classes, std::size_t n_classes, std::vector<float> costs, bool costs_per_row,
                  const RowWeights& weights);

    std::size_t n_rows() const { return classes_->n_rows(); }
    std::size_t n_classes() const { return classes_->n_classes(); }
    const RowWeights& row_weights() const { return weights_; }
    const RowClasses& classes() const { return *classes_; }
    const ScoreGrid& grid() const { return grid_; }
    // c(z) of each predicted class z for this row, shape (n_classes,).
    const float* costs_of(std::size_t row) const {
        return costs_.data() + (costs_per_row_ ? row : classes_->of_row()[row]) * n_classes();
    }
    bool costs_per_row() const { return costs_per_row_; }
    const LargeArray<float>& rule() const { return rule_; }  // g(z | x_i), shape (n_rows, n_classes)
    const std::vector<double>& row_costs() const { return row_costs_; }  // expected cost of each row
    // sum_z |g(z | x_i) (c_i(z) - row_costs[i])| of each row.
    const std::vector<double>& row_sizes() const { return row_sizes_; }
    // Replaces the scores; each row is shifted so that its largest score is 0.
    void set(const double* scores) { grid_.set(scores); }

    // h of a round, in {-1, 0, 1}, shape (n_classes, n_rows), for `slope`, `along` and `step`; SoftmaxPairs fills it.
    LargeArray<std::int8_t>& directions() { return h_; }
    const LargeArray<std::int8_t>& directions() const { return h_; }
    void set_directions(const std::int8_t* directions);  // to replay the steps of an earlier fit

    // Recomputes rule, row_costs and row_sizes from the scores.
    SoftmaxSums evaluate(int n_threads);
    // Minus the derivative by a, at a = 0, of the risk at psi - a h: <gradient, h>_N in the paper.
    double slope(int n_threads) const;
    // The risk at psi - a h, and minus its derivative by a there.
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
    std::vector<double> row_costs_, row_sizes_;
    std::vector<double> wrong_;  // 1 if the row is misclassified, otherwise 0; buffer of `evaluate`
    LargeArray<std::int8_t> h_;
};

}  // namespace radboost
