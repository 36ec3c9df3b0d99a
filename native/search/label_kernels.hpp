// Vectorized loops for LabelTable: scores of all cuts of a column from the weights of the classes on both sides. Cut i is
// after entry i; all arrays have length n, except those by row.
#pragma once

#include <cstddef>
#include <cstdint>

namespace radboost {

// Gini with any number of classes: call add_squares for each class, then gini_scores. prefix[i]: weight of the class up to
// entry i; total: in the node. Adds to left (weight left of cut i) and to the sums of squares. Empty sides score -1.
void add_squares(const std::uint32_t* prefix, std::size_t n, std::uint32_t total, std::uint32_t* left,
                 std::int64_t* left_squares, std::int64_t* right_squares);
void gini_scores(const std::uint32_t* left, const std::int64_t* left_squares, const std::int64_t* right_squares,
                 std::size_t n, std::uint32_t total, double* out);
// Gini scores with two classes, the most frequent case, in one pass; saves a tenth of the time of a small fit.
void gini_of_two(const std::uint32_t* first, const std::uint32_t* second, std::size_t n,
                 std::uint32_t first_total, std::uint32_t second_total, double* out);
// Edge scores with two classes: |difference of the class weights|, summed over both sides.
void edges_of_two(const std::uint32_t* first, const std::uint32_t* second, std::size_t n,
                 std::uint32_t first_total, std::uint32_t second_total, double* out);
void add_largest(const std::uint32_t* prefix, std::size_t n, std::uint32_t total, std::uint32_t* left,
                 std::int64_t* left_largest, std::int64_t* right_largest);
// Edge with any number of classes: call add_largest for each, then edge_scores. Predicting the class of largest weight M on a
// side of weight W gains M - (W - M); abstention gains 0.
void edge_scores(const std::uint32_t* left, const std::int64_t* left_largest,
                 const std::int64_t* right_largest, std::size_t n, std::uint32_t total, double* out);
// Sum of weights[i] over the rows with codes[i] <= bin, or codes[i] == code.
std::uint32_t weight_up_to(const std::uint8_t* codes, const std::uint32_t* weights, std::size_t n, std::uint8_t bin);
std::uint32_t weight_of_code(const std::uint8_t* codes, const std::uint32_t* weights, std::size_t n, std::uint8_t code);

}  // namespace radboost
