// Tree programs: prediction without branches, by evaluating all nodes of a tree, children first, for 256 rows at once.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/matrix_view.hpp"

namespace radboost {

constexpr std::size_t kProgramRows = kTileRows;
constexpr std::size_t kMostLeafValues = 256, kWorkSlots = 16;  // distinct leaf values of a tree: their index is one byte

// One inner node: out[row] = right[row] or left[row]. left, right and out are slots, arrays of one byte per row of a tile:
// slot k < 256 holds k, the index of a leaf value, for every row; the kWorkSlots others have results of earlier steps.
struct ProgramStep {
    std::uint32_t column;  // index in ForestPrograms::columns
    std::uint8_t limit;    // index of the threshold in cuts(): codes above limit - 128 go right
    bool missing_left;
    std::uint16_t left, right, out;
};

// Steps of a tree, children before parents. In the end slot `result` has the index in `leaf_values` of each row's leaf.
struct TreeProgram {
    std::vector<ProgramStep> steps;
    std::vector<double> leaf_values;  // distinct, at most 256
    std::uint16_t result = 0;
};

// Codes of a tile of rows, by column.
struct CodedRows {
    std::vector<std::array<std::int8_t, kProgramRows>> codes;  // number of cuts below the value, minus 128; missing: 127
    std::vector<std::uint8_t> missing;                         // 1 if any value of the column is missing
};

// Memory of all slots for one thread; the constructor fills the constant ones, k < n_leaf_values.
class ProgramSlots {
public:
    explicit ProgramSlots(std::size_t n_leaf_values);
    std::uint8_t* slot(std::size_t number) { return bytes_.data() + number * kProgramRows; }

private:
    std::vector<std::uint8_t> bytes_;
};

// Programs of the trees of a forest. A tree has none if it exceeds a limit (tree_program.cpp) or a path is faster.
class ForestPrograms {
public:
    // Validated arrays of Forest (predict.hpp); skip[tree]: 1 if the tree must not have a program (splits by categories).
    ForestPrograms(const std::vector<std::int64_t>& tree_offsets, const std::vector<std::int32_t>& features,
                   const std::vector<double>& thresholds, const std::vector<std::int32_t>& left,
                   const std::vector<std::uint8_t>& missing_left, const std::vector<double>& values,
                   const std::vector<int>& depths, const std::vector<std::uint8_t>& skip);

    bool worth_while() const { return worth_while_; }  // estimate: faster than following paths from the root
    bool covers_all() const { return covers_all_; }    // every tree has a program
    const TreeProgram* program(std::size_t tree) const { return has_program_[tree] ? &programs_[tree] : nullptr; }
    const std::vector<std::uint32_t>& columns() const { return columns_; }
    const std::vector<std::vector<double>>& cuts() const { return cuts_; }  // distinct thresholds by column, ascending
    std::size_t n_leaf_values() const { return n_leaf_values_; }            // maximum over the trees

private:
    std::vector<TreeProgram> programs_;
    std::vector<std::uint8_t> has_program_;
    std::vector<std::uint32_t> columns_;
    std::vector<std::vector<double>> cuts_;
    std::size_t n_leaf_values_ = 0;
    bool worth_while_ = false, covers_all_ = true;
};

// Returns the slot `result` of the program: the index of each row's leaf value, shape (kProgramRows,).
const std::uint8_t* run_program(const TreeProgram& program, const CodedRows& rows, ProgramSlots& slots);

}  // namespace radboost
