#include "rows/softmax_scores.hpp"

#include <algorithm>
#include <cmath>

#include "losses/class_kernels.hpp"
#include "losses/softmax_kernels.hpp"

namespace radboost {

SoftmaxScores::SoftmaxScores(std::vector<std::uint16_t> classes, std::size_t n_classes, std::vector<float> costs,
                             bool costs_per_row, const RowWeights& weights)
    : weights_(weights),
      classes_(std::make_shared<const RowClasses>(std::move(classes), n_classes)),
      costs_(std::move(costs)),
      costs_per_row_(costs_per_row),
      grid_(n_rows(), n_classes, weights.collective()),
      rule_(n_rows() * n_classes, 0.0f),
      row_costs_(n_rows(), 0.0),
      row_sizes_(n_rows(), 0.0),
      h_(n_rows() * n_classes, 0) {
    require(weights.n_rows() == n_rows() && weights.n_rows_of_all() > 0, "one class per row is needed");
    require(costs_.size() == (costs_per_row ? n_rows() : n_classes) * n_classes,
            "costs must be classes x classes or rows x classes");
    for (const float cost : costs_) require(cost >= 0.0f && cost <= 1.0f, "costs must lie in [0, 1]");
}

void SoftmaxScores::set_directions(const std::int8_t* directions) {
    require(std::all_of(directions, directions + h_.size(), [](std::int8_t h) { return h >= -1 && h <= 1; }),
            "directions are -1, 0 and 1");
    std::copy(directions, directions + h_.size(), h_.data());
}

std::size_t SoftmaxScores::parts(int n_threads) const {
    return std::min(std::max<std::size_t>(1, n_rows()), row_parts(n_rows() * n_classes(), n_threads));
}

// Calls function(first row, number of rows, buffer of shape (rows, classes)) for blocks of rows.
template <class Function>
void SoftmaxScores::for_blocks(int n_threads, Function&& function) const {
    const std::size_t n = n_rows(), n_parts = parts(n_threads);
    const std::size_t height = std::max<std::size_t>(1, kBlockElements / n_classes());
    parallel_for(n_threads, n_parts, [&](std::size_t part) {
        std::vector<double> scratch(height * n_classes());
        const std::size_t end = range_begin(n, n_parts, part + 1);
        for (std::size_t begin = range_begin(n, n_parts, part); begin < end; begin += height)
            function(begin, std::min(height, end - begin), scratch.data());
    });
}

SoftmaxSums SoftmaxScores::evaluate(int n_threads) {
    const std::size_t n_classes = this->n_classes();
    wrong_.resize(n_rows());
    double* const wrong = wrong_.data();
    for_blocks(n_threads, [&](std::size_t begin, std::size_t count, double* rule) {
        if (n_classes == 2) return evaluate_two(begin, count);
        std::vector<const float*> costs(count);
        for (std::size_t r = 0; r < count; ++r) costs[r] = costs_of(begin + r);
        const std::int32_t* scores = grid_.row(begin);
        softmax_rows({scores, costs.data(), count, n_classes}, rule, row_costs_.data() + begin);
        for (std::size_t k = 0; k < count * n_classes; ++k)
            rule_[begin * n_classes + k] = static_cast<float>(rule[k]);
        for (std::size_t r = 0; r < count; ++r) {
            const std::int32_t* row = scores + r * n_classes;
            wrong[begin + r] = std::max_element(row, row + n_classes) != row + classes_->of_row()[begin + r];
            double size = 0;
            for (std::size_t z = 0; z < n_classes; ++z)
                size += rule[r * n_classes + z] * std::fabs(static_cast<double>(costs[r][z]) - row_costs_[begin + r]);
            row_sizes_[begin + r] = size;
        }
    });
    return {weights_.mean(row_costs_.data(), n_threads), weights_.mean(wrong, n_threads),
            weights_.mean(row_sizes_.data(), n_threads)};
}

void SoftmaxScores::evaluate_two(std::size_t begin, std::size_t count) {
    float costs[kBlockElements];
    for (std::size_t r = 0; r < count; ++r) {
        const float* own = costs_of(begin + r);
        costs[r] = own[0];
        costs[count + r] = own[1];
    }
    softmax_rows_of_two({grid_.row(begin), costs, classes_->of_row().data() + begin, count}, rule_.data() + 2 * begin,
                        row_costs_.data() + begin, row_sizes_.data() + begin, wrong_.data() + begin);
}

double SoftmaxScores::slope(int n_threads) const {
    const std::size_t n_classes = this->n_classes();
    std::vector<double> products(n_rows());
    for_blocks(n_threads, [&](std::size_t begin, std::size_t count, double*) {
        for (std::size_t i = begin; i < begin + count; ++i) {
            const float *rule = rule_.data() + i * n_classes, *costs = costs_of(i);
            double sum = 0;
            for (std::size_t z = 0; z < n_classes; ++z)
                sum += static_cast<double>(rule[z]) * (static_cast<double>(costs[z]) - row_costs_[i]) *
                       h_[z * n_rows() + i];
            products[i] = sum;
        }
    });
    return weights_.mean(products.data(), n_threads);
}

std::pair<double, double> SoftmaxScores::along(double a, int n_threads) const {
    const std::size_t n_classes = this->n_classes();
    const auto whole = static_cast<std::int32_t>(std::llrint(std::min(std::fabs(a), 256.0) * kScoreGrid));
    std::vector<double> values(n_rows()), slopes(n_rows());
    for_blocks(n_threads, [&](std::size_t begin, std::size_t count, double* rule) {
        std::vector<std::int32_t> moved(grid_.row(begin), grid_.row(begin + count));
        move_scores(moved.data(), count, n_classes, h_.data() + begin, n_rows(), a < 0 ? -whole : whole);
        std::vector<const float*> costs(count);
        for (std::size_t r = 0; r < count; ++r) costs[r] = costs_of(begin + r);
        softmax_rows({moved.data(), costs.data(), count, n_classes}, rule, values.data() + begin);
        for (std::size_t r = 0; r < count; ++r) {
            const double cost = values[begin + r];
            double sum = 0;
            for (std::size_t z = 0; z < n_classes; ++z)
                sum += rule[r * n_classes + z] * (static_cast<double>(costs[r][z]) - cost) *
                       h_[z * n_rows() + begin + r];
            slopes[begin + r] = sum;
        }
    });
    return {weights_.mean(values.data(), n_threads),
            weights_.mean(slopes.data(), n_threads)};
}

void SoftmaxScores::step(double a, int n_threads) {
    const std::size_t n_classes = this->n_classes();
    const std::int32_t whole = grid_.admit(a, n_threads);
    for_blocks(n_threads, [&](std::size_t begin, std::size_t count, double*) {
        move_scores(grid_.values() + begin * n_classes, count, n_classes, h_.data() + begin, n_rows(), whole);
    });
}

}  // namespace radboost
