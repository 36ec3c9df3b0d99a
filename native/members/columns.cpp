#include "members/columns.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <type_traits>

#include "core/pool.hpp"

namespace radboost {
namespace {

std::uint64_t next_stamp() {
    static std::atomic<std::uint64_t> last{0};
    return ++last;
}

}  // namespace

HypothesisColumns::HypothesisColumns(std::size_t n_rows, std::size_t n_classes)
    : n_rows_(n_rows), n_classes_(n_classes) {
    require(n_classes >= 2 && n_classes <= 65534, "the number of classes must lie between 2 and 65534");
}

std::size_t HypothesisColumns::take_slot() {
    std::size_t slot = 0;
    while (slot < slots_.size() && slots_[slot].kind != Kind::empty) ++slot;
    if (slot == slots_.size()) slots_.emplace_back();
    if (n_classes_ == 2) {
        if (blocks_.size() <= slot / 8) blocks_.resize(slot / 8 + 1);
        if (blocks_[slot / 8].empty()) blocks_[slot / 8].assign(n_rows_, 0);
    } else if (wide()) {
        slots_[slot].wide.assign(n_rows_, static_cast<std::uint16_t>(n_classes_));
    } else {
        slots_[slot].narrow.assign(n_rows_, static_cast<std::uint8_t>(n_classes_));
    }
    slots_[slot].kind = Kind::answers;
    slots_[slot].stamp = next_stamp();
    return slot;
}

void HypothesisColumns::release(std::size_t slot) {
    used(slot);
    slots_[slot] = Slot();
}

const HypothesisColumns::Slot& HypothesisColumns::used(std::size_t slot) const {
    require(slot < slots_.size() && slots_[slot].kind != Kind::empty, "no hypothesis in that slot");
    return slots_[slot];
}

void HypothesisColumns::require_fits(std::size_t slot, std::size_t n_rows, std::size_t n_classes) const {
    used(slot);
    require(n_rows == n_rows_, "the hypothesis is for another number of rows");
    require(n_classes == n_classes_, "the hypothesis is for another number of classes");
}

// Calls function(i) for every row.
template <class Function>
void HypothesisColumns::for_rows(int n_threads, Function&& function) const {
    const std::size_t parts = row_parts(n_rows_, n_threads);
    parallel_for(n_threads, parts, [&](std::size_t part) {
        const auto own = function;  // a local copy, so that captured pointers stay in registers
        const std::size_t end = range_begin(n_rows_, parts, part + 1);
        for (std::size_t i = range_begin(n_rows_, parts, part); i < end; ++i) own(i);
    });
}

void HypothesisColumns::set_answers(std::size_t slot, const std::int32_t* group_of_row,
                                    const std::int32_t* class_of_group, std::size_t n_groups, int n_threads) {
    require(slot < slots_.size() && slots_[slot].kind == Kind::answers, "the slot is not one for answers");
    const unsigned shift = slot % 8, others = 255u ^ (1u << shift);
    std::vector<std::uint16_t> codes(n_groups);
    for (std::size_t g = 0; g < n_groups; ++g) {
        const std::int32_t c = class_of_group[g];
        require(c >= -1 && c < static_cast<std::int32_t>(n_classes_), "no such class to answer with");
        require(c >= 0 || n_classes_ > 2, "with two classes a hypothesis cannot abstain");
        const std::size_t code = c >= 0 ? static_cast<std::size_t>(c) : n_classes_;
        codes[g] = static_cast<std::uint16_t>(n_classes_ == 2 ? code << shift : code);
    }
    Slot& own = slots_[slot];
    own.stamp = next_stamp();
    const std::uint16_t* code = codes.data();
    if (n_classes_ == 2) {
        std::uint8_t* bytes = blocks_[slot / 8].data();
        for_rows(n_threads, [=](std::size_t i) {
            bytes[i] = static_cast<std::uint8_t>((bytes[i] & others) | code[group_of_row[i]]);
        });
    } else if (wide()) {
        std::uint16_t* answers = own.wide.data();
        for_rows(n_threads, [=](std::size_t i) { answers[i] = code[group_of_row[i]]; });
    } else {
        std::uint8_t* answers = own.narrow.data();
        for_rows(n_threads, [=](std::size_t i) { answers[i] = static_cast<std::uint8_t>(code[group_of_row[i]]); });
    }
}

std::size_t HypothesisColumns::add_values(const float* values, std::size_t class_index) {
    require(class_index < n_classes_, "no such class to give values to");
    const float low = n_classes_ == 2 ? -1.0f : 0.0f;
    for (std::size_t i = 0; i < n_rows_; ++i)
        require(values[i] >= low && values[i] <= 1.0f,
                "predictions must lie in [-1, 1], with more than two classes in [0, 1]");
    Slot added;
    added.kind = Kind::values;
    added.stamp = next_stamp();
    added.values.assign(values, values + n_rows_);
    added.class_index = class_index;
    slots_.push_back(std::move(added));
    return slots_.size() - 1;
}

std::size_t HypothesisColumns::add_leaves(const std::int32_t* group_of_row, const std::int32_t* leaf_of_group,
                                          const std::vector<std::int32_t>& table, int n_threads) {
    const std::size_t n_leaves = table.size() / width();
    require(n_leaves > 0 && table.size() == n_leaves * width(), "every leaf needs a number for each class");
    for (const std::int32_t number : table)
        require(std::abs(number) <= static_cast<std::int32_t>(kValueGrid), "the numbers of leaves must lie in [-1, 1]");
    Slot added;
    added.kind = Kind::leaves;
    added.stamp = next_stamp();
    added.table = table;
    const auto fill = [&](auto& leaves) {
        using Leaf = typename std::decay_t<decltype(leaves)>::value_type;
        leaves.resize(n_rows_);
        Leaf* to = leaves.data();
        for_rows(n_threads, [=](std::size_t i) { to[i] = static_cast<Leaf>(leaf_of_group[group_of_row[i]]); });
    };
    if (n_leaves <= 256)
        fill(added.narrow);
    else if (n_leaves <= 65536)
        fill(added.wide);
    else
        fill(added.widest);
    std::size_t slot = 0;
    while (slot < slots_.size() && slots_[slot].kind != Kind::empty) ++slot;
    if (slot == slots_.size()) slots_.emplace_back();
    slots_[slot] = std::move(added);
    return slot;
}

void HypothesisColumns::leaves(std::size_t slot, std::size_t begin, std::size_t count, std::int32_t* out) const {
    const Slot& own = used(slot);
    require(own.kind == Kind::leaves, "the hypothesis has no leaves");
    if (!own.narrow.empty())
        std::copy_n(own.narrow.data() + begin, count, out);
    else if (!own.wide.empty())
        std::copy_n(own.wide.data() + begin, count, out);
    else if (count > 0)
        std::copy_n(own.widest.data() + begin, count, out);
}

bool HypothesisColumns::has_signs(std::size_t block) const {
    bool any = false;
    for (std::size_t slot = 8 * block; slot < std::min(8 * block + 8, slots_.size()); ++slot)
        any = any || slots_[slot].kind == Kind::answers;
    return any;
}

const std::uint8_t* HypothesisColumns::narrow_answers(std::size_t slot) const {
    return slots_[slot].narrow.empty() || has_leaves(slot) ? nullptr : slots_[slot].narrow.data();
}

void HypothesisColumns::answers(std::size_t slot, std::size_t begin, std::size_t count, std::uint16_t* out) const {
    const Slot& own = used(slot);
    require(own.kind != Kind::leaves, "the hypothesis does not answer with a class");
    if (own.kind == Kind::values) {
        std::fill(out, out + count, static_cast<std::uint16_t>(own.class_index));
    } else if (n_classes_ == 2) {
        const std::uint8_t* bytes = blocks_[slot / 8].data() + begin;
        for (std::size_t k = 0; k < count; ++k) out[k] = (bytes[k] >> (slot % 8)) & 1;
    } else if (wide()) {
        std::copy(own.wide.data() + begin, own.wide.data() + begin + count, out);
    } else {
        std::copy(own.narrow.data() + begin, own.narrow.data() + begin + count, out);
    }
}

const float* HypothesisColumns::values(std::size_t slot) const {
    return used(slot).kind == Kind::values ? slots_[slot].values.data() : nullptr;
}

std::uint64_t HypothesisColumns::stamp(std::size_t slot) const { return used(slot).stamp; }

void HypothesisColumns::predictions(std::size_t slot, double* out) const {
    if (has_leaves(slot)) {
        std::vector<std::int32_t> of_row(n_rows_);
        leaves(slot, 0, n_rows_, of_row.data());
        const std::int32_t* numbers = slots_[slot].table.data();
        for (std::size_t i = 0; i < n_rows_ * width(); ++i)
            out[i] = numbers[static_cast<std::size_t>(of_row[i / width()]) * width() + i % width()] / kValueGrid;
        return;
    }
    const float* real = values(slot);
    if (n_classes_ == 2 && real) {
        std::copy(real, real + n_rows_, out);
        return;
    }
    std::vector<std::uint16_t> classes(n_rows_);
    answers(slot, 0, n_rows_, classes.data());
    if (n_classes_ == 2) {
        for (std::size_t i = 0; i < n_rows_; ++i) out[i] = classes[i] == 1 ? 1.0 : -1.0;
        return;
    }
    std::fill(out, out + n_rows_ * n_classes_, 0.0);
    for (std::size_t i = 0; i < n_rows_; ++i)
        if (classes[i] < n_classes_) out[i * n_classes_ + classes[i]] = real ? static_cast<double>(real[i]) : 1.0;
}

void HypothesisColumns::margins(std::size_t slot, std::size_t begin, std::size_t count, double* out) const {
    if (const float* real = values(slot)) {
        std::copy(real + begin, real + begin + count, out);
        return;
    }
    if (has_leaves(slot)) {
        const Slot& own = slots_[slot];
        const std::int32_t* table = own.table.data();
        constexpr double kUnit = 1.0 / kValueGrid;
        const auto look_up = [&](const auto* of_row) {
            for (std::size_t k = 0; k < count; ++k) out[k] = kUnit * table[of_row[k]];
        };
        if (!own.narrow.empty())
            look_up(own.narrow.data() + begin);
        else if (!own.wide.empty())
            look_up(own.wide.data() + begin);
        else
            look_up(own.widest.data() + begin);
        return;
    }
    const std::uint8_t* bytes = blocks_[slot / 8].data() + begin;
    const unsigned shift = slot % 8;
    for (std::size_t k = 0; k < count; ++k) out[k] = ((bytes[k] >> shift) & 1) != 0 ? 1.0 : -1.0;
}

}  // namespace radboost
