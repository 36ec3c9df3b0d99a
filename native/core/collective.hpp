// What "all rows" means: the rows of this process, or those of several workers that each own a part of them.
//
// Every number that a model depends on is a sum of integers over the rows, a maximum, or a function of these. With several
// workers all of them run the same program on their own rows and meet here: each call is made by every worker, in the same
// order, and leaves the same numbers with all of them. So no decision may depend on what one worker has alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/common.hpp"

namespace radboost {

class Collective {
public:
    virtual ~Collective() = default;

    // Whether this worker has all rows, so that the methods below leave everything as it is.
    virtual bool alone() const = 0;
    // Each entry becomes its sum over the workers. No sum overflows: the callers' scales see to that.
    virtual void sum(std::int64_t* values, std::size_t count) const = 0;
    // Each entry becomes the largest of the workers'.
    virtual void maximum(double* values, std::size_t count) const = 0;
    // The bytes of all workers, in the order of the workers.
    virtual std::vector<std::vector<std::uint8_t>> gather(const std::uint8_t* bytes, std::size_t count) const = 0;

    // The same for sums that need 128 bits.
    void sum(int128* values, std::size_t count) const;
    std::int64_t sum(std::int64_t value) const;
    double maximum(double value) const;
    // The place of this worker in what `gather` returns.
    std::size_t worker() const;
};

// This process alone.
const Collective& one_worker();

}  // namespace radboost
