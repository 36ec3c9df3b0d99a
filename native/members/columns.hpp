// The predictions of the hypotheses in the ensemble on the training rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/common.hpp"


namespace radboost {

constexpr double kValueGrid = 1048576.0;  // 2^20

// A hypothesis has a slot. With two classes its predictions are -1 (the first class) and +1, one bit per row, eight slots
// to a byte; with more, one byte per row holds the class it answers with, or the number of classes where it abstains (two
// bytes beyond 254 classes). Real predictions take a float, on a grid of 2^-20 so that their sums with integer weights are
// exact: for the margin with two classes, in [0, 1] and for one class with more. A tree whose leaves hold numbers takes the
// leaf of each row, and a table of its leaves' numbers in [-1, 1] on the same grid: one with two classes, otherwise one for
// each class.
class HypothesisColumns {
public:
    HypothesisColumns(std::size_t n_rows, std::size_t n_classes);

    std::size_t n_rows() const { return n_rows_; }
    std::size_t n_classes() const { return n_classes_; }
    std::size_t n_slots() const { return slots_.size(); }

    std::size_t take_slot();  // for answers
    void release(std::size_t slot);
    // Row i answers with class_of_group[group_of_row[i]]; -1 abstains, which takes more than two classes.
    void set_answers(std::size_t slot, const std::int32_t* group_of_row, const std::int32_t* class_of_group,
                     std::size_t n_groups, int n_threads);
    std::size_t add_values(const float* values, std::size_t class_index);
    // Row i has the line leaf_of_group[group_of_row[i]] of the table, whose numbers are in units of 1 / kValueGrid.
    std::size_t add_leaves(const std::int32_t* group_of_row, const std::int32_t* leaf_of_group,
                           const std::vector<std::int32_t>& table, int n_threads);

    bool is_empty(std::size_t slot) const { return slots_[slot].kind == Kind::empty; }
    bool is_real(std::size_t slot) const { return slots_[slot].kind == Kind::values; }
    bool has_leaves(std::size_t slot) const { return slot < slots_.size() && slots_[slot].kind == Kind::leaves; }
    // Of slots with leaves: numbers per leaf, the table, and the leaves of the rows [begin, begin + count).
    std::size_t width() const { return n_classes_ == 2 ? 1 : n_classes_; }
    const std::vector<std::int32_t>& table(std::size_t slot) const { return slots_[slot].table; }
    void leaves(std::size_t slot, std::size_t begin, std::size_t count, std::int32_t* out) const;
    // One number per row with two classes, otherwise n_rows x n_classes.
    void predictions(std::size_t slot, double* out) const;
    // Two classes: the predictions of the rows [begin, begin + count).
    void margins(std::size_t slot, std::size_t begin, std::size_t count, double* out) const;

    // The predictions of the rows [begin, begin + count); the class of real predictions.
    void answers(std::size_t slot, std::size_t begin, std::size_t count, std::uint16_t* out) const;
    // Null unless the predictions are real.
    const float* values(std::size_t slot) const;
    // The class that real predictions speak for.
    std::size_t class_index(std::size_t slot) const { return slots_[slot].class_index; }
    // Two classes: a byte per row with the predictions of the slots 8 block .. 8 block + 7, and whether any of them is in use.
    const std::uint8_t* signs(std::size_t block) const { return blocks_[block].data(); }
    bool has_signs(std::size_t block) const;
    std::size_t n_sign_blocks() const { return blocks_.size(); }
    // 3 to 254 classes: a byte per row with the prediction; null elsewhere.
    const std::uint8_t* narrow_answers(std::size_t slot) const;
    // Names the content of a slot among all that ever were.
    std::uint64_t stamp(std::size_t slot) const;
    // Throws unless a hypothesis for so many rows and classes is there.
    void require_fits(std::size_t slot, std::size_t n_rows, std::size_t n_classes) const;

private:
    enum class Kind : std::uint8_t { empty, answers, values, leaves };
    struct Slot {
        Kind kind = Kind::empty;
        std::uint64_t stamp = 0;
        std::vector<std::uint8_t> narrow;  // answers of 3 to 254 classes, or leaves where there are at most 256
        std::vector<std::uint16_t> wide;   // of more, or up to 65,536
        std::vector<std::int32_t> widest;  // leaves of larger trees
        std::vector<std::int32_t> table;   // of the leaves
        std::vector<float> values;
        std::size_t class_index = 0;  // of the values
    };
    bool wide() const { return n_classes_ > 254; }
    const Slot& used(std::size_t slot) const;
    template <class Function>
    void for_rows(int n_threads, Function&& function) const;

    std::size_t n_rows_, n_classes_;
    std::vector<Slot> slots_;
    std::vector<std::vector<std::uint8_t>> blocks_;  // slots 8 b .. 8 b + 7 of signs, one byte per row; empty if unused
};

}  // namespace radboost
