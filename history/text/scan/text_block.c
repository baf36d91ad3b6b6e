#include "history/text/scan/text_block.h"

static const struct rig_text_block *const blocks[] = {
#if defined(__x86_64__)
    &rig_text_block_avx512,
    &rig_text_block_avx2,
#endif
    &rig_text_block_portable,
};

static size_t first_usable(void)
{
#if defined(__x86_64__)
    __builtin_cpu_init();
    bool has_bits = __builtin_cpu_supports("popcnt") && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
    bool has_avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
                      __builtin_cpu_supports("avx512vbmi") && __builtin_cpu_supports("avx512vbmi2");
    if (has_bits && has_avx512)
        return 0;
    return has_bits && __builtin_cpu_supports("avx2") ? 1 : 2;
#else
    return 0;
#endif
}

const struct rig_text_block *const *rig_text_blocks(size_t *count)
{
    size_t first = first_usable();
    *count = sizeof blocks / sizeof blocks[0] - first;
    return blocks + first;
}
