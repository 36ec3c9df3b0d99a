#include "rows/class_state.hpp"

#include <algorithm>
#include <cmath>

#include "members/columns.hpp"
#include "core/exact_sum.hpp"
#include "core/pool.hpp"

namespace radboost {
namespace {

constexpr std::int64_t kLargestScore = (std::int64_t{1} << 30) - 1;  // differences of scores are 32-bit integers
constexpr std::int64_t kLargestStep = std::int64_t{1} << 28;
constexpr double kSmallestSlope = 0x1p-900;

// x lies in [2^(e - 1), 2^e).
int exponent_of(double x) { return static_cast<int>((detail::bits_of(x) >> 52) & 0x7ff) - 1022; }
double power_of_two(int exponent) { return detail::double_of(static_cast<std::int64_t>(exponent + 1023) << 52); }

}  // namespace

struct alignas(64) ClassState::Partial {
    int128 loss = 0, slope = 0, error = 0;
    std::int64_t gradient = 0;
    double largest_slope = 0, largest_loss = 0;
};

struct ClassState::Scratch {
    Scratch(std::size_t rows, std::size_t classes)
        : terms(rows * classes),
          values(terms.size()),
          scale(rows),
          largest(scale.size()),
          shift(scale.size()) {}
    std::vector<double> terms, values, scale;
    std::vector<std::int32_t> largest;  // score among the wrong classes
    std::vector<int> shift;
};

ClassState::ClassState(ClassObjective objective, std::optional<MarginLoss> loss, std::vector<std::uint16_t> classes,
                       std::size_t n_classes, std::vector<double> weights)
    : BoostingState(std::move(classes), n_classes, std::move(weights), true),
      objective_(objective),
      loss_(loss),
      scores_(n_rows() * n_classes, 0),
      row_loss_(n_rows(), 0.0),
      row_slope_(n_rows(), 0.0) {
    require(!class_begin().empty(), "the rows must be sorted by class");
    require(objective != ClassObjective::compsum || loss == MarginLoss::logistic, "compsum needs the logistic loss");
    if (objective != ClassObjective::maxsum) gradients_.assign(scores_.size(), 0);
    if (objective == ClassObjective::maxsum) margins_.assign(n_rows(), 0);
    if (!per_class()) row_gradients_.assign(n_rows(), 0);
    if (objective == ClassObjective::max) tied_.assign(n_rows(), 0);
}

ClassBlock ClassState::block(std::size_t own, std::size_t begin, std::size_t count) const {
    return {scores_.data() + begin * n_classes(), count, n_classes(), own};
}

std::size_t ClassState::parts(int n_threads) const {
    return std::min(std::max<std::size_t>(1, n_rows()), row_parts(n_rows() * n_classes(), n_threads));
}

LossSums ClassState::reweigh(int n_threads) {
    require(loss_.has_value(), "the state has no loss: evaluate it and use reweigh_from");
    return renew(n_threads, [&](std::size_t own, std::size_t begin, std::size_t count, Scratch& scratch) {
        evaluate(own, begin, count, scratch);
    });
}

LossSums ClassState::reweigh_from(const double* values, const double* derivatives, int n_threads) {
    require(!loss_.has_value(), "the state has a loss of its own: use reweigh");
    const std::size_t width = per_class() ? n_classes() : 1;
    return renew(n_threads, [&](std::size_t own, std::size_t begin, std::size_t count, Scratch& scratch) {
        const std::size_t first = begin * width, last = (begin + count) * width;
        if (!per_class()) {
            std::copy(values + first, values + last, row_loss_.data() + begin);
            std::copy(derivatives + first, derivatives + last, row_slope_.data() + begin);
            return;
        }
        std::copy(values + first, values + last, scratch.values.data());
        std::copy(derivatives + first, derivatives + last, scratch.terms.data());
        sum_terms(block(own, begin, count), {scratch.terms.data(), scratch.values.data(), scratch.scale.data(),
                                             row_slope_.data() + begin, row_loss_.data() + begin});
    });
}

void ClassState::evaluate(std::size_t own, std::size_t begin, std::size_t count, Scratch& scratch) {
    const ClassBlock rows = block(own, begin, count);
    const BlockTerms out{scratch.terms.data(), scratch.values.data(), scratch.scale.data(), row_slope_.data() + begin,
                         row_loss_.data() + begin};
    if (objective_ == ClassObjective::compsum) {
        compsum_terms(rows, scratch.largest.data(), out);
        return;
    }
    double* u = scratch.terms.data();
    if (objective_ == ClassObjective::sum) {
        class_arguments(rows, *loss_, u);
        evaluate_loss(*loss_, u, count * n_classes(), out.values, out.terms);
        sum_terms(rows, out);
        return;
    }
    for (std::size_t r = 0; r < count; ++r) {
        const std::int32_t gap = objective_ == ClassObjective::max
                                     ? scratch.largest[r] - rows.scores[r * n_classes() + own]
                                     : -margins_[begin + r];
        u[r] = class_argument(gap, *loss_);
    }
    evaluate_loss(*loss_, u, count, out.loss, out.slope);
}

template <class Evaluate>
LossSums ClassState::renew(int n_threads, Evaluate&& evaluate) {
    const std::size_t n = n_rows(), n_parts = parts(n_threads);
    const FixedScale error_scale(total_weight());
    std::vector<Partial> partial(n_parts);
    parallel_for(n_threads, n_parts, [&](std::size_t part) {
        Scratch scratch(block_rows(), n_classes());
        Partial& own_part = partial[part];
        for_blocks(range_begin(n, n_parts, part), range_begin(n, n_parts, part + 1),
                   [&](std::size_t own, std::size_t begin, std::size_t count) {
            const ClassBlock rows = block(own, begin, count);
            largest_wrong(rows, scratch.largest.data());
            evaluate(own, begin, count, scratch);
            if (per_class()) quantise(begin, count, scratch);
            for (std::size_t r = 0; r < count; ++r) {
                const std::size_t i = begin + r;
                own_part.largest_slope = std::max(own_part.largest_slope, unit(i, row_slope_[i]));
                own_part.largest_loss = std::max(own_part.largest_loss, unit(i, row_loss_[i]));
                if (rows.scores[r * n_classes() + own] > scratch.largest[r]) continue;
                own_part.error += static_cast<int128>(error_scale.fixed(unit(i, 1.0))) * (repeats() ? copies()[i] : 1);
            }
        });
    });
    current_ = true;
    line_.stamp = 0;
    return finish(partial, n_threads);
}

// Each row by a power of two of its own, so that nothing has to be evaluated twice.
void ClassState::quantise(std::size_t begin, std::size_t count, Scratch& scratch) {
    for (std::size_t r = 0; r < count; ++r) {
        const double slope = unit(begin + r, row_slope_[begin + r]);
        const double power = slope < kSmallestSlope ? 0.0 : power_of_two(kGradientBits - exponent_of(slope));
        scratch.scale[r] = unit(begin + r, scratch.scale[r]) * power;
    }
    quantise_terms(scratch.terms.data(), scratch.scale.data(), count, n_classes(),
                   gradients_.data() + begin * n_classes());
}

LossSums ClassState::finish(std::vector<Partial>& partial, int n_threads) {
    const std::size_t n = n_rows();
    double largest_slope = kSmallestSlope, largest_loss = 0;
    for (const Partial& p : partial) {
        largest_slope = std::max(largest_slope, p.largest_slope);
        largest_loss = std::max(largest_loss, p.largest_loss);
    }
    // Sums over all rows stay below 2^62, whatever the weights and the rounding.
    // The sum of all terms, copies included, must stay below 2^62.
    const double terms = repeats() ? total_weight() : static_cast<double>(n_rows());
    const int exponent = exponent_of(largest_slope), bits = std::min(kGradientBits, 61 - exponent_of(terms));
    const FixedScale slope_scale(largest_slope), loss_scale(largest_loss);
    parallel_for(n_threads, partial.size(), [&](std::size_t part) {
        Scratch scratch(block_rows(), n_classes());
        Partial& own_part = partial[part];
        for_blocks(range_begin(n, partial.size(), part), range_begin(n, partial.size(), part + 1),
                   [&](std::size_t own, std::size_t begin, std::size_t count) {
            settle(own, begin, count, exponent, bits, scratch);
            for (std::size_t i = begin; i < begin + count; ++i) {
                const std::int64_t times = repeats() ? copies()[i] : 1;
                own_part.slope += static_cast<int128>(slope_scale.fixed(unit(i, row_slope_[i]))) * times;
                own_part.loss += static_cast<int128>(loss_scale.fixed(unit(i, row_loss_[i]))) * times;
                own_part.gradient += times * (per_class() ? gradients_[i * n_classes() + own] : row_gradients_[i]);
            }
        });
    });
    Partial total;
    for (const Partial& p : partial) {
        total.slope += p.slope;
        total.loss += p.loss;
        total.error += p.error;
        total.gradient += p.gradient;
    }
    edge_unit_ = total.gradient > 0 ? 1.0 / static_cast<double>(total.gradient) : 0.0;
    const double slope = slope_scale.value(total.slope), share = 1.0 / std::max(slope, kSmallestSlope);
    parallel_for(n_threads, partial.size(), [&](std::size_t part) {
        const std::size_t end = range_begin(n, partial.size(), part + 1);
        for (std::size_t i = range_begin(n, partial.size(), part); i < end; ++i)
            growth_[i] = growth_weight(i, unit(i, row_slope_[i]) * share);
    });
    return {loss_scale.value(total.loss), slope, FixedScale(total_weight()).value(total.error)};
}

// The gradients in the unit 2^(exponent - bits), in which the largest row total is below 2^bits.
void ClassState::settle(std::size_t own, std::size_t begin, std::size_t count, int exponent, int bits,
                        Scratch& scratch) {
    const std::size_t classes = n_classes();
    std::int32_t* gradients = gradients_.data() + begin * classes;
    if (per_class()) {
        for (std::size_t r = 0; r < count; ++r) {
            const double slope = unit(begin + r, row_slope_[begin + r]);
            scratch.shift[r] = slope < kSmallestSlope ? kGradientBits + 1
                                                      : (kGradientBits - bits) + (exponent - exponent_of(slope));
        }
        settle_gradients(count, classes, own, scratch.shift.data(), gradients);
        return;
    }
    const double factor = power_of_two(bits - exponent);
    for (std::size_t i = begin; i < begin + count; ++i)
        row_gradients_[i] = static_cast<std::int32_t>(std::llrint(unit(i, row_slope_[i]) * factor));
    if (objective_ != ClassObjective::max) return;
    const ClassBlock rows = block(own, begin, count);
    largest_wrong(rows, scratch.largest.data());
    max_gradients(rows, scratch.largest.data(), row_gradients_.data() + begin, gradients, tied_.data() + begin);
}

void ClassState::gains(std::size_t begin, std::size_t count, bool shrinking, std::int64_t* table) const {
    const std::size_t classes = n_classes();
    for (std::size_t i = begin; i < begin + count; ++i, table += classes + 1) {
        const std::int64_t times = repeats() ? copies()[i] : 1;
        const std::size_t own = this->classes()[i];
        table[classes] = 0;
        if (objective_ == ClassObjective::maxsum) {
            std::fill(table, table + classes, -times * row_gradients_[i]);
            table[own] = times * row_gradients_[i];
            continue;
        }
        const std::int32_t* row = gradients_.data() + i * classes;
        if (shrinking && !tied_.empty() && tied_[i]) {
            std::fill(table, table + classes, 0);
            table[own] = times * row[own];
            continue;
        }
        for (std::size_t c = 0; c < classes; ++c) table[c] = times * row[c];
    }
}

void ClassState::leaf_sums(const std::int32_t* label_of_row, std::size_t n_labels, int n_threads,
                           std::int64_t* sums) const {
    const std::size_t n = n_rows(), n_parts = parts(n_threads), classes = n_classes(), channels = n_channels();
    const std::size_t size = n_labels * channels, first = classes - channels;  // two classes: the second alone
    std::vector<std::int64_t> partial((n_parts - 1) * size, 0);
    std::fill(sums, sums + size, 0);
    parallel_for(n_threads, n_parts, [&](std::size_t part) {
        std::int64_t* own_sums = part == 0 ? sums : partial.data() + (part - 1) * size;
        for (std::size_t i = range_begin(n, n_parts, part); i < range_begin(n, n_parts, part + 1); ++i) {
            std::int64_t* out = own_sums + static_cast<std::size_t>(label_of_row[i]) * channels;
            const std::int64_t times = repeats() ? copies()[i] : 1;
            if (objective_ == ClassObjective::maxsum) {
                const std::int64_t gain = times * row_gradients_[i];
                const std::size_t own = this->classes()[i];
                for (std::size_t c = 0; c < channels; ++c) out[c] -= gain;
                if (own >= first) out[own - first] += 2 * gain;
                continue;
            }
            const std::int32_t* row = gradients_.data() + i * classes + first;
            if (times == 1)
                for (std::size_t c = 0; c < channels; ++c) out[c] += row[c];
            else
                for (std::size_t c = 0; c < channels; ++c) out[c] += times * row[c];
        }
    });
    for (std::size_t part = 1; part < n_parts; ++part)
        for (std::size_t k = 0; k < size; ++k) sums[k] += partial[(part - 1) * size + k];
}

// Scores that grow without end are moved down in their rows; a class more than 1024 behind the best cannot tell.
void ClassState::recentre(int n_threads) {
    const std::size_t n = n_rows(), n_parts = parts(n_threads), classes = n_classes();
    parallel_for(n_threads, n_parts, [&](std::size_t part) {
        for (std::size_t i = range_begin(n, n_parts, part); i < range_begin(n, n_parts, part + 1); ++i) {
            std::int32_t* row = scores_.data() + i * classes;
            const std::int64_t top = *std::max_element(row, row + classes);
            for (std::size_t c = 0; c < classes; ++c)
                row[c] = static_cast<std::int32_t>(std::max(row[c] - top, -kLargestScore));
        }
    });
    largest_score_ = 0;
    for (const std::int32_t score : scores_)
        largest_score_ = std::max<std::int64_t>(largest_score_, std::abs(static_cast<std::int64_t>(score)));
}

void ClassState::step(const HypothesisColumns& columns, std::size_t slot, double eta, int n_threads) {
    const double scaled = eta * kScoreGrid;
    require(scaled == std::nearbyint(scaled), "steps must be multiples of 2^-20");
    require(std::fabs(scaled) <= static_cast<double>(kLargestStep), "steps must not be longer than 256");
    columns.require_fits(slot, *this);
    const auto whole = static_cast<std::int32_t>(scaled);
    if (largest_score_ + std::abs(static_cast<std::int64_t>(whole)) > kLargestScore) recentre(n_threads);
    largest_score_ += std::abs(static_cast<std::int64_t>(whole));
    current_ = false;
    const std::size_t n = n_rows(), n_parts = parts(n_threads), classes = n_classes();
    const float* values = columns.values(slot);
    parallel_for(n_threads, n_parts, [&](std::size_t part) {
        std::vector<std::uint16_t> answers(block_rows());
        for_blocks(range_begin(n, n_parts, part), range_begin(n, n_parts, part + 1),
                   [&](std::size_t own, std::size_t begin, std::size_t count) {
            columns.answers(slot, begin, count, answers.data());
            for (std::size_t r = 0; r < count; ++r) {
                if (answers[r] == classes) continue;
                const std::size_t i = begin + r;
                const std::int32_t change =
                    values ? static_cast<std::int32_t>(std::llrint(scaled * static_cast<double>(values[i]))) : whole;
                scores_[i * classes + answers[r]] += change;
                if (margins_.empty()) continue;
                const std::int64_t margin = std::int64_t{margins_[i]} + (answers[r] == own ? change : -change);
                margins_[i] = static_cast<std::int32_t>(std::min(std::max(margin, -kLargestScore), kLargestScore));
            }
        });
    });
}

}  // namespace radboost
