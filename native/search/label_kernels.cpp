#include "search/label_kernels.hpp"

#include "core/common.hpp"

namespace radboost {

RADBOOST_CLONES void add_squares(const std::uint32_t* prefix, std::size_t n, std::uint32_t total, std::uint32_t* left,
                                 std::int64_t* left_squares, std::int64_t* right_squares) {
    for (std::size_t i = 0; i < n; ++i) {
        const std::uint64_t here = prefix[i], there = total - prefix[i];
        left[i] += prefix[i];
        left_squares[i] += static_cast<std::int64_t>(here * here);
        right_squares[i] += static_cast<std::int64_t>(there * there);
    }
}

RADBOOST_CLONES void gini_scores(const std::uint32_t* left, const std::int64_t* left_squares,
                                 const std::int64_t* right_squares, std::size_t n, std::uint32_t total, double* out) {
    for (std::size_t i = 0; i < n; ++i) {
        const auto here = static_cast<double>(left[i]), there = static_cast<double>(total - left[i]);
        const double score = static_cast<double>(left_squares[i]) / here + static_cast<double>(right_squares[i]) / there;
        out[i] = ((left[i] == 0) | (left[i] == total)) ? -1.0 : score;
    }
}

RADBOOST_CLONES void gini_of_two(const std::uint32_t* first, const std::uint32_t* second, std::size_t n,
                                 std::uint32_t first_total, std::uint32_t second_total, double* out) {
    for (std::size_t i = 0; i < n; ++i) {
        const std::uint64_t a = first[i], b = second[i], c = first_total - first[i], d = second_total - second[i];
        const std::uint64_t left = a + b, right = c + d;
        const auto here = static_cast<std::int64_t>(a * a + b * b), there = static_cast<std::int64_t>(c * c + d * d);
        const double score = static_cast<double>(here) / static_cast<double>(static_cast<std::int64_t>(left)) +
                             static_cast<double>(there) / static_cast<double>(static_cast<std::int64_t>(right));
        out[i] = ((left == 0) | (right == 0)) ? -1.0 : score;
    }
}

RADBOOST_CLONES void edges_of_two(const std::uint32_t* first, const std::uint32_t* second, std::size_t n,
                                  std::uint32_t first_total, std::uint32_t second_total, double* out) {
    for (std::size_t i = 0; i < n; ++i) {
        const std::int64_t a = first[i], b = second[i];
        const std::int64_t here = a - b, there = (first_total - a) - (second_total - b);
        out[i] = static_cast<double>((here < 0 ? -here : here) + (there < 0 ? -there : there));
    }
}

RADBOOST_CLONES void add_largest(const std::uint32_t* prefix, std::size_t n, std::uint32_t total, std::uint32_t* left,
                                 std::int64_t* left_largest, std::int64_t* right_largest) {
    for (std::size_t i = 0; i < n; ++i) {
        const std::int64_t here = prefix[i], there = total - prefix[i];
        left[i] += prefix[i];
        left_largest[i] = left_largest[i] < here ? here : left_largest[i];
        right_largest[i] = right_largest[i] < there ? there : right_largest[i];
    }
}

RADBOOST_CLONES void edge_scores(const std::uint32_t* left, const std::int64_t* left_largest,
                                 const std::int64_t* right_largest, std::size_t n, std::uint32_t total, double* out) {
    for (std::size_t i = 0; i < n; ++i) {
        const std::int64_t here = 2 * left_largest[i] - left[i];
        const std::int64_t there = 2 * right_largest[i] - (total - left[i]);
        out[i] = static_cast<double>((here > 0 ? here : 0) + (there > 0 ? there : 0));
    }
}

RADBOOST_CLONES std::uint32_t weight_up_to(const std::uint8_t* codes, const std::uint32_t* weights, std::size_t n,
                                           std::uint8_t bin) {
    std::uint32_t sum = 0;
    for (std::size_t i = 0; i < n; ++i) sum += codes[i] <= bin ? weights[i] : 0;
    return sum;
}

RADBOOST_CLONES std::uint32_t weight_of_code(const std::uint8_t* codes, const std::uint32_t* weights, std::size_t n,
                                             std::uint8_t code) {
    std::uint32_t sum = 0;
    for (std::size_t i = 0; i < n; ++i) sum += codes[i] == code ? weights[i] : 0;
    return sum;
}

}  // namespace radboost
