#include "rows/softmax_state.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "losses/class_kernels.hpp"
#include "core/hashing.hpp"
#include "core/pool.hpp"
#include "losses/softmax_kernels.hpp"

namespace radboost {
namespace {

constexpr std::int64_t kLargestScore = (std::int64_t{1} << 30) - 1;
constexpr std::int64_t kLargestStep = std::int64_t{1} << 28;

// Uniform in [0, 1) from a hashed word.
double uniform(std::uint64_t word) { return static_cast<double>(word >> 11) * 0x1p-53; }

// floor(word / 2^64 * n).
std::uint64_t scaled_down(std::uint64_t word, std::uint64_t n) {
    return static_cast<std::uint64_t>((static_cast<unsigned __int128>(word) * n) >> 64);
}

std::vector<std::int8_t> ones(std::size_t n) { return std::vector<std::int8_t>(n, 1); }

}  // namespace

SoftmaxState::SoftmaxState(const BinnedData& data, std::vector<std::uint16_t> classes, std::size_t n_classes,
                           std::vector<double> weights, std::vector<float> costs, bool costs_per_row,
                           std::uint64_t seed, int n_threads)
    : n_classes_(n_classes),
      classes_(std::move(classes)),
      sums_(ones(classes_.size()), std::move(weights)),
      costs_(std::move(costs)),
      costs_per_row_(costs_per_row),
      seed_(seed),
      scores_(classes_.size() * n_classes, 0),
      rule_(classes_.size() * n_classes, 0.0f),
      row_costs_(classes_.size(), 0.0),
      row_sizes_(classes_.size(), 0.0),
      entries_(n_classes),
      grown_(n_classes),
      h_(classes_.size() * n_classes, 0) {
    require(data.n_rows == classes_.size() && !classes_.empty(), "one class per row is needed");
    require(n_classes >= 2 && n_classes <= 65534, "the number of classes must lie between 2 and 65534");
    for (const std::uint16_t c : classes_) require(c < n_classes, "a row has a class that does not exist");
    require(costs_.size() == (costs_per_row ? n_rows() : n_classes) * n_classes,
            "costs must be classes x classes or rows x classes");
    for (const float cost : costs_) require(cost >= 0.0f && cost <= 1.0f, "costs must lie in [0, 1]");
    order_rows(data, n_threads);
}

// Draws walk through the rows in the order of their hashes: copies of a row stand together, and where a row stood in the
// data does not matter.
void SoftmaxState::order_rows(const BinnedData& data, int n_threads) {
    std::vector<std::uint64_t> hashes = data.row_hashes(classes_.data(), n_threads);
    for (std::size_t i = 0; costs_per_row_ && i < n_rows(); ++i) {
        for (std::size_t z = 0; z < n_classes_; ++z) {
            std::uint32_t bits;
            std::memcpy(&bits, costs_of(i) + z, sizeof bits);
            hashes[i] = mix(hashes[i], bits);
        }
    }
    canonical_.resize(n_rows());
    std::iota(canonical_.begin(), canonical_.end(), 0u);
    std::sort(canonical_.begin(), canonical_.end(),
              [&](std::uint32_t a, std::uint32_t b) { return hashes[a] != hashes[b] ? hashes[a] < hashes[b] : a < b; });
}

std::size_t SoftmaxState::parts(int n_threads) const {
    return std::min(n_rows(), row_parts(n_rows() * n_classes_, n_threads));
}

// Calls function(first row, number of rows, scratch for rows x classes) for blocks of rows.
template <class Function>
void SoftmaxState::for_blocks(int n_threads, Function&& function) const {
    const std::size_t n = n_rows(), n_parts = parts(n_threads);
    const std::size_t height = std::max<std::size_t>(1, kBlockElements / n_classes_);
    parallel_for(n_threads, n_parts, [&](std::size_t part) {
        std::vector<double> scratch(height * n_classes_);
        const std::size_t end = range_begin(n, n_parts, part + 1);
        for (std::size_t begin = range_begin(n, n_parts, part); begin < end; begin += height)
            function(begin, std::min(height, end - begin), scratch.data());
    });
}

SoftmaxSums SoftmaxState::evaluate(int n_threads) {
    std::vector<double> wrong(n_rows());
    for_blocks(n_threads, [&](std::size_t begin, std::size_t count, double* rule) {
        std::vector<const float*> costs(count);
        for (std::size_t r = 0; r < count; ++r) costs[r] = costs_of(begin + r);
        const std::int32_t* scores = scores_.data() + begin * n_classes_;
        softmax_rows({scores, costs.data(), count, n_classes_}, rule, row_costs_.data() + begin);
        for (std::size_t k = 0; k < count * n_classes_; ++k)
            rule_[begin * n_classes_ + k] = static_cast<float>(rule[k]);
        for (std::size_t r = 0; r < count; ++r) {
            const std::int32_t* row = scores + r * n_classes_;
            wrong[begin + r] = std::max_element(row, row + n_classes_) != row + classes_[begin + r];
            double size = 0;
            for (std::size_t z = 0; z < n_classes_; ++z)
                size += rule[r * n_classes_ + z] * std::fabs(static_cast<double>(costs[r][z]) - row_costs_[begin + r]);
            row_sizes_[begin + r] = size;
        }
    });
    const double total = total_weight();
    return {sums_.weighted_sum(row_costs_.data(), n_threads) / total,
            sums_.weighted_sum(wrong.data(), n_threads) / total,
            sums_.weighted_sum(row_sizes_.data(), n_threads) / total};
}

// What the draws of a round are proportional to, summed up along the canonical order: the sample weights, or these times
// the size of the row's gradient. Integers, so that copies of a row take as much room as a row of their weight.
void SoftmaxState::lay_out(Pairs pairs) {
    const bool weighted = !sums_.weights().empty();
    if (pairs == Pairs::by_rule && (!weighted || !cumulative_.empty())) return;
    // Sizes are at most 1, so that the sum of all masses stays below 2^62.
    const int shift = std::min(40, 60 - std::ilogb(total_weight()));
    const std::int64_t* copies = sums_.copies();
    cumulative_.resize(n_rows());
    std::uint64_t sum = 0;
    for (std::size_t k = 0; k < n_rows(); ++k) {
        const std::size_t i = canonical_[k];
        double size = pairs == Pairs::by_gradient ? row_sizes_[i] : 1.0;
        if (weighted && !copies) size *= sums_.weights()[i];
        const auto mass = static_cast<std::uint64_t>(std::llrint(std::ldexp(size, shift)));
        sum += copies ? mass * static_cast<std::uint64_t>(copies[i]) : mass;
        cumulative_[k] = sum;
    }
    mass_unit_ = std::ldexp(1.0, -shift);
}

// M pairs into the entries of their classes. Draw j is a function of (seed, round, j) and of the rows' content.
void SoftmaxState::draw(Pairs pairs, std::size_t n_samples, std::uint64_t round, int n_threads) {
    lay_out(pairs);
    for (std::vector<Entry>& list : entries_) list.clear();
    const std::uint64_t total = cumulative_.empty() ? n_rows() : cumulative_.back();
    if (total == 0) return;
    const std::uint64_t key = mix(mix(seed_, round), 0x70616972);
    struct Drawn {
        std::uint32_t row;
        std::uint16_t label;
        float weight;
    };
    std::vector<Drawn> drawn(n_samples);
    const std::size_t n_parts = row_parts(n_samples, n_threads);
    parallel_for(n_threads, n_parts, [&](std::size_t part) {
        for (std::size_t j = range_begin(n_samples, n_parts, part); j < range_begin(n_samples, n_parts, part + 1); ++j) {
            const std::uint64_t word = mix(key, j);
            std::uint64_t place = scaled_down(word, total);
            if (pairs == Pairs::by_gradient)  // one draw in each of M equal parts of the whole
                place = static_cast<std::uint64_t>((static_cast<int128>(j) * static_cast<int128>(total) + place) /
                                                   static_cast<int128>(n_samples));
            const std::size_t row = draw_row(std::min(place, total - 1));
            const float *rule = rule_.data() + row * n_classes_, *costs = costs_of(row);
            const auto cost = static_cast<float>(row_costs_[row]);
            double sum = 0;
            for (std::size_t z = 0; z < n_classes_; ++z)
                sum += static_cast<double>(pairs == Pairs::by_rule ? rule[z] : rule[z] * std::fabs(costs[z] - cost));
            const double wanted = uniform(mix(word, 0x6c6162656c)) * sum;
            double below = 0;
            std::size_t label = 0;
            for (std::size_t z = 0; z < n_classes_; ++z) {
                const double part_of_z =
                    static_cast<double>(pairs == Pairs::by_rule ? rule[z] : rule[z] * std::fabs(costs[z] - cost));
                if (part_of_z > 0) label = z;  // rounding can leave the last one short
                below += part_of_z;
                if (below > wanted) break;
            }
            const float difference = costs[label] - cost;
            const float weight = pairs == Pairs::by_rule ? difference : (difference > 0 ? 1.0f : -1.0f);
            drawn[j] = {static_cast<std::uint32_t>(row), static_cast<std::uint16_t>(label), weight};
        }
    });
    for (const Drawn& pair : drawn)
        if (pair.weight != 0) entries_[pair.label].push_back({pair.row, pair.weight});
}

std::size_t SoftmaxState::draw_row(std::uint64_t place) const {
    if (cumulative_.empty()) return canonical_[static_cast<std::size_t>(place)];
    const auto found = std::upper_bound(cumulative_.begin(), cumulative_.end(), place);
    return canonical_[static_cast<std::size_t>(found - cumulative_.begin())];
}

double SoftmaxState::grow(WeightedTrees& trees, Pairs pairs, std::size_t n_samples, std::uint64_t round, int n_threads,
                          InterruptCheck check) {
    require(trees.data().n_rows == n_rows() && trees.n_classes() == 2,
            "the trees must be for these rows and two classes");
    require(pairs == Pairs::all || n_samples > 0, "at least one pair must be drawn");
    if (pairs != Pairs::all) draw(pairs, n_samples, round, n_threads);
    std::vector<double> edges(n_classes_, 0.0);
    const std::size_t n = n_rows();
    parallel_for(n_threads, n_classes_, [&](std::size_t z) {
        edges[z] = grow_class(trees, z, pairs, round, check);
        std::int8_t* line = h_.data() + z * n;
        if (grown_[z])
            grown_[z]->signs(trees.data(), 0, n, line);
        else
            std::fill(line, line + n, std::int8_t{0});
    });
    const double sum = std::accumulate(edges.begin(), edges.end(), 0.0);
    if (pairs == Pairs::all) return sum / total_weight();
    const double mean = sum / static_cast<double>(n_samples);
    if (pairs == Pairs::by_rule || cumulative_.empty()) return mean;
    return mean * static_cast<double>(cumulative_.back()) * mass_unit_ / total_weight();
}

// The weighted binary problem of one label: is its cost above or below what the rule pays? Equation (8) and section 5.1.
double SoftmaxState::grow_class(WeightedTrees& trees, std::size_t z, Pairs pairs, std::uint64_t round,
                                InterruptCheck check) {
    grown_[z] = nullptr;
    const bool all = pairs == Pairs::all;
    const std::size_t size = all ? n_rows() : entries_[z].size();
    std::vector<double> values(size);
    std::vector<std::uint32_t> rows(size);
    for (std::size_t k = 0; k < size; ++k) {
        const std::size_t i = all ? k : entries_[z][k].row;
        rows[k] = static_cast<std::uint32_t>(i);
        values[k] = all ? static_cast<double>(rule_[i * n_classes_ + z]) *
                              (static_cast<double>(costs_of(i)[z]) - row_costs_[i])
                        : static_cast<double>(entries_[z][k].weight);
    }
    // Pairs that were drawn have their weight in how often they were.
    const std::int64_t* copies = all ? sums_.copies() : nullptr;
    const bool weighted = all && !copies && !sums_.weights().empty();
    if (weighted)
        for (std::size_t i = 0; i < size; ++i) values[i] *= sums_.weights()[i];
    double largest = 0;
    for (const double value : values) largest = std::max(largest, std::fabs(value));
    if (largest < 0x1p-900) return 0.0;
    // By one power of two, decided by an exact sum, to a total below 2^29.
    int exponent = 0;
    std::frexp(largest, &exponent);
    int128 total = 0;
    for (std::size_t k = 0; k < size; ++k) {
        const std::int64_t fixed = std::llrint(std::ldexp(std::fabs(values[k]), 40 - exponent));
        total += static_cast<int128>(fixed) * (copies ? copies[k] : 1);
    }
    int total_exponent = 0;
    std::frexp(static_cast<double>(total), &total_exponent);
    const int shift = 29 - (total_exponent - 40 + exponent);
    std::vector<std::uint32_t> weights;
    std::vector<std::uint16_t> labels;
    std::vector<double> counts;
    std::size_t kept = 0;
    for (std::size_t k = 0; k < size; ++k) {
        const std::int64_t weight = std::llrint(std::ldexp(std::fabs(values[k]), shift)) * (copies ? copies[k] : 1);
        if (weight == 0) continue;
        if (all && !sums_.weights().empty()) counts.push_back(sums_.weights()[k]);
        rows[kept++] = rows[k];
        weights.push_back(static_cast<std::uint32_t>(weight));
        labels.push_back(values[k] > 0 ? 1 : 0);
    }
    if (kept == 0) return 0.0;
    const GivenRows problem{rows.data(), labels.data(), weights.data(), counts.empty() ? nullptr : counts.data(), kept};
    grown_[z] = std::make_shared<AnsweringTree>(trees.grow(problem, mix(round, z), check));
    return std::ldexp(static_cast<double>(grown_[z]->edge()), -shift);
}

double SoftmaxState::slope(int n_threads) const {
    std::vector<double> products(n_rows());
    for_blocks(n_threads, [&](std::size_t begin, std::size_t count, double*) {
        for (std::size_t i = begin; i < begin + count; ++i) {
            const float *rule = rule_.data() + i * n_classes_, *costs = costs_of(i);
            double sum = 0;
            for (std::size_t z = 0; z < n_classes_; ++z)
                sum += static_cast<double>(rule[z]) * (static_cast<double>(costs[z]) - row_costs_[i]) *
                       h_[z * n_rows() + i];
            products[i] = sum;
        }
    });
    return sums_.weighted_sum(products.data(), n_threads) / total_weight();
}

std::pair<double, double> SoftmaxState::along(double a, int n_threads) const {
    const auto whole = static_cast<std::int32_t>(std::llrint(std::min(std::fabs(a), 256.0) * kScoreGrid));
    std::vector<double> values(n_rows()), slopes(n_rows());
    for_blocks(n_threads, [&](std::size_t begin, std::size_t count, double* rule) {
        std::vector<std::int32_t> moved(scores_.begin() + static_cast<std::ptrdiff_t>(begin * n_classes_),
                                        scores_.begin() + static_cast<std::ptrdiff_t>((begin + count) * n_classes_));
        move_scores(moved.data(), count, n_classes_, h_.data() + begin, n_rows(), a < 0 ? -whole : whole);
        std::vector<const float*> costs(count);
        for (std::size_t r = 0; r < count; ++r) costs[r] = costs_of(begin + r);
        softmax_rows({moved.data(), costs.data(), count, n_classes_}, rule, values.data() + begin);
        for (std::size_t r = 0; r < count; ++r) {
            const double cost = values[begin + r];
            double sum = 0;
            for (std::size_t z = 0; z < n_classes_; ++z)
                sum += rule[r * n_classes_ + z] * (static_cast<double>(costs[r][z]) - cost) *
                       h_[z * n_rows() + begin + r];
            slopes[begin + r] = sum;
        }
    });
    return {sums_.weighted_sum(values.data(), n_threads) / total_weight(),
            sums_.weighted_sum(slopes.data(), n_threads) / total_weight()};
}

void SoftmaxState::set_directions(const std::int8_t* directions) {
    const std::size_t size = n_rows() * n_classes_;
    require(std::all_of(directions, directions + size, [](std::int8_t h) { return h >= -1 && h <= 1; }),
            "directions are -1, 0 and 1");
    std::copy(directions, directions + size, h_.data());
}

void SoftmaxState::step(double a, int n_threads) {
    const double scaled = a * kScoreGrid;
    require(scaled == std::nearbyint(scaled), "steps must be multiples of 2^-20");
    require(std::fabs(scaled) <= static_cast<double>(kLargestStep), "steps must not be longer than 256");
    const auto whole = static_cast<std::int32_t>(scaled);
    if (largest_score_ + std::abs(std::int64_t{whole}) > kLargestScore) recentre(n_threads);
    largest_score_ += std::abs(std::int64_t{whole});
    for_blocks(n_threads, [&](std::size_t begin, std::size_t count, double*) {
        move_scores(scores_.data() + begin * n_classes_, count, n_classes_, h_.data() + begin, n_rows(), whole);
    });
}

// Only differences count, and a class 1,024 behind the best of its row cannot tell.
void SoftmaxState::recentre(int n_threads) {
    for_blocks(n_threads, [&](std::size_t begin, std::size_t count, double*) {
        for (std::size_t i = begin; i < begin + count; ++i) {
            std::int32_t* row = scores_.data() + i * n_classes_;
            const std::int64_t top = *std::max_element(row, row + n_classes_);
            for (std::size_t z = 0; z < n_classes_; ++z)
                row[z] = static_cast<std::int32_t>(std::max(row[z] - top, -kLargestScore));
        }
    });
    largest_score_ = 0;
    for (const std::int32_t score : scores_)
        largest_score_ = std::max(largest_score_, std::abs(std::int64_t{score}));
}

void SoftmaxState::set_scores(const double* scores) {
    for (std::size_t i = 0; i < n_rows(); ++i) {
        const double* row = scores + i * n_classes_;
        const double top = *std::max_element(row, row + n_classes_);
        for (std::size_t z = 0; z < n_classes_; ++z)
            scores_[i * n_classes_ + z] = static_cast<std::int32_t>(
                std::max(std::nearbyint((row[z] - top) * kScoreGrid), -static_cast<double>(kLargestScore)));
    }
    recentre(1);
}

}  // namespace radboost
