// The instruction set of the kernel clones (RADBOOST_CLONES) that this process runs.
#pragma once

namespace radboost {

// "x86-64", "avx2" or "x86-64-v4"; "portable" where kernels have no clones.
const char* instruction_set();

}  // namespace radboost
