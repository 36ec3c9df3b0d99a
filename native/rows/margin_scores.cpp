#include "rows/margin_scores.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "core/exact_sum.hpp"
#include "core/largest.hpp"
#include "members/columns.hpp"
#include "rows/label_sums.hpp"

namespace radboost {
namespace {

constexpr std::size_t kBlock = 512;  // rows per block, small enough for the first-level cache

RADBOOST_CLONES void margin_arguments(const double* scores, const std::int8_t* labels, std::size_t n, double* u) {
    for (std::size_t i = 0; i < n; ++i) u[i] = 1.0 - static_cast<double>(labels[i]) * scores[i];
}

// Sum of non-negative integers below 2^61, as separate sums of their 32-bit halves, which vectorize (128-bit sums do not).
struct Halves {
    std::uint64_t low = 0, high = 0;
    int128 total() const { return static_cast<int128>(high) * (std::uint64_t{1} << 32) + low; }
};

void add_half(std::int64_t fixed, Halves* sum) {
    sum->low += static_cast<std::uint64_t>(fixed) & 0xffffffffu;
    sum->high += static_cast<std::uint64_t>(fixed) >> 32;
}

struct GroupHalves {
    Halves loss, slope;
    std::int64_t wrong = 0;
};

RADBOOST_CLONES void add_fixed(const double* values, std::size_t n, double factor, Halves* sum) {
    std::uint64_t low = 0, high = 0;
    for (std::size_t i = 0; i < n; ++i) {
        const auto fixed = static_cast<std::uint64_t>(std::llrint(values[i] * factor));
        low += fixed & 0xffffffffu;
        high += fixed >> 32;
    }
    sum->low += low;
    sum->high += high;
}

RADBOOST_CLONES std::int64_t count_wrong(const double* scores, const std::int8_t* labels, std::size_t n) {
    std::int64_t wrong = 0;
    for (std::size_t i = 0; i < n; ++i) wrong += static_cast<double>(labels[i]) * scores[i] <= 0 ? 1 : 0;
    return wrong;
}

RADBOOST_CLONES void quantise_rows(const double* d, const std::int8_t* labels, std::size_t n, double edge_factor,
                                   double growth_factor, std::int64_t* edge, std::uint32_t* growth) {
    for (std::size_t i = 0; i < n; ++i) {
        edge[i] = static_cast<std::int64_t>(labels[i]) * std::llrint(d[i] * edge_factor);
        growth[i] = static_cast<std::uint32_t>(std::llrint(d[i] * growth_factor));
    }
}

double as_double(std::int64_t bits) {
    double x;
    std::memcpy(&x, &bits, sizeof x);
    return x;
}

std::vector<std::int8_t> signs_of(const std::vector<std::uint16_t>& classes) {
    std::vector<std::int8_t> labels(classes.size());
    for (std::size_t i = 0; i < classes.size(); ++i) labels[i] = classes[i] == 1 ? 1 : -1;
    return labels;
}

}  // namespace

MarginWeighting::MarginWeighting(const MarginScores& scores, std::optional<std::vector<double>> factors)
    : AnswerWeighting(scores.row_weights(), scores.classes()),
      scores_(scores),
      factors_(std::move(factors), scores.n_rows()),
      edge_(scores.n_rows(), 0) {}

void MarginWeighting::put(const double* derivatives, std::size_t first, std::size_t count) {
    if (!factors_.given()) {
        std::memcpy(edge_.data() + first, derivatives, count * sizeof(double));
        return;
    }
    for (std::size_t k = 0; k < count; ++k) {
        const double product = derivatives[k] * factors_[first + k];
        std::memcpy(edge_.data() + first + k, &product, sizeof product);
    }
}

// Second step of reweighing; `slope` is S of this weighting.
void MarginWeighting::quantise(double slope, int n_threads) {
    const RowWeights& weights = row_weights();
    const std::size_t n = n_rows(), parts = row_parts(n, n_threads);
    const std::int8_t* labels = scores_.labels().data();
    slope_ = slope;
    // Infinite, so that all weights are 0, if the sum is rounded to 0: a single row could exceed the range of integers.
    const double positive_slope = slope > 0 ? std::max(slope, 0x1p-900) : HUGE_VAL;
    const double edge_factor = kEdgeScale / positive_slope, growth_factor = kGrowthScale / positive_slope;
    parallel_for(n_threads, parts, [&](std::size_t part) {
        const std::size_t begin = range_begin(n, parts, part), end = range_begin(n, parts, part + 1);
        if (!weights.given()) {
            double d[kBlock];
            for (std::size_t i = begin; i < end; i += kBlock) {
                const std::size_t count = std::min(kBlock, end - i);
                std::memcpy(d, edge_.data() + i, count * sizeof(double));
                quantise_rows(d, labels + i, count, edge_factor, growth_factor, edge_.data() + i, growth_.data() + i);
            }
            return;
        }
        for (std::size_t i = begin; i < end; ++i) {
            const double d = weights.unit(i, as_double(edge_[i]));
            edge_[i] = labels[i] * std::llrint(d * edge_factor) * weights.times(i);
            growth_[i] = growth_weight(i, d / positive_slope);
        }
    });
}

void MarginWeighting::leaf_sums(const std::int32_t* label_of_row, std::size_t n_labels, int n_threads,
                                std::int64_t* sums) const {
    const std::int64_t* edge = edge_.data();
    sum_by_label(row_weights(), label_of_row, n_labels, n_threads, sums, [edge](std::size_t i) { return edge[i]; });
}

void MarginWeighting::leaf_totals(const std::int32_t* label_of_row, std::size_t n_labels, int n_threads,
                                  std::int64_t* totals) const {
    const std::int64_t* edge = edge_.data();
    const std::int8_t* labels = scores_.labels().data();
    sum_by_label(row_weights(), label_of_row, n_labels, n_threads, totals,
                 [edge, labels](std::size_t i) { return labels[i] * edge[i]; });
}

MarginScores::MarginScores(std::optional<MarginLoss> loss, std::vector<std::uint16_t> classes, const RowWeights& weights)
    : loss_(loss),
      weights_(weights),
      classes_(std::make_shared<const RowClasses>(std::move(classes), 2)),
      labels_(signs_of(classes_->of_row())),
      scores_(labels_.size(), 0.0) {
    require(weights.n_rows() == labels_.size(), "one class per row is needed");
}

double MarginScores::largest_argument(int n_threads) const {
    constexpr double kLowest = -std::numeric_limits<double>::infinity();
    return weights_.largest(1, kLowest, n_rows(), n_threads, [&](std::size_t begin, std::size_t end, double* found) {
        double u[kBlock];
        for (std::size_t i = begin; i < end; i += kBlock) {
            const std::size_t count = std::min(kBlock, end - i);
            margin_arguments(scores_.data() + i, labels_.data() + i, count, u);
            *found = largest_of(u, count, *found);
        }
    })[0];
}

template <class Evaluate>
LossSums MarginScores::renew(double largest_loss, double largest_slope, const std::vector<MarginWeighting*>& weightings,
                             int n_threads, const RowGroups* groups, LossSums* of_groups, Evaluate&& evaluate) {
    require(groups == nullptr || groups->n_rows() == n_rows(), "one group per row is needed");
    for (const MarginWeighting* weighting : weightings)
        require(&weighting->scores_ == this, "the weighting is one of other scores");
    const double heaviest = weights_.largest_factor();
    const FixedScale loss_scale(largest_loss * heaviest), slope_scale(largest_slope * heaviest);
    const FixedScale error_scale(weights_.total());
    // Layout of the sums: loss, slope, error; the slope of each weighting with factors; loss, slope, error of each group.
    const std::size_t first_group = 3 + weightings.size();
    const std::size_t width = first_group + (groups ? 3 * groups->n_groups() : 0);
    const bool given = weights_.given();
    const auto sums = weights_.add<int128>(width, n_rows(), n_threads, [&](std::size_t from, std::size_t to, int128* own) {
        double value[kBlock], derivative[kBlock];
        Halves loss, slope;
        std::int64_t wrong = 0;
        std::vector<Halves> factor_slopes(weightings.size());
        std::vector<GroupHalves> halves(groups && !given ? groups->n_groups() : 0);
        for (std::size_t first = from; first < to; first += kBlock) {
            const std::size_t count = std::min(kBlock, to - first);
            evaluate(first, count, value, derivative);
            for (std::size_t w = 0; w < weightings.size(); ++w) {
                weightings[w]->put(derivative, first, count);
                if (!weightings[w]->factors_.given()) continue;
                if (!given) {
                    for (std::size_t row = first; row < first + count; ++row)
                        add_half(slope_scale.fixed(as_double(weightings[w]->edge_[row])), &factor_slopes[w]);
                    continue;
                }
                for (std::size_t row = first; row < first + count; ++row)
                    own[3 + w] += int128{slope_scale.fixed(weights_.unit(row, as_double(weightings[w]->edge_[row])))} *
                                  weights_.times(row);
            }
            if (groups && !given) {
                for (std::size_t k = 0; k < count; ++k) {
                    const std::size_t row = first + k;
                    GroupHalves& group = halves[(*groups)[row]];
                    add_half(loss_scale.fixed(value[k]), &group.loss);
                    add_half(slope_scale.fixed(derivative[k]), &group.slope);
                    group.wrong += static_cast<double>(labels_[row]) * scores_[row] <= 0 ? 1 : 0;
                }
            } else if (groups) {
                for (std::size_t k = 0; k < count; ++k) {
                    const std::size_t row = first + k;
                    int128* group = own + first_group + 3 * (*groups)[row];
                    const std::int64_t times = weights_.times(row);
                    group[0] += int128{loss_scale.fixed(weights_.unit(row, value[k]))} * times;
                    group[1] += int128{slope_scale.fixed(weights_.unit(row, derivative[k]))} * times;
                    if (static_cast<double>(labels_[row]) * scores_[row] <= 0)
                        group[2] += int128{error_scale.fixed(weights_.unit(row, 1.0))} * times;
                }
            }
            if (!given) {
                add_fixed(value, count, loss_scale.factor(), &loss);
                add_fixed(derivative, count, slope_scale.factor(), &slope);
                wrong += count_wrong(scores_.data() + first, labels_.data() + first, count);
                continue;
            }
            for (std::size_t k = 0; k < count; ++k) {
                const std::size_t row = first + k;
                const std::int64_t times = weights_.times(row);
                own[0] += int128{loss_scale.fixed(weights_.unit(row, value[k]))} * times;
                own[1] += int128{slope_scale.fixed(weights_.unit(row, derivative[k]))} * times;
                if (static_cast<double>(labels_[row]) * scores_[row] <= 0)
                    own[2] += int128{error_scale.fixed(weights_.unit(row, 1.0))} * times;
            }
        }
        if (given) return;
        for (std::size_t g = 0; g < halves.size(); ++g) {
            int128* group = own + first_group + 3 * g;
            group[0] = halves[g].loss.total();
            group[1] = halves[g].slope.total();
            group[2] = int128{error_scale.fixed(1.0)} * halves[g].wrong;
        }
        for (std::size_t w = 0; w < weightings.size(); ++w) own[3 + w] = factor_slopes[w].total();
        own[0] = loss.total();
        own[1] = slope.total();
        own[2] = int128{error_scale.fixed(1.0)} * wrong;
    });
    const LossSums found{loss_scale.value(sums[0]), slope_scale.value(sums[1]), error_scale.value(sums[2])};
    for (std::size_t w = 0; w < weightings.size(); ++w)
        weightings[w]->quantise(weightings[w]->factors_.given() ? slope_scale.value(sums[3 + w]) : found.slope, n_threads);
    for (std::size_t g = 0; groups && g < groups->n_groups(); ++g) {
        const int128* group = sums.data() + first_group + 3 * g;
        of_groups[g] = {loss_scale.value(group[0]), slope_scale.value(group[1]), error_scale.value(group[2])};
    }
    return found;
}

LossSums MarginScores::reweigh(const std::vector<MarginWeighting*>& weightings, int n_threads, const RowGroups* groups,
                               LossSums* of_groups) {
    require(loss_.has_value(), "the scores have no loss: evaluate it and use reweigh_from");
    // Phi and Phi' are increasing, so the largest argument gives the largest of both, and with them the fixed-point scales.
    const double largest = largest_argument(n_threads);
    double largest_loss, largest_slope;
    evaluate_loss(*loss_, &largest, 1, &largest_loss, &largest_slope);
    return renew(largest_loss, largest_slope, weightings, n_threads, groups, of_groups,
                 [&](std::size_t first, std::size_t count, double* value, double* derivative) {
                     double u[kBlock];
                     margin_arguments(scores_.data() + first, labels_.data() + first, count, u);
                     evaluate_loss(*loss_, u, count, value, derivative);
                 });
}

LossSums MarginScores::reweigh_from(const double* values, const double* derivatives,
                                    const std::vector<MarginWeighting*>& weightings, int n_threads,
                                    const RowGroups* groups, LossSums* of_groups) {
    require(!loss_.has_value(), "the scores have a loss of their own: use reweigh");
    double largest[2] = {largest_of(values, n_rows(), 0.0), largest_of(derivatives, n_rows(), 0.0)};
    weights_.collective().maximum(largest, 2);
    return renew(largest[0], largest[1], weightings, n_threads, groups, of_groups,
                 [&](std::size_t first, std::size_t count, double* value, double* derivative) {
                     std::memcpy(value, values + first, count * sizeof(double));
                     std::memcpy(derivative, derivatives + first, count * sizeof(double));
                 });
}

LineSums MarginScores::along(const HypothesisColumns& columns, std::size_t slot, double eta, bool want_loss,
                             int n_threads) const {
    require(loss_.has_value(), "the scores have no loss to evaluate");
    columns.require_fits(slot, n_rows(), 2);
    // Only step="line_search" calls this, a few times per round, so the terms are simply stored.
    const std::size_t n = n_rows(), parts = row_parts(n, n_threads);
    std::vector<double> values(n), slopes(n);
    parallel_for(n_threads, parts, [&](std::size_t part) {
        double u[kBlock], h[kBlock];
        const std::size_t end = range_begin(n, parts, part + 1);
        for (std::size_t i = range_begin(n, parts, part); i < end; i += kBlock) {
            const std::size_t count = std::min(kBlock, end - i);
            columns.margins(slot, i, count, h);
            for (std::size_t k = 0; k < count; ++k)
                u[k] = 1.0 - static_cast<double>(labels_[i + k]) * (scores_[i + k] + eta * h[k]);
            evaluate_loss(*loss_, u, count, values.data() + i, slopes.data() + i);
            for (std::size_t k = 0; k < count; ++k) slopes[i + k] *= -static_cast<double>(labels_[i + k]) * h[k];
        }
    });
    return {want_loss ? weights_.sum(values.data(), n_threads) : 0.0, weights_.sum(slopes.data(), n_threads)};
}

void MarginScores::step(const HypothesisColumns& columns, std::size_t slot, double eta, int n_threads,
                        const double* factors) {
    columns.require_fits(slot, n_rows(), 2);
    const std::size_t n = n_rows(), parts = row_parts(n, n_threads);
    parallel_for(n_threads, parts, [&](std::size_t part) {
        double h[kBlock];
        const std::size_t end = range_begin(n, parts, part + 1);
        for (std::size_t i = range_begin(n, parts, part); i < end; i += kBlock) {
            const std::size_t count = std::min(kBlock, end - i);
            columns.margins(slot, i, count, h);
            for (std::size_t k = 0; factors && k < count; ++k) h[k] *= factors[i + k];
            for (std::size_t k = 0; k < count; ++k) scores_[i + k] += eta * h[k];
        }
    });
}

}  // namespace radboost
