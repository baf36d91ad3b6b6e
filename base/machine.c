#include "base/machine.h"

#include <stdint.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

/* SIZE_MAX: no limit, or none that can be read. */
static size_t control_group_bytes(void)
{
    unsigned long long bytes = 0;
    char line[32] = "";
    FILE *file = fopen("/sys/fs/cgroup/memory.max", "re");
    if (file == NULL)
        return SIZE_MAX;
    const char *text = fgets(line, sizeof line, file);
    (void)fclose(file);
    for (; text != NULL && *text >= '0' && *text <= '9'; text++)
        bytes = bytes * 10 + (unsigned)(*text - '0');
    return bytes == 0 || bytes > SIZE_MAX ? SIZE_MAX : (size_t)bytes;
}

size_t rig_machine_memory_bytes(void)
{
    const long pages = sysconf(_SC_PHYS_PAGES), page_bytes = sysconf(_SC_PAGESIZE);
    size_t bytes = pages > 0 && page_bytes > 0 ? (size_t)pages * (size_t)page_bytes : SIZE_MAX;
    const size_t group = control_group_bytes();
    struct rlimit limit;
    bytes = group < bytes ? group : bytes;
    if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && limit.rlim_cur < bytes)
        bytes = (size_t)limit.rlim_cur;
    return bytes;
}
