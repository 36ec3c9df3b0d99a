// The fixed-point unit of multi-class scores.
#pragma once

namespace radboost {

constexpr double kScoreGrid = 1048576.0;  // 2^20: an int32 score k means k / kScoreGrid

}  // namespace radboost
