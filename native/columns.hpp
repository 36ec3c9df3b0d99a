// The predictions of the hypotheses in the ensemble on the training rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "margins.hpp"

namespace radboost {

// A hypothesis has a slot. Predictions of -1 and +1 take one bit per row, eight slots to a byte; others a float, on a
// grid of 2^-20 so that their sums with integer weights are exact.
class HypothesisColumns {
public:
    explicit HypothesisColumns(std::size_t n_rows) : n_rows_(n_rows) {}

    std::size_t n_rows() const { return n_rows_; }
    std::size_t n_slots() const { return kinds_.size(); }

    std::size_t take_slot();  // for signs
    void release(std::size_t slot);
    // Row i answers with the class class_of_group[group_of_row[i]]; the second class is +1.
    void set_answers(std::size_t slot, const std::int32_t* group_of_row, const std::int32_t* class_of_group,
                     std::size_t n_groups, int n_threads);
    std::size_t add_values(const float* values);

    // The edge sum over i of D(i) y_i h(x_i) of each slot (0 for empty ones).
    void edges(const MarginState& state, int n_threads, double* out) const;
    void predictions(std::size_t slot, double* out) const;
    // scores += eta h.
    void step(std::size_t slot, double eta, MarginState& state, int n_threads) const;

private:
    enum class Kind : std::uint8_t { empty, signs, values };
    void require_used(std::size_t slot) const;
    void sign_edges(const MarginState& state, int n_threads, double* out) const;

    std::size_t n_rows_;
    std::vector<Kind> kinds_;
    std::vector<std::vector<std::uint8_t>> blocks_;  // slots 8 b .. 8 b + 7, one byte per row; empty where unused
    std::vector<std::vector<float>> values_;         // by slot
};

// Edges of many real-valued hypotheses (one row of `values` each), as in HypothesisColumns::edges.
void value_edges(const MarginState& state, const float* values, std::size_t n_hypotheses, int n_threads, double* out);

constexpr double kValueGrid = 1048576.0;  // 2^20

}  // namespace radboost
