// Collective communication (all-reduce, all-gather) between workers that each hold a part of the training rows.
//
// Every number that a model depends on is a sum of integers over the rows, a maximum, or a function of these. All workers run
// the same program on their own rows and make the same calls in the same order; no decision depends on one worker's rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/common.hpp"

namespace radboost {

class Collective {
public:
    virtual ~Collective() = default;

    // True if there is a single worker, which has all rows; the operations below are then the identity.
    virtual bool alone() const = 0;
    // All-reduce, in place: each entry becomes its sum over the workers. Callers choose scales at which no sum overflows.
    virtual void sum(std::int64_t* values, std::size_t count) const = 0;
    // All-reduce, in place: each entry becomes its maximum over the workers.
    virtual void maximum(double* values, std::size_t count) const = 0;
    // All-gather: the bytes of every worker, in the order of their ranks; their counts may differ.
    virtual std::vector<std::vector<std::uint8_t>> gather(const std::uint8_t* bytes, std::size_t count) const = 0;

    // All-reduce of 128-bit sums, and of single values.
    void sum(int128* values, std::size_t count) const;
    std::int64_t sum(std::int64_t value) const;
    double maximum(double value) const;
    // Rank of this worker: its index in the result of `gather`. Communicates, so every worker must call it.
    std::size_t worker() const;
};

// The collective of a process that has all rows.
const Collective& one_worker();

}  // namespace radboost
