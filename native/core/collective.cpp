#include "core/collective.hpp"

#include <algorithm>
#include <random>

namespace radboost {
namespace {

class OneWorker : public Collective {
public:
    bool alone() const override { return true; }
    void sum(std::int64_t*, std::size_t) const override {}
    void maximum(double*, std::size_t) const override {}
    std::vector<std::vector<std::uint8_t>> gather(const std::uint8_t* bytes, std::size_t count) const override {
        return {std::vector<std::uint8_t>(bytes, bytes + count)};
    }
};

constexpr int kLimbBits = 32;

}  // namespace

// Sends each value as three limbs: two unsigned ones of 32 bits, whose sums over 2^31 workers fit 64 bits, and the rest.
void Collective::sum(int128* values, std::size_t count) const {
    if (alone() || count == 0) return;
    constexpr std::int64_t kMask = (std::int64_t{1} << kLimbBits) - 1;
    std::vector<std::int64_t> limbs(3 * count);
    for (std::size_t i = 0; i < count; ++i) {
        limbs[3 * i] = static_cast<std::int64_t>(values[i] & kMask);
        limbs[3 * i + 1] = static_cast<std::int64_t>((values[i] >> kLimbBits) & kMask);
        limbs[3 * i + 2] = static_cast<std::int64_t>(values[i] >> (2 * kLimbBits));
    }
    sum(limbs.data(), limbs.size());
    const int128 kLimb = int128{1} << kLimbBits;
    for (std::size_t i = 0; i < count; ++i)
        values[i] = limbs[3 * i] + kLimb * (limbs[3 * i + 1] + kLimb * limbs[3 * i + 2]);
}

std::int64_t Collective::sum(std::int64_t value) const {
    sum(&value, 1);
    return value;
}

double Collective::maximum(double value) const {
    maximum(&value, 1);
    return value;
}

// Gathers a random token of each worker and looks up its own.
std::size_t Collective::worker() const {
    if (alone()) return 0;
    std::random_device device;
    std::vector<std::uint8_t> token(16);
    std::generate(token.begin(), token.end(), [&] { return static_cast<std::uint8_t>(device()); });
    const auto tokens = gather(token.data(), token.size());
    return static_cast<std::size_t>(std::find(tokens.begin(), tokens.end(), token) - tokens.begin());
}

const Collective& one_worker() {
    static const OneWorker worker;
    return worker;
}

}  // namespace radboost
