// The rows of gradient boosting: targets, sample weights, scores, and the gradient of the loss as integers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/collective.hpp"
#include "core/common.hpp"
#include "core/large_array.hpp"
#include "losses/target_losses.hpp"

namespace radboost {

// Numbers by label of a row's leaf, n_outputs each.
struct LeafNumbers {
    const std::int32_t* label_of_row;
    const double* numbers;
};

struct TargetSums {
    double loss = 0;   // mean over the rows
    double error = 0;  // share of the rows whose class is not the one with the largest score; 0 for targets that are numbers
};

// A row's gradient and weight share one 64-bit word: the weight in the lowest bits, the gradient above, so that one addition
// sums both. How many bits the weights need follows from their sum; the gradients get what is left, up to 50 bits for their sum
// (docs/decisions/0028). With several outputs a row has a word for each, and the weight is in the first.
struct GradientWords {
    const std::int64_t* words;  // n_rows x n_outputs
    std::size_t n_outputs;
    int weight_bits;

    std::int64_t weight(std::int64_t first_word) const {
        return first_word & ((std::int64_t{1} << weight_bits) - 1);
    }
    std::int64_t gradient(std::int64_t first_word) const {
        return (first_word - weight(first_word)) >> weight_bits;
    }
};

class GradientState {
public:
    // `weights` empty: every row counts once.
    GradientState(const LossOfTarget& loss, std::vector<double> targets, std::vector<double> weights);

    // Who else has rows of this problem.
    const Collective& collective() const { return one_worker(); }
    std::size_t n_rows() const { return targets_.size(); }
    std::size_t n_outputs() const { return loss_.n_outputs; }
    const std::vector<double>& targets() const { return targets_; }
    double total_weight() const { return total_weight_; }
    const LargeArray<double>& scores() const { return scores_; }

    // Replaces all scores and what follows from them. With a loss of the user's own `set_derivatives` must follow.
    void set_scores(const double* scores, int n_threads);
    // scores += numbers of each row's leaf.
    void step(const LeafNumbers& leaves, int n_threads);
    void set_derivatives(const double* derivatives, int n_threads);
    const TargetSums& sums() const { return sums_; }

    // The mean loss after each of `n_steps` steps, none of which is taken.
    void losses_after(const std::int32_t* label_of_row, const double* const* numbers, std::size_t n_steps, int n_threads,
                      double* out) const;
    // The mean loss at a step of `eta` along a direction, and its derivative in eta.
    void along(const LeafNumbers& direction, double eta, int n_threads, double* loss, double* slope) const;
    // sum of w v / sum of w, independent of the order of the rows.
    double mean(const double* values, int n_threads) const;

    GradientWords words() const { return {words_.data(), n_outputs(), weight_bits_}; }
    // The gradient that a unit of the words stands for, per unit of sample weight.
    double unit() const { return unit_; }
    // Sample weights as they stand in the words; empty where all are 1. A weight of 1 stands for mass_scale() of them.
    const std::vector<std::int64_t>& masses() const { return masses_; }
    std::int64_t total_mass() const { return total_mass_; }
    double mass_scale() const { return mass_scale_; }

private:
    struct Block;
    void read_weights();
    template <class Move>
    void refresh(int n_threads, Move&& move);
    double mean_loss(int n_threads) const;
    void quantise(const double* derivatives, std::size_t begin, std::size_t count);
    void set_unit(double largest_derivative);
    std::int64_t wrong_mass(std::size_t begin, std::size_t count) const;
    // Means of several values per row that do not depend on order or threads: body(begin, count, out) writes the values of
    // some rows, one array of kBlockRows after the other. `exponents` remembers between calls how large the terms are.
    class ExactMeans;
    template <class Body>
    void exact_means(std::size_t n_values, int* exponents, int n_threads, double* out, Body&& body) const;

    LossOfTarget loss_;
    std::vector<double> targets_, weights_;
    std::vector<std::int64_t> masses_;
    bool integer_weights_ = true;
    double total_weight_ = 0, mass_scale_ = 1, unit_ = 1;
    std::int64_t total_mass_ = 0;
    int weight_bits_ = 1, unit_exponent_ = 0;
    LargeArray<double> scores_, derivatives_;  // the latter where their size must be known before they are rounded
    LargeArray<std::int64_t> words_;
    TargetSums sums_;
    mutable int loss_exponent_ = 0, slope_exponent_ = 0;
};

}  // namespace radboost
