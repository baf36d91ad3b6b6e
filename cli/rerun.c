#include "cli/rerun.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/child.h"
#include "base/clock.h"
#include "base/json_members.h"
#include "base/plural.h"
#include "cli/check_run.h"
#include "cli/cli.h"
#include "cli/handed_settings.h"
#include "cli/saved_run.h"

enum { ARGUMENTS_MOST = 16, COMPLAINTS_BYTES = 1 << 20 };

extern char **environ;

static const int64_t look_ns = INT64_C(50000000);    /* between two looks at the time and at signals */
static const int64_t clear_ns = INT64_C(5000000000); /* until what it has left is killed */
static const int64_t patience_ns =
    INT64_C(60000000000); /* after the end of the load was asked for, and again before it is killed */

/* Asks the run to end its load, then to end at once, then ends it. */
static void press(const struct rig_child *child, unsigned times)
{
    const pid_t pid = rig_child_pid(child);
    if (pid > 0)
        (void)kill(pid, times < 2 ? SIGTERM : SIGKILL);
}

/* Waits for the end of the run. */
static void await_run(const struct rig_rerun *rerun, const struct rig_child *child, struct rig_rerun_result *result)
{
    unsigned pressed = 0;
    int64_t pressed_ns = 0;
    while (!rig_child_await(child, look_ns)) {
        const int64_t now_ns = rig_clock_now_ns();
        const unsigned asked = rerun->interrupts == NULL ? 0 : (unsigned)atomic_load(rerun->interrupts);
        const bool is_over = now_ns > rerun->until_ns || asked > 0;
        if (!is_over || (pressed > 0 && asked <= pressed && now_ns < pressed_ns + patience_ns))
            continue;
        press(child, pressed++);
        pressed_ns = now_ns;
        result->was_cut = true;
    }
}

/* The first line in the file of complaints; the file goes where there is none. */
static void take_complaints(const char *path, char *why, size_t size)
{
    struct rig_buf text;
    rig_buf_init(&text, COMPLAINTS_BYTES);
    const bool is_read = rig_buf_read_file(&text, path, NULL) == RIG_OK;
    if (is_read && text.size == 0)
        (void)unlink(path);
    if (is_read && text.size > 0 && why[0] == '\0') {
        const char *line = rig_buf_text(&text);
        line += strncmp(line, "rig: ", 5) == 0 ? 5 : 0;
        (void)snprintf(why, size, "%.*s", (int)strcspn(line, "\n"), line);
    }
    rig_buf_done(&text);
}

/* Whether a witness has the whole shape. Results say nothing of that, so the record is judged again, as in the run. */
static enum rig_rc has_shape(const struct rig_rerun *rerun, const struct rig_cli_saved_run *saved, const char *folder,
                             bool *has, struct rig_err *err)
{
    const struct rig_source_options from = {.load = {.form = RIG_FORM_RIG}};
    struct rig_stream_options options = {.guess_failed = false};
    struct rig_verdict *verdict = NULL;
    rig_cli_saved_run_options(saved, &options.check);
    const enum rig_rc rc = rig_cli_check_run(folder, NULL, &from, &options, &verdict, err);
    *has = rc == RIG_OK && rig_known_anomaly_find(rerun->shape, verdict) != NULL;
    rig_verdict_free(verdict);
    return rc;
}

/* Reads the run's results. Without results it has failed. */
static enum rig_rc read_result(const struct rig_rerun *rerun, struct rig_rerun_result *result, struct rig_err *err)
{
    struct rig_cli_saved_run saved = {.storage = NULL};
    enum rig_rc rc = RIG_OK;
    if (result->status != RIG_EXIT_USAGE && access(result->folder, F_OK) == 0)
        rc = rig_cli_saved_run_load(result->folder, &saved, err);
    result->is_judged = rc == RIG_OK && saved.found && saved.run.load_s > 0;
    if (result->is_judged) {
        result->load_s = saved.run.load_s;
        result->acknowledged = saved.effort.acknowledged;
        if (rerun->shape != NULL)
            result->events = rig_cli_saved_run_shows(&saved, rerun->shape);
        if (rerun->shape != NULL && rerun->whole_shape && result->events > 0) {
            bool has = false;
            rc = has_shape(rerun, &saved, result->folder, &has, err);
            result->events = has;
        }
        if (rerun->shape == NULL && rerun->anomaly == RIG_ANOMALY_COUNT)
            result->events = result->status == RIG_EXIT_ANOMALY;
        else if (rerun->shape == NULL)
            result->events = rig_cli_saved_run_count(&saved, rerun->anomaly);
        result->shows = result->events > 0;
    }
    rig_cli_saved_run_done(&saved);
    return rc;
}

/* One run: its arguments and environment, NULL-ended. */
struct call {
    const char *const *arguments, *const *environment;
};

static enum rig_rc start(struct rig_rerun *rerun, const struct call *call, int complaints, int silence,
                         struct rig_child *child, struct rig_err *err)
{
    static const struct rig_account own = {0};
    char home[RIG_CLI_PATH_BYTES];
    if (getcwd(home, sizeof home) == NULL)
        return rig_fail(err, RIG_E_IO, "the working folder: %s", strerror(errno));
    const struct rig_child_command command = {
        .arguments = call->arguments,
        .environment = call->environment,
        .whole_environment = true,
        .account = &own,
        .home = home,
        .output = silence,
        .errors_plus_one = complaints + 1,
        .death_signal = SIGTERM,
    };
    enum rig_rc rc = rerun->children == NULL ? rig_children_new(&rerun->children, err) : RIG_OK;
    return rc == RIG_OK ? rig_child_start(rerun->children, &command, child, err) : rc;
}

static enum rig_rc run_child(struct rig_rerun *rerun, const struct call *call, const char *complaints_path,
                             struct rig_rerun_result *result, struct rig_err *err)
{
    struct rig_child child = {0};
    int status = 0;
    const int complaints = open(complaints_path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    const int silence = open("/dev/null", O_WRONLY | O_CLOEXEC);
    enum rig_rc rc = complaints < 0 || silence < 0
                         ? rig_fail(err, RIG_E_IO, "%s: cannot create: %s", complaints_path, strerror(errno))
                         : start(rerun, call, complaints, silence, &child, err);
    const int64_t began_ns = rig_clock_now_ns();
    if (rc == RIG_OK)
        await_run(rerun, &child, result);
    if (rc == RIG_OK && !rig_child_clear(&child, clear_ns, &status))
        rc = rig_fail(err, RIG_E_CLUSTER, "%s: the run left a process that does not end", result->folder);
    result->took_s = (double)(rig_clock_now_ns() - began_ns) / (double)RIG_NS_PER_S;
    result->status = WIFEXITED(status) ? WEXITSTATUS(status) : RIG_EXIT_FAILED;
    if (WIFSIGNALED(status))
        (void)snprintf(result->why, sizeof result->why, "it was ended by signal %d", WTERMSIG(status));
    if (complaints >= 0)
        (void)close(complaints);
    if (silence >= 0)
        (void)close(silence);
    return rc;
}

enum rig_rc rig_cli_rerun(struct rig_rerun *rerun, const char *const *settings, uint32_t setting_count,
                          struct rig_rerun_result *result, struct rig_err *err)
{
    char self[RIG_CLI_PATH_BYTES], seed[32], complaints[RIG_CLI_PATH_BYTES + 32];
    if (rerun->interrupts != NULL && atomic_load(rerun->interrupts) > 0)
        return rig_fail(err, RIG_E_INTERRUPTED, "stopped by a signal");
    if (rig_clock_now_ns() > rerun->until_ns)
        return rig_fail(err, RIG_E_LIMIT, "the time for runs of the plan is over");
    const ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    if (length <= 0)
        return rig_fail(err, RIG_E_IO, "/proc/self/exe: %s", strerror(errno));
    self[length] = '\0';
    *result = (struct rig_rerun_result){.seed = rerun->seed + ++rerun->run_count, .status = RIG_EXIT_FAILED};
    (void)snprintf(result->folder, sizeof result->folder, "%s/%04u", rerun->folder, (unsigned)rerun->run_count);
    (void)snprintf(complaints, sizeof complaints, "%s.err", result->folder);
    (void)snprintf(seed, sizeof seed, "%" PRIu64, result->seed & INT64_MAX);
    const char *arguments[ARGUMENTS_MOST] = {self, "run",          "--quiet", "--no-progress",
                                             "-o", result->folder, "--seed",  seed};
    size_t count = 8;
    struct rig_cli_handed handed;
    rig_cli_handed_begin(&handed);
    rig_cli_handed_add(&handed, "report=text");
    for (uint32_t i = 0; i < setting_count; i++)
        rig_cli_handed_add(&handed, settings[i]);
    if (rerun->anomaly != RIG_ANOMALY_COUNT) {
        arguments[count++] = "--anomaly";
        arguments[count++] = rig_anomaly_info(rerun->anomaly)->name;
    }
    arguments[count++] = rerun->plan;
    enum rig_rc rc = rig_cli_handed_end(&handed, err);
    const struct call call = {.arguments = arguments, .environment = handed.environment};
    if (rc == RIG_OK)
        rc = run_child(rerun, &call, complaints, result, err);
    rig_cli_handed_done(&handed);
    take_complaints(complaints, result->why, sizeof result->why);
    return rc == RIG_OK ? read_result(rerun, result, err) : rc;
}

int rig_cli_rerun_bundle(const struct rig_rerun *rerun, const char *run, const char *output)
{
    static const struct rig_account own = {0};
    char self[RIG_CLI_PATH_BYTES];
    const ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    self[length < 0 ? 0 : length] = '\0';
    const char *const arguments[] = {self, "bundle", run, "-o", output, "--force", NULL};
    const int silence = open("/dev/null", O_WRONLY | O_CLOEXEC);
    const struct rig_child_command command = {.arguments = arguments,
                                              .environment = (const char *const *)environ,
                                              .whole_environment = true,
                                              .account = &own,
                                              .home = "/",
                                              .output = silence,
                                              .death_signal = SIGTERM};
    struct rig_child child = {0};
    int status = 0;
    const bool began =
        silence >= 0 && rerun->children != NULL && rig_child_start(rerun->children, &command, &child, NULL) == RIG_OK;
    const bool ended = began && rig_child_await(&child, patience_ns);
    (void)rig_child_clear(&child, clear_ns, &status);
    if (silence >= 0)
        (void)close(silence);
    return ended && WIFEXITED(status) ? WEXITSTATUS(status) : RIG_EXIT_FAILED;
}

enum rig_rc rig_cli_rerun_read(const struct rig_rerun *rerun, const char *folder, const char *server,
                               struct rig_rerun_result *result, struct rig_err *err)
{
    struct rig_cli_saved_run saved = {.storage = NULL};
    struct rig_known_anomaly shape;
    enum rig_anomaly found;
    *result = (struct rig_rerun_result){.status = RIG_EXIT_OK, .is_earlier = true};
    (void)snprintf(result->folder, sizeof result->folder, "%s", folder);
    enum rig_rc rc = rig_cli_saved_run_load(folder, &saved, err);
    const bool is_same = rc == RIG_OK && saved.run.server != NULL && strcmp(saved.run.server, server) == 0;
    if (is_same) {
        result->seed = saved.run.seed;
        if (rig_cli_saved_run_shape(&saved, RIG_ANOMALY_COUNT, &found, &shape))
            result->status = RIG_EXIT_ANOMALY;
    }
    rig_cli_saved_run_done(&saved);
    return is_same ? read_result(rerun, result, err) : rc;
}

void rig_cli_rerun_done(struct rig_rerun *rerun)
{
    rig_children_free(rerun->children);
    rerun->children = NULL;
}

void rig_cli_rerun_count(struct rig_rerun_tally *tally, const struct rig_rerun_result *result)
{
    if (!result->is_judged) {
        tally->failed++;
        return;
    }
    if (tally->runs < RIG_RERUNS_MOST)
        tally->observed[tally->runs++] = (struct rig_observed){result->events, result->load_s / 60};
    tally->showing += result->shows;
}

void rig_cli_write_share(uint64_t shown, uint64_t of, const char *noun, struct rig_buf *out)
{
    const struct rig_interval interval = rig_interval_of_share(shown, of);
    rig_buf_printf(out, "%" PRIu64 " of %" PRIu64 " %s%s (95 %%: ", shown, of, noun, rig_plural(of));
    if (shown == 0)
        rig_buf_add_text(out, "at most ");
    else if (shown == of)
        rig_buf_add_text(out, "at least ");
    if (shown > 0)
        rig_buf_printf(out, "%.0f %%", floor(interval.least * 100));
    if (shown > 0 && shown < of)
        rig_buf_add_text(out, " to ");
    if (shown < of)
        rig_buf_printf(out, "%.0f %%", ceil(interval.most * 100));
    rig_buf_add_char(out, ')');
}

void rig_cli_write_rate(const struct rig_rerun_tally *tally, struct rig_buf *out)
{
    double rate;
    const struct rig_interval interval = rig_interval_of_rate(tally->observed, tally->runs, &rate);
    rig_buf_printf(out, "%.3g anomalies a minute of load (95 %%: %.3g to %.3g)", rate, interval.least, interval.most);
}

static void add_share(struct rig_json_writer *json, uint64_t shown, uint64_t of)
{
    const struct rig_interval interval = rig_interval_of_share(shown, of);
    rig_json_members(json, "of: %d, shown: %d, least: %f, most: %f", of, shown, interval.least, interval.most);
}

void rig_cli_json_share(struct rig_json_writer *json, const char *name, uint64_t shown, uint64_t of)
{
    rig_json_begin_object(json, name);
    add_share(json, shown, of);
    rig_json_end(json);
}

void rig_cli_json_tally(struct rig_json_writer *json, const char *name, const struct rig_rerun_tally *tally)
{
    double rate;
    const struct rig_interval interval = rig_interval_of_rate(tally->observed, tally->runs, &rate);
    rig_json_begin_object(json, name);
    add_share(json, tally->showing, tally->runs);
    rig_json_int(json, "failed", tally->failed);
    if (tally->runs > 0)
        rig_json_object(json, "a-minute", "rate: %f, least: %f, most: %f", rate, interval.least, interval.most);
    rig_json_end(json);
}

void rig_cli_tell_rerun(const struct rig_rerun *rerun, const struct rig_rerun_result *result)
{
    if (result->is_earlier)
        (void)printf("  made before, seed %" PRIu64 ": ", result->seed);
    else
        (void)printf("  run %u, seed %" PRIu64 ": ", (unsigned)rerun->run_count, result->seed);
    if (result->is_judged)
        (void)printf("%" PRIu64 " anomal%s in %.1f s of load%s\n", result->events, result->events == 1 ? "y" : "ies",
                     result->load_s, result->was_cut ? ", which was cut" : "");
    else if (result->was_cut)
        (void)printf("the time was over before its load began\n");
    else
        (void)printf("failed (exit status %d): %s\n", result->status,
                     result->why[0] == '\0' ? "it says nothing" : result->why);
    (void)fflush(stdout);
}
