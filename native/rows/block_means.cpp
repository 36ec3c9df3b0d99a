#include "rows/block_means.hpp"

#include <algorithm>
#include <cmath>

#include "core/exact_sum.hpp"

namespace radboost {
namespace {

constexpr int kTermBits = 50;
constexpr int kNoExponent = -1048576;

RADBOOST_CLONES double largest_of_block(const double* values, std::size_t n) {
    double largest = 0;
    for (std::size_t i = 0; i < n; ++i) {
        const double size = std::fabs(values[i]);
        largest = size > largest ? size : largest;
    }
    return largest;
}

RADBOOST_CLONES std::int64_t sum_rounded(const double* values, std::size_t n, double factor) {
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < n; ++i) sum += nearest_integer(values[i] * factor);
    return sum;
}

// Exponent e with largest < 2^e, a multiple of 8, so that the one of the last call nearly always fits the next.
int exponent_for(double largest) {
    if (!(largest > 0)) return kNoExponent;
    const int exponent = std::ilogb(largest) + 1;
    return std::max(-960, exponent >= 0 ? (exponent + 7) / 8 * 8 : -(-exponent / 8 * 8));
}

}  // namespace

double largest_size(const double* values, std::size_t n) { return largest_of_block(values, n); }

BlockMeans::BlockMeans(const RowWeights& weights, std::size_t n_values, int* exponents, std::size_t n_parts)
    : weights_(weights),
      n_values_(n_values),
      exponents_(exponents),
      factors_(n_values),
      largest_(n_values * n_parts, 0.0),
      sums_(n_values * n_parts, 0) {
    for (std::size_t v = 0; v < n_values; ++v) factors_[v] = std::ldexp(1.0, kTermBits - exponents[v]);
}

void BlockMeans::add(std::size_t part, std::size_t v, std::size_t begin, std::size_t count, double* terms) {
    if (!weights_.whole())
        for (std::size_t i = 0; i < count; ++i) terms[i] = weights_.unit(begin + i, terms[i]);
    const double most = largest_of_block(terms, count);
    double& largest = largest_[part * n_values_ + v];
    largest = std::max(largest, most);
    if (!(most * factors_[v] <= 0x1p50)) return;  // wrong exponent; `finish` returns false
    int128& sum = sums_[part * n_values_ + v];
    if (weights_.copies() == nullptr) {
        sum += sum_rounded(terms, count, factors_[v]);
        return;
    }
    for (std::size_t i = 0; i < count; ++i) sum += int128{nearest_integer(terms[i] * factors_[v])} * weights_.times(begin + i);
}

bool BlockMeans::finish(double* out) {
    for (std::size_t at = n_values_; at < sums_.size(); ++at) {
        sums_[at % n_values_] += sums_[at];
        largest_[at % n_values_] = std::max(largest_[at % n_values_], largest_[at]);
    }
    weights_.collective().sum(sums_.data(), n_values_);
    weights_.collective().maximum(largest_.data(), n_values_);
    bool settled = true;
    for (std::size_t v = 0; v < n_values_; ++v) {
        require(std::isfinite(largest_[v]), "the loss has become infinite: lower learning_rate, or rescale the targets");
        out[v] = std::ldexp(static_cast<double>(sums_[v]), exponents_[v] - kTermBits) / weights_.total();
        const int fitting = exponent_for(largest_[v]);
        if (fitting == kNoExponent || fitting == exponents_[v]) continue;
        exponents_[v] = fitting;
        settled = false;
    }
    return settled;
}

}  // namespace radboost
