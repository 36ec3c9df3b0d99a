#include "core/pool.hpp"

#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "core/compiler.hpp"

#if !defined(_WIN32)
#include <pthread.h>
#endif
#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace radboost {
namespace {

inline void pause_briefly() {
#if defined(__x86_64__)
    _mm_pause();
#elif defined(RADBOOST_MSVC_INTRINSICS) && defined(_M_X64)
    _mm_pause();
#elif defined(RADBOOST_MSVC_INTRINSICS)
    __yield();
#elif defined(RADBOOST_GNU_BUILTINS) && defined(__aarch64__)
    __asm__ __volatile__("yield");
#endif
}

// Polls before a waiting thread goes to sleep: about 20 microseconds, the usual gap between short kernels.
constexpr int kSpins = 400;

class Pool {
public:
    void run(int n_threads, std::size_t n_tasks, Task task, void* context) {
        ensure_workers(static_cast<std::size_t>(n_threads) - 1);
        {
            std::lock_guard<std::mutex> lock(mutex_);
            task_ = task;
            context_ = context;
            n_tasks_ = n_tasks;
            next_.store(0, std::memory_order_relaxed);
            error_ = nullptr;
            wanted_ = static_cast<std::size_t>(n_threads) - 1;
            running_.store(wanted_, std::memory_order_relaxed);
            generation_.fetch_add(1, std::memory_order_release);
        }
        wake_.notify_all();
        work();
        for (int spin = 0; spin < kSpins && running_.load(std::memory_order_acquire) != 0; ++spin) pause_briefly();
        if (running_.load(std::memory_order_acquire) != 0) {
            std::unique_lock<std::mutex> lock(mutex_);
            done_.wait(lock, [this] { return running_.load(std::memory_order_acquire) == 0; });
        }
        if (error_) std::rethrow_exception(error_);
    }

private:
    void ensure_workers(std::size_t count) {
        while (workers_.size() < count) {
            const std::size_t index = workers_.size();
            const unsigned long seen = generation_.load(std::memory_order_relaxed);
            try {
                workers_.emplace_back([this, index, seen] { serve(index, seen); });
            } catch (const std::system_error& error) {
                // The threads already started stay, for a later call with a smaller n_threads.
                const std::string started = std::to_string(index + 1);  // the caller works too
                throw std::runtime_error("n_jobs asks for at least " + std::to_string(count + 1) +
                                         " threads, and the system starts no more than " + started + " (" +
                                         error.code().message() + "). Set n_jobs to at most " + started +
                                         ", or allow this process more threads or more memory for their stacks.");
            }
            workers_.back().detach();
        }
    }

    void serve(std::size_t index, unsigned long seen) {
        for (;;) {
            for (int spin = 0; spin < kSpins && generation_.load(std::memory_order_acquire) == seen; ++spin)
                pause_briefly();
            bool take_part;
            {
                std::unique_lock<std::mutex> lock(mutex_);
                wake_.wait(lock, [&] { return generation_.load(std::memory_order_relaxed) != seen; });
                seen = generation_.load(std::memory_order_relaxed);
                take_part = index < wanted_;
            }
            if (!take_part) continue;
            work();
            if (running_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
                std::lock_guard<std::mutex> lock(mutex_);
                done_.notify_one();
            }
        }
    }

    void work() {
        for (;;) {
            const std::size_t index = next_.fetch_add(1, std::memory_order_relaxed);
            if (index >= n_tasks_) return;
            try {
                task_(context_, index);
            } catch (...) {
                std::lock_guard<std::mutex> lock(mutex_);
                if (!error_) error_ = std::current_exception();
                next_.store(n_tasks_, std::memory_order_relaxed);
            }
        }
    }

    std::vector<std::thread> workers_;
    std::mutex mutex_;
    std::condition_variable wake_, done_;
    std::atomic<unsigned long> generation_{0};
    std::atomic<std::size_t> next_{0}, running_{0};
    std::size_t n_tasks_ = 0, wanted_ = 0;
    Task task_ = nullptr;
    void* context_ = nullptr;
    std::exception_ptr error_;
};

// Never destroyed, because detached threads wait on it until the process ends. A forked child has its memory but none of its
// threads, so the child leaves this pool untouched and starts a new one.
std::atomic<Pool*> shared_pool{nullptr};
std::atomic_flag pool_in_use = ATOMIC_FLAG_INIT;
thread_local bool inside_task = false;

[[maybe_unused]] void forget_pool_in_child() {
    shared_pool.store(nullptr, std::memory_order_relaxed);
    pool_in_use.clear();
    inside_task = false;
}

Pool& pool() {
#if !defined(_WIN32)  // which has no fork
    [[maybe_unused]] static const int registered = pthread_atfork(nullptr, nullptr, forget_pool_in_child);
#endif
    Pool* current = shared_pool.load(std::memory_order_acquire);
    if (current == nullptr) {
        current = new Pool;
        shared_pool.store(current, std::memory_order_release);
    }
    return *current;
}

struct PoolUse {
    ~PoolUse() {
        inside_task = false;
        pool_in_use.clear(std::memory_order_release);
    }
};

}  // namespace

void run_tasks(int n_threads, std::size_t n_tasks, Task task, void* context) {
    if (n_threads > static_cast<int>(n_tasks)) n_threads = static_cast<int>(n_tasks);
    const bool alone = n_threads <= 1 || inside_task || pool_in_use.test_and_set(std::memory_order_acquire);
    if (alone) {
        for (std::size_t i = 0; i < n_tasks; ++i) task(context, i);
        return;
    }
    inside_task = true;  // nested calls from tasks of the calling thread run serially
    PoolUse use;
    pool().run(n_threads, n_tasks, task, context);
}

}  // namespace radboost
