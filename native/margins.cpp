#include "margins.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "exact_math.hpp"
#include "exact_sum.hpp"
#include "pool.hpp"

namespace radboost {
namespace {

constexpr std::size_t kBlock = 512;          // rows evaluated together, small enough for the first-level cache
constexpr std::size_t kRowsPerTask = 16384;  // fewer rows are not worth waking a thread
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

RADBOOST_CLONES void scale(const double* weights, std::size_t n, double* value, double* derivative) {
    for (std::size_t i = 0; i < n; ++i) {
        value[i] *= weights[i];
        derivative[i] *= weights[i];
    }
}

RADBOOST_CLONES double largest_of(const double* values, std::size_t n, double largest) {
    double lanes[8] = {largest, largest, largest, largest, largest, largest, largest, largest};
    std::size_t i = 0;
    for (; i + 8 <= n; i += 8)
        for (std::size_t k = 0; k < 8; ++k) lanes[k] = lanes[k] < values[i + k] ? values[i + k] : lanes[k];
    for (; i < n; ++i) lanes[0] = lanes[0] < values[i] ? values[i] : lanes[0];
    for (const double lane : lanes) largest = largest < lane ? lane : largest;
    return largest;
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

RADBOOST_CLONES void quantise(const double* d, const std::int8_t* labels, std::size_t n, double edge_factor,
                              double packed_factor, std::int64_t* edge, std::int64_t* packed) {
    for (std::size_t i = 0; i < n; ++i) {
        const std::int64_t sign = labels[i];
        edge[i] = sign * std::llrint(d[i] * edge_factor);
        const std::int64_t q = std::llrint(d[i] * packed_factor);
        packed[i] = (sign * q) * (std::int64_t{1} << 32) + q;
    }
}

// Ranges of rows for the threads, and a place for each to leave its part of a sum.
std::size_t n_parts(std::size_t n, int n_threads) {
    return std::max<std::size_t>(1, std::min<std::size_t>(static_cast<std::size_t>(n_threads), n / kRowsPerTask));
}

struct alignas(64) Partial {
    int128 first = 0, second = 0, third = 0;
    double largest = 0, other_largest = 0;
};

double as_double(std::int64_t bits) {
    double x;
    std::memcpy(&x, &bits, sizeof x);
    return x;
}


}  // namespace

void evaluate_loss(MarginLoss loss, const double* u, std::size_t n, double* value, double* derivative) {
    if (loss == MarginLoss::exponential)
        exponential(u, n, value, derivative);
    else
        logistic(u, n, value, derivative);
}

MarginState::MarginState(std::vector<std::int8_t> labels, std::vector<double> weights)
    : labels_(std::move(labels)),
      weights_(std::move(weights)),
      scores_(labels_.size(), 0.0),
      edge_(labels_.size(), 0),
      packed_(labels_.size(), 0) {
    require(weights_.empty() || weights_.size() == labels_.size(), "one weight per row is needed");
    for (const std::int8_t y : labels_) require(y == 1 || y == -1, "labels must be -1 or +1");
    for (const double w : weights_) {
        require(w > 0 && w <= 0x1p52, "weights must be positive and at most 2^52");
        integer_weights_ = integer_weights_ && w == std::floor(w);
    }
    const std::vector<double> ones(labels_.size(), 1.0);
    total_weight_ = weighted_sum(ones.data(), 1);
    require(total_weight_ <= 0x1p52, "the sum of the weights must be at most 2^52");
}

// A term as it enters a sum before the multiplication by an integer weight; other weights are multiplied in at once.
double MarginState::unit(std::size_t row, double value) const {
    return integer_weights_ ? value : value * weights_[row];
}

double MarginState::weighted_sum(const double* values, int n_threads) const {
    const std::size_t n = n_rows(), parts = n_parts(n, n_threads);
    std::vector<Partial> partial(parts);
    parallel_for(n_threads, parts, [&](std::size_t part) {
        for (std::size_t i = range_begin(n, parts, part); i < range_begin(n, parts, part + 1); ++i)
            partial[part].largest = std::max(partial[part].largest, std::fabs(unit(i, values[i])));
    });
    double largest = 0;
    for (const Partial& p : partial) largest = std::max(largest, p.largest);
    const FixedScale scale(largest);
    const bool repeat = !weights_.empty() && integer_weights_;
    parallel_for(n_threads, parts, [&](std::size_t part) {
        int128 sum = 0;
        for (std::size_t i = range_begin(n, parts, part); i < range_begin(n, parts, part + 1); ++i) {
            const int128 term = scale.fixed(unit(i, values[i]));
            sum += repeat ? term * static_cast<std::int64_t>(weights_[i]) : term;
        }
        partial[part].first = sum;
    });
    int128 total = 0;
    for (const Partial& p : partial) total += p.first;
    return scale.value(total);
}

LossSums MarginState::reweigh(MarginLoss loss, bool want_packed, int n_threads) {
    const std::size_t n = n_rows(), parts = n_parts(n, n_threads);
    std::vector<Partial> partial(parts);
    parallel_for(n_threads, parts, [&](std::size_t part) {
        double u[kBlock], value[kBlock], derivative[kBlock];
        const std::size_t end = range_begin(n, parts, part + 1);
        for (std::size_t i = range_begin(n, parts, part); i < end; i += kBlock) {
            const std::size_t count = std::min(kBlock, end - i);
            margin_arguments(scores_.data() + i, labels_.data() + i, count, u);
            evaluate_loss(loss, u, count, value, derivative);
            std::memcpy(edge_.data() + i, derivative, count * sizeof(double));
            std::memcpy(packed_.data() + i, value, count * sizeof(double));
            if (!integer_weights_) scale(weights_.data() + i, count, value, derivative);
            partial[part].largest = largest_of(derivative, count, partial[part].largest);
            partial[part].other_largest = largest_of(value, count, partial[part].other_largest);
        }
    });
    double largest_slope = 0, largest_loss = 0;
    for (const Partial& p : partial) {
        largest_slope = std::max(largest_slope, p.largest);
        largest_loss = std::max(largest_loss, p.other_largest);
    }
    return finish(largest_slope, largest_loss, want_packed, n_threads);
}

LossSums MarginState::reweigh_from(const double* values, const double* derivatives, bool want_packed, int n_threads) {
    std::memcpy(edge_.data(), derivatives, n_rows() * sizeof(double));
    std::memcpy(packed_.data(), values, n_rows() * sizeof(double));
    double largest_slope = 0, largest_loss = 0;
    for (std::size_t i = 0; i < n_rows(); ++i) {
        largest_slope = std::max(largest_slope, unit(i, derivatives[i]));
        largest_loss = std::max(largest_loss, unit(i, values[i]));
    }
    return finish(largest_slope, largest_loss, want_packed, n_threads);
}

// From Phi' and Phi, stored where the weights will be, to their sums and to the quantised weights.
LossSums MarginState::finish(double largest_slope, double largest_loss, bool want_packed, int n_threads) {
    const std::size_t n = n_rows(), parts = n_parts(n, n_threads);
    std::vector<Partial> partial(parts);
    const FixedScale slope_scale(largest_slope), loss_scale(largest_loss), error_scale(total_weight_);
    const bool repeat = !weights_.empty() && integer_weights_;
    parallel_for(n_threads, parts, [&](std::size_t part) {
        const std::size_t begin = range_begin(n, parts, part), end = range_begin(n, parts, part + 1);
        Partial& own = partial[part];
        if (weights_.empty()) {
            double values[kBlock];
            Halves slope, loss;
            std::int64_t wrong = 0;
            for (std::size_t i = begin; i < end; i += kBlock) {
                const std::size_t count = std::min(kBlock, end - i);
                std::memcpy(values, edge_.data() + i, count * sizeof(double));
                add_fixed(values, count, slope_scale.factor(), &slope);
                std::memcpy(values, packed_.data() + i, count * sizeof(double));
                add_fixed(values, count, loss_scale.factor(), &loss);
                wrong += count_wrong(scores_.data() + i, labels_.data() + i, count);
            }
            own.first = slope.total();
            own.second = loss.total();
            own.third = static_cast<int128>(error_scale.fixed(1.0)) * wrong;
            return;
        }
        for (std::size_t i = begin; i < end; ++i) {
            const std::int64_t copies = repeat ? static_cast<std::int64_t>(weights_[i]) : 1;
            own.first += static_cast<int128>(slope_scale.fixed(unit(i, as_double(edge_[i])))) * copies;
            own.second += static_cast<int128>(loss_scale.fixed(unit(i, as_double(packed_[i])))) * copies;
            const bool wrong = static_cast<double>(labels_[i]) * scores_[i] <= 0;
            own.third += wrong ? static_cast<int128>(error_scale.fixed(unit(i, 1.0))) * copies : 0;
        }
    });
    int128 slope = 0, loss = 0, error = 0;
    for (const Partial& p : partial) {
        slope += p.first;
        loss += p.second;
        error += p.third;
    }
    const LossSums sums{loss_scale.value(loss), slope_scale.value(slope), error_scale.value(error)};
    const double positive_slope = std::max(sums.slope, 0x1p-900);
    const double edge_factor = kEdgeScale / positive_slope, packed_factor = kPackedScale / positive_slope;
    const bool whole_product = total_weight_ >= kLargeWeight;
    parallel_for(n_threads, parts, [&](std::size_t part) {
        const std::size_t begin = range_begin(n, parts, part), end = range_begin(n, parts, part + 1);
        if (weights_.empty()) {
            double d[kBlock];
            for (std::size_t i = begin; i < end; i += kBlock) {
                const std::size_t count = std::min(kBlock, end - i);
                std::memcpy(d, edge_.data() + i, count * sizeof(double));
                quantise(d, labels_.data() + i, count, edge_factor, packed_factor, edge_.data() + i, packed_.data() + i);
            }
            return;
        }
        for (std::size_t i = begin; i < end; ++i) {
            const std::int64_t copies = repeat ? static_cast<std::int64_t>(weights_[i]) : 1;
            const double d = unit(i, as_double(edge_[i]));
            const std::int64_t sign = labels_[i];
            edge_[i] = sign * std::llrint(d * edge_factor) * copies;
            if (!want_packed) continue;
            const std::int64_t q = repeat && whole_product
                                       ? std::llrint(d * packed_factor * weights_[i])
                                       : std::llrint(d * packed_factor) * copies;
            packed_[i] = sign * q * (std::int64_t{1} << 32) + q;
        }
    });
    return sums;
}

LineSums MarginState::along(MarginLoss loss, const double* h, double eta, int n_threads) {
    // Few passes are made in the life of a fit (only `step="line_search"` asks), so the terms are simply stored.
    const std::size_t n = n_rows(), parts = n_parts(n, n_threads);
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
