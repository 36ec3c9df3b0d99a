// StatePool: hash set of the distinct states of one layer during determinization. A state is a weighted subset (Mohri, 1997,
// Finite-state transducers in language and speech processing): one cost per entry of the LossSource (if merged, three).
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "core/hashing.hpp"

namespace radboost {

class StatePool {
public:
    explicit StatePool(std::size_t width) : width_(width), slots_(64, -1) {}

    std::size_t size() const { return best.size(); }
    std::size_t width() const { return width_; }
    const double* row(std::size_t k) const { return rows_.data() + k * width_; }

    // Index of the state with these costs, which is added if new. Costs must not be -0 or NaN.
    std::int32_t insert(const double* costs, double best_loss) {
        const std::uint64_t key = hash(costs);
        std::size_t slot = key & (slots_.size() - 1);
        for (; slots_[slot] >= 0; slot = (slot + 1) & (slots_.size() - 1)) {
            const auto k = static_cast<std::size_t>(slots_[slot]);
            if (keys_[k] == key && std::memcmp(row(k), costs, width_ * sizeof(double)) == 0) {
                if (best_loss < best[k]) best[k] = best_loss;
                return static_cast<std::int32_t>(k);
            }
        }
        const auto added = static_cast<std::int32_t>(size());
        slots_[slot] = added;
        keys_.push_back(key);
        best.push_back(best_loss);
        rows_.insert(rows_.end(), costs, costs + width_);
        if (2 * size() > slots_.size()) grow();
        return added;
    }

    std::vector<double> best;  // of each state: least loss of the strings that pass through it

private:
    std::uint64_t hash(const double* costs) const {
        std::uint64_t key = width_;
        for (std::size_t k = 0; k < width_; ++k) {
            std::uint64_t word;
            std::memcpy(&word, costs + k, sizeof word);
            key = (key ^ word) * 0x9e3779b97f4a7c15ULL;
            key ^= key >> 29;
        }
        return mix(key);
    }

    void grow() {
        slots_.assign(4 * slots_.size(), -1);
        for (std::size_t k = 0; k < size(); ++k) {
            std::size_t slot = keys_[k] & (slots_.size() - 1);
            while (slots_[slot] >= 0) slot = (slot + 1) & (slots_.size() - 1);
            slots_[slot] = static_cast<std::int32_t>(k);
        }
    }

    std::size_t width_;
    std::vector<double> rows_;
    std::vector<std::uint64_t> keys_;
    std::vector<std::int32_t> slots_;
};

}  // namespace radboost
