#include "tests/fuzz/fuzz_target.h"

#include "tests/fuzz/history_property.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    (void)history_property(data, size);
    return 0;
}
