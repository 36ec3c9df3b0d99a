// Trees that are asked all their questions, of many rows at once.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/matrix_view.hpp"

namespace radboost {

constexpr std::size_t kProgramRows = kTileRows;
constexpr std::size_t kMostAnswers = 256, kWorkSlots = 16;

// One node: a byte for each row, taken from its right or from its left side. The sides are slots: the first 256 hold the
// number of an answer, which is that of the slot, and the others what earlier steps gave.
struct ProgramStep {
    std::uint32_t column;  // among those that the forest asks for
    std::uint8_t limit;    // right where the code is above
    bool missing_left;
    std::uint16_t left, right, out;
};

// A tree with its nodes in an order in which children come first. The slot `result` has the number of each row's answer in
// the end. Nodes both of whose sides give the same answer are left out.
struct TreeProgram {
    std::vector<ProgramStep> steps;
    std::vector<double> answers;  // different ones, at most 256
    std::uint16_t result = 0;
};

// The codes of a tile of rows: for each column that is asked for, 256 bytes.
struct CodedRows {
    std::vector<std::array<std::int8_t, kProgramRows>> codes;  // number of the column's cuts below the value, minus 128
    std::vector<std::uint8_t> missing;                         // whether any value of a column is; its code is 127
};

// What programs compute in.
class ProgramSlots {
public:
    explicit ProgramSlots(std::size_t n_answers);
    std::uint8_t* slot(std::size_t number) { return bytes_.data() + number * kProgramRows; }

private:
    std::vector<std::uint8_t> bytes_;
};

// The trees of a forest that can be written as programs and gain by it.
class ForestPrograms {
public:
    // The arrays of predict.hpp, checked already; `skip` marks trees that no program is wanted for.
    ForestPrograms(const std::vector<std::int64_t>& tree_offsets, const std::vector<std::int32_t>& features,
                   const std::vector<double>& thresholds, const std::vector<std::int32_t>& left,
                   const std::vector<std::uint8_t>& missing_left, const std::vector<double>& values,
                   const std::vector<int>& depths, const std::vector<std::uint8_t>& skip);

    bool worth_while() const { return worth_while_; }
    bool covers_all() const { return covers_all_; }
    const TreeProgram* program(std::size_t tree) const { return has_program_[tree] ? &programs_[tree] : nullptr; }
    const std::vector<std::uint32_t>& columns() const { return columns_; }
    const std::vector<std::vector<double>>& cuts() const { return cuts_; }  // of each of these columns
    std::size_t n_answers() const { return n_answers_; }                      // of the tree with most of them

private:
    std::vector<TreeProgram> programs_;
    std::vector<std::uint8_t> has_program_;
    std::vector<std::uint32_t> columns_;
    std::vector<std::vector<double>> cuts_;
    std::size_t n_answers_ = 0;
    bool worth_while_ = false, covers_all_ = true;
};

// The number of each row's answer.
const std::uint8_t* run_program(const TreeProgram& program, const CodedRows& rows, ProgramSlots& slots);

}  // namespace radboost
