// How fast one core of this machine can do what the inner loops do, and how fast they are. Prints one line a loop:
// name, unit, possible, ours. Built by `python -m benchmarks.limits`, never part of the package.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <vector>

#include "data/binning.hpp"
#include "core/common.hpp"
#include "search/histogram.hpp"
#include "rows/margin_scores.hpp"
#include "search/partition.hpp"
#include "core/pool.hpp"
#include "predict/predict.hpp"

namespace radboost {
namespace {

constexpr std::size_t kColumns = 28, kTrees = 100, kDepth = 6;

void never() {}

// What the compiler must not throw away.
volatile std::uint64_t sink;

// Seconds of the fastest of several calls.
template <class Work>
double best(int repeats, Work&& work) {
    double fastest = 1e300;
    for (int i = 0; i < repeats; ++i) {
        const auto start = std::chrono::steady_clock::now();
        work();
        fastest = std::min(fastest, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    }
    return fastest;
}

void report(const char* name, const char* unit, double possible, double ours) {
    std::printf("%s\t%s\t%.6g\t%.6g\n", name, unit, possible, ours);
    std::fflush(stdout);
}

RADBOOST_CLONES std::uint64_t read_words(const std::uint64_t* words, std::size_t count) {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < count; ++i) sum += words[i];
    return sum;
}

// Seconds to read a byte, and to write one, of memory far larger than the caches.
struct Bandwidth {
    double read, write;
};

Bandwidth memory_bandwidth(int n_threads) {
    constexpr std::size_t kParts = 64, kWords = std::size_t{1} << 19;
    std::vector<std::uint64_t> words(kParts * kWords, 1);
    const double bytes = static_cast<double>(words.size() * sizeof(std::uint64_t));
    std::vector<std::uint64_t> sums(kParts);
    const double reading = best(5, [&] {
        parallel_for(n_threads, kParts, [&](std::size_t p) { sums[p] = read_words(words.data() + p * kWords, kWords); });
    });
    sink = sums[0];
    const double writing = best(5, [&] {
        parallel_for(n_threads, kParts, [&](std::size_t p) { std::memset(words.data() + p * kWords, 7, kWords * 8); });
    });
    return {reading / bytes, writing / bytes};
}

// Additions to known places of a table in the first-level cache: what stores allow, were bins no secret.
double adds_per_second() {
    alignas(64) static std::uint32_t table[1024];
    constexpr std::size_t kRounds = 20000;
    const double seconds = best(5, [&] {
        for (std::size_t round = 0; round < kRounds; ++round) {
            volatile std::uint32_t* const places = table;
            for (std::size_t i = 0; i < 1024; i += 8) {
                places[i] = places[i] + 1, places[i + 1] = places[i + 1] + 1;
                places[i + 2] = places[i + 2] + 1, places[i + 3] = places[i + 3] + 1;
                places[i + 4] = places[i + 4] + 1, places[i + 5] = places[i + 5] + 1;
                places[i + 6] = places[i + 6] + 1, places[i + 7] = places[i + 7] + 1;
            }
        }
    });
    return kRounds * 1024 / seconds;
}

// Rows of codes read through an index and summed: what memory allows.
double gathered_rows_per_second(const BinnedData& data, const std::vector<std::uint32_t>& rows) {
    std::uint64_t sum = 0;
    const double seconds = best(5, [&] {
        for (std::size_t i = 0; i < rows.size(); ++i) {
            __builtin_prefetch(data.row(rows[std::min(i + 16, rows.size() - 1)]));
            const std::uint8_t* codes = data.row(rows[i]);
            for (std::size_t c = 0; c + 8 <= kColumns; c += 8) {
                std::uint64_t word;
                std::memcpy(&word, codes + c, 8);
                sum += word;
            }
        }
    });
    sink = sum;
    return static_cast<double>(rows.size()) / seconds;
}

RADBOOST_CLONES void combine(const std::uint8_t* a, const std::uint8_t* b, const std::uint8_t* c, std::uint8_t* out) {
    for (std::size_t i = 0; i < kProgramRows; ++i) out[i] = a[i] ^ b[i] ^ c[i];
}

// Three bytes read and one written in the first-level cache, per second.
double combinations_per_second() {
    constexpr std::size_t kRounds = 2000000;
    std::uint8_t bytes[4][kProgramRows] = {};
    const double seconds = best(5, [&] {
        for (std::size_t i = 0; i < kRounds; ++i) combine(bytes[0], bytes[1], bytes[2], bytes[3]);
        sink = bytes[3][0];
    });
    return static_cast<double>(kRounds * kProgramRows) / seconds;
}

// `kSteps` multiplications and additions of each double: about what an exponential takes.
RADBOOST_CLONES void polynomial(const double* x, std::size_t count, double* out) {
    constexpr int kSteps = 20;
    for (std::size_t i = 0; i < count; ++i) {
        double value = 1;
#pragma GCC unroll 20
        for (int k = 0; k < kSteps; ++k) value = value * x[i] + 0.5;
        out[i] = value;
    }
}

double polynomials_per_second() {
    std::vector<double> x(1024, 0.25), out(1024);
    const double seconds = best(5, [&] {
        for (int i = 0; i < 2000; ++i) polynomial(x.data(), x.size(), out.data());
        sink = static_cast<std::uint64_t>(out[0]);
    });
    return 2000.0 * 1024 / seconds;
}

Forest full_trees(std::mt19937& random) {
    std::vector<std::int64_t> offsets{0};
    std::vector<std::int32_t> features, left;
    std::vector<double> thresholds, values;
    const int n_nodes = (2 << kDepth) - 1, n_inner = (1 << kDepth) - 1;
    for (std::size_t tree = 0; tree < kTrees; ++tree) {
        for (int i = 0; i < n_nodes; ++i) {
            const bool inner = i < n_inner;
            features.push_back(inner ? static_cast<std::int32_t>(random() % kColumns) : -1);
            left.push_back(inner ? 2 * i + 1 : 0);
            thresholds.push_back(inner ? static_cast<double>(random() % 200) / 200 : 0);
            values.push_back(inner ? 0 : i % 2 ? 1 : -1);
        }
        offsets.push_back(static_cast<std::int64_t>(features.size()));
    }
    const std::vector<std::uint8_t> missing_left(features.size(), 0);
    return Forest(offsets, features, thresholds, left, missing_left, values, kColumns, 1, {}, {}, {});
}

void run(std::size_t n_rows) {
    std::mt19937 random(1);
    std::vector<float> X(n_rows * kColumns);
    for (float& x : X) x = static_cast<float>(random()) / 4294967296.0f;
    const MatrixView<float> view{X.data(), n_rows, kColumns, kColumns, 1};
    const auto rows = static_cast<double>(n_rows);
    for (int threads : {1, 2}) {
        const Bandwidth speed = memory_bandwidth(threads);
        report(threads == 1 ? "read memory, one core" : "read memory, two cores", "bytes/s", 1 / speed.read, NAN);
        report(threads == 1 ? "write memory, one core" : "write memory, two cores", "bytes/s", 1 / speed.write, NAN);
    }
    const Bandwidth memory = memory_bandwidth(1);

    const auto bin = [&] { return bin_matrix(view, nullptr, true, nullptr, nullptr, 255, 1, never); };
    const double binning = best(3, [&] { sink = bin().n_rows; });
    report("bin a value", "values/s", 1 / (4 * memory.read + 2 * memory.write), rows * kColumns / binning);

    const BinnedData data = bin();
    data.lay_out_rows(1);
    std::vector<std::uint32_t> weights(n_rows), histogram(data.n_slots());
    for (std::uint32_t& w : weights) w = random() % 1000;
    const double adds = adds_per_second();
    const double all = best(5, [&] {
        add_to_histogram(data, RowSet{nullptr, n_rows}, 0, n_rows, 0, kColumns, weights.data(), histogram.data());
    });
    report("histogram, all rows", "updates/s", adds, rows * kColumns / all);
    std::vector<std::uint32_t> half;
    for (std::size_t i = 0; i < n_rows; ++i)
        if (random() % 2) half.push_back(static_cast<std::uint32_t>(i));
    const auto some = static_cast<double>(half.size());
    const double gathered = gathered_rows_per_second(data, half);
    const double indexed = best(5, [&] {
        add_to_histogram(data, RowSet{half.data(), half.size()}, 0, half.size(), 0, kColumns, weights.data(),
                         histogram.data());
    });
    report("histogram, half of the rows by index", "updates/s", std::min(adds, gathered * kColumns),
           some * kColumns / indexed);

    Question question{};
    question.bin = 127;
    std::vector<std::uint32_t> out(n_rows), scratch(n_rows);
    const double parting = best(5, [&] {
        sink = partition_rows(data, question, RowSet{half.data(), half.size()}, out.data(), scratch.data(), 1).left_count;
    });
    // Every other code of a column is a code of every line; an index is read and written.
    report("partition, half of the rows by index", "rows/s", 1 / (6 * memory.read + 4 * memory.write), some / parting);

    const Forest forest = full_trees(random);
    std::vector<double> tree_weights(kTrees, 0.5), scores(n_rows);
    const double predicting = best(3, [&] { forest.scores(view, tree_weights.data(), 1, scores.data(), never); });
    report("predict, trees of depth 6", "rows x trees/s", combinations_per_second() / ((1 << kDepth) - 1),
           rows * kTrees / predicting);

    std::vector<std::uint16_t> classes(n_rows);
    for (std::uint16_t& y : classes) y = random() % 2;
    for (double& f : scores) f = static_cast<double>(random()) / 4294967296.0 - 0.5;
    const RowWeights row_weights(n_rows, {});
    MarginScores margin_scores(MarginLoss::exponential, classes, row_weights);
    MarginWeighting weighting(margin_scores, {});
    margin_scores.set(scores.data());
    const double weighing = best(5, [&] { margin_scores.reweigh({&weighting}, 1); });
    report("exponential, sum and quantise", "rows/s",
           std::min(polynomials_per_second(), 1 / (9 * memory.read + 12 * memory.write)), rows / weighing);
}

}  // namespace
}  // namespace radboost

int main(int argc, char** argv) {
    radboost::run(argc > 1 ? static_cast<std::size_t>(std::atoll(argv[1])) : 1000000);
    return 0;
}
