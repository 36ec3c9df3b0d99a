#include "rows/gradient_state.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "core/pool.hpp"
#include "rows/state.hpp"

namespace radboost {
namespace {

constexpr std::size_t kBlockRows = 1024;
// Terms of an exact sum lie below 2^50 units, so that a block of them adds up in 64 bits.
constexpr int kTermBits = 50;
constexpr int kNoExponent = -1048576;
// Sample weights that are not integers, or very large, become integers of about this sum.
constexpr double kMassScale = 16777216.0;  // 2^24

// Rounded to the nearest integer by the addition, exact below 2^51.
inline std::int64_t rounded(double x) {
    constexpr double kShift = 0x1.8p52;
    const double shifted = x + kShift;
    std::int64_t bits, base;
    std::memcpy(&bits, &shifted, sizeof bits);
    std::memcpy(&base, &kShift, sizeof base);
    return bits - base;
}

RADBOOST_CLONES double largest_of(const double* values, std::size_t n) {
    double largest = 0;
    for (std::size_t i = 0; i < n; ++i) {
        const double size = std::fabs(values[i]);
        largest = size > largest ? size : largest;
    }
    return largest;
}

RADBOOST_CLONES std::int64_t sum_rounded(const double* values, std::size_t n, double factor) {
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < n; ++i) sum += rounded(values[i] * factor);
    return sum;
}

RADBOOST_CLONES void pack(const double* derivatives, std::size_t n, double factor, int weight_bits, std::int64_t* words) {
    for (std::size_t i = 0; i < n; ++i)
        words[i] = static_cast<std::int64_t>(static_cast<std::uint64_t>(rounded(derivatives[i] * factor))
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

// The exponent that the terms of a sum are rounded by: a function of the largest of them. Coarse, so that the one of the last
// sum nearly always fits the next.
int exponent_for(double largest) {
    if (!(largest > 0)) return kNoExponent;
    const int exponent = std::ilogb(largest) + 1;
    return std::max(-960, exponent >= 0 ? (exponent + 7) / 8 * 8 : -(-exponent / 8 * 8));
}

}  // namespace

// What the loss of a block of rows is written to.
struct GradientState::Block {
    std::vector<double> values, derivatives;

    explicit Block(std::size_t n_outputs) : values(kBlockRows), derivatives(kBlockRows * n_outputs) {}
};

GradientState::GradientState(const LossOfTarget& loss, std::vector<double> targets, std::vector<double> weights)
    : loss_(loss), targets_(std::move(targets)), weights_(std::move(weights)) {
    require(!targets_.empty() && targets_.size() < (std::size_t{1} << 28), "the number of rows must lie in [1, 2^28)");
    require(loss_.n_outputs >= 1 && loss_.n_outputs <= 65534, "the number of scores per row must lie in [1, 65534]");
    require(loss_.kind.targets == Targets::classes || loss_.is_given() || loss_.n_outputs == 1,
            "only the multinomial loss has several scores per row");
    for (const double y : targets_) {
        require(std::isfinite(y), "a target is not a finite number");
        require(loss_.kind.targets != Targets::classes ||
                    (y >= 0 && y < static_cast<double>(loss_.n_outputs) && y == std::floor(y)),
                "a row has a class that does not exist");
    }
    read_weights();
    scores_.assign(n_rows() * n_outputs(), 0.0);
    words_.assign(n_rows() * n_outputs(), 0);
    if (loss_.largest_derivative() == 0) derivatives_.assign(n_rows() * n_outputs(), 0.0);
}

void GradientState::read_weights() {
    require(weights_.empty() || weights_.size() == n_rows(), "one weight per row is needed");
    for (const double w : weights_) {
        require(w > 0 && w <= 0x1p52, "weights must be positive and at most 2^52");
        integer_weights_ = integer_weights_ && w == std::floor(w);
    }
    total_weight_ = static_cast<double>(n_rows());
    total_mass_ = static_cast<std::int64_t>(n_rows());
    if (!weights_.empty()) {
        // Integers below 2^53 in all, or terms on one grid: either way the sum does not depend on the order.
        const double largest = *std::max_element(weights_.begin(), weights_.end());
        const double grid = integer_weights_ ? 1.0 : std::ldexp(1.0, std::ilogb(largest) - 60);
        int128 sum = 0;
        for (const double w : weights_) sum += static_cast<int128>(std::llrint(w / grid));
        total_weight_ = static_cast<double>(sum) * grid;
        require(total_weight_ <= 0x1p52, "the sum of the weights must be at most 2^52");
        integer_weights_ = integer_weights_ && total_weight_ < kMassScale;
        mass_scale_ = integer_weights_ ? 1.0 : kMassScale / total_weight_;
        masses_.resize(n_rows());
        total_mass_ = 0;
        for (std::size_t i = 0; i < n_rows(); ++i) total_mass_ += masses_[i] = std::llrint(weights_[i] * mass_scale_);
    }
    while ((std::int64_t{1} << weight_bits_) <= total_mass_) ++weight_bits_;
}

// The finest power of two with which no sum of gradients reaches 2^50, nor what the weights leave of 62 bits.
void GradientState::set_unit(double largest) {
    const double most = total_weight_ * std::max(largest, 0x1p-900);
    unit_exponent_ = std::min(kTermBits, 62 - weight_bits_) - (std::ilogb(most) + 2);
    unit_ = std::ldexp(1.0, -unit_exponent_);
}

void GradientState::quantise(const double* derivatives, std::size_t begin, std::size_t count) {
    const std::size_t k = n_outputs();
    const double factor = std::ldexp(1.0, unit_exponent_);
    if (k == 1 && weights_.empty()) return pack(derivatives, count, factor, weight_bits_, words_.data() + begin);
    for (std::size_t i = begin; i < begin + count; ++i) {
        const std::int64_t mass = masses_.empty() ? 1 : masses_[i];
        for (std::size_t c = 0; c < k; ++c) {
            const double g = derivatives[(i - begin) * k + c] * factor;
            // Integer weights count copies: one is rounded, and then multiplied.
            const std::int64_t sum = integer_weights_ ? std::llrint(g) * mass : std::llrint(g * weights_[i]);
            words_[i * k + c] = c > 0 ? sum : sum * (std::int64_t{1} << weight_bits_) + mass;
        }
    }
}

std::int64_t GradientState::wrong_mass(std::size_t begin, std::size_t count) const {
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

// Terms of each part of the rows, rounded and added up.
class GradientState::ExactMeans {
public:
    ExactMeans(const GradientState& state, std::size_t n_values, int* exponents, std::size_t n_parts)
        : state_(state),
          n_values_(n_values),
          exponents_(exponents),
          factors_(n_values),
          largest_(n_values * n_parts, 0.0),
          sums_(n_values * n_parts, 0) {
        for (std::size_t v = 0; v < n_values; ++v) factors_[v] = std::ldexp(1.0, kTermBits - exponents[v]);
    }

    // The values of the rows [begin, begin + count); they are weighted in place.
    void add(std::size_t part, std::size_t v, std::size_t begin, std::size_t count, double* terms) {
        if (!state_.integer_weights_)
            for (std::size_t i = 0; i < count; ++i) terms[i] *= state_.weights_[begin + i];
        const double most = largest_of(terms, count);
        double& largest = largest_[part * n_values_ + v];
        largest = std::max(largest, most);
        if (!(most * factors_[v] <= 0x1p50)) return;  // the exponent is wrong: `finish` will tell
        int128& sum = sums_[part * n_values_ + v];
        if (state_.weights_.empty() || !state_.integer_weights_) {
            sum += sum_rounded(terms, count, factors_[v]);
            return;
        }
        for (std::size_t i = 0; i < count; ++i)
            sum += static_cast<int128>(rounded(terms[i] * factors_[v])) * state_.masses_[begin + i];
    }

    // Whether the exponents were those that the terms ask for; where not, they are now.
    bool finish(double* out) {
        bool settled = true;
        for (std::size_t v = 0; v < n_values_; ++v) {
            double most = 0;
            int128 sum = 0;
            for (std::size_t at = v; at < sums_.size(); at += n_values_) {
                most = std::max(most, largest_[at]);
                sum += sums_[at];
            }
            require(std::isfinite(most), "the loss has become infinite: lower learning_rate, or rescale the targets");
            out[v] = std::ldexp(static_cast<double>(sum), exponents_[v] - kTermBits) / state_.total_weight_;
            const int fitting = exponent_for(most);
            if (fitting == kNoExponent || fitting == exponents_[v]) continue;
            exponents_[v] = fitting;
            settled = false;
        }
        return settled;
    }

private:
    const GradientState& state_;
    std::size_t n_values_;
    int* exponents_;
    std::vector<double> factors_, largest_;
    std::vector<int128> sums_;  // of each part and value
};

template <class Body>
void GradientState::exact_means(std::size_t n_values, int* exponents, int n_threads, double* out, Body&& body) const {
    const std::size_t n = n_rows(), parts = row_parts(n, n_threads);
    for (bool settled = false; !settled;) {
        ExactMeans means(*this, n_values, exponents, parts);
        parallel_for(n_threads, parts, [&](std::size_t part) {
            std::vector<double> values(n_values * kBlockRows);
            const std::size_t end = range_begin(n, parts, part + 1);
            for (std::size_t begin = range_begin(n, parts, part); begin < end; begin += kBlockRows) {
                const std::size_t count = std::min(kBlockRows, end - begin);
                body(begin, count, values.data());
                for (std::size_t v = 0; v < n_values; ++v) means.add(part, v, begin, count, values.data() + v * kBlockRows);
            }
        });
        settled = means.finish(out);
    }
}

// Moves the scores of each block, evaluates the loss there, and rounds the gradient.
template <class Move>
void GradientState::refresh(int n_threads, Move&& move) {
    const bool given = loss_.is_given(), bounded = loss_.largest_derivative() > 0;
    const std::size_t n = n_rows(), k = n_outputs(), parts = row_parts(n, n_threads);
    if (bounded) set_unit(loss_.largest_derivative());
    std::vector<std::int64_t> wrong(parts, 0);
    std::vector<double> largest(parts, 0.0);
    ExactMeans means(*this, 1, &loss_exponent_, parts);
    parallel_for(n_threads, parts, [&](std::size_t part) {
        Block block(k);
        const std::size_t end = range_begin(n, parts, part + 1);
        for (std::size_t begin = range_begin(n, parts, part); begin < end; begin += kBlockRows) {
            const std::size_t count = std::min(kBlockRows, end - begin);
            move(begin, count);
            wrong[part] += wrong_mass(begin, count);
            if (given) continue;
            loss_.evaluate(targets_.data() + begin, scores_.data() + begin * k, count, block.values.data(),
                           block.derivatives.data());
            means.add(part, 0, begin, count, block.values.data());
            if (bounded) {
                quantise(block.derivatives.data(), begin, count);
                continue;
            }
            largest[part] = std::max(largest[part], largest_of(block.derivatives.data(), count * k));
            std::copy_n(block.derivatives.data(), count * k, derivatives_.data() + begin * k);
        }
    });
    std::int64_t wrong_in_all = 0;
    for (const std::int64_t mass : wrong) wrong_in_all += mass;
    sums_.error = static_cast<double>(wrong_in_all) / static_cast<double>(total_mass_);
    if (given) return;
    if (!means.finish(&sums_.loss)) sums_.loss = mean_loss(n_threads);
    if (bounded) return;
    const double most = *std::max_element(largest.begin(), largest.end());
    require(std::isfinite(most), "the gradient has become infinite: lower learning_rate, or rescale the targets");
    set_unit(most);
    parallel_for(n_threads, parts, [&](std::size_t part) {
        const std::size_t begin = range_begin(n, parts, part), end = range_begin(n, parts, part + 1);
        quantise(derivatives_.data() + begin * k, begin, end - begin);
    });
}

double GradientState::mean_loss(int n_threads) const {
    const std::size_t k = n_outputs();
    double out = 0;
    exact_means(1, &loss_exponent_, n_threads, &out, [&](std::size_t begin, std::size_t count, double* to) {
        Block block(k);
        loss_.evaluate(targets_.data() + begin, scores_.data() + begin * k, count, to, block.derivatives.data());
    });
    return out;
}

double GradientState::mean(const double* values, int n_threads) const {
    double out = 0;
    exact_means(1, &loss_exponent_, n_threads, &out, [&](std::size_t begin, std::size_t count, double* to) {
        std::copy_n(values + begin, count, to);
    });
    return out;
}

void GradientState::set_scores(const double* scores, int n_threads) {
    const std::size_t k = n_outputs();
    refresh(n_threads, [&](std::size_t begin, std::size_t count) {
        std::copy_n(scores + begin * k, count * k, scores_.data() + begin * k);
    });
}

void GradientState::step(const LeafNumbers& leaves, int n_threads) {
    const std::size_t k = n_outputs();
    refresh(n_threads, [&](std::size_t begin, std::size_t count) {
        double* scores = scores_.data() + begin * k;
        const std::int32_t* labels = leaves.label_of_row + begin;
        if (k == 1) return add_numbers(labels, leaves.numbers, count, scores, scores);
        for (std::size_t i = 0; i < count; ++i)
            for (std::size_t c = 0; c < k; ++c)
                scores[i * k + c] += leaves.numbers[static_cast<std::size_t>(labels[i]) * k + c];
    });
}

void GradientState::set_derivatives(const double* derivatives, int n_threads) {
    require(loss_.is_given(), "only a loss of the user's own has derivatives handed in");
    double most = 0;
    for (std::size_t i = 0; i < n_rows() * n_outputs(); ++i) {
        require(std::isfinite(derivatives[i]), "a derivative of the loss is not a finite number");
        most = std::max(most, std::fabs(derivatives[i]));
    }
    set_unit(most);
    const std::size_t parts = row_parts(n_rows(), n_threads), k = n_outputs();
    parallel_for(n_threads, parts, [&](std::size_t part) {
        const std::size_t begin = range_begin(n_rows(), parts, part), end = range_begin(n_rows(), parts, part + 1);
        quantise(derivatives + begin * k, begin, end - begin);
    });
}

void GradientState::losses_after(const std::int32_t* label_of_row, const double* const* numbers, std::size_t n_steps,
                                 int n_threads, double* out) const {
    const std::size_t k = n_outputs();
    std::vector<int> exponents(n_steps, loss_exponent_);
    exact_means(n_steps, exponents.data(), n_threads, out, [&](std::size_t begin, std::size_t count, double* to) {
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
            loss_.evaluate(targets_.data() + begin, moved.data(), count, to + s * kBlockRows, derivatives.data());
        }
    });
}

void GradientState::along(const LeafNumbers& direction, double eta, int n_threads, double* loss, double* slope) const {
    const std::size_t k = n_outputs();
    int exponents[2] = {loss_exponent_, slope_exponent_};
    double means[2];
    exact_means(2, exponents, n_threads, means, [&](std::size_t begin, std::size_t count, double* to) {
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
        loss_.evaluate(targets_.data() + begin, moved.data(), count, to, derivatives.data());
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
