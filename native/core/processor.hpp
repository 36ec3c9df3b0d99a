// Which of the clones of a kernel (RADBOOST_CLONES) this process runs.
#pragma once

namespace radboost {

// "x86-64", "avx2" or "x86-64-v4"; "portable" where kernels have no clones.
const char* instruction_set();

}  // namespace radboost
