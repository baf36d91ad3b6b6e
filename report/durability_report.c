#include "report/durability_report.h"

#include "base/json_members.h"
#include "report/html_parts.h"
#include "report/tell.h"
#include "report/words.h"

static const char *const hole_names[RIG_HOLE_COUNT] = {
    [RIG_HOLE_NONE] = "none",
    [RIG_HOLE_REALTIME] = "real-time",
    [RIG_HOLE_DEPENDS] = "dependency",
    [RIG_HOLE_TORN] = "torn",
};

const char *rig_durability_word(enum rig_fate fate)
{
    return fate == RIG_FATE_REFUTED ? "refuted" : fate == RIG_FATE_HELD ? "held" : "not refuted";
}

bool rig_durability_has_loss(const struct rig_verdict *verdict)
{
    const struct rig_durability *durability = verdict->durability;
    return durability != NULL && durability->acknowledged + durability->read > 0;
}

static void say_count(struct rig_buf *out, uint64_t acknowledged, uint64_t read)
{
    if (acknowledged > 0 || read == 0)
        rig_tell(out, "%n acknowledged commit%p", acknowledged, acknowledged);
    if (read > 0)
        rig_tell(out, "%s%n commit%p that others had read", acknowledged > 0 ? " and " : "", read, read);
}

/* The longest time before a crash from which it took commits; below 0: it is not known. */
static int64_t longest_lost_ns(const struct rig_durability *durability)
{
    int64_t longest_ns = -1;
    for (uint32_t i = 0; i < durability->crash_count; i++) {
        const int64_t lost_ns = rig_crash_lost_ns(&durability->crashes[i]);
        longest_ns = lost_ns > longest_ns ? lost_ns : longest_ns;
    }
    return longest_ns;
}

static uint32_t count_taking(const struct rig_durability *durability)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < durability->crash_count; i++)
        count += durability->crashes[i].acknowledged + durability->crashes[i].read > 0;
    return count;
}

void rig_durability_say(struct rig_buf *out, const struct rig_verdict *verdict)
{
    const struct rig_durability *durability = verdict->durability;
    if (!rig_durability_has_loss(verdict))
        return;
    const uint32_t taking = count_taking(durability);
    const int64_t lost_ns = longest_lost_ns(durability);
    if (taking == 1 && durability->crash_count == 1)
        rig_buf_add_text(out, "The crash took ");
    else
        rig_tell(out, "%n of %n crash%s took ", taking, durability->crash_count,
                 durability->crash_count == 1 ? "" : "es");
    say_count(out, durability->acknowledged, durability->read);
    if (lost_ns >= 0)
        rig_tell(out, " (lost time: %t%s)", lost_ns, taking == 1 ? "" : " at most");
    rig_buf_add_text(out, durability->promises[RIG_PROMISE_STRONG_PREFIX].fate == RIG_FATE_HELD
                              ? ": the last ones, so that a consistent prefix was recovered."
                          : durability->promises[RIG_PROMISE_PREFIX].fate == RIG_FATE_HELD
                              ? ": a suffix in an order that their dependencies allow, though not in real time."
                          : durability->holes[RIG_HOLE_DEPENDS] > 0
                              ? ": with a hole, because a commit that depends on a lost one survived."
                              : ": with a hole, because a part of a lost commit survived.");
}

void rig_durability_say_broken(struct rig_buf *out, const struct rig_verdict *verdict)
{
    const struct rig_durability *durability = verdict->durability;
    if (rig_durability_is_broken(durability))
        rig_tell(out, "%s does not hold (%s)", rig_promise_names[durability->asked],
                 durability->promises[durability->asked].reason);
}

static void name_crash(struct rig_buf *out, const struct rig_verdict *verdict, const struct rig_crash *crash)
{
    rig_tell(out, "%c", crash->fault);
    if (crash->targets[0] != '\0')
        rig_tell(out, " of %c", crash->targets);
    if (crash->at_ns != RIG_NO_TIME)
        rig_buf_printf(out, ", %.3f s", (double)(crash->at_ns - rig_history_zero_ns(verdict->history)) / 1e9);
}

static void say_crash(struct rig_buf *out, const struct rig_verdict *verdict, const struct rig_crash *crash)
{
    const int64_t lost_ns = rig_crash_lost_ns(crash);
    name_crash(out, verdict, crash);
    rig_buf_add_text(out, ": took ");
    say_count(out, crash->acknowledged, crash->read);
    if (lost_ns >= 0)
        rig_tell(out, " (lost time: %t)", lost_ns);
    rig_tell(out, "; the first is T%d, which T%d misses", crash->first, crash->reader);
}

static void say_hole(struct rig_buf *out, const struct rig_durability *durability, const struct rig_hole_found *found)
{
    const struct rig_crash *crash = &durability->crashes[found->crash];
    rig_tell(out, "hole: T%d was lost by %c", found->lost, crash->fault);
    if (found->hole == RIG_HOLE_TORN)
        rig_buf_add_text(out, ", though another part of it survived");
    else
        rig_tell(out, ", though T%d survived, which %s", found->kept,
                 found->hole == RIG_HOLE_DEPENDS ? "depends on it" : "began after it was known");
    rig_tell(out, "; T%d misses it", found->reader);
}

void rig_durability_lines(struct rig_buf *out, const struct rig_verdict *verdict)
{
    const struct rig_durability *durability = verdict->durability;
    for (uint32_t i = 0; durability != NULL && i < durability->crash_count; i++) {
        if (durability->crashes[i].acknowledged + durability->crashes[i].read == 0)
            continue;
        say_crash(out, verdict, &durability->crashes[i]);
        rig_buf_add_char(out, '\n');
    }
    for (uint32_t i = 0; durability != NULL && i < durability->kept_count; i++) {
        say_hole(out, durability, &durability->kept[i]);
        rig_buf_add_char(out, '\n');
    }
}

/* ---- for programs ---- */

static void add_crash(struct rig_json_writer *w, const struct rig_crash *crash)
{
    const int64_t lost_ns = rig_crash_lost_ns(crash);
    rig_json_begin_object(w, NULL);
    rig_json_members(w, "fault: %s, targets: %s", crash->fault, crash->targets);
    if (crash->at_ns != RIG_NO_TIME)
        rig_json_int(w, "at_ns", crash->at_ns);
    rig_json_members(w, "acknowledged: %d, read: %d, holes: %d", crash->acknowledged, crash->read, crash->holes);
    if (crash->acknowledged + crash->read > 0)
        rig_json_members(w, "first: %d, reader: %d", crash->first, crash->reader);
    if (lost_ns >= 0)
        rig_json_int(w, "lost_ns", lost_ns);
    rig_json_end(w);
}

void rig_durability_json(struct rig_json_writer *w, const struct rig_verdict *verdict)
{
    const struct rig_durability *durability = verdict->durability;
    if (durability == NULL)
        return;
    rig_json_begin_object(w, "durability");
    if (durability->asked != RIG_PROMISE_NONE)
        rig_json_string(w, "requested", rig_promise_names[durability->asked]);
    rig_json_begin_array(w, "promises");
    for (unsigned which = 0; which < RIG_PROMISE_COUNT; which++)
        rig_json_object(w, NULL, "promise: %s, fate: %s, reason: %s", rig_promise_names[which],
                        rig_durability_word(durability->promises[which].fate), durability->promises[which].reason);
    rig_json_end(w);
    rig_json_members(w, "acknowledged: %d, read: %d, histories: %d", durability->acknowledged, durability->read,
                     durability->view_count == 0 ? 1 : durability->view_count);
    rig_json_begin_array(w, "crashes");
    for (uint32_t i = 0; i < durability->crash_count; i++)
        add_crash(w, &durability->crashes[i]);
    rig_json_end(w);
    rig_json_begin_array(w, "holes");
    for (uint32_t i = 0; i < durability->kept_count; i++) {
        const struct rig_hole_found *found = &durability->kept[i];
        rig_json_object(w, NULL, "kind: %s, lost: %d, survived: %d, reader: %d, crash: %d", hole_names[found->hole],
                        found->lost, found->kept, found->reader, found->crash);
    }
    rig_json_end(w);
    rig_json_end(w);
}

void rig_durability_html(struct rig_buf *out, const struct rig_verdict *verdict)
{
    const struct rig_durability *durability = verdict->durability;
    struct rig_buf text;
    if (durability == NULL)
        return;
    rig_buf_init(&text, 0);
    rig_durability_say(&text, verdict);
    rig_html_fold(out, "durability", "Durability",
                  text.size > 0 ? rig_buf_text(&text) : durability->promises[RIG_PROMISE_DURABLE].reason);
    rig_buf_add_text(out, "<table><tr><th>promise</th><th>fate</th><th>why</th></tr>\n");
    for (unsigned which = 0; which < RIG_PROMISE_COUNT; which++)
        rig_tell(out, "<tr><td>%s</td><td>%s</td><td>%h</td></tr>\n", rig_promise_names[which],
                 rig_durability_word(durability->promises[which].fate), durability->promises[which].reason);
    rig_buf_add_text(out, "</table>\n");
    rig_buf_clear(&text);
    rig_durability_lines(&text, verdict);
    if (text.size > 0)
        rig_tell(out, "<pre>%h</pre>\n", rig_buf_text(&text));
    rig_buf_done(&text);
    rig_html_fold_end(out);
}
