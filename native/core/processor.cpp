#include "core/processor.hpp"

#include <cstdlib>
#include <cstring>

#include "core/common.hpp"

namespace radboost {

#if defined(RADBOOST_CLONES_BY_PROCESSOR)
const char* instruction_set() {
    __builtin_cpu_init();
    return __builtin_cpu_supports("x86-64-v4") ? "x86-64-v4" : __builtin_cpu_supports("avx2") ? "avx2" : "x86-64";
}
#else
const char* instruction_set() { return "portable"; }
#endif

}  // namespace radboost

#if defined(RADBOOST_CLONES_BY_PROCESSOR)
// For tests that compare the models of all clones on one machine: RADBOOST_INSTRUCTION_SET=x86-64 or avx2 in the environment
// hides the processor's features beyond that level. The compiler's code that picks the clones calls libgcc's
// __cpu_indicator_init, which the linker (--wrap in CMakeLists.txt) replaces by the function below. The level x86-64-v4, for
// which the widest clone asks, is stored in __cpu_features2, after the first word of features.
extern "C" {

extern struct CpuModel {
    unsigned vendor, type, subtype, features[1];
} __cpu_model __attribute__((visibility("hidden")));
extern unsigned __cpu_features2[] __attribute__((visibility("hidden")));

int __real___cpu_indicator_init();
int __wrap___cpu_indicator_init();

int __wrap___cpu_indicator_init() {
    const int result = __real___cpu_indicator_init();
    const char* most = std::getenv("RADBOOST_INSTRUCTION_SET");
    if (most == nullptr) return result;
    const bool narrow = std::strcmp(most, "x86-64") == 0;
    if (!narrow && std::strcmp(most, "avx2") != 0) return result;
    if (narrow) __cpu_model.features[0] = 0;
    __cpu_features2[0] = __cpu_features2[1] = __cpu_features2[2] = 0;
    return result;
}
}
#endif
