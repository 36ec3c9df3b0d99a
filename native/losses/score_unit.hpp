// The unit of the scores of several classes.
#pragma once

namespace radboost {

constexpr double kScoreGrid = 1048576.0;  // 2^20: scores are integers, multiples of 1 / kScoreGrid

}  // namespace radboost
