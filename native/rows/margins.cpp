#include "rows/margins.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "core/exact_math.hpp"
#include "core/exact_sum.hpp"
#include "core/largest.hpp"
#include "core/pool.hpp"

namespace radboost {
namespace {

constexpr std::size_t kBlock = 512;          // rows evaluated together, small enough for the first-level cache
constexpr double kInverseLn2 = 0x1.71547652b82fep0;

RADBOOST_CLONES void exponential(const double* u, std::size_t n, double* value, double* derivative) {
    for (std::size_t i = 0; i < n; ++i) value[i] = derivative[i] = exact_exp(u[i]);
}

RADBOOST_CLONES void logistic(const double* u, std::size_t n, double* value, double* derivative) {
    for (std::size_t i = 0; i < n; ++i) {
        const double magnitude = u[i] < 0 ? -u[i] : u[i];
        const double positive = u[i] < 0 ? 0.0 : u[i];
        const double t = exact_exp(-magnitude);
        const double numerator = u[i] < 0 ? t : 1.0;
        value[i] = (positive + exact_log1p_unit(t)) * kInverseLn2;
        derivative[i] = numerator / (1.0 + t) * kInverseLn2;
    }
}

RADBOOST_CLONES void margin_arguments(const double* scores, const std::int8_t* labels, std::size_t n, double* u) {
    for (std::size_t i = 0; i < n; ++i) u[i] = 1.0 - static_cast<double>(labels[i]) * scores[i];
}

// Sums of non-negative integers below 2^61 in two halves, which vectorise where a 128-bit sum would not.
struct Halves {
    std::uint64_t low = 0, high = 0;
    int128 total() const { return static_cast<int128>(high) * (std::uint64_t{1} << 32) + low; }
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

struct alignas(64) Partial {
    int128 loss = 0, slope = 0, error = 0;
};

double as_double(std::int64_t bits) {
    double x;
    std::memcpy(&x, &bits, sizeof x);
    return x;
}

std::vector<std::uint16_t> classes_of(const std::vector<std::int8_t>& labels) {
    std::vector<std::uint16_t> classes(labels.size());
    for (std::size_t i = 0; i < labels.size(); ++i) {
        require(labels[i] == 1 || labels[i] == -1, "labels must be -1 or +1");
        classes[i] = labels[i] > 0;
    }
    return classes;
}

}  // namespace

void evaluate_loss(MarginLoss loss, const double* u, std::size_t n, double* value, double* derivative) {
    if (loss == MarginLoss::exponential)
        exponential(u, n, value, derivative);
    else
        logistic(u, n, value, derivative);
}

MarginState::MarginState(std::vector<std::int8_t> labels, std::vector<double> weights)
    : BoostingState(classes_of(labels), 2, std::move(weights), false),
      labels_(std::move(labels)),
      scores_(labels_.size(), 0.0),
      edge_(labels_.size(), 0) {}

double MarginState::largest_argument(int n_threads) const {
    const std::size_t n = n_rows(), parts = row_parts(n, n_threads);
    std::vector<double> largest(parts, -std::numeric_limits<double>::infinity());
    parallel_for(n_threads, parts, [&](std::size_t part) {
        double u[kBlock];
        const std::size_t end = range_begin(n, parts, part + 1);
        for (std::size_t i = range_begin(n, parts, part); i < end; i += kBlock) {
            const std::size_t count = std::min(kBlock, end - i);
            margin_arguments(scores_.data() + i, labels_.data() + i, count, u);
            largest[part] = largest_of(u, count, largest[part]);
        }
    });
    return *std::max_element(largest.begin(), largest.end());
}

template <class Evaluate>
LossSums MarginState::renew(double largest_loss, double largest_slope, int n_threads, Evaluate&& evaluate) {
    const std::size_t n = n_rows(), parts = row_parts(n, n_threads);
    const double heaviest = integer_weights() ? 1.0 : *std::max_element(weights().begin(), weights().end());
    const FixedScale loss_scale(largest_loss * heaviest), slope_scale(largest_slope * heaviest);
    const FixedScale error_scale(total_weight());
    std::vector<Partial> partial(parts);
    parallel_for(n_threads, parts, [&](std::size_t part) {
        double value[kBlock], derivative[kBlock];
        Halves loss, slope;
        std::int64_t wrong = 0;
        Partial& own = partial[part];
        const std::size_t end = range_begin(n, parts, part + 1);
        for (std::size_t first = range_begin(n, parts, part); first < end; first += kBlock) {
            const std::size_t count = std::min(kBlock, end - first);
            evaluate(first, count, value, derivative);
            std::memcpy(edge_.data() + first, derivative, count * sizeof(double));
            if (weights().empty()) {
                add_fixed(value, count, loss_scale.factor(), &loss);
                add_fixed(derivative, count, slope_scale.factor(), &slope);
                wrong += count_wrong(scores_.data() + first, labels_.data() + first, count);
                continue;
            }
            for (std::size_t k = 0; k < count; ++k) {
                const std::size_t row = first + k;
                const std::int64_t times = repeats() ? copies()[row] : 1;
                own.loss += static_cast<int128>(loss_scale.fixed(unit(row, value[k]))) * times;
                own.slope += static_cast<int128>(slope_scale.fixed(unit(row, derivative[k]))) * times;
                if (static_cast<double>(labels_[row]) * scores_[row] <= 0)
                    own.error += static_cast<int128>(error_scale.fixed(unit(row, 1.0))) * times;
            }
        }
        if (weights().empty()) own = {loss.total(), slope.total(), static_cast<int128>(error_scale.fixed(1.0)) * wrong};
    });
    Partial all;
    for (const Partial& p : partial) {
        all.loss += p.loss;
        all.slope += p.slope;
        all.error += p.error;
    }
    const LossSums sums{loss_scale.value(all.loss), slope_scale.value(all.slope), error_scale.value(all.error)};
    quantise(sums.slope, n_threads);
    return sums;
}

// From Phi' to the edge and growth weights, now that the sum S is known.
void MarginState::quantise(double slope, int n_threads) {
    const std::size_t n = n_rows(), parts = row_parts(n, n_threads);
    const double positive_slope = std::max(slope, 0x1p-900);
    const double edge_factor = kEdgeScale / positive_slope, growth_factor = kGrowthScale / positive_slope;
    parallel_for(n_threads, parts, [&](std::size_t part) {
        const std::size_t begin = range_begin(n, parts, part), end = range_begin(n, parts, part + 1);
        if (weights().empty()) {
            double d[kBlock];
            for (std::size_t i = begin; i < end; i += kBlock) {
                const std::size_t count = std::min(kBlock, end - i);
                std::memcpy(d, edge_.data() + i, count * sizeof(double));
                quantise_rows(d, labels_.data() + i, count, edge_factor, growth_factor, edge_.data() + i,
                              growth_.data() + i);
            }
            return;
        }
        for (std::size_t i = begin; i < end; ++i) {
            const double d = unit(i, as_double(edge_[i]));
            edge_[i] = labels_[i] * std::llrint(d * edge_factor) * (repeats() ? copies()[i] : 1);
            growth_[i] = growth_weight(i, d / positive_slope);
        }
    });
}

LossSums MarginState::reweigh(MarginLoss loss, int n_threads) {
    // Phi and Phi' increase, so the largest argument has the largest of both: the scales are known before the sums.
    const double largest = largest_argument(n_threads);
    double largest_loss, largest_slope;
    evaluate_loss(loss, &largest, 1, &largest_loss, &largest_slope);
    return renew(largest_loss, largest_slope, n_threads,
                 [&](std::size_t first, std::size_t count, double* value, double* derivative) {
                     double u[kBlock];
                     margin_arguments(scores_.data() + first, labels_.data() + first, count, u);
                     evaluate_loss(loss, u, count, value, derivative);
                 });
}

LossSums MarginState::reweigh_from(const double* values, const double* derivatives, int n_threads) {
    const double largest_loss = largest_of(values, n_rows(), 0.0), largest_slope = largest_of(derivatives, n_rows(), 0.0);
    return renew(largest_loss, largest_slope, n_threads,
                 [&](std::size_t first, std::size_t count, double* value, double* derivative) {
                     std::memcpy(value, values + first, count * sizeof(double));
                     std::memcpy(derivative, derivatives + first, count * sizeof(double));
                 });
}

void MarginState::leaf_sums(const std::int32_t* label_of_row, std::size_t n_labels, int n_threads,
                            std::int64_t* sums) const {
    const std::size_t n = n_rows(), parts = row_parts(n, n_threads);
    std::vector<std::vector<std::int64_t>> partial(parts);
    parallel_for(n_threads, parts, [&](std::size_t part) {
        // Neighbouring rows often share a leaf: four sums in turn do not wait for each other.
        std::vector<std::int64_t> lanes(4 * n_labels, 0);
        std::int64_t* own = lanes.data();
        const std::int64_t* edge = edge_.data();
        const std::size_t end = range_begin(n, parts, part + 1);
        std::size_t i = range_begin(n, parts, part);
        for (; i + 4 <= end; i += 4)
            for (std::size_t lane = 0; lane < 4; ++lane)
                own[lane * n_labels + static_cast<std::size_t>(label_of_row[i + lane])] += edge[i + lane];
        for (; i < end; ++i) own[static_cast<std::size_t>(label_of_row[i])] += edge[i];
        for (std::size_t label = 0; label < n_labels; ++label)
            own[label] += own[n_labels + label] + own[2 * n_labels + label] + own[3 * n_labels + label];
        partial[part] = std::move(lanes);
    });
    std::fill(sums, sums + n_labels, 0);
    for (const auto& own : partial)
        for (std::size_t label = 0; label < n_labels; ++label) sums[label] += own[label];
}

LineSums MarginState::along(MarginLoss loss, const double* h, double eta, int n_threads) {
    // Few passes are made in the life of a fit (only `step="line_search"` asks), so the terms are simply stored.
    const std::size_t n = n_rows(), parts = row_parts(n, n_threads);
    std::vector<double> values(n), slopes(n);
    parallel_for(n_threads, parts, [&](std::size_t part) {
        double u[kBlock];
        const std::size_t end = range_begin(n, parts, part + 1);
        for (std::size_t i = range_begin(n, parts, part); i < end; i += kBlock) {
            const std::size_t count = std::min(kBlock, end - i);
            for (std::size_t k = 0; k < count; ++k)
                u[k] = 1.0 - static_cast<double>(labels_[i + k]) * (scores_[i + k] + eta * h[i + k]);
            evaluate_loss(loss, u, count, values.data() + i, slopes.data() + i);
            for (std::size_t k = i; k < i + count; ++k) slopes[k] *= -static_cast<double>(labels_[k]) * h[k];
        }
    });
    return {weighted_sum(values.data(), n_threads), weighted_sum(slopes.data(), n_threads)};
}

}  // namespace radboost
