#include "losses/class_kernels.hpp"

#include <algorithm>
#include <limits>

namespace radboost {
namespace {

// Sum in a fixed order, by four partial sums that fill a vector unit.
RADBOOST_INLINE double row_sum(const double* x, std::size_t n) {
    double a = 0, b = 0, c = 0, d = 0;
    std::size_t i = 0;
    for (; i + 4 <= n; i += 4) {
        a += x[i];
        b += x[i + 1];
        c += x[i + 2];
        d += x[i + 3];
    }
    for (; i < n; ++i) a += x[i];
    return (a + b) + (c + d);
}

// Nearest integer of x for |x| < 2^31, ties to even, by an addition, which every vector unit has.
RADBOOST_INLINE std::int32_t nearest(double x) {
    return static_cast<std::int32_t>(static_cast<std::uint32_t>(detail::bits_of(x + detail::kRoundToInteger)));
}

}  // namespace

RADBOOST_CLONES void largest_wrong(const ClassBlock& block, std::int32_t* largest) {
    const std::size_t classes = block.classes, own = block.own;
    for (std::size_t r = 0; r < block.rows; ++r) {
        const std::int32_t* row = block.scores + r * classes;
        std::int32_t top = std::numeric_limits<std::int32_t>::min();
        for (std::size_t c = 0; c < own; ++c) top = top < row[c] ? row[c] : top;
        for (std::size_t c = own + 1; c < classes; ++c) top = top < row[c] ? row[c] : top;
        largest[r] = top;
    }
}

RADBOOST_CLONES void class_arguments(const ClassBlock& block, MarginLoss loss, double* u) {
    const std::size_t classes = block.classes;
    for (std::size_t r = 0; r < block.rows; ++r) {
        const std::int32_t* row = block.scores + r * classes;
        const std::int32_t own = row[block.own];
        for (std::size_t c = 0; c < classes; ++c) u[r * classes + c] = class_argument(row[c] - own, loss);
    }
}

RADBOOST_CLONES void sum_terms(const ClassBlock& block, const BlockTerms& out) {
    const std::size_t classes = block.classes;
    for (std::size_t r = 0; r < block.rows; ++r) {
        double* values = out.values + r * classes;
        double* terms = out.terms + r * classes;
        values[block.own] = terms[block.own] = 0.0;
        out.loss[r] = row_sum(values, classes);
        out.slope[r] = row_sum(terms, classes);
        out.scale[r] = 1.0;
    }
}

RADBOOST_CLONES void compsum_terms(const ClassBlock& block, const std::int32_t* largest, const BlockTerms& out) {
    const std::size_t classes = block.classes, rows = block.rows;
    // Exponentials are relative to the row's largest score, so that none overflows and at least one is 1.
    for (std::size_t r = 0; r < rows; ++r) {
        const std::int32_t* row = block.scores + r * classes;
        const std::int32_t own = row[block.own], top = largest[r] > own ? largest[r] : own;
        double* z = out.terms + r * classes;
        for (std::size_t c = 0; c < classes; ++c) z[c] = static_cast<double>(row[c] - top) * (1.0 / kScoreGrid);
        out.loss[r] = z[block.own];
    }
    for (std::size_t i = 0; i < rows * classes; ++i) out.terms[i] = exact_exp(out.terms[i]);
    for (std::size_t r = 0; r < rows; ++r) {
        double* z = out.terms + r * classes;
        out.scale[r] = z[block.own];
        z[block.own] = 0.0;
        out.slope[r] = kEuler * row_sum(z, classes);
    }
    // With a = exp(f(own)) and q = sum of exp(1 + f(c)) over wrong c: loss = log2((a + q) / a), slope = q / (a + q) / ln 2.
    for (std::size_t r = 0; r < rows; ++r) {
        const double a = out.scale[r], q = out.slope[r], log_a = out.loss[r], total = a + q;
        const bool wrong_side = q > a;
        const double ratio = wrong_side ? a / q : q / a;
        const double beyond = exact_log(wrong_side ? q : 1.0) - (wrong_side ? log_a : 0.0);
        out.loss[r] = (beyond + exact_log1p_unit(ratio)) * kInverseLn2;
        out.slope[r] = q / total * kInverseLn2;
        out.scale[r] = kEuler / total * kInverseLn2;
    }
}

RADBOOST_CLONES void quantise_terms(const double* terms, const double* factor, std::size_t rows, std::size_t classes,
                                    std::int32_t* gradients) {
    for (std::size_t r = 0; r < rows; ++r)
        for (std::size_t c = 0; c < classes; ++c)
            gradients[r * classes + c] = nearest(terms[r * classes + c] * factor[r]);
}

RADBOOST_CLONES void shift_to_shared_unit(std::size_t rows, std::size_t classes, std::size_t own, const int* shift,
                                          std::int32_t* gradients) {
    for (std::size_t r = 0; r < rows; ++r) {
        std::int32_t* row = gradients + r * classes;
        const int bits = shift[r];
        if (bits > kGradientBits) {
            std::fill(row, row + classes, 0);
            continue;
        }
        const std::int32_t half = (std::int32_t{1} << bits) >> 1;
        std::int32_t sum = 0;
        for (std::size_t c = 0; c < classes; ++c) {
            const std::int32_t rounded = (row[c] + half) >> bits;
            sum += rounded;
            row[c] = -rounded;
        }
        row[own] = sum;
    }
}

RADBOOST_CLONES void max_gradients(const ClassBlock& block, const std::int32_t* largest, const std::int32_t* weight,
                                   std::int32_t* gradients, std::uint8_t* tied) {
    const std::size_t classes = block.classes, own = block.own;
    for (std::size_t r = 0; r < block.rows; ++r) {
        const std::int32_t* row = block.scores + r * classes;
        std::int32_t* out = gradients + r * classes;
        const std::int32_t top = largest[r], d = weight[r];
        std::int32_t active = 0;
        for (std::size_t c = 0; c < classes; ++c) {
            const bool at_top = row[c] == top;
            active += at_top ? 1 : 0;
            out[c] = at_top ? -d : 0;
        }
        tied[r] = active - (row[own] == top ? 1 : 0) > 1;
        out[own] = d;
    }
}

RADBOOST_CLONES void line_factors(const float* rho, std::size_t n, double eta, bool vertices, double* factor) {
    if (vertices) {
        const double down = exact_exp(-eta), up = exact_exp(eta);
        for (std::size_t i = 0; i < n; ++i) factor[i] = rho[i] > 0 ? down : rho[i] < 0 ? up : 1.0;
        return;
    }
    for (std::size_t i = 0; i < n; ++i) factor[i] = exact_exp(-eta * static_cast<double>(rho[i]));
}

RADBOOST_CLONES void line_exponential(const double* part, const double* base, const float* rho, const double* factor,
                                      std::size_t n, double* value, double* slope) {
    for (std::size_t i = 0; i < n; ++i) {
        value[i] = (base[i] - part[i]) + part[i] * factor[i];
        slope[i] = -static_cast<double>(rho[i]) * part[i] * factor[i];
    }
}

RADBOOST_CLONES void line_compsum(const double* part, const float* rho, const double* factor, std::size_t n,
                                  double* slope) {
    for (std::size_t i = 0; i < n; ++i) {
        const double moved = part[i] * factor[i];
        slope[i] = -static_cast<double>(rho[i]) * (moved / ((1.0 - part[i]) + moved)) * kInverseLn2;
    }
}

RADBOOST_CLONES void line_compsum_loss(const double* part, const double* base, const double* factor, std::size_t n,
                                       double* value) {
    for (std::size_t i = 0; i < n; ++i)
        value[i] = base[i] + exact_log((1.0 - part[i]) + part[i] * factor[i]) * kInverseLn2;
}

}  // namespace radboost
