// Anderson extrapolation of coordinate descent (Anderson, 1965; for coordinate descent Bertrand and Massias, 2021).
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <vector>

#include "linear/row_penalty.hpp"

namespace radboost {

// The unknowns of a descent, which extrapolation reads and overwrites.
struct Unknowns {
    double *weights, *intercept;
    std::size_t n_weights, n_intercepts;
};

// Stores the unknowns x_i after each pass, with the model's state that is affine in them. After 6 passes it computes the
// combination sum_i c_i x_i, sum_i c_i = 1, that minimizes |sum_i c_i (x_i+1 - x_i)|, and keeps it if the objective is lower.
template <class Model>
class Extrapolation {
public:
    Extrapolation(Model& model, const RowPenalty& penalty, const double* prices, Unknowns unknowns)
        : model_(model), penalty_(penalty), prices_(prices), unknowns_(unknowns) {}

    // To be called after each pass.
    void follow() {
        remember();
        if (kept_ < kPasses + 1) return;
        kept_ = 0;
        std::array<double, kPasses> shares{};
        if (combine(shares)) try_to_jump(shares);
    }

private:
    static constexpr std::size_t kPasses = 5;
    std::size_t size() const { return unknowns_.n_weights + unknowns_.n_intercepts; }

    void remember() {
        points_.resize((kPasses + 1) * size());
        affine_.resize((kPasses + 1) * model_.n_affine());
        read(points_.data() + kept_ * size());
        std::copy(model_.affine(), model_.affine() + model_.n_affine(), affine_.data() + kept_ * model_.n_affine());
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

    // Computes the coefficients c: the solution of U^T U c = 1, U being the differences, scaled to sum 1. False if singular.
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
        const std::size_t n_affine = model_.n_affine();
        std::vector<double> old_point(size()), point(size(), 0.0), affine(n_affine, 0.0);
        std::vector<double> old_affine(model_.affine(), model_.affine() + n_affine);
        read(old_point.data());
        for (std::size_t a = 0; a < kPasses; ++a) {
            const double *x = points_.data() + (a + 1) * size(), *d = affine_.data() + (a + 1) * n_affine;
            for (std::size_t i = 0; i < size(); ++i) point[i] += shares[a] * x[i];
            for (std::size_t i = 0; i < n_affine; ++i) affine[i] += shares[a] * d[i];
        }
        go(point, affine);
        if (!(value() < before)) go(old_point, old_affine);
    }
    void go(const std::vector<double>& point, const std::vector<double>& affine) {
        write(point.data());
        std::copy(affine.begin(), affine.end(), model_.affine());
        model_.refresh();
    }

    double value() const {
        double sum = model_.value(unknowns_.weights, unknowns_.intercept);
        const std::size_t k = model_.n_outputs();
        for (std::size_t c = 0; c * k < unknowns_.n_weights; ++c)
            sum += prices_[c] * penalty_.size(unknowns_.weights + c * k, k);
        return sum;
    }

    Model& model_;
    const RowPenalty& penalty_;
    const double* prices_;
    Unknowns unknowns_;
    std::size_t kept_ = 0;
    std::vector<double> points_, affine_;
};

}  // namespace radboost
