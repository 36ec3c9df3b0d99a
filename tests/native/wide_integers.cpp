// WideInteger beside the compiler's own integers of 128 bits, and the bit counts of RADBOOST_PORTABLE beside built-in ones.
// Built and run by test_wide_integers.py; says what differs and returns 1, or prints how many results it compared.
#define RADBOOST_PORTABLE
#include "core/int128.hpp"

#include <cstdio>
#include <cstring>
#include <vector>

using radboost::WideInteger;
__extension__ typedef __int128 Own;
__extension__ typedef unsigned __int128 OwnUnsigned;

namespace {

long compared = 0;
bool wrong = false;

WideInteger wide(Own value) {
    return WideInteger{static_cast<std::int64_t>(value >> 64)} * (WideInteger{std::uint64_t{1} << 63} + (std::uint64_t{1} << 63)) +
           static_cast<std::uint64_t>(value);
}

bool same(const WideInteger& a, Own b) {
    return static_cast<std::uint64_t>(a) == static_cast<std::uint64_t>(b) &&
           static_cast<std::uint64_t>(a >> 64) == static_cast<std::uint64_t>(b >> 64);
}

void check(bool right, const char* what, Own a, Own b) {
    ++compared;
    if (right) return;
    wrong = true;
    std::printf("%s: %016llx%016llx, %016llx%016llx\n", what, static_cast<unsigned long long>(a >> 64),
                static_cast<unsigned long long>(a), static_cast<unsigned long long>(b >> 64),
                static_cast<unsigned long long>(b));
}

Own wrapped(OwnUnsigned value) { return static_cast<Own>(value); }

void compare(Own a, Own b) {
    const WideInteger x = wide(a), y = wide(b);
    const auto ua = static_cast<OwnUnsigned>(a), ub = static_cast<OwnUnsigned>(b);
    check(same(x, a), "the number itself", a, b);
    check(same(x + y, wrapped(ua + ub)), "+", a, b);
    check(same(x - y, wrapped(ua - ub)), "-", a, b);
    check(same(x * y, wrapped(ua * ub)), "*", a, b);
    check(same(-x, wrapped(0 - ua)), "unary -", a, b);
    check(same(x & y, a & b), "&", a, b);
    const bool overflow = b == -1 && ua == OwnUnsigned{1} << 127;
    if (b != 0 && !overflow) check(same(x / y, a / b), "/", a, b);
    check((x < y) == (a < b) && (x > y) == (a > b) && (x <= y) == (a <= b) && (x >= y) == (a >= b) &&
              (x == y) == (a == b) && (x != y) == (a != b),
          "comparisons", a, b);
    WideInteger sum = x;
    sum += y;
    check(same(sum, wrapped(ua + ub)), "+=", a, b);
    const double here = static_cast<double>(x), there = static_cast<double>(a);
    check(std::memcmp(&here, &there, sizeof here) == 0, "to double", a, b);
    check(static_cast<std::int64_t>(x) == static_cast<std::int64_t>(a) &&
              static_cast<std::int32_t>(x) == static_cast<std::int32_t>(a),
          "to words", a, b);
    const auto low = static_cast<std::uint64_t>(a), other = static_cast<std::uint64_t>(b);
    check(radboost::high_product(low, other) == static_cast<std::uint64_t>((OwnUnsigned{low} * other) >> 64),
          "high_product", a, b);
    check(same(WideInteger{low}, Own{low}) && same(WideInteger{static_cast<std::int32_t>(a)}, Own{static_cast<std::int32_t>(a)}),
          "from words", a, b);
    check(radboost::count_ones(low) == static_cast<std::size_t>(__builtin_popcountll(low)), "count_ones", a, b);
    if (low == 0) return;
    check(radboost::lowest_one(low) == static_cast<std::size_t>(__builtin_ctzll(low)), "lowest_one", a, b);
    check(radboost::highest_one(low) == 63 - static_cast<std::size_t>(__builtin_clzll(low)), "highest_one", a, b);
}

}  // namespace

int main() {
    std::vector<Own> numbers;
    // Powers of two and their neighbours, and numbers halfway between two doubles.
    for (int place = 0; place < 128; ++place)
        for (const int step : {-1, 0, 1}) {
            const OwnUnsigned number = (OwnUnsigned{1} << place) + static_cast<OwnUnsigned>(static_cast<Own>(step));
            numbers.push_back(wrapped(number));
            numbers.push_back(wrapped(0 - number));
            if (place >= 54) numbers.push_back(wrapped(number | (OwnUnsigned{3} << (place - 54))));
            if (place >= 54) numbers.push_back(wrapped(number | (OwnUnsigned{1} << (place - 53))));
        }
    std::uint64_t state = 1;
    const auto word = [&state] { return state = state * 6364136223846793005u + 1442695040888963407u; };
    for (int i = 0; i < 400; ++i) {
        const OwnUnsigned number = (OwnUnsigned{word()} << 64) | word();
        numbers.push_back(wrapped(number) >> (word() >> 57));
    }
    for (const Own a : numbers) {
        for (const Own b : numbers) compare(a, b);
        for (int places = 0; places < 128; ++places) {
            check(same(wide(a) >> places, a >> places), ">>", a, places);
            check(same(wide(a) << places, wrapped(static_cast<OwnUnsigned>(a) << places)), "<<", a, places);
        }
    }
    static_assert((WideInteger{1} << 32) == WideInteger{std::int64_t{1} << 32}, "constants are computed while compiling");
    if (!wrong) std::printf("%ld\n", compared);
    return wrong ? 1 : 0;
}
