// LargeArray: a std::vector aligned to cache lines, if large on huge pages (Linux), for fewer TLB misses in random access.
#pragma once

#include <cstddef>
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
        if (count > (std::size_t{1} << 60) / sizeof(T)) throw std::bad_array_new_length();
        const std::size_t bytes = count * sizeof(T);
        void* memory = ::operator new(bytes, alignment(count));
#if defined(__linux__)
        if (alignment(count) == kPage) madvise(memory, bytes, MADV_HUGEPAGE);  // a hint that may be refused
#endif
        return static_cast<T*>(memory);
    }
    void deallocate(T* memory, std::size_t count) { ::operator delete(memory, alignment(count)); }

    friend bool operator==(const LargePageAllocator&, const LargePageAllocator&) { return true; }
    friend bool operator!=(const LargePageAllocator&, const LargePageAllocator&) { return false; }

private:
    static constexpr std::align_val_t kPage{std::size_t{1} << 21}, kLine{64};
    static std::align_val_t alignment(std::size_t count) {
        return count * sizeof(T) >= 2 * static_cast<std::size_t>(kPage) ? kPage : kLine;
    }
};

template <class T>
using LargeArray = std::vector<T, LargePageAllocator<T>>;

}  // namespace radboost
