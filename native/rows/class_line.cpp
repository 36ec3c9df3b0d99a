// Line searches through the scores of a ClassScores. Each row keeps what it needs on the line, so that an evaluation is
// one pass over the rows: an answer moves one class against the others, or all of them against the row's own.
#include <algorithm>
#include <cmath>
#include <limits>

#include "rows/class_scores.hpp"
#include "members/columns.hpp"
#include "core/pool.hpp"

namespace radboost {
namespace {

constexpr double kLn2 = 0x1.62e42fefa39efp-1;
constexpr double kNever = -std::numeric_limits<double>::infinity();

double cut(double u, MarginLoss loss) {
    return loss == MarginLoss::exponential ? std::min(u, kLargestArgument) : u;
}

// The largest score except at two classes.
double largest_besides(const std::int32_t* scores, std::size_t classes, std::size_t own, std::size_t answer) {
    double largest = kNever;
    for (std::size_t c = 0; c < classes; ++c)
        if (c != own && c != answer) largest = std::max(largest, static_cast<double>(scores[c]));
    return largest;
}

}  // namespace

LineSums ClassScores::along(const HypothesisColumns& columns, std::size_t slot, double eta, bool want_loss,
                           int n_threads) {
    require(loss_.has_value(), "the state has no loss to evaluate");
    require(current_, "reweigh before a line search");
    columns.require_fits(slot, n_rows(), n_classes());
    if (line_.stamp != columns.stamp(slot)) prepare_line(columns, slot, n_threads);
    const std::size_t n = n_rows(), n_parts = parts(n_threads);
    parallel_for(n_threads, n_parts, [&](std::size_t part) {
        for_blocks(range_begin(n, n_parts, part), range_begin(n, n_parts, part + 1),
                   [&](std::size_t own, std::size_t begin, std::size_t count) {
                       evaluate_line(own, begin, count, eta, want_loss);
                   });
    });
    return {want_loss ? weights_.sum(line_.value.data(), n_threads) : 0.0, weights_.sum(line_.slope.data(), n_threads)};
}

void ClassScores::prepare_line(const HypothesisColumns& columns, std::size_t slot, int n_threads) {
    const std::size_t n = n_rows(), n_parts = parts(n_threads);
    const float* values = columns.values(slot);
    for (auto* array : {&line_.part, &line_.other, &line_.value, &line_.slope}) array->resize(n);
    line_.rho.resize(n);
    line_.stamp = columns.stamp(slot);
    line_.vertices = values == nullptr;
    parallel_for(n_threads, n_parts, [&](std::size_t part) {
        std::vector<std::uint16_t> answers(block_rows());
        for_blocks(range_begin(n, n_parts, part), range_begin(n, n_parts, part + 1),
                   [&](std::size_t own, std::size_t begin, std::size_t count) {
            columns.answers(slot, begin, count, answers.data());
            for (std::size_t r = 0; r < count; ++r) {
                const float size = values ? values[begin + r] : 1.0f;
                line_.rho[begin + r] = answers[r] == own ? size : answers[r] < n_classes() ? -size : 0.0f;
            }
            prepare_rows(own, begin, count, answers.data());
        });
    });
}

void ClassScores::prepare_rows(std::size_t own, std::size_t begin, std::size_t count, const std::uint16_t* answers) {
    const ClassBlock rows = block(own, begin, count);
    double* part = line_.part.data() + begin;
    double* other = line_.other.data() + begin;
    const double* loss = row_loss_.data() + begin;
    // u at the answer; of no meaning where the answer is right or missing.
    const auto argument = [&](std::size_t r) {
        const std::int32_t* scores = rows.scores + r * rows.classes;
        return class_argument(answers[r] < rows.classes ? scores[answers[r]] - scores[own] : 0, *loss_);
    };
    const auto wrong = [&](std::size_t r) { return answers[r] != own && answers[r] < rows.classes; };
    switch (objective_) {
        case ClassObjective::maxsum:
            for (std::size_t r = 0; r < count; ++r) part[r] = class_argument(-margins_[begin + r], *loss_);
            return;
        case ClassObjective::max:
            for (std::size_t r = 0; r < count; ++r) {
                const std::int32_t* scores = rows.scores + r * rows.classes;
                const double gap = largest_besides(scores, rows.classes, own, answers[r]) - scores[own];
                const double u = cut(1.0 + gap / kScoreGrid, *loss_);
                part[r] = wrong(r) ? argument(r) : u;
                other[r] = wrong(r) ? u : kNever;
            }
            return;
        case ClassObjective::sum:
            for (std::size_t r = 0; r < count; ++r) part[r] = argument(r);
            if (*loss_ == MarginLoss::logistic) {  // `other` is what the rest of the row costs
                evaluate_loss(*loss_, part, count, line_.value.data() + begin, line_.slope.data() + begin);
                for (std::size_t r = 0; r < count; ++r)
                    other[r] = line_.rho[begin + r] < 0 ? loss[r] - line_.value[begin + r] : loss[r];
                return;
            }
            break;
        case ClassObjective::compsum:
            for (std::size_t r = 0; r < count; ++r) part[r] = argument(r) - loss[r] * kLn2;
            break;
    }
    evaluate_loss(MarginLoss::exponential, part, count, part, line_.slope.data() + begin);
    const double* slope = row_slope_.data() + begin;
    for (std::size_t r = 0; r < count; ++r) {
        const double all = objective_ == ClassObjective::sum ? loss[r] : slope[r] * kLn2;
        part[r] = wrong(r) ? std::min(part[r], all) : answers[r] == own ? all : 0.0;
    }
}

void ClassScores::evaluate_line(std::size_t own, std::size_t begin, std::size_t count, double eta, bool want_loss) {
    const double* part = line_.part.data() + begin;
    const double* other = line_.other.data() + begin;
    const float* rho = line_.rho.data() + begin;
    double* value = line_.value.data() + begin;
    double* slope = line_.slope.data() + begin;
    double work[kBlockElements];
    const double* base = row_loss_.data() + begin;
    if (objective_ == ClassObjective::compsum) {
        line_factors(rho, count, eta, line_.vertices, work);
        line_compsum(part, rho, work, count, slope);
        if (want_loss) line_compsum_loss(part, base, work, count, value);
        return;
    }
    if (objective_ == ClassObjective::sum && *loss_ == MarginLoss::exponential) {
        line_factors(rho, count, eta, line_.vertices, work);
        line_exponential(part, base, rho, work, count, value, slope);
        return;
    }
    for (std::size_t r = 0; r < count; ++r) work[r] = cut(part[r] - eta * static_cast<double>(rho[r]), *loss_);
    if (objective_ == ClassObjective::max)
        for (std::size_t r = 0; r < count; ++r) work[r] = std::max(work[r], other[r]);
    evaluate_loss(*loss_, work, count, value, slope);
    for (std::size_t r = 0; r < count; ++r) {
        const double moved = part[r] - eta * static_cast<double>(rho[r]);
        const bool moves = objective_ != ClassObjective::max || moved >= other[r];
        slope[r] = moves ? -static_cast<double>(rho[r]) * slope[r] : 0.0;
    }
    if (objective_ == ClassObjective::sum) {
        for (std::size_t r = 0; r < count; ++r) value[r] = rho[r] < 0 ? other[r] + value[r] : other[r];
        evaluate_right_rows(own, begin, count, eta);
    }
}

// Sum with the logistic loss: where the answer is right every class moves. These rows are brought together first.
void ClassScores::evaluate_right_rows(std::size_t own, std::size_t begin, std::size_t count, double eta) {
    const std::size_t classes = n_classes();
    std::vector<std::size_t> right;
    std::vector<std::int32_t> scores;
    for (std::size_t i = begin; i < begin + count; ++i) {
        if (line_.rho[i] <= 0) continue;
        right.push_back(i);
        scores.insert(scores.end(), grid_.row(i), grid_.row(i) + classes);
    }
    const ClassBlock rows{scores.data(), right.size(), classes, own};
    std::vector<double> terms(scores.size()), values(scores.size()), sums(3 * right.size());
    double *scale = sums.data(), *slope = scale + right.size(), *loss = slope + right.size();
    class_arguments(rows, *loss_, terms.data());
    for (std::size_t r = 0; r < right.size(); ++r)
        for (std::size_t c = 0; c < classes; ++c) terms[r * classes + c] -= eta * static_cast<double>(line_.rho[right[r]]);
    evaluate_loss(*loss_, terms.data(), terms.size(), values.data(), terms.data());
    sum_terms(rows, {terms.data(), values.data(), scale, slope, loss});
    for (std::size_t r = 0; r < right.size(); ++r) {
        line_.value[right[r]] = loss[r];
        line_.slope[right[r]] = -static_cast<double>(line_.rho[right[r]]) * slope[r];
    }
}

}  // namespace radboost
