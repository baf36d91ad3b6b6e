#include "cli/provenance.h"

#include <mntent.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/printable.h"
#include "base/version.h"

/* The first "model name" of /proc/cpuinfo; some machines name none. */
static void find_cpu(char *cpu, size_t size)
{
    FILE *file = fopen("/proc/cpuinfo", "re");
    char line[512];
    while (file != NULL && cpu[0] == '\0' && fgets(line, sizeof line, file) != NULL) {
        const char *colon = strchr(line, ':');
        if (strncmp(line, "model name", 10) != 0 || colon == NULL)
            continue;
        colon += 1 + strspn(colon + 1, " ");
        (void)snprintf(cpu, size, "%.*s", (int)strcspn(colon, "\n"), colon);
    }
    if (file != NULL)
        (void)fclose(file);
}

/* Whether `path` is `mount` or below it. */
static bool is_below(const char *path, const char *mount)
{
    const size_t length = strlen(mount);
    return strncmp(path, mount, length) == 0 &&
           (strcmp(mount, "/") == 0 || path[length] == '\0' || path[length] == '/');
}

/* The file system of the folder in which rig keeps the data of servers that it starts. */
static void find_file_system(char *text, size_t size)
{
    const char *folder = getenv("TMPDIR");
    char real[4096];
    size_t longest = 0;
    struct mntent mount;
    char buffer[4096];
    if (folder == NULL || folder[0] != '/')
        folder = "/tmp";
    if (realpath(folder, real) == NULL)
        return;
    FILE *mounts = setmntent("/proc/self/mounts", "re");
    while (mounts != NULL && getmntent_r(mounts, &mount, buffer, sizeof buffer) != NULL) {
        if (!is_below(real, mount.mnt_dir) || strlen(mount.mnt_dir) < longest)
            continue;
        longest = strlen(mount.mnt_dir);
        (void)snprintf(text, size, "%.40s (%.80s)", mount.mnt_type, folder);
    }
    if (mounts != NULL)
        (void)endmntent(mounts);
}

static uint32_t count_cores(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0)
        return (uint32_t)CPU_COUNT(&set);
    const long count = sysconf(_SC_NPROCESSORS_ONLN);
    return count > 0 ? (uint32_t)count : 0;
}

void rig_cli_provenance_init(struct rig_cli_provenance *provenance)
{
    *provenance = (struct rig_cli_provenance){.kernel = ""};
    struct utsname names;
    if (uname(&names) == 0)
        (void)snprintf(provenance->kernel, sizeof provenance->kernel, "%.60s %.100s %.60s", names.sysname,
                       names.release, names.machine);
    find_cpu(provenance->cpu, sizeof provenance->cpu);
    find_file_system(provenance->file_system, sizeof provenance->file_system);
    rig_printable_line(provenance->kernel);
    rig_printable_line(provenance->cpu);
    rig_printable_line(provenance->file_system);
    const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    provenance->facts = (struct rig_report_provenance){
        .version = rig_version(),
        .commit = rig_commit(),
        .kernel = provenance->kernel,
        .cpu = provenance->cpu,
        .cores = count_cores(),
        .memory_bytes = pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page : 0,
        .file_system = provenance->file_system,
        .settings = provenance->settings,
    };
}

void rig_cli_provenance_add(struct rig_cli_provenance *provenance, const struct rig_run_result *result)
{
    for (uint32_t i = 0; i < result->setting_count; i++)
        provenance->settings[i] = (struct rig_report_setting){result->settings[i].name, result->settings[i].value};
    provenance->facts.setting_count = result->setting_count;
}
