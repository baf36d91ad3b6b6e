#include "nemesis/nemesis_options.h"

#include <stdlib.h>

#include "base/option_parse.h"
#include "nemesis/placeholder.h"

#define LONGEST_NS (24 * 3600e9)

#define AT(member) offsetof(struct rig_nemesis_options, member)
const struct rig_option rig_nemesis_table[] = {
    {.name = "overlap",
     .type = RIG_OPTION_BOOL,
     .offset = AT(overlap),
     .default_text = "false",
     .help = "several faults may be in effect together; false: a fault that is due waits until the previous one is "
             "healed"},
    {.name = "quiet.min",
     .type = RIG_OPTION_DURATION,
     .offset = AT(quiet_least_ns),
     .default_text = "1s",
     .least = 0,
     .most = LONGEST_NS,
     .help = "shortest quiet period before a fault that comes at random (a `weight`)"},
    {.name = "quiet.max",
     .type = RIG_OPTION_DURATION,
     .offset = AT(quiet_most_ns),
     .default_text = "10s",
     .least = 0,
     .most = LONGEST_NS,
     .help = "longest such period"},
    {.name = "recover",
     .type = RIG_OPTION_DURATION,
     .offset = AT(recover_ns),
     .default_text = "60s",
     .least = 1e9,
     .most = LONGEST_NS,
     .help = "time in which all nodes must be healthy again after the load, when everything is healed"},
    {.name = "command-timeout",
     .type = RIG_OPTION_DURATION,
     .offset = AT(command_ns),
     .default_text = "30s",
     .least = 1e6,
     .most = LONGEST_NS,
     .help = "time after which a command of the plan is killed and counts as failed"},
    {.name = NULL},
};
#undef AT

/* By enum rig_on_failure. */
static const char *const on_failure_choices[] = {"fail", "continue", NULL};

#define AT(member) offsetof(struct rig_nemesis_entry_options, member)
const struct rig_option rig_nemesis_entry_table[] = {
    {.name = "fault",
     .type = RIG_OPTION_TEXT,
     .offset = AT(fault),
     .help = "the kind of fault (`rig list faults`); the other keys belong to the schedule or to this fault",
     .required = true},
    {.name = "target",
     .type = RIG_OPTION_TEXT,
     .offset = AT(target),
     .help = "nodes, resolved at the moment of the fault: a role (`primary`, `standby`, `leader`, `follower`), `one` "
             "or `one ROLE`, `minority`, `majority`, `all`, the name of a node, or several of these with commas; the "
             "default depends on the fault"},
    {.name = "at",
     .type = RIG_OPTION_TEXT_LIST,
     .offset = AT(at),
     .help = "times, as durations from the start of the load"},
    {.name = "after",
     .type = RIG_OPTION_DURATION,
     .offset = AT(after_ns),
     .least = 0,
     .most = LONGEST_NS,
     .help = "time of the first injection; by default that of `every`"},
    {.name = "every",
     .type = RIG_OPTION_DURATION,
     .offset = AT(every_ns),
     .least = 1e6,
     .most = LONGEST_NS,
     .help = "interval between injections"},
    {.name = "for",
     .type = RIG_OPTION_DURATION,
     .offset = AT(for_ns),
     .default_text = "3s",
     .least = 0,
     .most = LONGEST_NS,
     .help = "duration until it is healed"},
    {.name = "count",
     .type = RIG_OPTION_INT,
     .offset = AT(count),
     .default_text = "0",
     .least = 0,
     .most = 1e9,
     .help = "maximum number of injections; 0: no limit"},
    {.name = "vary",
     .type = RIG_OPTION_SHARE,
     .offset = AT(vary),
     .default_text = "0%",
     .least = 0,
     .most = 1,
     .help = "share by which `every` and `for` vary at random, up and down"},
    {.name = "on-failure",
     .type = RIG_OPTION_CHOICE,
     .offset = AT(on_failure),
     .default_text = "fail",
     .choices = on_failure_choices,
     .help = "whether the run fails or continues if the fault has no effect, finds no target or cannot be healed; if "
             "no fault took effect, the run is undecided in any case"},
    {.name = "weight",
     .type = RIG_OPTION_INT,
     .offset = AT(weight),
     .default_text = "0",
     .least = 0,
     .most = 1000,
     .help = "random schedule instead of `at`, `after` and `every`: after a quiet period one of the entries with a "
             "weight is drawn, in proportion to the weights"},
    {.name = NULL},
};
#undef AT

#define AT(member) offsetof(struct rig_nemesis_node_options, member)
#define COMMAND(key, member, text)                                                                                     \
    {                                                                                                                  \
        .name = key, .type = RIG_OPTION_COMMAND, .offset = AT(member), .help = text                                    \
    }
const struct rig_option rig_nemesis_node_table[] = {
    COMMAND("kill", kill, "ends the node's processes at once; the faults `kill` and `restart`. `start` undoes it"),
    COMMAND("stop", stop, "shuts the node down cleanly; for `how: fast`. `start` undoes it"),
    COMMAND("start", start, "starts the node; harmless when it runs"),
    COMMAND("pause", pause, "stops the node's processes without ending them. `resume` undoes it"),
    COMMAND("resume", resume, "resumes them; harmless when they run"),
    COMMAND("promote", promote, "makes the node the primary, and the others its followers. `restore` undoes it"),
    COMMAND("restore", restore, "restores the original roles from any state; harmless when they are restored"),
    COMMAND("role", role, "prints the node's role, as a word: primary, standby, ..."),
    COMMAND("check", check, "succeeds (exit status 0) when the node answers and has caught up"),
    {.name = NULL},
};
#undef COMMAND
#undef AT

static int ascending(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static enum rig_rc parse_times(struct rig_nemesis_entry *entry, struct rig_arena *arena, struct rig_err *err)
{
    static const struct rig_option time = {.name = "at", .type = RIG_OPTION_DURATION, .least = 0, .most = LONGEST_NS};
    const struct rig_text_list *at = &entry->schedule.at;
    entry->at_ns = rig_arena_array(arena, at->count + 1, sizeof *entry->at_ns);
    if (entry->at_ns == NULL)
        return rig_no_memory(err, "a plan");
    for (size_t i = 0; i < at->count; i++) {
        struct rig_err own = {0};
        const enum rig_rc rc = rig_option_parse(&time, at->at[i], &entry->at_ns[i], &own);
        if (rc != RIG_OK)
            return rig_fail(err, rc, "`at`: %s", own.text);
    }
    entry->at_count = at->count;
    qsort(entry->at_ns, entry->at_count, sizeof *entry->at_ns, ascending);
    return RIG_OK;
}

const struct rig_text_list *rig_nemesis_command(const struct rig_option *option, const void *options)
{
    static const struct rig_text_list none = {.count = 0};
    return option->type == RIG_OPTION_COMMAND
               ? (const struct rig_text_list *)(const void *)((const char *)options + option->offset)
               : &none;
}

/* `table` may be NULL. */
static enum rig_rc check_placeholders(const struct rig_option *table, const void *options, struct rig_err *err)
{
    enum rig_rc rc = RIG_OK;
    for (const struct rig_option *option = table; option != NULL && option->name != NULL && rc == RIG_OK; option++)
        rc = rig_placeholder_check(option->name, rig_nemesis_command(option, options), err);
    return rc;
}

/* Without a target, a fault of nodes would strike none and still count as effective. */
static enum rig_rc check_target(const struct rig_nemesis_entry *entry, struct rig_err *err)
{
    const char *target = entry->schedule.target;
    const bool strikes_nodes = entry->fault->target == NULL || entry->fault->target[0] != '\0';
    if (!strikes_nodes || target == NULL || target[0] != '\0')
        return RIG_OK;
    return rig_fail(err, RIG_E_PLAN, "`target` is empty, and the fault `%s` strikes nodes: name them, or leave it out",
                    entry->fault->name);
}

enum rig_rc rig_nemesis_entry_resolve(struct rig_nemesis_entry *entry, struct rig_arena *arena, struct rig_err *err)
{
    const struct rig_nemesis_entry_options *schedule = &entry->schedule;
    const bool periodic = schedule->every_ns > 0 || schedule->after_ns > 0;
    if (schedule->weight > 0 && (periodic || schedule->at.count > 0))
        return rig_fail(err, RIG_E_PLAN, "`weight` gives a random schedule: leave out `at`, `after` and `every`");
    if (schedule->at.count > 0 && periodic)
        return rig_fail(err, RIG_E_PLAN, "`at` gives the times: leave out `after` and `every`");
    if (schedule->weight == 0 && schedule->at.count == 0 && !periodic)
        return rig_fail(err, RIG_E_PLAN,
                        "no schedule: give `at` (times), `after` (once), `every` (repeatedly) or `weight` (at random)");
    enum rig_rc rc = parse_times(entry, arena, err);
    if (rc == RIG_OK && entry->fault != NULL)
        rc = check_target(entry, err);
    if (rc != RIG_OK || entry->fault == NULL || entry->options == NULL)
        return rc;
    return check_placeholders(entry->fault->options, entry->options, err);
}

static enum rig_rc check_undo(const struct rig_text_list *command, const char *name, const struct rig_text_list *undo,
                              const char *undo_name, struct rig_err *err)
{
    if (command->count == 0 || undo->count > 0)
        return RIG_OK;
    return rig_fail(err, RIG_E_PLAN, "`%s` is given without `%s`, which undoes it", name, undo_name);
}

enum rig_rc rig_nemesis_node_check(const struct rig_nemesis_node_options *node, struct rig_err *err)
{
    enum rig_rc rc = check_placeholders(rig_nemesis_node_table, node, err);
    if (rc == RIG_OK)
        rc = check_undo(&node->kill, "kill", &node->start, "start", err);
    if (rc == RIG_OK)
        rc = check_undo(&node->stop, "stop", &node->start, "start", err);
    if (rc == RIG_OK)
        rc = check_undo(&node->pause, "pause", &node->resume, "resume", err);
    if (rc == RIG_OK)
        rc = check_undo(&node->promote, "promote", &node->restore, "restore", err);
    return rc;
}
