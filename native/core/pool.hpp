// The thread pool of all kernels: started once, and replaced in a forked child (which with OpenMP could hang).
#pragma once

#include <algorithm>
#include <cstddef>
#include <type_traits>

namespace radboost {

using Task = void (*)(void* context, std::size_t index);

// Runs task(context, i) for i in [0, n_tasks) on up to `n_threads` threads, the caller among them, and returns when all
// are done. The first exception of a task is rethrown. Called from inside a task, or while another thread uses the
// pool, it runs the tasks one after the other: results never depend on it.
void run_tasks(int n_threads, std::size_t n_tasks, Task task, void* context);

template <class Function>
void parallel_for(int n_threads, std::size_t n_tasks, Function&& function) {
    using Callable = std::remove_reference_t<Function>;
    run_tasks(
        n_threads, n_tasks,
        [](void* context, std::size_t index) { (*static_cast<Callable*>(context))(index); },
        const_cast<void*>(static_cast<const void*>(&function)));
}

// Number of ranges into which a kernel divides `n_rows`: at most one per thread, each of 16,384 rows or more.
inline std::size_t row_parts(std::size_t n_rows, int n_threads) {
    constexpr std::size_t kRowsPerTask = 16384;
    return std::max<std::size_t>(1, std::min<std::size_t>(static_cast<std::size_t>(n_threads), n_rows / kRowsPerTask));
}

}  // namespace radboost
