#include "cli/check_progress.h"

#include <stdio.h>

#include "base/clock.h"
#include "cli/terminal.h"
#include "runner/run_progress.h"

static const int64_t slow_ns = RIG_NS_PER_S;
static const int64_t show_every_ns = RIG_NS_PER_S / 4;

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
    rig_progress_text(&progress, rig_terminal_columns(stderr), text, sizeof text);
    (void)fprintf(stderr, "\r%s\033[K", text);
    (void)fflush(stderr);
    shown->shown_ns = now_ns;
    shown->shown_count = told->txn_count;
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
    bool due = told->is_read || now_ns - shown->shown_ns >= show_every_ns;
    if (now_ns - shown->start_ns >= slow_ns && due)
        show(shown, told, now_ns);
}

void rig_cli_check_progress_init(struct rig_cli_check_progress *progress, bool is_wanted)
{
    const int64_t now_ns = rig_clock_now_ns();
    *progress = (struct rig_cli_check_progress){.watch = {.tell = tell, .context = progress},
                                                .is_on = is_wanted && rig_terminal_is_live(stderr),
                                                .start_ns = now_ns,
                                                .pass_ns = now_ns};
}

const struct rig_check_watch *rig_cli_check_progress_watch(const struct rig_cli_check_progress *progress)
{
    return progress->is_on ? &progress->watch : NULL;
}

void rig_cli_check_progress_done(struct rig_cli_check_progress *progress)
{
    if (progress->shown_ns != 0)
        (void)fprintf(stderr, "\r\033[K");
    progress->shown_ns = 0;
}
