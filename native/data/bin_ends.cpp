#include "data/bin_ends.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace radboost {
namespace {

// Consecutive values first ... last - 1, which are to be divided into n_bins bins.
struct Run {
    std::size_t first, last, n_bins;
    std::size_t size() const { return last - first; }
};

class BinDivider {
public:
    explicit BinDivider(const std::vector<double>& cumulative) : cumulative_(cumulative) {}

    void divide(const Run& run) {
        const std::vector<std::size_t> apart = values_apart(run);
        if (apart.empty()) return divide_evenly(run);
        std::vector<Run> runs = runs_between(run, apart);
        for (std::size_t left = run.n_bins - apart.size() - runs.size(); left > 0; --left) {
            Run* most = nullptr;
            for (Run& other : runs)
                if (other.n_bins < other.size() && (most == nullptr || heavier_bins(other, *most))) most = &other;
            ++most->n_bins;
        }
        auto next = runs.begin();
        for (const std::size_t value : apart) {
            if (next != runs.end() && next->first < value) divide(*next++);
            ends.push_back(value + 1);
        }
        if (next != runs.end()) divide(*next);
    }

    std::vector<std::size_t> ends;

private:
    double weight(std::size_t first, std::size_t last) const { return cumulative_[last] - cumulative_[first]; }
    double weight(const Run& run) const { return weight(run.first, run.last); }
    bool heavier_bins(const Run& a, const Run& b) const {
        return weight(a) * static_cast<double>(b.n_bins) > weight(b) * static_cast<double>(a.n_bins);
    }

    // The runs between the values `apart` (ascending), which have bins of their own; each run starts with one bin.
    static std::vector<Run> runs_between(const Run& all, const std::vector<std::size_t>& apart) {
        std::vector<Run> runs;
        std::size_t first = all.first;
        for (const std::size_t value : apart) {
            if (first < value) runs.push_back({first, value, 1});
            first = value + 1;
        }
        if (first < all.last) runs.push_back({first, all.last, 1});
        return runs;
    }

    // Values with bins of their own, ascending: the most of the heaviest for which `fits` holds, by bisection.
    std::vector<std::size_t> values_apart(const Run& run) const {
        if (run.size() <= run.n_bins) return {};
        const double bin_weight = weight_of_a_bin(
            run.size(), [&](std::size_t i) { return weight(run.first + i, run.first + i + 1); }, run.n_bins);
        std::vector<std::size_t> heavy;
        for (std::size_t i = run.first; i < run.last; ++i)
            if (weight(i, i + 1) > bin_weight) heavy.push_back(i);
        std::stable_sort(heavy.begin(), heavy.end(),
                         [&](std::size_t a, std::size_t b) { return weight(a, a + 1) > weight(b, b + 1); });
        std::size_t n_apart = 0, too_many = heavy.size() + 1;
        while (too_many - n_apart > 1) {
            const std::size_t middle = (n_apart + too_many) / 2;
            (fits(run, heavy, middle) ? n_apart : too_many) = middle;
        }
        heavy.resize(n_apart);
        std::sort(heavy.begin(), heavy.end());
        return heavy;
    }

    // True if run.n_bins bins suffice when the n heaviest values have one each and no other bin weighs more than the lightest
    // of these. Monotone: true for n implies true for smaller n.
    bool fits(const Run& run, const std::vector<std::size_t>& heavy, std::size_t n) const {
        const double most = weight(heavy[n - 1], heavy[n - 1] + 1);
        std::vector<std::size_t> apart(heavy.begin(), heavy.begin() + static_cast<std::ptrdiff_t>(n));
        std::sort(apart.begin(), apart.end());
        double needed = static_cast<double>(n);
        // At least one bin, even if the run's weight vanishes by rounding of the cumulative sums.
        for (const Run& part : runs_between(run, apart)) needed += std::max(1.0, std::ceil(weight(part) / most));
        return needed <= static_cast<double>(run.n_bins);
    }

    void divide_evenly(const Run& run) {
        const auto n_bins = static_cast<double>(run.n_bins), total = weight(run);
        std::size_t end = run.first;
        for (std::size_t k = 1; k < run.n_bins; ++k) {
            const std::size_t last = run.last - (run.n_bins - k);  // leaves at least one value for each later bin
            const auto reached = std::partition_point(cumulative_.begin() + static_cast<std::ptrdiff_t>(end + 1),
                cumulative_.begin() + static_cast<std::ptrdiff_t>(last),
                [&](double sum) { return (sum - cumulative_[run.first]) * n_bins < static_cast<double>(k) * total; });
            end = static_cast<std::size_t>(reached - cumulative_.begin());
            ends.push_back(end);
        }
        ends.push_back(run.last);
    }

    const std::vector<double>& cumulative_;
};

}  // namespace

std::vector<std::size_t> bin_ends(const std::vector<double>& cumulative, std::size_t n_bins) {
    BinDivider divider(cumulative);
    const std::size_t size = cumulative.size() - 1;
    if (size > 0) divider.divide({0, size, std::min(n_bins, size)});
    return std::move(divider.ends);
}

}  // namespace radboost
