#include "cli/matrix_job.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/folder.h"
#include "base/version.h"
#include "cli/handed_settings.h"
#include "run/plan/plan.h"

enum { ARGUMENTS_MOST = 4096, PATH_BYTES = RIG_CLI_PATH_BYTES + 64, STEP_NS = 20 * 1000 * 1000, SIGNALS_TO_END = 3 };
/* A run that was told to end checks its record first. */
static const int64_t grace_ns = 60 * RIG_NS_PER_S;

enum rig_rc rig_cli_matrix_runner_init(struct rig_cli_matrix_runner *runner, struct rig_err *err)
{
    const ssize_t length = readlink("/proc/self/exe", runner->program, sizeof runner->program - 1);
    if (length <= 0 || getcwd(runner->home, sizeof runner->home) == NULL)
        return rig_fail(err, RIG_E_IO, "rig does not find its own program or folder: %s", strerror(errno));
    runner->program[length] = '\0';
    return rig_children_new(&runner->children, err);
}

void rig_cli_matrix_runner_done(struct rig_cli_matrix_runner *runner)
{
    rig_children_free(runner->children);
    runner->children = NULL;
}

/* ---- the key ---- */

static uint64_t mix(uint64_t hash, const char *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++) /* FNV-1a */
        hash = (hash ^ (unsigned char)bytes[i]) * UINT64_C(0x100000001b3);
    return hash;
}

static enum rig_rc mix_file(uint64_t *hash, const char *path, struct rig_err *err)
{
    struct rig_buf text;
    rig_buf_init(&text, 1 << 20);
    const enum rig_rc rc = rig_buf_read_input(&text, path, err);
    *hash = mix(*hash, rig_buf_text(&text), text.size);
    rig_buf_done(&text);
    return rc;
}

static enum rig_rc load_plan(const struct rig_cli_matrix_runner *runner, const struct rig_matrix_job *job,
                             struct rig_buf *resolved, struct rig_err *err)
{
    static struct rig_plan_override overrides[ARGUMENTS_MOST];
    struct rig_matrix_texts settings;
    struct rig_plan *plan = NULL;
    const char *seed_text = job->values[RIG_MATRIX_RUNS]->seed;
    const uint64_t seed = seed_text == NULL ? 0 : strtoull(seed_text, NULL, 10);
    size_t count = 0;
    enum rig_rc rc = rig_matrix_job_settings(runner->matrix, job, &settings, err);
    for (size_t i = 0; rc == RIG_OK && i < settings.count && count < ARGUMENTS_MOST; i++)
        overrides[count++].text = settings.at[i];
    for (size_t i = 0; runner->overrides[i] != NULL && count < ARGUMENTS_MOST; i++)
        overrides[count++].text = runner->overrides[i];
    if (rc == RIG_OK)
        rc = rig_plan_load(job->plan, overrides, count, &seed, &plan, err);
    if (rc == RIG_OK)
        rig_plan_write(plan, false, resolved);
    rig_plan_free(plan);
    return rc;
}

enum rig_rc rig_cli_matrix_key(const struct rig_cli_matrix_runner *runner, const struct rig_matrix_job *job,
                               char key[RIG_CLI_MATRIX_KEY_BYTES], struct rig_err *err)
{
    struct rig_buf text;
    rig_buf_init(&text, 0);
    rig_buf_printf(&text, "%s\n%s\n", rig_version(), rig_commit());
    enum rig_rc rc = load_plan(runner, job, &text, err);
    uint64_t hash = mix(UINT64_C(0xcbf29ce484222325), rig_buf_text(&text), text.size);
    for (size_t i = 0; rc == RIG_OK && i < job->database->scenarios.count; i++)
        rc = mix_file(&hash, job->database->scenarios.at[i], err);
    if (rc == RIG_OK)
        (void)snprintf(key, RIG_CLI_MATRIX_KEY_BYTES, "%016" PRIx64, hash);
    rig_buf_done(&text);
    return rc;
}

/* ---- the command ---- */

struct command {
    const char *arguments[ARGUMENTS_MOST + 1]; /* NULL-ended, as it begins zeroed */
    size_t count;
    struct rig_cli_handed settings;
    char run[PATH_BYTES + 8];
};

static bool add(struct command *command, const char *option, const char *value)
{
    if (command->count + 2 > ARGUMENTS_MOST)
        return false;
    if (option != NULL)
        command->arguments[command->count++] = option;
    command->arguments[command->count++] = value;
    return true;
}

static enum rig_rc make_command(const struct rig_cli_matrix_runner *runner, const struct rig_matrix_job *job,
                                const char *folder, struct command *command, struct rig_err *err)
{
    const bool plays = job->database->scenarios.count > 0;
    const char *seed = job->values[RIG_MATRIX_RUNS]->seed;
    struct rig_matrix_texts settings;
    enum rig_rc rc = rig_matrix_job_settings(runner->matrix, job, &settings, err);
    if (rc != RIG_OK)
        return rc;
    bool fits = add(command, runner->program, plays ? "scenario" : "run") && add(command, NULL, job->plan);
    for (size_t i = 0; i < job->database->scenarios.count; i++)
        fits = fits && add(command, NULL, job->database->scenarios.at[i]);
    for (size_t i = 0; i < settings.count; i++)
        rig_cli_handed_add(&command->settings, settings.at[i]);
    for (size_t i = 0; runner->overrides[i] != NULL; i++)
        rig_cli_handed_add(&command->settings, runner->overrides[i]);
    if (plays) {
        fits = fits && add(command, "--format", "json");
    } else {
        (void)snprintf(command->run, sizeof command->run, "%s/run", folder);
        fits = fits && add(command, "--set", "report=text,json,html,junit") && add(command, "-o", command->run) &&
               add(command, NULL, "--no-progress") && (seed == NULL || add(command, "--seed", seed));
    }
    if (!fits)
        return rig_fail(err, RIG_E_LIMIT, "%s: more than %d arguments", job->id, (int)ARGUMENTS_MOST);
    return rig_cli_handed_end(&command->settings, err);
}

/* A new, empty folder of the job. */
static enum rig_rc make_folder(const struct rig_cli_matrix_runner *runner, const struct rig_matrix_job *job,
                               char folder[PATH_BYTES], struct rig_err *err)
{
    struct stat status;
    char cells[PATH_BYTES];
    const bool is_absolute = runner->folder[0] == '/';
    int length = snprintf(cells, sizeof cells, "%s%s%s/cells", is_absolute ? "" : runner->home, is_absolute ? "" : "/",
                          runner->folder);
    const bool fits = length >= 0 && length < PATH_BYTES - RIG_MATRIX_ID_BYTES - 64;
    length = fits ? snprintf(folder, PATH_BYTES, "%s/%s", cells, job->id) : -1;
    if (length < 0)
        return rig_fail(err, RIG_E_IO, "%s: the path is too long", runner->folder);
    if (mkdir(cells, 0700) != 0 && errno != EEXIST)
        return rig_fail(err, RIG_E_IO, "%s: cannot create the folder: %s", cells, strerror(errno));
    if (lstat(cells, &status) != 0 || !S_ISDIR(status.st_mode))
        return rig_fail(err, RIG_E_IO, "%s: is no folder", cells);
    rig_folder_remove(folder);
    return mkdir(folder, 0700) == 0
               ? RIG_OK
               : rig_fail(err, RIG_E_IO, "%s: cannot create the folder: %s", folder, strerror(errno));
}

static int create(const char *folder, const char *name)
{
    char path[PATH_BYTES + 32];
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    return open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
}

static void close_file(int fd)
{
    if (fd >= 0)
        (void)close(fd);
}

static enum rig_rc start(const struct rig_cli_matrix_runner *runner, const struct rig_matrix_job *job,
                         const char *folder, struct rig_child *child, struct rig_err *err)
{
    static const struct rig_account own;
    struct command *command = calloc(1, sizeof *command);
    if (command == NULL)
        return rig_no_memory(err, "the arguments of a run");
    rig_cli_handed_begin(&command->settings);
    const int output = create(folder, "output.txt");
    const int answers = job->database->scenarios.count == 0 ? -1 : create(folder, "scenarios.json");
    enum rig_rc rc = output < 0 || (answers < 0 && job->database->scenarios.count > 0)
                         ? rig_fail(err, RIG_E_IO, "%s: cannot create its files: %s", folder, strerror(errno))
                         : make_command(runner, job, folder, command, err);
    const struct rig_child_command how = {.arguments = command->arguments,
                                          .environment = command->settings.environment,
                                          .whole_environment = true,
                                          .account = &own,
                                          .home = runner->home,
                                          .output = answers < 0 ? output : answers,
                                          .errors_plus_one = output + 1,
                                          .death_signal = SIGTERM};
    if (rc == RIG_OK)
        rc = rig_child_start(runner->children, &how, child, err);
    close_file(output);
    close_file(answers);
    rig_cli_handed_done(&command->settings);
    free(command);
    return rc;
}

/* ---- its life ---- */

/* Passes signals on, and ends the child at its limit. Returns why it did; RIG_MATRIX_ENDED: it did not. */
static enum rig_matrix_end await(const struct rig_cli_matrix_runner *runner, const struct rig_child *child)
{
    enum rig_matrix_end end = RIG_MATRIX_ENDED;
    const int64_t begin_ns = rig_clock_now_ns(), limit_ns = runner->matrix->limit_ns;
    int64_t next_ns = 0; /* when the next signal is due, once one was sent */
    int sent = 0;
    while (!rig_child_await(child, STEP_NS)) {
        const int64_t now_ns = rig_clock_now_ns();
        const int wanted = atomic_load(runner->interrupts);
        const bool overran = limit_ns > 0 && now_ns - begin_ns > limit_ns;
        const bool spent = runner->deadline_ns > 0 && now_ns > runner->deadline_ns;
        if (end == RIG_MATRIX_ENDED && (wanted > 0 || overran || spent))
            end = wanted == 0 && overran ? RIG_MATRIX_OVERRAN : RIG_MATRIX_STOPPED;
        if (end == RIG_MATRIX_ENDED || (sent > 0 && sent >= wanted && now_ns < next_ns))
            continue;
        if (sent == SIGNALS_TO_END)
            break;
        const pid_t pid = rig_child_pid(child);
        if (pid > 0)
            (void)kill(pid, SIGINT);
        sent++;
        next_ns = now_ns + grace_ns;
    }
    return end;
}

enum rig_rc rig_cli_matrix_run(const struct rig_cli_matrix_runner *runner, const struct rig_matrix_job *job,
                               const char *key, struct rig_matrix_ending *ending, struct rig_err *err)
{
    char folder[PATH_BYTES];
    struct rig_child child = {.next = NULL};
    int status = 0;
    const int64_t begin_ns = rig_clock_now_ns();
    enum rig_rc rc = make_folder(runner, job, folder, err);
    if (rc == RIG_OK)
        rc = start(runner, job, folder, &child, err);
    if (rc != RIG_OK)
        return rc;
    const enum rig_matrix_end end = await(runner, &child);
    if (!rig_child_clear(&child, grace_ns, &status))
        return rig_fail(err, RIG_E_CLUSTER, "%s: rig cannot be ended", job->id);
    *ending = (struct rig_matrix_ending){.end = end,
                                         .status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status),
                                         .seconds = (double)(rig_clock_now_ns() - begin_ns) / (double)RIG_NS_PER_S};
    return end == RIG_MATRIX_STOPPED ? RIG_OK : rig_matrix_write_ending(runner->folder, job, key, ending, err);
}
