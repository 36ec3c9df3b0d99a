#include "rows/class_scores.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/exact_sum.hpp"
#include "members/columns.hpp"
#include "rows/label_sums.hpp"

namespace radboost {
namespace {

constexpr double kSmallestSlope = 0x1p-900;

// The e with 2^(e - 1) <= x < 2^e, for positive normal x.
int exponent_of(double x) { return static_cast<int>((detail::bits_of(x) >> 52) & 0x7ff) - 1022; }
double power_of_two(int exponent) { return detail::double_of(static_cast<std::int64_t>(exponent + 1023) << 52); }

}  // namespace

// --- the weighting

ClassWeighting::ClassWeighting(const ClassScores& scores, std::optional<std::vector<double>> factors)
    : AnswerWeighting(scores.row_weights(), scores.classes()),
      scores_(scores),
      factors_(std::move(factors), scores.n_rows()) {
    const WrongAnswers answers = scores.objective_.wrong_answers;
    if (answers != WrongAnswers::alike) gradients_.assign(n_rows() * n_classes(), 0);
    if (answers != WrongAnswers::each) row_gradients_.assign(n_rows(), 0);
    if (answers == WrongAnswers::largest) tied_.assign(n_rows(), 0);
}

bool ClassWeighting::gains_follow_classes() const { return scores_.objective_.wrong_answers == WrongAnswers::alike; }

double ClassWeighting::slope_of(std::size_t row) const {
    const double slope = scores_.row_slope_[row];
    return row_weights().unit(row, factors_.given() ? slope * factors_[row] : slope);
}

void ClassWeighting::quantise(std::size_t begin, std::size_t count, const double* terms, const double* scale) {
    double factor[kBlockElements];
    for (std::size_t r = 0; r < count; ++r) {
        const double slope = slope_of(begin + r);
        const double power = slope < kSmallestSlope ? 0.0 : power_of_two(kGradientBits - exponent_of(slope));
        const double term_scale = factors_.given() ? scale[r] * factors_[begin + r] : scale[r];
        factor[r] = row_weights().unit(begin + r, term_scale) * power;
    }
    quantise_terms(terms, factor, count, n_classes(), gradients_.data() + begin * n_classes());
}

void ClassWeighting::share_unit(std::size_t own, std::size_t begin, std::size_t count, int exponent, int bits) {
    const std::size_t classes = n_classes();
    std::int32_t* gradients = gradients_.data() + begin * classes;
    if (scores_.per_class()) {
        int shift[kBlockElements];
        for (std::size_t r = 0; r < count; ++r) {
            const double slope = slope_of(begin + r);
            shift[r] = slope < kSmallestSlope ? kGradientBits + 1
                                              : (kGradientBits - bits) + (exponent - exponent_of(slope));
        }
        shift_to_shared_unit(count, classes, own, shift, gradients);
        return;
    }
    const double factor = power_of_two(bits - exponent);
    for (std::size_t i = begin; i < begin + count; ++i)
        row_gradients_[i] = static_cast<std::int32_t>(std::llrint(slope_of(i) * factor));
    if (scores_.objective_.wrong_answers != WrongAnswers::largest) return;
    std::int32_t largest[kBlockElements];
    const ClassBlock rows = scores_.block(own, begin, count);
    largest_wrong(rows, largest);
    max_gradients(rows, largest, row_gradients_.data() + begin, gradients, tied_.data() + begin);
}

// Second step of `renew`: converts slopes and terms of all rows to gradients in a common unit, edge_unit_ and growth weights.
void ClassWeighting::finish(int n_threads) {
    const RowWeights& weights = row_weights();
    const std::size_t steps = n_rows() * n_classes();
    const double largest_slope =
        weights.largest(1, kSmallestSlope, steps, n_threads, [&](std::size_t begin, std::size_t end, double* found) {
            for (std::size_t i = begin; i < end; ++i) *found = std::max(*found, slope_of(i));
        })[0];
    // The sum of all terms, copies included, must stay below 2^62.
    const double terms = copies() ? total_weight() : static_cast<double>(weights.n_rows_of_all());
    const int exponent = exponent_of(largest_slope), bits = std::min(kGradientBits, 61 - exponent_of(terms));
    const FixedScale scale(largest_slope);
    const auto sums = weights.add<int128>(2, steps, n_threads, [&](std::size_t from, std::size_t to, int128* own_sums) {
        scores_.for_blocks(from, to, [&](std::size_t own, std::size_t begin, std::size_t count) {
            share_unit(own, begin, count, exponent, bits);
            for (std::size_t i = begin; i < begin + count; ++i) {
                const std::int64_t times = weights.times(i);
                own_sums[0] += int128{scale.fixed(slope_of(i))} * times;
                own_sums[1] += times * (scores_.per_class() ? gradients_[i * n_classes() + own] : row_gradients_[i]);
            }
        });
    });
    slope_ = scale.value(sums[0]);
    edge_unit_ = sums[1] > 0 ? 1.0 / static_cast<double>(sums[1]) : 0.0;
    const double share = 1.0 / std::max(slope_, kSmallestSlope);
    const std::size_t n = n_rows(), parts = scores_.parts(n_threads);
    parallel_for(n_threads, parts, [&](std::size_t part) {
        const std::size_t end = range_begin(n, parts, part + 1);
        for (std::size_t i = range_begin(n, parts, part); i < end; ++i) growth_[i] = growth_weight(i, slope_of(i) * share);
    });
}

void ClassWeighting::gains(std::size_t begin, std::size_t count, bool shrinking, std::int64_t* table) const {
    const std::size_t classes = n_classes();
    for (std::size_t i = begin; i < begin + count; ++i, table += classes + 1) {
        const std::int64_t times = row_weights().times(i);
        const std::size_t own = this->classes()[i];
        table[classes] = 0;
        if (gradients_.empty()) {  // WrongAnswers::alike
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

void ClassWeighting::leaf_sums(const std::int32_t* label_of_row, std::size_t n_labels, int n_threads,
                               std::int64_t* sums) const {
    const std::size_t classes = n_classes(), channels = n_channels();
    const std::size_t first = classes - channels;  // two classes: one channel, for class 1
    const auto add_rows = [&](std::size_t begin, std::size_t end, std::int64_t* own_sums) {
        for (std::size_t i = begin; i < end; ++i) {
            std::int64_t* out = own_sums + static_cast<std::size_t>(label_of_row[i]) * channels;
            const std::int64_t times = row_weights().times(i);
            if (gradients_.empty()) {  // WrongAnswers::alike
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
    };
    const auto found = row_weights().add<std::int64_t>(n_labels * channels, n_rows() * classes, n_threads, add_rows);
    std::copy(found.begin(), found.end(), sums);
}

void ClassWeighting::leaf_totals(const std::int32_t* label_of_row, std::size_t n_labels, int n_threads,
                                 std::int64_t* totals) const {
    sum_by_label(row_weights(), label_of_row, n_labels, n_threads, totals, [this](std::size_t i) {
        const std::int64_t gain = gradients_.empty() ? row_gradients_[i] : gradients_[i * n_classes() + classes()[i]];
        return row_weights().times(i) * gain;
    });
}

// --- the scores

ClassScores::ClassScores(const ClassObjective& objective, std::optional<MarginLoss> loss, std::vector<std::uint16_t> classes,
                         std::size_t n_classes, const RowWeights& weights)
    : objective_(objective),
      loss_(loss),
      weights_(weights),
      classes_(std::make_shared<const RowClasses>(std::move(classes), n_classes)),
      grid_(classes_->n_rows(), n_classes, weights.collective()),
      row_loss_(n_rows(), 0.0),
      row_slope_(n_rows(), 0.0) {
    require(weights.n_rows() == n_rows(), "one class per row is needed");
    require(!classes_->begin().empty(), "the rows must be sorted by class");
    objective.require_fits(loss);
    if (objective.wrong_answers == WrongAnswers::alike) margins_.assign(n_rows(), 0);
}

ClassBlock ClassScores::block(std::size_t own, std::size_t begin, std::size_t count) const {
    return {grid_.row(begin), count, n_classes(), own};
}

std::size_t ClassScores::parts(int n_threads) const {
    return std::min(std::max<std::size_t>(1, n_rows()), row_parts(n_rows() * n_classes(), n_threads));
}

void ClassScores::set(const double* scores, const double* margins) {
    grid_.set(scores);
    current_ = false;
    const auto most = static_cast<double>(ScoreGrid::kLargest);
    for (std::size_t i = 0; i < margins_.size(); ++i)
        margins_[i] = static_cast<std::int32_t>(std::min(std::max(std::nearbyint(margins[i] * kScoreGrid), -most), most));
}

LossSums ClassScores::reweigh(const std::vector<ClassWeighting*>& weightings, int n_threads, const RowGroups* groups,
                              LossSums* of_groups) {
    require(loss_.has_value(), "the scores have no loss: evaluate it and use reweigh_from");
    const auto evaluate = [&](std::size_t own, std::size_t begin, std::size_t count, Scratch& scratch) {
        const std::int32_t* margins = margins_.empty() ? nullptr : margins_.data() + begin;
        objective_.evaluate(block(own, begin, count), scratch.largest.data(), margins, *loss_,
                            {scratch.terms.data(), scratch.values.data(), scratch.scale.data(),
                             row_slope_.data() + begin, row_loss_.data() + begin});
    };
    return renew(weightings, n_threads, groups, of_groups, evaluate);
}

LossSums ClassScores::reweigh_from(const double* values, const double* derivatives,
                                   const std::vector<ClassWeighting*>& weightings, int n_threads,
                                   const RowGroups* groups, LossSums* of_groups) {
    require(!loss_.has_value(), "the scores have a loss of their own: use reweigh");
    const std::size_t width = per_class() ? n_classes() : 1;
    const auto evaluate = [&](std::size_t own, std::size_t begin, std::size_t count, Scratch& scratch) {
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
    };
    return renew(weightings, n_threads, groups, of_groups, evaluate);
}

template <class Evaluate>
LossSums ClassScores::renew(const std::vector<ClassWeighting*>& weightings, int n_threads, const RowGroups* groups,
                            LossSums* of_groups, Evaluate&& evaluate) {
    require(groups == nullptr || groups->n_rows() == n_rows(), "one group per row is needed");
    for (const ClassWeighting* weighting : weightings)
        require(&weighting->scores_ == this, "the weighting is one of other scores");
    const FixedScale error_scale(weights_.total());
    const auto evaluate_rows = [&](std::size_t from, std::size_t to, int128* error) {
        Scratch scratch(block_rows(), n_classes());
        for_blocks(from, to, [&](std::size_t own, std::size_t begin, std::size_t count) {
            const ClassBlock rows = block(own, begin, count);
            largest_wrong(rows, scratch.largest.data());
            evaluate(own, begin, count, scratch);
            for (ClassWeighting* weighting : weightings)
                if (per_class()) weighting->quantise(begin, count, scratch.terms.data(), scratch.scale.data());
            for (std::size_t r = 0; r < count; ++r) {
                const std::size_t i = begin + r;
                if (rows.scores[r * n_classes() + own] > scratch.largest[r]) continue;
                const int128 wrong = int128{error_scale.fixed(weights_.unit(i, 1.0))} * weights_.times(i);
                error[0] += wrong;
                if (groups) error[1 + (*groups)[i]] += wrong;
            }
        });
    };
    const std::size_t n_groups = groups ? groups->n_groups() : 0;
    const auto errors = weights_.add<int128>(1 + n_groups, n_rows() * n_classes(), n_threads, evaluate_rows);
    for (ClassWeighting* weighting : weightings) weighting->finish(n_threads);
    current_ = true;
    line_.stamp = 0;
    // A weighting without factors has summed S already.
    const auto plain = std::find_if(weightings.begin(), weightings.end(),
                                    [](const ClassWeighting* weighting) { return !weighting->factors_.given(); });
    const double slope = plain != weightings.end() ? (*plain)->slope_ : weights_.sum(row_slope_.data(), n_threads);
    if (groups) {
        const auto losses = weights_.group_sums(row_loss_.data(), *groups, n_threads);
        const auto slopes = weights_.group_sums(row_slope_.data(), *groups, n_threads);
        for (std::size_t g = 0; g < n_groups; ++g) of_groups[g] = {losses[g], slopes[g], error_scale.value(errors[1 + g])};
    }
    return {weights_.sum(row_loss_.data(), n_threads), slope, error_scale.value(errors[0])};
}

void ClassScores::step(const HypothesisColumns& columns, std::size_t slot, double eta, int n_threads,
                       const double* factors) {
    columns.require_fits(slot, n_rows(), n_classes());
    const std::int32_t whole = grid_.admit(eta, n_threads);
    const double scaled = eta * kScoreGrid;
    current_ = false;
    const std::size_t n = n_rows(), n_parts = parts(n_threads), classes = n_classes();
    if (columns.has_leaves(slot)) {
        require(per_class() && factors == nullptr, "leaf values for each class need the objective \"sum\" or \"compsum\"");
        const std::vector<std::int32_t> changes = leaf_changes(columns, slot, eta);
        parallel_for(n_threads, n_parts, [&](std::size_t part) {
            std::vector<std::int32_t> leaves(block_rows());
            for_blocks(range_begin(n, n_parts, part), range_begin(n, n_parts, part + 1),
                       [&](std::size_t, std::size_t begin, std::size_t count) {
                columns.leaves(slot, begin, count, leaves.data());
                for (std::size_t r = 0; r < count; ++r) {
                    const std::int32_t* change = changes.data() + static_cast<std::size_t>(leaves[r]) * classes;
                    std::int32_t* row = grid_.values() + (begin + r) * classes;
                    for (std::size_t c = 0; c < classes; ++c) row[c] += change[c];
                }
            });
        });
        return;
    }
    const float* values = columns.values(slot);
    parallel_for(n_threads, n_parts, [&](std::size_t part) {
        std::vector<std::uint16_t> answers(block_rows());
        for_blocks(range_begin(n, n_parts, part), range_begin(n, n_parts, part + 1),
                   [&](std::size_t own, std::size_t begin, std::size_t count) {
            columns.answers(slot, begin, count, answers.data());
            for (std::size_t r = 0; r < count; ++r) {
                if (answers[r] == classes) continue;
                const std::size_t i = begin + r;
                std::int32_t change = whole;
                if (values || factors) {
                    const double size = (values ? static_cast<double>(values[i]) : 1.0) * (factors ? factors[i] : 1.0);
                    change = static_cast<std::int32_t>(std::llrint(scaled * size));
                }
                grid_.values()[i * classes + answers[r]] += change;
                if (margins_.empty()) continue;
                const std::int64_t margin = std::int64_t{margins_[i]} + (answers[r] == own ? change : -change);
                margins_[i] = static_cast<std::int32_t>(
                    std::min(std::max(margin, -ScoreGrid::kLargest), ScoreGrid::kLargest));
            }
        });
    });
}

}  // namespace radboost
