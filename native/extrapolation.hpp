// Where a sequence of coordinate passes seems to lead (Anderson's extrapolation).
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <vector>

#include "coordinate_descent.hpp"

namespace radboost {

// The unknowns of a descent.
struct Unknowns {
    double *weights, *intercept;
    std::size_t n_weights, n_intercepts;
};

// Remembers the unknowns and the direction after each pass. Once it has enough of them it looks for the combination, with
// coefficients that sum to 1, in which the differences between passes cancel best; residuals and directions are affine in
// the unknowns, so theirs is the same combination. It is kept if the model plus the penalty is lower there.
class Extrapolation {
public:
    Extrapolation(const QuadraticModel& model, std::size_t n_rows, RowPenalty penalty, const double* prices,
                  Unknowns unknowns)
        : model_(model), n_scores_(model.n_outputs * n_rows), n_rows_(n_rows), penalty_(penalty), prices_(prices),
          unknowns_(unknowns) {}

    // To be called after each pass.
    void follow() {
        if (kept_ < kPasses + 1) {
            remember();
            if (kept_ < kPasses + 1) return;
        }
        kept_ = 0;
        std::array<double, kPasses> shares{};
        if (combine(shares)) try_to_jump(shares);
    }

private:
    static constexpr std::size_t kPasses = 5;
    std::size_t size() const { return unknowns_.n_weights + unknowns_.n_intercepts; }

    void remember() {
        points_.resize((kPasses + 1) * size());
        directions_.resize((kPasses + 1) * n_scores_);
        read(points_.data() + kept_ * size());
        std::copy(model_.direction, model_.direction + n_scores_, directions_.data() + kept_ * n_scores_);
        ++kept_;
    }
    void read(double* point) const {
        std::copy(unknowns_.weights, unknowns_.weights + unknowns_.n_weights, point);
        std::copy(unknowns_.intercept, unknowns_.intercept + unknowns_.n_intercepts, point + unknowns_.n_weights);
    }
    void write(const double* point) const {
        std::copy(point, point + unknowns_.n_weights, unknowns_.weights);
        std::copy(point + unknowns_.n_weights, point + size(), unknowns_.intercept);
    }

    // Shares c with sum 1 that minimise |sum of c_i (x_i+1 - x_i)|: the solution of U^T U c = 1, scaled.
    bool combine(std::array<double, kPasses>& shares) const {
        double matrix[kPasses][kPasses + 1];
        double trace = 0.0;
        for (std::size_t a = 0; a < kPasses; ++a)
            for (std::size_t b = 0; b <= a; ++b) {
                const double *x = points_.data() + a * size(), *y = points_.data() + b * size();
                double sum = 0.0;
                for (std::size_t i = 0; i < size(); ++i) sum += (x[size() + i] - x[i]) * (y[size() + i] - y[i]);
                matrix[a][b] = matrix[b][a] = sum;
                if (a == b) trace += sum;
            }
        if (!(trace > 0.0)) return false;
        for (std::size_t a = 0; a < kPasses; ++a) {
            matrix[a][a] += 1e-12 * trace;  // positive definite, so that elimination needs no pivots
            matrix[a][kPasses] = 1.0;
        }
        for (std::size_t a = 0; a < kPasses; ++a) {
            if (!(matrix[a][a] > 0.0)) return false;
            for (std::size_t b = a + 1; b < kPasses; ++b) {
                const double share = matrix[b][a] / matrix[a][a];
                for (std::size_t c = a; c <= kPasses; ++c) matrix[b][c] -= share * matrix[a][c];
            }
        }
        double total = 0.0;
        for (std::size_t a = kPasses; a-- > 0;) {
            double value = matrix[a][kPasses];
            for (std::size_t b = a + 1; b < kPasses; ++b) value -= matrix[a][b] * shares[b];
            shares[a] = value / matrix[a][a];
            total += shares[a];
        }
        for (double& share : shares) share /= total;
        return std::isfinite(total) && std::abs(total) > 0.0;
    }

    void try_to_jump(const std::array<double, kPasses>& shares) {
        const double before = value();
        std::vector<double> point(size()), jump(size(), 0.0), direction(n_scores_, 0.0);
        read(point.data());
        for (std::size_t a = 0; a < kPasses; ++a) {
            const double *x = points_.data() + (a + 1) * size(), *d = directions_.data() + (a + 1) * n_scores_;
            for (std::size_t i = 0; i < size(); ++i) jump[i] += shares[a] * x[i];
            for (std::size_t i = 0; i < n_scores_; ++i) direction[i] += shares[a] * d[i];
        }
        std::vector<double> old_direction(model_.direction, model_.direction + n_scores_);
        std::vector<double> old_residual(model_.residual, model_.residual + n_scores_);
        write(jump.data());
        std::copy(direction.begin(), direction.end(), model_.direction);
        find_residual();
        if (value() < before) return;
        write(point.data());
        std::copy(old_direction.begin(), old_direction.end(), model_.direction);
        std::copy(old_residual.begin(), old_residual.end(), model_.residual);
    }

    // residual = start + H direction.
    void find_residual() const {
        for (std::size_t i = 0; i < n_rows_; ++i) {
            double mean = 0.0;
            if (model_.row_weights != nullptr)
                for (std::size_t at = i; at < n_scores_; at += n_rows_) mean += model_.curvature[at] * model_.direction[at];
            const double weight = model_.row_weights != nullptr ? model_.row_weights[i] : 1.0;
            for (std::size_t at = i; at < n_scores_; at += n_rows_)
                model_.residual[at] =
                    model_.start[at] + weight * model_.curvature[at] * (model_.direction[at] - mean);
        }
    }

    // The model, (start + residual) / 2 along the direction, plus the penalty.
    double value() const {
        double sum = 0.0;
        for (std::size_t i = 0; i < n_scores_; ++i)
            sum += model_.direction[i] * (0.5 * (model_.start[i] + model_.residual[i]));
        const std::size_t k = model_.n_outputs;
        for (std::size_t c = 0; c * k < unknowns_.n_weights; ++c)
            sum += prices_[c] * row_size(penalty_, unknowns_.weights + c * k, k);
        return sum;
    }

    QuadraticModel model_;
    std::size_t n_scores_, n_rows_;
    RowPenalty penalty_;
    const double* prices_;
    Unknowns unknowns_;
    std::size_t kept_ = 0;
    std::vector<double> points_, directions_;
};

}  // namespace radboost
