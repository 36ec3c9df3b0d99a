// A byte buffer of arrays of numbers, by which workers exchange summaries of columns (Collective::gather).
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "core/collective.hpp"
#include "core/common.hpp"

namespace radboost {

// Message buffer. Arrays are read in the order in which they were written, each preceded by its length (uint64).
class Letter {
public:
    Letter() = default;
    explicit Letter(std::vector<std::uint8_t> bytes) : bytes_(std::move(bytes)) {}

    template <class Number>
    void write(const std::vector<Number>& numbers) {
        const std::uint64_t size = numbers.size();
        append(&size, sizeof size);
        append(numbers.data(), numbers.size() * sizeof(Number));
    }
    template <class Number>
    std::vector<Number> read() {
        std::uint64_t size = 0;
        take(&size, sizeof size);
        require(size <= (bytes_.size() - place_) / sizeof(Number), "a letter of another worker is too short");
        std::vector<Number> numbers(size);
        take(numbers.data(), size * sizeof(Number));
        return numbers;
    }
    // All-gather: the messages of all workers, in the order of their ranks.
    std::vector<Letter> exchange(const Collective& collective) const {
        std::vector<Letter> letters;
        for (auto& bytes : collective.gather(bytes_.data(), bytes_.size())) letters.emplace_back(std::move(bytes));
        return letters;
    }

private:
    void append(const void* from, std::size_t count) {
        const auto* first = static_cast<const std::uint8_t*>(from);
        bytes_.insert(bytes_.end(), first, first + count);
    }
    void take(void* to, std::size_t count) {
        require(count <= bytes_.size() - place_, "a letter of another worker is too short");
        if (count > 0) std::memcpy(to, bytes_.data() + place_, count);
        place_ += count;
    }

    std::vector<std::uint8_t> bytes_;
    std::size_t place_ = 0;  // read position
};

}  // namespace radboost
