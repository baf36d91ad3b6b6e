#include "cli/check_progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/option_parse.h"
#include "cli/cli.h"
#include "cli/interruption.h"
#include "run/load/run_progress.h"

static const int64_t slow_ns = RIG_NS_PER_S;
static const int64_t show_every_ns = RIG_NS_PER_S / 4;
static const int64_t heartbeat_ns = 30 * RIG_NS_PER_S;

const char *const rig_cli_progress_choices[] = {"auto", "json", NULL};

static int64_t chosen_heartbeat_ns(void)
{
    static const struct rig_option option = {
        .name = "RIG_HEARTBEAT", .type = RIG_OPTION_DURATION, .least = 0, .most = 24 * 3600e9};
    const char *text = getenv("RIG_HEARTBEAT");
    int64_t chosen_ns = heartbeat_ns;
    struct rig_err err = {0};
    if (text == NULL || text[0] == '\0' || rig_option_parse(&option, text, &chosen_ns, &err) == RIG_OK)
        return chosen_ns;
    rig_cli_complain("RIG_HEARTBEAT: %s", err.text);
    return heartbeat_ns;
}

static double rate_since(const struct rig_cli_check_progress *shown, uint64_t count, int64_t since_ns, int64_t now_ns)
{
    uint64_t before = since_ns == shown->shown_ns ? shown->shown_count : 0, more = count > before ? count - before : 0;
    return now_ns > since_ns ? (double)more * (double)RIG_NS_PER_S / (double)(now_ns - since_ns) : 0;
}

static struct rig_progress describe_check(const struct rig_cli_check_progress *shown,
                                          const struct rig_check_progress *told, int64_t now_ns)
{
    int64_t since_ns = shown->shown_ns > shown->pass_ns && !told->is_read ? shown->shown_ns : shown->pass_ns;
    return (struct rig_progress){.phase = told->is_read    ? "judge"
                                          : told->pass > 1 ? "check again"
                                                           : "check",
                                 .elapsed_ns = now_ns - shown->start_ns,
                                 .done = told->txn_count,
                                 .rate = rate_since(shown, told->txn_count, since_ns, now_ns),
                                 .has_share = true,
                                 .share = told->share,
                                 .share_ns = now_ns - shown->pass_ns,
                                 .found = told->found};
}

static void show(struct rig_cli_check_progress *shown, const struct rig_check_progress *told, int64_t now_ns)
{
    const struct rig_progress progress = describe_check(shown, told, now_ns);
    rig_progress_show(&progress, shown->look.form, rig_terminal_columns(stderr), stderr);
    shown->shown_ns = now_ns;
    shown->shown_count = told->txn_count;
}

static void note(struct rig_cli_check_progress *shown, const struct rig_check_progress *told)
{
    uint64_t found = 0;
    for (unsigned anomaly = 0; anomaly < RIG_ANOMALY_COUNT; anomaly++)
        found += told->found[anomaly];
    atomic_store(&shown->read_count, told->txn_count);
    atomic_store(&shown->read_permille, (uint32_t)(told->share * 1000));
    atomic_store(&shown->found_count, found);
}

static void tell(void *context, const struct rig_check_progress *told)
{
    struct rig_cli_check_progress *shown = context;
    int64_t now_ns = rig_clock_now_ns();
    if (told->pass != shown->pass) {
        shown->pass = told->pass;
        shown->pass_ns = now_ns;
        shown->shown_count = 0;
    }
    note(shown, told);
    if (shown->look.file != NULL && now_ns - shown->saved_ns >= RIG_PROGRESS_FILE_NS) {
        const struct rig_progress progress = describe_check(shown, told, now_ns);
        rig_progress_save(&progress, shown->look.file);
        shown->saved_ns = now_ns;
    }
    const int64_t last_ns = shown->shown_ns == 0 ? shown->start_ns : shown->shown_ns;
    const bool is_line = shown->look.form == RIG_PROGRESS_LINE;
    if (is_line && now_ns - shown->start_ns >= slow_ns && (told->is_read || now_ns - shown->shown_ns >= show_every_ns))
        show(shown, told, now_ns);
    else if (!is_line && shown->look.every_ns > 0 && now_ns - last_ns >= shown->look.every_ns)
        show(shown, told, now_ns);
}

/* One line on how far the check had come, printed when a signal ends it. */
static void describe(void *context, char *text, unsigned long size)
{
    const struct rig_cli_check_progress *progress = context;
    char took[32], count[32], found[96] = "";
    rig_progress_duration(rig_clock_now_ns() - progress->start_ns, took, sizeof took);
    rig_progress_count(atomic_load(&progress->read_count), count, sizeof count);
    const uint64_t anomalies = atomic_load(&progress->found_count);
    if (anomalies > 0)
        (void)snprintf(found, sizeof found, ", %" PRIu64 " %s found so far", anomalies,
                       anomalies == 1 ? "anomaly" : "anomalies");
    const uint32_t permille = atomic_load(&progress->read_permille);
    (void)snprintf(
        text, size,
        "the check was interrupted after %s: %s transactions were read (%u.%u %% of the history)%s; there is "
        "no verdict, and no report was written",
        took, count, permille / 10, permille % 10, found);
}

struct rig_progress_look rig_cli_progress_look(const struct rig_arguments *arguments)
{
    const char *form = rig_arguments_value(arguments, "progress");
    if (rig_arguments_has(arguments, "quiet") || rig_arguments_has(arguments, "no-progress"))
        return (struct rig_progress_look){.form = RIG_PROGRESS_NONE};
    if (form != NULL && strcmp(form, "json") == 0)
        return (struct rig_progress_look){.form = RIG_PROGRESS_JSON, .every_ns = chosen_heartbeat_ns()};
    if (rig_terminal_is_live(stderr))
        return (struct rig_progress_look){.form = RIG_PROGRESS_LINE};
    return (struct rig_progress_look){.form = RIG_PROGRESS_LINES, .every_ns = chosen_heartbeat_ns()};
}

void rig_cli_check_progress_init(struct rig_cli_check_progress *progress, struct rig_progress_look look)
{
    const int64_t now_ns = rig_clock_now_ns();
    *progress = (struct rig_cli_check_progress){
        .watch = {.tell = tell, .context = progress}, .look = look, .start_ns = now_ns, .pass_ns = now_ns};
    rig_cli_interruption_begin(describe, progress);
}

const struct rig_check_watch *rig_cli_check_progress_watch(const struct rig_cli_check_progress *progress)
{
    return &progress->watch;
}

void rig_cli_check_progress_done(struct rig_cli_check_progress *progress)
{
    rig_cli_interruption_end();
    if (progress->shown_ns != 0)
        rig_progress_clear(progress->look.form, stderr);
    progress->shown_ns = 0;
}
