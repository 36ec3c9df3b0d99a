#include "growth/cut_tree.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace radboost {

RegressionTrees::RegressionTrees(const BinnedData& data, const GradientWeighting& weighting, const GrowthOptions& options,
                                 std::vector<std::int8_t> directions)
    : weighting_(weighting),
      directions_(std::move(directions)),
      grower_(data, gradient_target(weighting, directions_), options) {
    require(options.criterion == Criterion::variance, "regression trees are grown by the criterion 'variance'");
    require(options.growth == Growth::best_first, "regression trees are grown best_first");
    require(directions_.empty() || weighting.n_outputs() == 1, "only trees with one output can be monotone");
}

CutTree RegressionTrees::cut(std::size_t n_splits, double radius, NormOrder order) const {
    const GrownTree& tree = grower_.tree();
    require(!tree.nodes.empty(), "no tree has been grown yet");
    require(radius > 0 && std::isfinite(radius), "the radius of a norm ball must be a positive number");
    const std::size_t n = n_outputs(), size = 2 * std::min(n_splits, this->n_splits()) + 1;
    const auto is_leaf = [&](std::size_t i) {
        return tree.nodes[i].left < 0 || static_cast<std::size_t>(tree.nodes[i].left) >= size;
    };
    CutTree cut;
    cut.n_splits = size / 2;
    cut.values.assign(size * n, 0.0);
    std::vector<double> fitted, masses;
    std::vector<std::size_t> places;
    const double to_value = weighting_.unit() * weighting_.mass_scale() / radius;
    for (std::size_t i = 0; i < size; ++i) {
        const std::int64_t* own = sums(i);
        if (!is_leaf(i) || own[n] == 0) continue;
        for (std::size_t k = 0; k < n; ++k) {
            fitted.push_back(-static_cast<double>(own[k]) / static_cast<double>(own[n]) * to_value);
            masses.push_back(static_cast<double>(own[n]) / static_cast<double>(weighting_.total_mass()));
            places.push_back(i * n + k);
        }
    }
    project_to_unit_ball(fitted.data(), masses.data(), fitted.size(), order);
    for (std::size_t j = 0; j < places.size(); ++j) cut.values[places[j]] = fitted[j];
    if (!directions_.empty()) keep_directions(size, cut.values, order);
    const double to_slope = weighting_.unit() / weighting_.total_weight();
    for (std::size_t j = 0; j < places.size(); ++j) {
        const double value = cut.values[places[j]];
        cut.slope += value * static_cast<double>(sums(places[j] / n)[places[j] % n]) * to_slope;
        cut.mean_square += masses[j] * value * value;
    }
    cut.by_label.assign(tree.nodes.size() * n, 0.0);
    std::copy(cut.values.begin(), cut.values.end(), cut.by_label.begin());
    for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
        // A node below the truncated tree predicts like the leaf above it.
        if (tree.nodes[i].left < 0 || (i < size && !is_leaf(i))) continue;
        for (std::size_t child = 0; child < 2; ++child)
            std::copy_n(cut.by_label.data() + i * n, n,
                        cut.by_label.data() + (static_cast<std::size_t>(tree.nodes[i].left) + child) * n);
    }
    return cut;
}

// Restores monotone constraints, which fitting on all rows (not only the sampled ones) and the projection can violate: below
// a split on a constrained column, values are clipped at the midpoint of the two children's means, then rescaled to norm 1.
void RegressionTrees::keep_directions(std::size_t size, std::vector<double>& values, NormOrder order) const {
    const GrownTree& tree = grower_.tree();
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    std::vector<double> means(values), lowest(size, -kInfinity), highest(size, kInfinity);
    const auto left_of = [&](std::size_t i) {
        const std::int32_t left = tree.nodes[i].left;
        return left >= 0 && static_cast<std::size_t>(left) < size ? static_cast<std::size_t>(left) : 0;
    };
    const auto mass = [&](std::size_t i) { return static_cast<double>(sums(i)[1]); };
    for (std::size_t i = size; i-- > 0;) {
        const std::size_t left = left_of(i);
        if (left == 0 || mass(i) == 0) continue;
        means[i] = (mass(left) * means[left] + mass(left + 1) * means[left + 1]) / mass(i);
    }
    const auto bounded = [&](std::size_t i, double value) { return std::min(std::max(value, lowest[i]), highest[i]); };
    double norm = 0;
    for (std::size_t i = 0; i < size; ++i) {
        const std::size_t left = left_of(i);
        if (left == 0) {
            values[i] = bounded(i, values[i]);
            const double length = std::fabs(values[i]);
            norm = order == NormOrder::infinity ? std::max(norm, length)
                                                : norm + (order == NormOrder::one ? length : length * length);
            continue;
        }
        for (const std::size_t child : {left, left + 1}) {
            lowest[child] = lowest[i];
            highest[child] = highest[i];
        }
        const int direction = directions_[tree.nodes[i].column];
        if (direction == 0) continue;
        const double middle = 0.5 * bounded(i, means[left]) + 0.5 * bounded(i, means[left + 1]);
        highest[direction > 0 ? left : left + 1] = middle;
        lowest[direction > 0 ? left + 1 : left] = middle;
    }
    if (order == NormOrder::two) norm = std::sqrt(norm);
    for (std::size_t i = 0; norm > 1 && i < size; ++i) values[i] /= norm;
}

}  // namespace radboost
