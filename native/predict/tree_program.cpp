#include "predict/tree_program.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "core/common.hpp"

namespace radboost {
namespace {

constexpr std::size_t kMostCuts = 254;  // codes 0 ... 254, and 255 for missing values
constexpr std::int8_t kMissingCode = 127;
// Costs per row, measured in levels of a path: this many steps of a program cost one level, a code costs this many levels.
constexpr std::size_t kStepsPerLevel = 40, kLevelsPerCode = 2;

// Compiles one tree to a program.
class Compiler {
public:
    Compiler(const std::int32_t* features, const std::int32_t* left, const double* values, std::size_t size)
        : features_(features), left_(left), values_(values), need_(size, 0) {
        // Work slots that a subtree needs if the child that needs more is evaluated first (Sethi and Ullman, 1970).
        for (std::size_t i = size; i-- > 0;) {
            if (features[i] < 0) continue;
            const auto child = static_cast<std::size_t>(left[i]);
            const int a = need_[child], b = need_[child + 1];
            need_[i] = std::max({1, a, b, a == b ? a + 1 : 0});
        }
    }

    bool possible() const {
        return need_[0] <= static_cast<int>(kWorkSlots) && need_.size() <= kMostNodes;
    }

    // asked(i) returns the step of node i, without its slots. Returns false if there are too many leaf values.
    template <class Asked>
    bool compile(Asked&& asked, TreeProgram& program) {
        program.result = emit(0, kMostLeafValues, asked, program);
        return program.leaf_values.size() <= kMostLeafValues;
    }

private:
    static constexpr std::size_t kMostNodes = 4096;

    // Appends the steps of a node and returns the slot with its result; `slot` and those after it are free.
    template <class Asked>
    std::uint16_t emit(std::size_t node, std::uint16_t slot, Asked&& asked, TreeProgram& program) {
        if (features_[node] < 0) return leaf_slot(values_[node], program);
        const auto child = static_cast<std::size_t>(left_[node]);
        const std::size_t heavy = need_[child + 1] > need_[child] ? 1 : 0;
        std::uint16_t sides[2];
        sides[heavy] = emit(child + heavy, slot, asked, program);
        const auto next = static_cast<std::uint16_t>(sides[heavy] == slot ? slot + 1 : slot);
        sides[1 - heavy] = emit(child + 1 - heavy, next, asked, program);
        if (sides[0] == sides[1]) return sides[0];
        ProgramStep step = asked(node);
        step.left = sides[0];
        step.right = sides[1];
        step.out = slot;
        program.steps.push_back(step);
        return slot;
    }

    // Slot of a leaf value, appended if new.
    std::uint16_t leaf_slot(double value, TreeProgram& program) {
        const auto known = std::find(program.leaf_values.begin(), program.leaf_values.end(), value);
        const auto number = static_cast<std::size_t>(known - program.leaf_values.begin());
        if (known == program.leaf_values.end()) program.leaf_values.push_back(value);
        return static_cast<std::uint16_t>(std::min(number, kMostLeafValues - 1));  // with more the program is discarded
    }

    const std::int32_t* features_;
    const std::int32_t* left_;
    const double* values_;
    std::vector<int> need_;
};

template <bool kMissingLeft>
RADBOOST_INLINE void take_step(const std::int8_t* codes, std::int8_t limit, const std::uint8_t* left,
                               const std::uint8_t* right, std::uint8_t* out) {
    // `out` may be `left` or `right`: iteration i alone reads and writes byte i.
    RADBOOST_INDEPENDENT_TURNS
    for (std::size_t i = 0; i < kProgramRows; ++i) {
        const bool goes_right = kMissingLeft ? (codes[i] > limit) & (codes[i] != kMissingCode) : codes[i] > limit;
        const std::uint8_t mask = goes_right ? 0xff : 0;
        out[i] = static_cast<std::uint8_t>((right[i] & mask) | (left[i] & ~mask));
    }
}

RADBOOST_CLONES void take_steps(const ProgramStep* steps, std::size_t count, const CodedRows& rows, std::uint8_t* slots) {
    for (std::size_t i = 0; i < count; ++i) {
        const ProgramStep& step = steps[i];
        const std::int8_t* const codes = rows.codes[step.column].data();
        const auto limit = static_cast<std::int8_t>(static_cast<int>(step.limit) - 128);
        const std::uint8_t *const left = slots + step.left * kProgramRows, *const right = slots + step.right * kProgramRows;
        std::uint8_t* const out = slots + step.out * kProgramRows;
        if (step.missing_left && rows.missing[step.column])
            take_step<true>(codes, limit, left, right, out);
        else
            take_step<false>(codes, limit, left, right, out);
    }
}

}  // namespace

ForestPrograms::ForestPrograms(const std::vector<std::int64_t>& tree_offsets, const std::vector<std::int32_t>& features,
                               const std::vector<double>& thresholds, const std::vector<std::int32_t>& left,
                               const std::vector<std::uint8_t>& missing_left, const std::vector<double>& values,
                               const std::vector<int>& depths, const std::vector<std::uint8_t>& skip)
    : programs_(depths.size()), has_program_(depths.size(), 0) {
    const auto nodes_of = [&](std::size_t tree) {
        return std::make_pair(static_cast<std::size_t>(tree_offsets[tree]), static_cast<std::size_t>(tree_offsets[tree + 1]));
    };
    std::size_t n_features = 0;
    for (const std::int32_t feature : features) n_features = std::max(n_features, static_cast<std::size_t>(feature + 1));
    std::vector<std::vector<double>> cuts(n_features);
    for (std::size_t tree = 0; tree < depths.size(); ++tree) {
        if (skip[tree]) continue;
        for (auto [node, end] = nodes_of(tree); node < end; ++node)
            if (features[node] >= 0 && thresholds[node] < std::numeric_limits<double>::infinity())
                cuts[static_cast<std::size_t>(features[node])].push_back(thresholds[node]);
    }
    for (std::vector<double>& own : cuts) {
        std::sort(own.begin(), own.end());
        own.erase(std::unique(own.begin(), own.end()), own.end());
    }
    std::vector<std::int32_t> place(n_features, -1);
    std::size_t levels_saved = 0;
    for (std::size_t tree = 0; tree < depths.size(); ++tree) {
        const auto [begin, end] = nodes_of(tree);
        Compiler compiler(features.data() + begin, left.data() + begin, values.data() + begin, end - begin);
        bool possible = !skip[tree] && compiler.possible();
        for (std::size_t node = begin; node < end && possible; ++node)
            possible = features[node] < 0 || cuts[static_cast<std::size_t>(features[node])].size() <= kMostCuts;
        const auto asked = [&, first = begin](std::size_t i) {
            const std::size_t node = first + i, feature = static_cast<std::size_t>(features[node]);
            if (place[feature] < 0) {
                place[feature] = static_cast<std::int32_t>(columns_.size());
                columns_.push_back(static_cast<std::uint32_t>(feature));
                cuts_.push_back(cuts[feature]);
            }
            const auto cut = std::lower_bound(cuts[feature].begin(), cuts[feature].end(), thresholds[node]);
            ProgramStep step{};
            step.column = static_cast<std::uint32_t>(place[feature]);
            step.limit = static_cast<std::uint8_t>(cut - cuts[feature].begin());
            step.missing_left = missing_left[node] != 0;
            return step;
        };
        possible = possible && compiler.compile(asked, programs_[tree]);
        const auto depth = static_cast<std::size_t>(depths[tree]);
        possible = possible && programs_[tree].steps.size() <= kStepsPerLevel * depth;
        has_program_[tree] = possible;
        covers_all_ = covers_all_ && possible;
        if (!possible) continue;
        levels_saved += depth - programs_[tree].steps.size() / kStepsPerLevel;
        n_leaf_values_ = std::max(n_leaf_values_, programs_[tree].leaf_values.size());
    }
    worth_while_ = levels_saved > kLevelsPerCode * columns_.size();
}

ProgramSlots::ProgramSlots(std::size_t n_leaf_values) : bytes_((kMostLeafValues + kWorkSlots) * kProgramRows) {
    for (std::size_t i = 0; i < n_leaf_values; ++i) std::fill_n(slot(i), kProgramRows, static_cast<std::uint8_t>(i));
}

const std::uint8_t* run_program(const TreeProgram& program, const CodedRows& rows, ProgramSlots& slots) {
    take_steps(program.steps.data(), program.steps.size(), rows, slots.slot(0));
    return slots.slot(program.result);
}

}  // namespace radboost
