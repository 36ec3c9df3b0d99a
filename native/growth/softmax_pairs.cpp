#include "growth/softmax_pairs.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "core/hashing.hpp"
#include "core/pool.hpp"

namespace radboost {
namespace {

// Uniform in [0, 1) from a hashed word.
double uniform(std::uint64_t word) { return static_cast<double>(word >> 11) * 0x1p-53; }

// All-gather of lists of 64-bit words, by worker.
std::vector<std::vector<std::uint64_t>> gather_words(const Collective& collective, const std::vector<std::uint64_t>& own) {
    const auto bytes = collective.gather(reinterpret_cast<const std::uint8_t*>(own.data()), own.size() * sizeof(own[0]));
    std::vector<std::vector<std::uint64_t>> words(bytes.size());
    for (std::size_t worker = 0; worker < bytes.size(); ++worker) {
        words[worker].resize(bytes[worker].size() / sizeof(own[0]));
        if (!words[worker].empty()) std::memcpy(words[worker].data(), bytes[worker].data(), bytes[worker].size());
    }
    return words;
}

// Sampling weight of label z in a row: g(z | x), or g(z | x) |Delta c(z)|; `paid` is the expected cost of the row.
double share_of(Pairs pairs, float rule, float cost, float paid) {
    return static_cast<double>(pairs == Pairs::by_rule ? rule : rule * std::fabs(cost - paid));
}

}  // namespace

Pairs pairs_named(const std::string& name) {
    constexpr const char* kNames[] = {"all", "by_rule", "by_gradient"};  // in the order of Pairs
    for (std::size_t k = 0; k < std::size(kNames); ++k)
        if (name == kNames[k]) return static_cast<Pairs>(k);
    throw std::invalid_argument("the pairs are 'all', 'by_rule' or 'by_gradient'");
}

SoftmaxPairs::SoftmaxPairs(SoftmaxScores& scores, const BinnedData& data, std::uint64_t seed, int n_threads)
    : scores_(scores), seed_(seed), drawn_(scores.n_classes()), grown_(scores.n_classes()) {
    require(data.n_rows == scores.n_rows(), "data and scores have different numbers of rows");
    order_rows(data, n_threads);
}

void SoftmaxPairs::order_rows(const BinnedData& data, int n_threads) {
    const std::size_t n = scores_.n_rows();
    std::vector<std::uint64_t> hashes = data.row_hashes(n_threads);
    for (std::size_t i = 0; i < n; ++i) {
        hashes[i] = mix(hashes[i], scores_.classes().of_row()[i]);
        for (std::size_t z = 0; scores_.costs_per_row() && z < scores_.n_classes(); ++z) {
            std::uint32_t bits;
            std::memcpy(&bits, scores_.costs_of(i) + z, sizeof bits);
            hashes[i] = mix(hashes[i], bits);
        }
        // Initial scores (offsets) are part of the row's content.
        const std::int32_t* start = scores_.grid().row(i);
        const std::int32_t* end = start + scores_.n_classes();
        if (std::all_of(start, end, [](std::int32_t score) { return score == 0; })) continue;
        for (; start != end; ++start) hashes[i] = mix(hashes[i], static_cast<std::uint32_t>(*start));
    }
    std::vector<std::uint32_t> own(n);
    std::iota(own.begin(), own.end(), 0u);
    std::sort(own.begin(), own.end(),
              [&](std::uint32_t a, std::uint32_t b) { return hashes[a] != hashes[b] ? hashes[a] < hashes[b] : a < b; });
    const Collective& collective = scores_.row_weights().collective();
    if (collective.alone()) {
        canonical_ = std::move(own);
        return;
    }
    std::vector<std::uint64_t> sorted(n);
    for (std::size_t k = 0; k < n; ++k) sorted[k] = hashes[own[k]];
    const auto lists = gather_words(collective, sorted);
    const std::size_t me = collective.worker();
    struct Place {
        std::uint64_t hash;
        std::uint32_t worker, rank;
    };
    std::vector<Place> places;
    for (std::size_t worker = 0; worker < lists.size(); ++worker)
        for (std::size_t rank = 0; rank < lists[worker].size(); ++rank)
            places.push_back({lists[worker][rank], static_cast<std::uint32_t>(worker), static_cast<std::uint32_t>(rank)});
    std::stable_sort(places.begin(), places.end(), [](const Place& a, const Place& b) { return a.hash < b.hash; });
    for (const Place& place : places) {
        canonical_.push_back(place.worker == me ? own[place.rank] : kElsewhere);
        worker_of_.push_back(place.worker);
    }
}

// Fills cumulative_ with the rows' sampling weights, in canonical order: sample weights, or these times the norm of the row's
// gradient. They are integers, so that k copies of a row equal a row of weight k.
void SoftmaxPairs::lay_out(Pairs pairs) {
    const RowWeights& weights = scores_.row_weights();
    if (pairs == Pairs::by_rule && (!weights.given() || !cumulative_.empty())) return;
    // Sizes are at most 1, so that the sum of all masses stays below 2^62.
    const int shift = std::min(40, 60 - std::ilogb(weights.total()));
    const double to_mass = std::ldexp(1.0, shift);
    const auto mass_of = [&](std::size_t row) {
        const double size = weights.unit(row, pairs == Pairs::by_gradient ? scores_.row_sizes()[row] : 1.0);
        return static_cast<std::uint64_t>(std::llrint(size * to_mass) * weights.times(row));
    };
    mass_unit_ = std::ldexp(1.0, -shift);
    cumulative_.resize(canonical_.size());
    std::uint64_t sum = 0;
    if (worker_of_.empty()) {
        for (std::size_t k = 0; k < canonical_.size(); ++k) cumulative_[k] = sum += mass_of(canonical_[k]);
        return;
    }
    std::vector<std::uint64_t> own;
    for (const std::uint32_t row : canonical_)
        if (row != kElsewhere) own.push_back(mass_of(row));
    const auto lists = gather_words(weights.collective(), own);
    std::vector<std::size_t> next(lists.size(), 0);
    for (std::size_t k = 0; k < canonical_.size(); ++k)
        cumulative_[k] = sum += lists[worker_of_[k]][next[worker_of_[k]]++];
}

// The row at a position in [0, sum of the sampling weights).
std::uint32_t SoftmaxPairs::row_at(std::uint64_t place) const {
    if (cumulative_.empty()) return canonical_[static_cast<std::size_t>(place)];
    const auto found = std::upper_bound(cumulative_.begin(), cumulative_.end(), place);
    return canonical_[static_cast<std::size_t>(found - cumulative_.begin())];
}

void SoftmaxPairs::draw(Pairs pairs, std::size_t n_samples, std::uint64_t round, int n_threads) {
    require(pairs != Pairs::all, "all pairs are not drawn");
    require(n_samples > 0, "at least one pair must be drawn");
    lay_out(pairs);
    for (std::vector<Pair>& list : drawn_) list.clear();
    const std::uint64_t total = cumulative_.empty() ? canonical_.size() : cumulative_.back();
    if (total == 0) return;
    const std::uint64_t key = mix(mix(seed_, round), 0x70616972);
    const std::size_t n_classes = scores_.n_classes();
    struct Draw {
        std::uint32_t row;
        std::uint16_t label;
        float weight;
    };
    std::vector<Draw> draws(n_samples);
    const std::size_t n_parts = row_parts(n_samples, n_threads);
    parallel_for(n_threads, n_parts, [&](std::size_t part) {
        for (std::size_t j = range_begin(n_samples, n_parts, part); j < range_begin(n_samples, n_parts, part + 1); ++j) {
            const std::uint64_t word = mix(key, j);
            std::uint64_t place = high_product(word, total);
            if (pairs == Pairs::by_gradient)  // stratified: one sample in each of n_samples equal parts
                place = static_cast<std::uint64_t>((static_cast<int128>(j) * static_cast<int128>(total) + place) /
                                                   static_cast<int128>(n_samples));
            const std::uint32_t row = row_at(std::min(place, total - 1));
            draws[j] = {row, 0, 0.0f};
            if (row == kElsewhere) continue;
            const float *rule = scores_.rule().data() + row * n_classes, *costs = scores_.costs_of(row);
            const auto paid = static_cast<float>(scores_.row_costs()[row]);
            double sum = 0;
            for (std::size_t z = 0; z < n_classes; ++z) sum += share_of(pairs, rule[z], costs[z], paid);
            const double wanted = uniform(mix(word, 0x6c6162656c)) * sum;
            double below = 0;
            std::size_t label = 0;
            for (std::size_t z = 0; z < n_classes; ++z) {
                const double share = share_of(pairs, rule[z], costs[z], paid);
                if (share > 0) label = z;  // the last one, if rounding keeps `below` from exceeding `wanted`
                below += share;
                if (below > wanted) break;
            }
            const float difference = costs[label] - paid;
            const float weight = pairs == Pairs::by_rule ? difference : (difference > 0 ? 1.0f : -1.0f);
            draws[j] = {row, static_cast<std::uint16_t>(label), weight};
        }
    });
    for (const Draw& pair : draws)
        if (pair.weight != 0) drawn_[pair.label].push_back({pair.row, pair.weight});
}

double SoftmaxPairs::grow(WeightedTrees& trees, Pairs pairs, std::size_t n_samples, std::uint64_t round, int n_threads,
                          InterruptCheck check) {
    const std::size_t n = scores_.n_rows(), n_classes = scores_.n_classes();
    require(trees.data().n_rows == n && trees.n_classes() == 2, "the trees must be for these rows and two classes");
    if (pairs != Pairs::all) draw(pairs, n_samples, round, n_threads);
    std::vector<double> edges(n_classes, 0.0);
    const auto grow_one = [&](std::size_t z) {
        edges[z] = grow_label(trees, z, pairs, round, check);
        std::int8_t* line = scores_.directions().data() + z * n;
        if (grown_[z])
            grown_[z]->signs(trees.data(), 0, n, line);
        else
            std::fill(line, line + n, std::int8_t{0});
    };
    const RowWeights& weights = scores_.row_weights();
    if (weights.collective().alone())
        parallel_for(n_threads, n_classes, grow_one);
    else  // growing a tree is a collective operation, so all workers must use the same order
        for (std::size_t z = 0; z < n_classes; ++z) grow_one(z);
    const double sum = std::accumulate(edges.begin(), edges.end(), 0.0);
    if (pairs == Pairs::all) return sum / weights.total();
    const double mean = sum / static_cast<double>(n_samples);
    if (pairs == Pairs::by_rule || cumulative_.empty()) return mean;
    return mean * static_cast<double>(cumulative_.back()) * mass_unit_ / weights.total();
}

// Grows the tree of label z (is its cost above the expected cost?) and returns its edge: Geist (2015), (8) and section 5.1.
double SoftmaxPairs::grow_label(WeightedTrees& trees, std::size_t z, Pairs pairs, std::uint64_t round,
                                InterruptCheck check) {
    grown_[z] = nullptr;
    const RowWeights& weights = scores_.row_weights();
    const Collective& collective = weights.collective();
    const bool all = pairs == Pairs::all;
    const std::size_t size = all ? scores_.n_rows() : drawn_[z].size();
    std::vector<double> values(size);
    std::vector<std::uint32_t> rows(size);
    for (std::size_t k = 0; k < size; ++k) {
        const std::size_t i = all ? k : drawn_[z][k].row;
        rows[k] = static_cast<std::uint32_t>(i);
        // Sample weights of sampled pairs are in the frequency with which they are drawn.
        values[k] = all ? weights.unit(i, static_cast<double>(scores_.rule()[i * scores_.n_classes() + z]) *
                                              (static_cast<double>(scores_.costs_of(i)[z]) - scores_.row_costs()[i]))
                        : static_cast<double>(drawn_[z][k].weight);
    }
    const auto times = [&](std::size_t k) { return all ? weights.times(k) : std::int64_t{1}; };
    double largest = 0;
    for (const double value : values) largest = std::max(largest, std::fabs(value));
    largest = collective.maximum(largest);
    if (largest < 0x1p-900) return 0.0;
    // Converts weights to integers with a total below 2^29, by a power of two that follows from their exact sum.
    int exponent = 0;
    std::frexp(largest, &exponent);
    int128 total = 0;
    for (std::size_t k = 0; k < size; ++k)
        total += int128{std::llrint(std::ldexp(std::fabs(values[k]), 40 - exponent))} * times(k);
    collective.sum(&total, 1);
    int total_exponent = 0;
    std::frexp(static_cast<double>(total), &total_exponent);
    const int shift = 29 - (total_exponent - 40 + exponent);
    std::vector<std::uint32_t> growth;
    std::vector<std::uint16_t> labels;
    std::vector<double> counts;
    std::size_t kept = 0;
    for (std::size_t k = 0; k < size; ++k) {
        const std::int64_t weight = std::llrint(std::ldexp(std::fabs(values[k]), shift)) * times(k);
        if (weight == 0) continue;
        if (all && weights.given()) counts.push_back(weights.values()[k]);
        rows[kept++] = rows[k];
        growth.push_back(static_cast<std::uint32_t>(weight));
        labels.push_back(values[k] > 0 ? 1 : 0);
    }
    if (collective.sum(static_cast<std::int64_t>(kept)) == 0) return 0.0;
    const GivenRows problem{rows.data(), labels.data(), growth.data(), all && weights.given() ? counts.data() : nullptr, kept};
    grown_[z] = std::make_shared<AnsweringTree>(trees.grow(problem, mix(round, z), check));
    return std::ldexp(static_cast<double>(grown_[z]->edge()), -shift);
}

}  // namespace radboost
