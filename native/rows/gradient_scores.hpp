// Gradient boosting: scores, the loss Phi(y, f) of targets, and its gradient as integers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "losses/target_losses.hpp"
#include "rows/block_means.hpp"
#include "rows/weighting.hpp"

namespace radboost {

// Numbers by label of a row's leaf, n_outputs each.
struct LeafNumbers {
    const std::int32_t* label_of_row;
    const double* numbers;
};

struct TargetSums {
    double loss = 0;   // mean over the rows
    double error = 0;  // fraction of the rows whose class is not the one with the largest score; 0 for targets that are numbers
};

// A row's gradient and weight share one 64-bit word: the weight in the lowest bits, the gradient above, so that one addition
// sums both. How many bits the weights need follows from their sum; the gradients get what is left, up to 50 bits for their sum
// (docs/decisions/exactness.md). With several outputs a row has a word for each, and the weight is in the first.
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

class GradientScores;

class GradientWeighting : public Weighting {
public:
    // Keeps a reference to the scores.
    explicit GradientWeighting(const GradientScores& scores);

    std::size_t n_outputs() const { return n_outputs_; }
    GradientWords words() const { return {words_.data(), n_outputs_, weight_bits_}; }
    // The gradient that a unit of the words stands for, per unit of sample weight.
    double unit() const { return unit_; }
    // Sample weights as they stand in the words; empty where all are 1. A weight of 1 stands for mass_scale() of them.
    const std::vector<std::int64_t>& masses() const;
    std::int64_t total_mass() const;  // of all workers
    double mass_scale() const;
    // By the codes and the targets.
    std::vector<std::uint64_t> row_hashes(const BinnedData& data, int n_threads) const override;

    // Derivatives of a loss that is evaluated elsewhere.
    void take(const double* derivatives, int n_threads);

private:
    friend class GradientScores;
    // Sets the unit for gradients up to `largest`, of all workers.
    void set_unit(double largest);
    void quantise(const double* derivatives, std::size_t begin, std::size_t count);

    const GradientScores& scores_;
    std::size_t n_outputs_;
    double unit_ = 1;
    int weight_bits_ = 1, unit_exponent_ = 0;
    LargeArray<std::int64_t> words_;
};

class GradientScores {
public:
    // Keeps a reference to the weights.
    GradientScores(const LossOfTarget& loss, std::vector<double> targets, const RowWeights& weights);

    std::size_t n_rows() const { return targets_.size() / loss_.n_targets(); }
    std::size_t n_targets() const { return loss_.n_targets(); }  // per row
    std::size_t n_outputs() const { return loss_.n_outputs; }
    const RowWeights& row_weights() const { return weights_; }
    const std::vector<double>& targets() const { return targets_; }
    const LargeArray<double>& values() const { return scores_; }

    // Replaces all scores, and renews the weighting. With a loss of the user's own it waits for `GradientWeighting::take`.
    void set(const double* scores, GradientWeighting& weighting, int n_threads);
    // The same after scores += numbers of each row's leaf.
    void step(const LeafNumbers& leaves, GradientWeighting& weighting, int n_threads);
    const TargetSums& sums() const { return sums_; }

    // The mean loss after each of `n_steps` steps, none of which is taken.
    void losses_after(const std::int32_t* label_of_row, const double* const* numbers, std::size_t n_steps, int n_threads,
                      double* out) const;
    // The mean loss at a step of `eta` along a direction, and its derivative in eta.
    void along(const LeafNumbers& direction, double eta, int n_threads, double* loss, double* slope) const;
    // sum of w v / sum of w, independent of the order of the rows.
    double mean(const double* values, int n_threads) const;

private:
    friend class GradientWeighting;
    struct Block;
    template <class Move>
    void refresh(GradientWeighting& weighting, int n_threads, Move&& move);
    double mean_loss(int n_threads) const;
    std::int64_t wrong_mass(std::size_t begin, std::size_t count) const;

    LossOfTarget loss_;
    std::vector<double> targets_;
    const RowWeights& weights_;
    double mass_scale_ = 1;             // masses per unit of sample weight
    std::vector<std::int64_t> masses_;  // sample weights as integers, empty where all are 1
    std::int64_t total_mass_ = 0;       // of all workers
    LargeArray<double> scores_, derivatives_;  // the latter where their size must be known before they are rounded
    TargetSums sums_;
    mutable int loss_exponent_ = 0, slope_exponent_ = 0;  // of the last sums, where the next ones begin
};

}  // namespace radboost
