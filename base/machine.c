#include "base/machine.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* ---- identity ---- */

static void read_line(const char *path, char *text, size_t size)
{
    FILE *file = fopen(path, "re");
    text[0] = '\0';
    if (file != NULL && fgets(text, (int)size, file) == NULL)
        text[0] = '\0';
    if (file != NULL)
        (void)fclose(file);
    text[strcspn(text, "\n")] = '\0';
}

void rig_machine_identify(struct rig_machine *machine)
{
    *machine = (struct rig_machine){.id = ""};
    read_line("/etc/machine-id", machine->id, sizeof machine->id);
    if (machine->id[0] == '\0')
        read_line("/var/lib/dbus/machine-id", machine->id, sizeof machine->id);
    if (gethostname(machine->host, sizeof machine->host - 1) != 0)
        machine->host[0] = '\0';
    rig_process_boot_id(machine->boot);
    const ssize_t length = readlink("/proc/self/ns/pid", machine->numbers, sizeof machine->numbers - 1);
    machine->numbers[length < 0 ? 0 : length] = '\0';
}

void rig_machine_key(const struct rig_machine *machine, char key[RIG_MACHINE_KEY_BYTES])
{
    const char *const texts[] = {machine->id, machine->host, machine->boot, machine->numbers};
    uint64_t hash = UINT64_C(14695981039346656037); /* FNV-1a: names a file, guards against nothing */
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        for (const char *at = texts[i];; at++) {
            hash = (hash ^ (unsigned char)*at) * UINT64_C(1099511628211);
            if (*at == '\0')
                break;
        }
    }
    (void)snprintf(key, RIG_MACHINE_KEY_BYTES, "%016" PRIx64, hash);
}

bool rig_machine_is(const struct rig_machine *machine, const struct rig_machine *other)
{
    if (strcmp(machine->id, other->id) != 0 || strcmp(machine->host, other->host) != 0)
        return false;
    /* In one boot, another namespace of numbers is another container with the same name. */
    return strcmp(machine->boot, other->boot) != 0 || strcmp(machine->numbers, other->numbers) == 0;
}

/* ---- memory ---- */

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
