#include "cli/provenance.h"

#include <dirent.h>
#include <errno.h>
#include <mntent.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/output_file.h"
#include "base/printable.h"
#include "base/run_files.h"
#include "base/secret.h"
#include "base/version.h"
#include "base/yaml_tree.h"

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

/* The first two numbers of a file of the kernel; 0 where there is none. */
static void read_numbers(const char *path, double numbers[2])
{
    char line[128] = "", *end = line;
    FILE *file = fopen(path, "re");
    if (file != NULL && fgets(line, sizeof line, file) == NULL)
        line[0] = '\0';
    if (file != NULL)
        (void)fclose(file);
    for (size_t i = 0; i < 2; i++)
        numbers[i] = strtod(end, &end);
}

/* Those that this process may use, at least one. */
static uint32_t count_processors(void)
{
    const uint32_t cores = count_cores();
    double limit[2]; /* of the container: time in each period, and the period; "max" reads as 0 */
    read_numbers("/sys/fs/cgroup/cpu.max", limit);
    if (limit[0] <= 0 || limit[1] <= 0 || limit[0] >= limit[1] * cores)
        return cores;
    return limit[0] < limit[1] ? 1 : (uint32_t)(limit[0] / limit[1]);
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
        .cores = count_processors(),
        .memory_bytes = pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page : 0,
        .file_system = provenance->file_system,
        .settings = provenance->settings,
    };
}

/* The path from the working folder, where it is below. */
static void shorten(const char *path, char *shorter, size_t size)
{
    char home[4096];
    const size_t length = getcwd(home, sizeof home) == NULL ? 0 : strlen(home);
    if (length > 1 && strncmp(path, home, length) == 0 && path[length] == '/')
        path += length + 1;
    while (strncmp(path, "./", 2) == 0)
        path += 2;
    (void)snprintf(shorter, size, "%s", path);
}

void rig_cli_provenance_find_plan(struct rig_cli_provenance *provenance, const char *path)
{
    struct rig_buf text;
    struct rig_arena arena;
    struct rig_yaml_tree tree;
    struct rig_err ignored = {0};
    if (strcmp(path, "-") == 0)
        return;
    shorten(path, provenance->plan_path, sizeof provenance->plan_path);
    provenance->plan_line = 1;
    rig_buf_init(&text, 16 << 20);
    rig_arena_init(&arena, 0);
    if (rig_buf_read_file(&text, path, &ignored) == RIG_OK &&
        rig_yaml_tree_read(&tree, &arena, "plan", path, rig_buf_text(&text), text.size, &ignored) == RIG_OK) {
        const struct rig_yaml_node *check = rig_yaml_value(tree.root, "check");
        const struct rig_yaml_node *levels =
            check == NULL || check->kind != RIG_YAML_MAPPING ? NULL : rig_yaml_value(check, "levels");
        const struct rig_yaml_node *place = levels != NULL ? levels : check;
        provenance->plan_line = place == NULL ? 1 : place->place.line;
    }
    rig_arena_done(&arena);
    rig_buf_done(&text);
}

void rig_cli_provenance_add(struct rig_cli_provenance *provenance, const struct rig_run_result *result)
{
    for (uint32_t i = 0; i < result->setting_count; i++)
        provenance->settings[i] = (struct rig_report_setting){result->settings[i].name, result->settings[i].value};
    provenance->facts.setting_count = result->setting_count;
    double load[2]; /* threads that ran or waited for a processor, on average over a minute */
    read_numbers("/proc/loadavg", load);
    provenance->facts.load = load[0];
}

enum { PATH_BYTES = 4096 };

/* Masks the pieces of a line that NULs separate; gives the length that is left. */
static size_t redact_line(char *line, size_t length)
{
    size_t kept = 0;
    for (size_t at = 0; at < length;) {
        const size_t piece = strlen(line + at);
        rig_secret_redact(line + at, piece + 1);
        const size_t left = strlen(line + at);
        memmove(line + kept, line + at, left);
        kept += left;
        at += piece;
        while (at < length && line[at] == '\0') {
            line[kept++] = '\0';
            at++;
        }
    }
    return kept;
}

/* Copies `log` without its secrets; `changed` tells whether there were any. */
static enum rig_rc copy_redacted(FILE *log, struct rig_output *output, bool *changed, struct rig_err *err)
{
    char *line = NULL;
    size_t capacity = 0;
    enum rig_rc rc = RIG_OK;
    for (ssize_t length; rc == RIG_OK && (length = getline(&line, &capacity, log)) > 0;) {
        const size_t kept = redact_line(line, (size_t)length);
        *changed = *changed || kept != (size_t)length;
        rc = rig_output_write(output, line, kept, err);
    }
    free(line);
    return rc;
}

static enum rig_rc redact_log(const char *path, struct rig_err *err)
{
    FILE *log = fopen(path, "re");
    struct rig_output output;
    if (log == NULL)
        return rig_fail(err, RIG_E_IO, "%s: cannot open: %s", path, strerror(errno));
    enum rig_rc rc = rig_output_open(&output, path, err);
    if (rc == RIG_OK) {
        bool changed = false;
        rc = copy_redacted(log, &output, &changed, err);
        /* Every form of a secret is longer than the mask, so a change shows in the length. */
        const enum rig_rc closed = rig_output_close(&output, changed ? rc : RIG_E_IO, changed ? err : NULL);
        rc = changed && rc == RIG_OK ? closed : rc;
    }
    (void)fclose(log);
    return rc;
}

static bool is_log(const char *name)
{
    const size_t length = strlen(name);
    return length > 4 && strcmp(name + length - 4, ".log") == 0 && strcmp(name, RIG_RUN_LOG) != 0;
}

enum rig_rc rig_cli_redact_logs(const char *folder, struct rig_err *err)
{
    enum rig_rc rc = RIG_OK;
    DIR *dir = opendir(folder);
    if (dir == NULL)
        return rig_fail(err, RIG_E_IO, "%s: cannot read the folder: %s", folder, strerror(errno));
    for (struct dirent *entry = readdir(dir); entry != NULL; entry = readdir(dir)) {
        char path[PATH_BYTES];
        const int length = snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        if (!is_log(entry->d_name) || length < 0 || (size_t)length >= sizeof path)
            continue;
        const enum rig_rc one = redact_log(path, err);
        rc = rc == RIG_OK ? one : rc;
    }
    (void)closedir(dir);
    return rc;
}
