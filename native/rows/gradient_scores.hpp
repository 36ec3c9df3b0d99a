// Gradient boosting: scores f of the training rows, their mean loss Phi(y, f), and its gradient as integers for histograms.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "losses/target_losses.hpp"
#include "rows/block_means.hpp"
#include "rows/weighting.hpp"

namespace radboost {

// Predictions of a regression tree: row i gets the leaf values numbers[label_of_row[i]].
struct LeafNumbers {
    const std::int32_t* label_of_row;  // leaf index of each row, shape (n_rows,)
    const double* numbers;             // leaf values, shape (n_leaves, n_outputs)
};

struct TargetSums {
    double loss = 0;   // weighted mean over the rows
    double error = 0;  // weighted fraction of misclassified rows; 0 in regression
};

// A row's gradient and weight in one 64-bit word, so that one addition sums both: the weight in the lowest weight_bits bits,
// as many as the sum of all weights needs, the signed gradient above. Sums of gradients get up to 50 bits
// (docs/decisions/exactness.md). With several outputs the first word of a row has the weight, the others gradients only.
struct GradientWords {
    const std::int64_t* words;  // shape (n_rows, n_outputs)
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
    // Gradient (times sample weight) of one unit of a word's gradient part.
    double unit() const { return unit_; }
    // Integer weights ("masses") in the words: round(sample weight * mass_scale()); empty if all are 1.
    const std::vector<std::int64_t>& masses() const;
    std::int64_t total_mass() const;  // of all workers
    double mass_scale() const;
    // Hash of each row's codes and targets.
    std::vector<std::uint64_t> row_hashes(const BinnedData& data, int n_threads) const override;

    // Sets the derivatives dPhi/df of a user's loss, shape (n_rows, n_outputs).
    void take(const double* derivatives, int n_threads);

private:
    friend class GradientScores;
    // Sets the unit for derivatives of magnitude up to `largest`, over all workers.
    void set_unit(double largest);
    // Makes the words of the rows [begin, begin + count) from their derivatives, shape (count, n_outputs).
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

    // Replaces all scores, (n_rows, n_outputs), and updates weighting and sums(); for a user's loss call `take` afterwards.
    void set(const double* scores, GradientWeighting& weighting, int n_threads);
    // The same after scores += leaf values.
    void step(const LeafNumbers& leaves, GradientWeighting& weighting, int n_threads);
    const TargetSums& sums() const { return sums_; }

    // out[s] = mean loss if the leaf values numbers[s] were added to the scores, s = 0 ... n_steps - 1.
    void losses_after(const std::int32_t* label_of_row, const double* const* numbers, std::size_t n_steps, int n_threads,
                      double* out) const;
    // Mean loss at scores + eta * direction, and its derivative by eta.
    void along(const LeafNumbers& direction, double eta, int n_threads, double* loss, double* slope) const;
    // Exact weighted mean of values, shape (n_rows,).
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
    std::vector<std::int64_t> masses_;  // see GradientWeighting::masses
    std::int64_t total_mass_ = 0;       // of all workers
    LargeArray<double> scores_, derivatives_;  // derivatives are stored only if the loss has no bound for them
    TargetSums sums_;
    mutable int loss_exponent_ = 0, slope_exponent_ = 0;  // guesses for BlockMeans
};

}  // namespace radboost
