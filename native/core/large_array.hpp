// Arrays that are read at random places: on huge pages, where the system has them to give, a visit costs no page walk.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <new>
#include <vector>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace radboost {

template <class T>
struct LargePageAllocator {
    using value_type = T;

    LargePageAllocator() = default;
    template <class U>
    LargePageAllocator(const LargePageAllocator<U>&) {}

    T* allocate(std::size_t count) {
        constexpr std::size_t kPage = std::size_t{1} << 21;
        if (count > (std::size_t{1} << 60) / sizeof(T)) throw std::bad_array_new_length();
        const std::size_t bytes = count * sizeof(T);
        const bool large = bytes >= 2 * kPage;
        const std::size_t alignment = large ? kPage : 64;
        void* memory = std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
        if (memory == nullptr) throw std::bad_alloc();
#if defined(__linux__)
        if (large) madvise(memory, bytes, MADV_HUGEPAGE);  // a wish: nothing depends on it being granted
#endif
        return static_cast<T*>(memory);
    }
    void deallocate(T* memory, std::size_t) { std::free(memory); }

    friend bool operator==(const LargePageAllocator&, const LargePageAllocator&) { return true; }
    friend bool operator!=(const LargePageAllocator&, const LargePageAllocator&) { return false; }
};

template <class T>
using LargeArray = std::vector<T, LargePageAllocator<T>>;

}  // namespace radboost
