#include "base/memory_held.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

size_t rig_memory_held_bytes(void)
{
    FILE *file = fopen("/proc/self/statm", "re");
    char line[128] = "", *at = line;
    if (file == NULL)
        return 0;
    const char *got = fgets(line, sizeof line, file);
    (void)fclose(file);
    if (got == NULL)
        return 0;
    (void)strtoull(at, &at, 10); /* pages of the address space */
    const unsigned long long resident = strtoull(at, &at, 10);
    const unsigned long long of_files = strtoull(at, &at, 10);
    const long page_bytes = sysconf(_SC_PAGESIZE);
    return resident > of_files && page_bytes > 0 ? (size_t)(resident - of_files) * (size_t)page_bytes : 0;
}
