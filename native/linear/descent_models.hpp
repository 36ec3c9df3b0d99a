// Two forms of the quadratic model for `descend`, with equal methods: ScoreModel keeps gradients by row, GramModel by column.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "linear/coordinate_descent.hpp"

namespace radboost {

// Keeps residual = start + H direction (H: Hessian by the scores); a slope is the dot product of column and residual.
template <class Store>
class ScoreModel {
public:
    ScoreModel(const Store& store, const double* factors, Selection selection, const QuadraticModel& model)
        : store_(store), factors_(factors), selection_(selection), model_(model), step_(model.n_outputs) {}

    std::size_t n_outputs() const { return model_.n_outputs; }
    std::size_t entries(std::size_t c) const { return store_.entries(column(c)) * model_.n_outputs; }

    RADBOOST_INLINE double slope(std::size_t c, std::size_t r) const {
        return factors_[column(c)] * store_.dot(column(c), model_.residual + r * store_.n_rows);
    }
    double intercept_slope(std::size_t r) const {
        double sum = 0.0;
        for (std::size_t i = 0; i < store_.n_rows; ++i) sum += model_.residual[r * store_.n_rows + i];
        return sum;
    }
    RADBOOST_INLINE void move(std::size_t c, const double* difference) {
        for (std::size_t r = 0; r < model_.n_outputs; ++r) step_[r] = factors_[column(c)] * difference[r];
        const std::size_t m = store_.n_rows;
        if (model_.row_weights != nullptr) {
            move_coupled([&](auto&& function) { store_.each(column(c), function); });
            return;
        }
        for (std::size_t r = 0; r < model_.n_outputs; ++r) {
            if (step_[r] == 0.0) continue;
            double *residual = model_.residual + r * m, *direction = model_.direction + r * m;
            const double *curvature = model_.curvature + r * m, size = step_[r];
            store_.each(column(c), [=](std::size_t i, double x) {
                direction[i] += x * size;
                residual[i] += curvature[i] * (x * size);
            });
        }
    }
    void move_intercept(const double* difference) {
        const std::size_t m = store_.n_rows;
        std::copy(difference, difference + model_.n_outputs, step_.begin());
        if (model_.row_weights != nullptr) {
            move_coupled([&](auto&& function) {
                for (std::size_t i = 0; i < m; ++i) function(i, 1.0);
            });
            return;
        }
        for (std::size_t at = 0; at < n_affine(); ++at) {
            model_.direction[at] += step_[at / m];
            model_.residual[at] += model_.curvature[at] * step_[at / m];
        }
    }

    // State that is affine in the unknowns, for extrapolation; `refresh` recomputes the rest after a change of it.
    double* affine() { return model_.direction; }
    std::size_t n_affine() const { return model_.n_outputs * store_.n_rows; }
    void refresh() {
        std::copy(model_.start, model_.start + n_affine(), model_.residual);
        const std::size_t m = store_.n_rows;
        if (model_.row_weights == nullptr) {
            for (std::size_t at = 0; at < n_affine(); ++at)
                model_.residual[at] += model_.curvature[at] * model_.direction[at];
            return;
        }
        means_.assign(m, 0.0);
        for (std::size_t at = 0, i = 0; at < n_affine(); ++at, i = i + 1 == m ? 0 : i + 1)
            means_[i] += model_.curvature[at] * model_.direction[at];
        for (std::size_t at = 0, i = 0; at < n_affine(); ++at, i = i + 1 == m ? 0 : i + 1)
            model_.residual[at] += model_.row_weights[i] * model_.curvature[at] * (model_.direction[at] - means_[i]);
    }
    double value(const double*, const double*) const {
        double sum = 0.0;
        for (std::size_t i = 0; i < n_affine(); ++i)
            sum += model_.direction[i] * (0.5 * (model_.start[i] + model_.residual[i]));
        return sum;
    }

private:
    std::size_t column(std::size_t c) const { return static_cast<std::size_t>(selection_.columns[c]); }

    // For coupled outputs: direction += x step_ and residual += H x step_, for the entries (row, x) that `each` enumerates.
    template <class Each>
    RADBOOST_INLINE void move_coupled(Each&& each) {
        const std::size_t k = model_.n_outputs, m = store_.n_rows;
        means_.resize(m);
        double* const means = means_.data();
        each([=](std::size_t i, double) { means[i] = 0.0; });
        for (std::size_t r = 0; r < k; ++r) {
            const double *p = model_.curvature + r * m, size = step_[r];
            each([=](std::size_t i, double) { means[i] += p[i] * size; });
        }
        const double* const weights = model_.row_weights;
        for (std::size_t r = 0; r < k; ++r) {
            double *residual = model_.residual + r * m, *direction = model_.direction + r * m;
            const double *p = model_.curvature + r * m, size = step_[r];
            each([=](std::size_t i, double x) {
                direction[i] += x * size;
                residual[i] += weights[i] * x * p[i] * (size - means[i]);
            });
        }
    }

    const Store& store_;
    const double* factors_;
    Selection selection_;
    QuadraticModel model_;
    std::vector<double> step_, means_;
};

// Keeps slopes = start + Q (weights - initial weights), with one Gram matrix Q = X^T D X per output, whose last row and
// column are those of the intercept. A step along a column costs O(number of columns), reading a slope O(1).
class GramModel {
public:
    GramModel(std::size_t n_columns, std::size_t n_outputs)
        : n_(n_columns + 1), k_(n_outputs), matrix_(n_outputs * n_ * n_), start_(n_outputs * n_), slopes_(start_) {}

    double* matrix(std::size_t r) { return matrix_.data() + r * n_ * n_; }
    std::size_t side() const { return n_; }
    // Sets the state from which descent continues; call it after the matrices are filled. slopes: shape (n_outputs, side()).
    void begin(const double* slopes, const double* weights, const double* intercept) {
        start_.assign(slopes, slopes + k_ * n_);
        slopes_ = start_;
        weights_.assign(weights, weights + (n_ - 1) * k_);
        intercept_.assign(intercept, intercept + k_);
    }

    std::size_t n_outputs() const { return k_; }
    std::size_t entries(std::size_t) const { return k_; }
    double slope(std::size_t c, std::size_t r) const { return slopes_[r * n_ + c]; }
    double intercept_slope(std::size_t r) const { return slopes_[r * n_ + n_ - 1]; }
    void move(std::size_t c, const double* difference) {
        for (std::size_t r = 0; r < k_; ++r)
            if (difference[r] != 0.0) add_line(slopes_.data() + r * n_, matrix(r) + c * n_, n_, difference[r]);
    }
    void move_intercept(const double* difference) { move(n_ - 1, difference); }

    double* affine() { return slopes_.data(); }
    std::size_t n_affine() const { return slopes_.size(); }
    void refresh() {}
    double value(const double* weights, const double* intercept) const {
        double sum = 0.0;
        for (std::size_t r = 0; r < k_; ++r) {
            for (std::size_t c = 0; c + 1 < n_; ++c)
                sum += (weights[c * k_ + r] - weights_[c * k_ + r]) * half(r, c);
            sum += (intercept[r] - intercept_[r]) * half(r, n_ - 1);
        }
        return sum;
    }

private:
    double half(std::size_t r, std::size_t c) const { return 0.5 * (start_[r * n_ + c] + slopes_[r * n_ + c]); }
    RADBOOST_CLONES static void add_line(double* to, const double* line, std::size_t n, double times);

    std::size_t n_, k_;
    std::vector<double> matrix_, start_, slopes_, weights_, intercept_;
};

}  // namespace radboost
