#include "cli/check_progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/option_parse.h"
#include "cli/cli.h"
#include "cli/interruption.h"
#include "cli/terminal.h"
#include "run/run_progress.h"

static const int64_t slow_ns = RIG_NS_PER_S;
static const int64_t show_every_ns = RIG_NS_PER_S / 4;
static const int64_t heartbeat_ns = 30 * RIG_NS_PER_S;

int64_t rig_cli_heartbeat_ns(void)
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

static void show(struct rig_cli_check_progress *shown, const struct rig_check_progress *told, int64_t now_ns)
{
    int64_t since_ns = shown->shown_ns > shown->pass_ns && !told->is_read ? shown->shown_ns : shown->pass_ns;
    struct rig_progress progress = {.phase = told->is_read    ? "judge"
                                             : told->pass > 1 ? "check again"
                                                              : "check",
                                    .elapsed_ns = now_ns - shown->start_ns,
                                    .done = told->txn_count,
                                    .rate = rate_since(shown, told->txn_count, since_ns, now_ns),
                                    .has_share = true,
                                    .share = told->share,
                                    .share_ns = now_ns - shown->pass_ns,
                                    .found = told->found};
    char text[256];
    rig_progress_text(&progress, shown->is_line ? rig_terminal_columns(stderr) : 0, text, sizeof text);
    (void)fprintf(stderr, shown->is_line ? "\r%s\033[K" : "%s\n", text);
    (void)fflush(stderr);
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
    const int64_t last_ns = shown->shown_ns == 0 ? shown->start_ns : shown->shown_ns;
    if (shown->is_line && now_ns - shown->start_ns >= slow_ns &&
        (told->is_read || now_ns - shown->shown_ns >= show_every_ns))
        show(shown, told, now_ns);
    else if (!shown->is_line && shown->heartbeat_ns > 0 && now_ns - last_ns >= shown->heartbeat_ns)
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

bool rig_cli_wants_progress(const struct rig_arguments *arguments)
{
    return !rig_arguments_has(arguments, "quiet") && !rig_arguments_has(arguments, "no-progress");
}

void rig_cli_check_progress_init(struct rig_cli_check_progress *progress, bool is_wanted)
{
    const int64_t now_ns = rig_clock_now_ns();
    *progress = (struct rig_cli_check_progress){.watch = {.tell = tell, .context = progress},
                                                .is_line = is_wanted && rig_terminal_is_live(stderr),
                                                .heartbeat_ns = is_wanted ? rig_cli_heartbeat_ns() : 0,
                                                .start_ns = now_ns,
                                                .pass_ns = now_ns};
    rig_cli_interruption_begin(describe, progress);
}

const struct rig_check_watch *rig_cli_check_progress_watch(const struct rig_cli_check_progress *progress)
{
    return &progress->watch;
}

void rig_cli_check_progress_done(struct rig_cli_check_progress *progress)
{
    rig_cli_interruption_end();
    if (progress->is_line && progress->shown_ns != 0)
        (void)fprintf(stderr, "\r\033[K");
    progress->shown_ns = 0;
}
