#include "rows/gradient_scores.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <utility>

#include "core/exact_sum.hpp"
#include "core/hashing.hpp"

namespace radboost {
namespace {

constexpr int kSumBits = 50;  // no sum of gradients reaches 2^50 units

RADBOOST_CLONES void pack(const double* derivatives, std::size_t n, double factor, int weight_bits, std::int64_t* words) {
    for (std::size_t i = 0; i < n; ++i)
        words[i] = static_cast<std::int64_t>(static_cast<std::uint64_t>(nearest_integer(derivatives[i] * factor))
                                             << weight_bits) +
                   1;
}

RADBOOST_CLONES void add_numbers(const std::int32_t* labels, const double* numbers, std::size_t n, const double* scores,
                                 double* out) {
    for (std::size_t i = 0; i < n; ++i) out[i] = scores[i] + numbers[labels[i]];
}

RADBOOST_CLONES void add_multiple(const std::int32_t* labels, const double* numbers, std::size_t n, double eta,
                                  const double* scores, double* direction, double* out) {
    for (std::size_t i = 0; i < n; ++i) {
        direction[i] = numbers[labels[i]];
        out[i] = scores[i] + eta * direction[i];
    }
}

RADBOOST_CLONES std::int64_t count_wrong(const double* signs, const double* scores, std::size_t n) {
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < n; ++i) sum += signs[i] * scores[i] <= 0 ? 1 : 0;
    return sum;
}

}  // namespace

// --- the weighting

GradientWeighting::GradientWeighting(const GradientScores& scores)
    : Weighting(scores.row_weights()), scores_(scores), n_outputs_(scores.n_outputs()), words_(n_rows() * n_outputs_, 0) {
    while ((std::int64_t{1} << weight_bits_) <= scores.total_mass_) ++weight_bits_;
}

const std::vector<std::int64_t>& GradientWeighting::masses() const { return scores_.masses_; }
std::int64_t GradientWeighting::total_mass() const { return scores_.total_mass_; }
double GradientWeighting::mass_scale() const { return scores_.mass_scale_; }

std::vector<std::uint64_t> GradientWeighting::row_hashes(const BinnedData& data, int n_threads) const {
    std::vector<std::uint64_t> hashes = data.row_hashes(n_threads);
    for (std::size_t i = 0; i < hashes.size(); ++i) {
        for (std::size_t k = 0; k < scores_.n_targets(); ++k) {
            const double target = scores_.targets()[i * scores_.n_targets() + k] + 0.0;  // -0 is 0
            std::uint64_t bits;
            std::memcpy(&bits, &target, sizeof bits);
            hashes[i] = mix(hashes[i], bits);
        }
    }
    return hashes;
}

// The finest power of two for which no sum of gradients reaches 2^50, nor 2^(62 - weight_bits).
void GradientWeighting::set_unit(double largest) {
    const double most = total_weight() * std::max(largest, 0x1p-900);
    unit_exponent_ = std::min(kSumBits, 62 - weight_bits_) - (std::ilogb(most) + 2);
    unit_ = std::ldexp(1.0, -unit_exponent_);
}

void GradientWeighting::quantise(const double* derivatives, std::size_t begin, std::size_t count) {
    const RowWeights& weights = row_weights();
    const double factor = std::ldexp(1.0, unit_exponent_);
    if (n_outputs_ == 1 && !weights.given()) return pack(derivatives, count, factor, weight_bits_, words_.data() + begin);
    for (std::size_t i = begin; i < begin + count; ++i) {
        const std::int64_t mass = masses().empty() ? 1 : masses()[i];
        for (std::size_t c = 0; c < n_outputs_; ++c) {
            const double g = derivatives[(i - begin) * n_outputs_ + c] * factor;
            const std::int64_t sum = std::llrint(weights.unit(i, g)) * weights.times(i);
            words_[i * n_outputs_ + c] = c > 0 ? sum : sum * (std::int64_t{1} << weight_bits_) + mass;
        }
    }
}

void GradientWeighting::take(const double* derivatives, int n_threads) {
    const std::size_t n = n_rows(), k = n_outputs_;
    for (std::size_t i = 0; i < n * k; ++i)
        require(std::isfinite(derivatives[i]), "a derivative of the loss is not a finite number");
    set_unit(collective().maximum(largest_size(derivatives, n * k)));
    const std::size_t parts = row_parts(n, n_threads);
    parallel_for(n_threads, parts, [&](std::size_t part) {
        const std::size_t begin = range_begin(n, parts, part), end = range_begin(n, parts, part + 1);
        quantise(derivatives + begin * k, begin, end - begin);
    });
}

// --- the scores

// Buffers for the losses and derivatives of a block of rows.
struct GradientScores::Block {
    std::vector<double> values, derivatives;

    explicit Block(std::size_t n_outputs) : values(kBlockRows), derivatives(kBlockRows * n_outputs) {}
};

GradientScores::GradientScores(const LossOfTarget& loss, std::vector<double> targets, const RowWeights& weights)
    : loss_(loss), targets_(std::move(targets)), weights_(weights) {
    require(loss_.n_outputs >= 1 && loss_.n_outputs <= 65534, "the number of scores per row must lie in [1, 65534]");
    require(weights.n_rows_of_all() > 0 && n_rows() < (std::size_t{1} << 28), "the number of rows must lie in [1, 2^28)");
    require(loss_.kind.targets != Targets::signs || loss_.n_outputs == 1, "a loss of two classes has one score per row");
    require(targets_.size() == weights.n_rows() * n_targets(), "one target per row is needed, or one for each of its scores");
    for (const double y : targets_) {
        require(std::isfinite(y), "a target is not a finite number");
        require(loss_.kind.targets != Targets::classes ||
                    (y >= 0 && y < static_cast<double>(loss_.n_outputs) && y == std::floor(y)),
                "a row has a class that does not exist");
    }
    // Weights that are not numbers of copies (RowWeights::whole) become integers with a sum of about kLargeTotal.
    mass_scale_ = weights.whole() ? 1.0 : RowWeights::kLargeTotal / weights.total();
    masses_ = weights.masses(mass_scale_);
    const auto own_mass = weights.given() ? std::accumulate(masses_.begin(), masses_.end(), std::int64_t{0})
                                          : static_cast<std::int64_t>(n_rows());
    total_mass_ = weights.collective().sum(own_mass);
    scores_.assign(n_rows() * n_outputs(), 0.0);
    if (loss_.largest_derivative() == 0) derivatives_.assign(n_rows() * n_outputs(), 0.0);
}

std::int64_t GradientScores::wrong_mass(std::size_t begin, std::size_t count) const {
    if (loss_.kind.targets == Targets::numbers) return 0;
    const bool signs = loss_.kind.targets == Targets::signs;
    if (signs && masses_.empty()) return count_wrong(targets_.data() + begin, scores_.data() + begin, count);
    const std::size_t k = n_outputs();
    std::int64_t sum = 0;
    for (std::size_t i = begin; i < begin + count; ++i) {
        bool wrong = targets_[i] * scores_[i] <= 0;
        if (!signs) {
            const double* scores = scores_.data() + i * k;
            wrong = std::max_element(scores, scores + k) != scores + static_cast<std::size_t>(targets_[i]);
        }
        sum += wrong ? (masses_.empty() ? 1 : masses_[i]) : 0;
    }
    return sum;
}

// Calls move(begin, count) to update the scores of each block, evaluates the loss there, and quantizes the gradient: at once
// if the derivative is bounded, otherwise in a second pass, when the largest derivative is known.
template <class Move>
void GradientScores::refresh(GradientWeighting& weighting, int n_threads, Move&& move) {
    require(&weighting.scores_ == this, "the weighting is one of other scores");
    const bool given = loss_.is_given(), bounded = loss_.largest_derivative() > 0;
    const std::size_t n = n_rows(), k = n_outputs(), parts = row_parts(n, n_threads);
    if (bounded) weighting.set_unit(loss_.largest_derivative());
    std::vector<std::int64_t> wrong(parts, 0);
    std::vector<double> largest(parts, 0.0);
    BlockMeans means(weights_, 1, &loss_exponent_, parts);
    parallel_for(n_threads, parts, [&](std::size_t part) {
        Block block(k);
        const std::size_t end = range_begin(n, parts, part + 1);
        for (std::size_t begin = range_begin(n, parts, part); begin < end; begin += kBlockRows) {
            const std::size_t count = std::min(kBlockRows, end - begin);
            move(begin, count);
            wrong[part] += wrong_mass(begin, count);
            if (given) continue;
            loss_.evaluate(targets_.data() + begin * n_targets(), scores_.data() + begin * k, count, block.values.data(),
                           block.derivatives.data());
            means.add(part, 0, begin, count, block.values.data());
            if (bounded) {
                weighting.quantise(block.derivatives.data(), begin, count);
                continue;
            }
            largest[part] = std::max(largest[part], largest_size(block.derivatives.data(), count * k));
            std::copy_n(block.derivatives.data(), count * k, derivatives_.data() + begin * k);
        }
    });
    const auto wrong_in_all = weights_.collective().sum(std::accumulate(wrong.begin(), wrong.end(), std::int64_t{0}));
    sums_.error = static_cast<double>(wrong_in_all) / static_cast<double>(total_mass_);
    if (given) return;
    if (!means.finish(&sums_.loss)) sums_.loss = mean_loss(n_threads);
    if (bounded) return;
    const double most = weights_.collective().maximum(*std::max_element(largest.begin(), largest.end()));
    require(std::isfinite(most), "the gradient has become infinite: lower learning_rate, or rescale the targets");
    weighting.set_unit(most);
    parallel_for(n_threads, parts, [&](std::size_t part) {
        const std::size_t begin = range_begin(n, parts, part), end = range_begin(n, parts, part + 1);
        weighting.quantise(derivatives_.data() + begin * k, begin, end - begin);
    });
}

double GradientScores::mean_loss(int n_threads) const {
    const std::size_t k = n_outputs();
    double out = 0;
    block_means(weights_, 1, &loss_exponent_, n_threads, &out, [&](std::size_t begin, std::size_t count, double* to) {
        Block block(k);
        loss_.evaluate(targets_.data() + begin * n_targets(), scores_.data() + begin * k, count, to, block.derivatives.data());
    });
    return out;
}

double GradientScores::mean(const double* values, int n_threads) const {
    double out = 0;
    block_means(weights_, 1, &loss_exponent_, n_threads, &out, [&](std::size_t begin, std::size_t count, double* to) {
        std::copy_n(values + begin, count, to);
    });
    return out;
}

void GradientScores::set(const double* scores, GradientWeighting& weighting, int n_threads) {
    const std::size_t k = n_outputs();
    refresh(weighting, n_threads, [&](std::size_t begin, std::size_t count) {
        std::copy_n(scores + begin * k, count * k, scores_.data() + begin * k);
    });
}

void GradientScores::step(const LeafNumbers& leaves, GradientWeighting& weighting, int n_threads) {
    const std::size_t k = n_outputs();
    refresh(weighting, n_threads, [&](std::size_t begin, std::size_t count) {
        double* scores = scores_.data() + begin * k;
        const std::int32_t* labels = leaves.label_of_row + begin;
        if (k == 1) return add_numbers(labels, leaves.numbers, count, scores, scores);
        for (std::size_t i = 0; i < count; ++i)
            for (std::size_t c = 0; c < k; ++c)
                scores[i * k + c] += leaves.numbers[static_cast<std::size_t>(labels[i]) * k + c];
    });
}

void GradientScores::losses_after(const std::int32_t* label_of_row, const double* const* numbers, std::size_t n_steps,
                                 int n_threads, double* out) const {
    const std::size_t k = n_outputs();
    std::vector<int> exponents(n_steps, loss_exponent_);
    block_means(weights_, n_steps, exponents.data(), n_threads, out, [&](std::size_t begin, std::size_t count, double* to) {
        thread_local std::vector<double> moved, derivatives;
        moved.resize(kBlockRows * k);
        derivatives.resize(kBlockRows * k);
        const std::int32_t* labels = label_of_row + begin;
        const double* scores = scores_.data() + begin * k;
        for (std::size_t s = 0; s < n_steps; ++s) {
            if (k == 1)
                add_numbers(labels, numbers[s], count, scores, moved.data());
            else
                for (std::size_t i = 0; i < count; ++i)
                    for (std::size_t c = 0; c < k; ++c)
                        moved[i * k + c] = scores[i * k + c] + numbers[s][static_cast<std::size_t>(labels[i]) * k + c];
            loss_.evaluate(targets_.data() + begin * n_targets(), moved.data(), count, to + s * kBlockRows, derivatives.data());
        }
    });
}

void GradientScores::along(const LeafNumbers& direction, double eta, int n_threads, double* loss, double* slope) const {
    const std::size_t k = n_outputs();
    int exponents[2] = {loss_exponent_, slope_exponent_};
    double means[2];
    block_means(weights_, 2, exponents, n_threads, means, [&](std::size_t begin, std::size_t count, double* to) {
        thread_local std::vector<double> moved, along, derivatives;
        for (std::vector<double>* numbers : {&moved, &along, &derivatives}) numbers->resize(kBlockRows * k);
        const std::int32_t* labels = direction.label_of_row + begin;
        const double* scores = scores_.data() + begin * k;
        if (k == 1)
            add_multiple(labels, direction.numbers, count, eta, scores, along.data(), moved.data());
        else
            for (std::size_t i = 0; i < count * k; ++i) {
                along[i] = direction.numbers[static_cast<std::size_t>(labels[i / k]) * k + i % k];
                moved[i] = scores[i] + eta * along[i];
            }
        loss_.evaluate(targets_.data() + begin * n_targets(), moved.data(), count, to, derivatives.data());
        double* slopes = to + kBlockRows;
        std::fill(slopes, slopes + count, 0.0);
        for (std::size_t i = 0; i < count * k; ++i) slopes[i / k] += derivatives[i] * along[i];
    });
    loss_exponent_ = exponents[0];
    slope_exponent_ = exponents[1];
    *loss = means[0];
    *slope = means[1];
}

}  // namespace radboost
