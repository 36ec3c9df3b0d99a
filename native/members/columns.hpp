// HypothesisColumns: predictions of the ensemble's hypotheses on the training rows, one slot each. "Answer": predicted class.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/common.hpp"

namespace radboost {

constexpr double kValueGrid = 1048576.0;  // 2^20: real predictions are multiples of 1 / kValueGrid

// A slot has one of three forms:
// - answers: predicted classes. With two classes they mean -1 (class 0) and +1 (class 1) and take one bit per row, eight
//   slots to a byte; otherwise one byte per row (two beyond 254 classes), n_classes if the hypothesis abstains.
// - values: float predictions, multiples of 2^-20, so that their sums with integer weights are exact. With two classes h in
//   [-1, 1]; otherwise in [0, 1], for one class (class_index) only.
// - leaves: the leaf index of each row and a table of leaf values in [-1, 1], multiples of 2^-20, shape (n_leaves, width()).
class HypothesisColumns {
public:
    HypothesisColumns(std::size_t n_rows, std::size_t n_classes);

    std::size_t n_rows() const { return n_rows_; }
    std::size_t n_classes() const { return n_classes_; }
    std::size_t n_slots() const { return slots_.size(); }

    std::size_t take_slot();  // allocates a slot for answers; released slots are reused
    void release(std::size_t slot);
    // Row i gets the class class_of_group[group_of_row[i]]; -1, allowed with more than two classes, means abstention.
    void set_answers(std::size_t slot, const std::int32_t* group_of_row, const std::int32_t* class_of_group,
                     std::size_t n_groups, int n_threads);
    // New slot with these float predictions, shape (n_rows,), for one class (with two classes 1). Returns the slot.
    std::size_t add_values(const float* values, std::size_t class_index);
    // New slot: row i is in leaf leaf_of_group[group_of_row[i]]; `table` has leaf values in units of 1 / kValueGrid.
    std::size_t add_leaves(const std::int32_t* group_of_row, const std::int32_t* leaf_of_group,
                           const std::vector<std::int32_t>& table, int n_threads);

    bool is_empty(std::size_t slot) const { return slots_[slot].kind == Kind::empty; }
    bool is_real(std::size_t slot) const { return slots_[slot].kind == Kind::values; }
    bool has_leaves(std::size_t slot) const { return slot < slots_.size() && slots_[slot].kind == Kind::leaves; }
    // For slots with leaves: values per leaf, the table, and the leaf indices of the rows [begin, begin + count).
    std::size_t width() const { return n_classes_ == 2 ? 1 : n_classes_; }
    const std::vector<std::int32_t>& table(std::size_t slot) const { return slots_[slot].table; }
    void leaves(std::size_t slot, std::size_t begin, std::size_t count, std::int32_t* out) const;
    // Real predictions of all rows, shape (n_rows,) with two classes, otherwise (n_rows, n_classes).
    void predictions(std::size_t slot, double* out) const;
    // Two classes only: h in [-1, 1] of the rows [begin, begin + count).
    void margins(std::size_t slot, std::size_t begin, std::size_t count, double* out) const;

    // Predicted classes of the rows [begin, begin + count), n_classes for abstention; class_index for slots with values.
    void answers(std::size_t slot, std::size_t begin, std::size_t count, std::uint16_t* out) const;
    // Float predictions, shape (n_rows,); null for other forms.
    const float* values(std::size_t slot) const;
    std::size_t class_index(std::size_t slot) const { return slots_[slot].class_index; }
    // Two classes: a byte per row, bit b of which is the class predicted by slot 8 block + b; and whether any is in use.
    const std::uint8_t* signs(std::size_t block) const { return blocks_[block].data(); }
    bool has_signs(std::size_t block) const;
    std::size_t n_sign_blocks() const { return blocks_.size(); }
    // With 3 to 254 classes: predicted classes, shape (n_rows,); otherwise null.
    const std::uint8_t* narrow_answers(std::size_t slot) const;
    // Identifier of a slot's content, unique in the process; a cache key.
    std::uint64_t stamp(std::size_t slot) const;
    // Throws unless the slot is in use and has these numbers of rows and classes.
    void require_fits(std::size_t slot, std::size_t n_rows, std::size_t n_classes) const;

private:
    enum class Kind : std::uint8_t { empty, answers, values, leaves };
    struct Slot {
        Kind kind = Kind::empty;
        std::uint64_t stamp = 0;
        std::vector<std::uint8_t> narrow;  // answers of 3 to 254 classes, or indices of at most 256 leaves
        std::vector<std::uint16_t> wide;   // answers of more classes, or indices of at most 65,536 leaves
        std::vector<std::int32_t> widest;  // indices of more leaves
        std::vector<std::int32_t> table;   // leaf values
        std::vector<float> values;
        std::size_t class_index = 0;  // class of `values`
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
