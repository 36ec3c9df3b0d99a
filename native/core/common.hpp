// Types and small helpers that every kernel shares.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>

#include "core/compiler.hpp"
#include "core/int128.hpp"

namespace radboost {

// Called between pieces of work; throws to stop a long computation (the bindings check for Ctrl-C here).
using InterruptCheck = void (*)();

inline void require(bool condition, const char* message) {
    if (!condition) throw std::invalid_argument(message);
}

// Splits [0, n) into `parts` nearly equal ranges; the begin of range `k` (k == parts gives n).
inline std::size_t range_begin(std::size_t n, std::size_t parts, std::size_t k) {
    return static_cast<std::size_t>((n / parts) * k + (n % parts) * k / parts);
}

}  // namespace radboost
