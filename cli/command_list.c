/*
 * rig list: what this build knows, one line each.
 */
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/json_members.h"
#include "base/nearest.h"
#include "base/option_parse.h"
#include "checker/decide/rule.h"
#include "checker/model/anomaly.h"
#include "checker/model/certified.h"
#include "checker/model/level.h"
#include "cli/arguments.h"
#include "cli/cli.h"
#include "cli/dialects.h"
#include "cli/list_level.h"
#include "cli/plan_arguments.h"
#include "generator/generator.h"
#include "history/types/types.h"
#include "nemesis/faults.h"
#include "report/report.h"
#include "run/plan/reproduction.h"
#include "run/plan/shipped_plan.h"

/* -- one line each, as text or as members of a JSON object ----------------------------------------------------------
 */

struct lister {
    bool json;
    struct rig_buf out;
    struct rig_json_writer writer;
    enum rig_level level; /* of list_one_level() */
    int status;           /* RIG_EXIT_OK, or of a row that could not be made */
};

static void begin_row(struct lister *lister, const char *name, int width, const char *text_name, const char *text)
{
    if (!lister->json) {
        rig_buf_printf(&lister->out, "%-*s  %s", width, name, text);
        return;
    }
    rig_json_begin_object(&lister->writer, NULL);
    rig_json_string(&lister->writer, "name", name);
    rig_json_string(&lister->writer, text_name, text);
}

static void end_row(struct lister *lister)
{
    if (lister->json)
        rig_json_end(&lister->writer);
    else
        rig_buf_add_char(&lister->out, '\n');
}

/* A list of names that belongs to a row: `label a, b` in text, nothing when there are none. */
static void begin_names(struct lister *lister, const char *member)
{
    if (lister->json)
        rig_json_begin_array(&lister->writer, member);
}

static void add_name(struct lister *lister, const char *label, size_t *count, const char *name)
{
    if (lister->json)
        rig_json_string(&lister->writer, NULL, name);
    else
        rig_buf_printf(&lister->out, "%s%s", *count == 0 ? label : ", ", name);
    ++*count;
}

static void end_names(struct lister *lister)
{
    if (lister->json)
        rig_json_end(&lister->writer);
}

/* -- the lists ----------------------------------------------------------------------------------------------------- */

static const char *const *workload_names(void)
{
    return rig_option_find(rig_generator_option_table, "type")->choices;
}

static void list_drivers(struct lister *lister)
{
    struct rig_cli_drivers drivers;
    rig_cli_drivers_init(&drivers);
    for (size_t i = 0; i < drivers.count; i++) {
        begin_row(lister, drivers.at[i]->name, 10, "summary", drivers.at[i]->summary);
        begin_names(lister, "workloads");
        size_t count = 0;
        for (size_t w = 0; workload_names()[w] != NULL; w++) {
            if ((drivers.at[i]->workloads & RIG_WORKLOAD_BIT(w)) != 0)
                add_name(lister, "; runs ", &count, workload_names()[w]);
        }
        end_names(lister);
        end_row(lister);
    }
}

static void list_workloads(struct lister *lister)
{
    for (size_t w = 0; workload_names()[w] != NULL; w++) {
        begin_row(lister, workload_names()[w], 15, "summary", rig_data_types[w].help);
        end_row(lister);
    }
}

enum { FAULT_WIDTH = 18 };

static void add_fault(struct lister *lister, const struct rig_fault *fault, const char *driver)
{
    char why[512] = "";
    const bool possible = rig_fault_is_possible(fault, NULL, NULL, why, sizeof why);
    begin_row(lister, fault->name, FAULT_WIDTH, "summary", fault->summary);
    if (lister->json) {
        rig_json_members(&lister->writer, "driver: %s, available: %b, missing: %s", driver == NULL ? "" : driver,
                         possible, why);
    } else {
        if (driver != NULL)
            rig_buf_printf(&lister->out, "; only %s", driver);
        if (!possible)
            rig_buf_printf(&lister->out, "\n%-*s  not on this machine: %s", FAULT_WIDTH, "", why);
    }
    end_row(lister);
}

struct fault_list {
    struct lister *lister;
    const char *driver; /* lists its faults; NULL: the generic ones */
};

static void visit_fault(void *context, const struct rig_fault *fault, bool driver_own)
{
    const struct fault_list *list = context;
    if (driver_own == (list->driver != NULL))
        add_fault(list->lister, fault, list->driver);
}

/* With what this machine lacks for them. */
static void list_faults(struct lister *lister)
{
    struct rig_cli_drivers drivers;
    rig_cli_drivers_init(&drivers);
    struct fault_list list = {.lister = lister};
    rig_fault_each(NULL, visit_fault, &list);
    for (size_t i = 0; i < drivers.count; i++) {
        list.driver = drivers.at[i]->name;
        rig_fault_each(drivers.at[i]->cluster, visit_fault, &list);
    }
}

/* The implications that the tree of levels is drawn from; each level's own stand below it where it comes first. */
struct lattice_walk {
    struct rig_buf *out;
    uint64_t drawn; /* levels with their own implications in the tree */
    char indent[8 * RIG_LEVEL_COUNT];
};

static uint32_t lowest_bit(uint64_t set)
{
    uint32_t bit = 0;
    while ((set >> bit & 1) == 0)
        bit++;
    return bit;
}

/* Draws what `level` implies, strongest first; recursion is as deep as the lattice is high. */
static void draw_below(struct lattice_walk *walk, enum rig_level level)
{
    const size_t depth = strlen(walk->indent);
    uint64_t below = rig_level_info(level)->implies & rig_levels_along(RIG_ALONG_PLAIN);
    for (int at = RIG_LEVEL_COUNT - 1; at >= 0; at--) {
        if ((below & RIG_LEVEL_BIT(at)) == 0)
            continue;
        const struct rig_level_info *info = rig_level_info((enum rig_level)at);
        const bool last = (int)lowest_bit(below) == at;
        const bool again = (walk->drawn & RIG_LEVEL_BIT(at)) != 0;
        rig_buf_printf(walk->out, "%s%s-- %s%s\n", walk->indent, last ? "`" : "|", info->name,
                       again && info->implies != 0 ? " (above)" : "");
        if (again)
            continue;
        walk->drawn |= RIG_LEVEL_BIT(at);
        memcpy(walk->indent + depth, last ? "    " : "|   ", 5);
        draw_below(walk, (enum rig_level)at);
        walk->indent[depth] = '\0';
    }
}

static void draw_lattice(struct rig_buf *out)
{
    rig_buf_add_text(out, "Each level implies those below it in the tree.\n"
                          "(above): its implications are shown there.\n\n");
    struct lattice_walk walk = {.out = out};
    rig_buf_printf(out, "%s\n", rig_level_info(RIG_LEVEL_SERIALIZABLE)->name);
    draw_below(&walk, RIG_LEVEL_SERIALIZABLE);
    rig_buf_add_text(out, "\nMost have a session form, strong-session-LEVEL, which respects the order of\n"
                          "each process, and a strong form, strong-LEVEL, which respects real time. A form\n"
                          "implies the weaker forms of its level, and the same form of each level below it\n"
                          "in the tree. The strong form of serializable is strict-serializable.\n\n");
}

static void add_levels(struct lister *lister, const char *member, uint64_t levels)
{
    size_t count = 0;
    begin_names(lister, member);
    for (int level = 0; level < RIG_LEVEL_COUNT; level++) {
        if ((levels & RIG_LEVEL_BIT(level)) != 0)
            add_name(lister, "", &count, rig_level_info((enum rig_level)level)->name);
    }
    end_names(lister);
}

static void add_aliases(struct lister *lister, enum rig_level of)
{
    size_t count = 0;
    begin_names(lister, "aliases");
    const char *alias = NULL;
    enum rig_level level;
    for (uint32_t i = 0; rig_level_alias(i, &alias, &level); i++) {
        if (level == of)
            add_name(lister, "; also ", &count, alias);
    }
    end_names(lister);
}

/* The rule that decides the level (docs/checker/levels.md). */
static void add_rule(struct lister *lister, enum rig_level level)
{
    const struct rig_rule *rule = rig_level_rule(level);
    char cycles[160];
    (void)snprintf(cycles, sizeof cycles, "cycles%s", rig_rule_cycles(rule));
    rig_json_object(&lister->writer, "forbids", "cycles: %s, order: %s, internal: %b", cycles,
                    rig_cli_level_order(level), rule->internal);
}

static void list_level(struct lister *lister, enum rig_level level)
{
    const struct rig_level_info *info = rig_level_info(level);
    begin_row(lister, info->name, 42, "definition", info->definition);
    if (lister->json) {
        rig_json_string(&lister->writer, "source", info->source);
        add_rule(lister, level);
        add_levels(lister, "implies", info->implies);
        add_levels(lister, "implied_by", rig_cli_level_implied_by(level));
    } else {
        rig_buf_printf(&lister->out, " [%s]", info->source);
    }
    add_aliases(lister, level);
    end_row(lister);
}

/* As text the lattice first, then a line a level, strongest first; as JSON weaker before stronger. */
static void list_levels(struct lister *lister)
{
    if (!lister->json)
        draw_lattice(&lister->out);
    for (int i = 0; i < RIG_LEVEL_COUNT; i++)
        list_level(lister, (enum rig_level)(lister->json ? i : RIG_LEVEL_COUNT - 1 - i));
}

static void list_one_level(struct lister *lister)
{
    if (lister->json)
        list_level(lister, lister->level);
    else
        rig_cli_list_level(lister->level, &lister->out);
}

static void list_anomalies(struct lister *lister)
{
    for (int id = 0; id < RIG_ANOMALY_COUNT; id++) {
        const struct rig_anomaly_info *info = rig_anomaly_info((enum rig_anomaly)id);
        begin_row(lister, info->name, 27, "definition", info->definition);
        if (lister->json) {
            rig_json_members(&lister->writer, "source: %s, cyclic: %b", info->source, info->cyclic);
        } else {
            rig_buf_printf(&lister->out, " [%s]", info->source);
        }
        end_row(lister);
    }
    for (int kind = 0; kind < RIG_DISCREPANCY_COUNT; kind++) {
        const struct rig_discrepancy_info *info = &rig_discrepancy_infos[kind];
        begin_row(lister, info->name, 27, "definition", info->definition);
        if (lister->json)
            rig_json_bool(&lister->writer, "certificate", true);
        else
            rig_buf_add_text(&lister->out, " [certificate]");
        end_row(lister);
    }
    const char *name;
    rig_anomaly_set anomalies;
    for (uint32_t i = 0; rig_anomaly_group(i, &name, &anomalies); i++) {
        struct rig_buf members;
        rig_buf_init(&members, 0);
        rig_buf_add_text(&members, "includes");
        for (unsigned id = 0; id < RIG_ANOMALY_COUNT; id++) {
            if ((anomalies & RIG_ANOMALY_BIT(id)) != 0)
                rig_buf_printf(&members, " %s", rig_anomaly_info((enum rig_anomaly)id)->name);
        }
        begin_row(lister, name, 27, "definition", rig_buf_text(&members));
        if (lister->json)
            rig_json_bool(&lister->writer, "group", true);
        end_row(lister);
        rig_buf_done(&members);
    }
}

static void add_text(struct lister *lister, const char *member, const char *label, const char *text)
{
    if (lister->json)
        rig_json_string(&lister->writer, member, text);
    else
        rig_buf_printf(&lister->out, "%s%s", label, text);
}

static void list_reproduction(struct lister *lister, const struct rig_reproduction *entry)
{
    char typical[64];
    (void)snprintf(typical, sizeof typical, "%.3g s", (double)entry->typical_ns / (double)RIG_NS_PER_S);
    begin_row(lister, entry->name, 20, "shows", entry->shows);
    add_text(lister, "database", "\n                        ", entry->database);
    add_text(lister, "level", ", ", entry->level);
    add_text(lister, "typical", "; found in about ", typical);
    if (lister->json)
        rig_json_string(&lister->writer, "page", entry->page);
    end_row(lister);
}

static void list_bugs(struct lister *lister)
{
    struct rig_arena arena;
    struct rig_text_list names = {.count = 0};
    struct rig_err err = {0};
    rig_arena_init(&arena, 0);
    if (rig_reproduction_names(&arena, &names, &err) != RIG_OK)
        lister->status = rig_cli_fail(&err);
    for (size_t i = 0; i < names.count; i++) {
        struct rig_reproduction entry;
        struct rig_err own = {0};
        if (rig_reproduction_load(names.at[i], &arena, &entry, &own) == RIG_OK)
            list_reproduction(lister, &entry);
        else
            lister->status = rig_cli_fail(&own);
    }
    rig_arena_done(&arena);
}

static void list_dialect(void *context, const char *name, const char *summary, const char *drivers)
{
    struct lister *lister = context;
    begin_row(lister, name, 18, "summary", summary);
    add_text(lister, "drivers", "; driver ", drivers);
    end_row(lister);
}

static void list_dialects(struct lister *lister)
{
    if (!rig_cli_dialects_each(list_dialect, lister))
        lister->status = RIG_EXIT_USAGE;
}

static void list_plans(struct lister *lister)
{
    struct rig_arena arena;
    struct rig_text_list names = {.count = 0};
    struct rig_err err = {0};
    rig_arena_init(&arena, 0);
    if (rig_shipped_plan_names(&arena, &names, &err) != RIG_OK)
        lister->status = rig_cli_fail(&err);
    for (size_t i = 0; i < names.count; i++) {
        struct rig_buf summary;
        rig_buf_init(&summary, 0);
        if (rig_shipped_plan_summary(names.at[i], &summary)) {
            begin_row(lister, names.at[i], 31, "shows", rig_buf_text(&summary));
            end_row(lister);
        }
        rig_buf_done(&summary);
    }
    rig_arena_done(&arena);
}

/* -- the command --------------------------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    void (*list)(struct lister *lister);
} lists[] = {
    {"drivers", list_drivers}, {"workloads", list_workloads}, {"faults", list_faults},
    {"levels", list_levels},   {"anomalies", list_anomalies}, {"dialects", list_dialects},
    {"bugs", list_bugs},       {"reproductions", list_bugs}, /* the name in earlier versions */
    {"plans", list_plans},
};

enum { LIST_COUNT = sizeof lists / sizeof lists[0] };

static const char *const formats[] = {"text", "json", "dot", "svg", NULL};

static const struct rig_argument arguments_of_list[] = {
    {.name = "format",
     .value = "text|json|dot|svg",
     .choices = formats,
     .help = "form of the list; text when not given; dot and svg: a drawing of the levels"},
    {.name = NULL},
};

static const struct rig_arguments_table table_of_list = {
    .command = "list",
    .positionals = "drivers|workloads|faults|levels|anomalies|dialects|bugs|plans [LEVEL]",
    .least_positionals = 1,
    .most_positionals = 2,
    .description =
        "Lists what this build supports, one line each. `dialects` are what drivers know of databases,\n"
        "`bugs` known bugs that `rig reproduce` shows again, and `plans` those that `rig run NAME` runs. "
        "Levels have a drawing of their implications; "
        "`levels LEVEL`\n"
        "shows one of them, with the cycles that it forbids and what implies it. Levels and\n"
        "anomalies have a definition and its source; those of a `certificate` are discrepancies between the clients'\n"
        "results and the database's own account (docs/certificates.md):\n"
        "  ALO00      Adya, Liskov & O'Neil, Generalized Isolation Level Definitions, ICDE 2000\n"
        "  Adya99     Adya, Weak Consistency (thesis), 1999\n"
        "  BAILIS14   Bailis et al., Highly Available Transactions, VLDB 2014\n"
        "  BERN95     Berenson et al., A Critique of ANSI SQL Isolation Levels, SIGMOD 1995\n"
        "  CBG15      Cerone, Bernardi & Gotsman, CONCUR 2015;  CG18  Cerone & Gotsman, JACM 2018\n"
        "  DAUD04/06  Daudjee & Salem, ICDE 2004 and VLDB 2006\n"
        "  HW90       Herlihy & Wing, Linearizability, 1990\n"
        "  KA20       Kingsbury & Alvaro, Elle, VLDB 2020\n"
        "  PAPA79     Papadimitriou, The Serializability of Concurrent Database Updates, 1979\n"
        "  SOVRAN11   Sovran et al., Transactional Storage for Geo-replicated Systems, SOSP 2011\n"
        "  TERRY94    Terry et al., Session Guarantees, 1994\n",
    .arguments = arguments_of_list,
};

static int complain_unknown(const char *name)
{
    struct rig_nearest nearest;
    rig_nearest_init(&nearest, name);
    for (size_t i = 0; i < LIST_COUNT; i++)
        rig_nearest_offer(&nearest, lists[i].name);
    if (nearest.best != NULL)
        rig_cli_complain("list: there is no list `%s`; did you mean `%s`?", name, nearest.best);
    else
        rig_cli_complain("list: there is no list `%s`; expected one of "
                         "drivers|workloads|faults|levels|anomalies|dialects|bugs|plans",
                         name);
    return RIG_EXIT_USAGE;
}

/* `--format dot` and `svg`: the lattice alone. */
static int print_picture(size_t index, const char *format)
{
    if (lists[index].list != list_levels) {
        rig_cli_complain("list: --format %s draws levels; `%s` come as text or json", format, lists[index].name);
        return RIG_EXIT_USAGE;
    }
    struct rig_buf out;
    rig_buf_init(&out, 0);
    if (strcmp(format, "dot") == 0)
        rig_report_lattice_dot(&out);
    else
        rig_report_lattice_svg(&out);
    (void)fputs(rig_buf_text(&out), stdout);
    rig_buf_done(&out);
    return RIG_EXIT_OK;
}

/* `level`: prints this one alone; NULL: all of the list. */
static int print_list(size_t index, bool json, const enum rig_level *level)
{
    struct lister lister = {.json = json, .level = level == NULL ? RIG_LEVEL_READ_UNCOMMITTED : *level};
    rig_buf_init(&lister.out, 0);
    rig_json_init_indented(&lister.writer, &lister.out, 2, 2);
    if (json) {
        rig_json_begin_object(&lister.writer, NULL);
        rig_json_begin_array(&lister.writer, lists[index].name);
    }
    if (level == NULL)
        lists[index].list(&lister);
    else
        list_one_level(&lister);
    if (json) {
        rig_json_end(&lister.writer);
        rig_json_end(&lister.writer);
        rig_buf_add_char(&lister.out, '\n');
    }
    if (json)
        rig_cli_print_data(&lister.out);
    else
        rig_cli_print(&lister.out);
    rig_buf_done(&lister.out);
    return lister.status;
}

static int print_level(size_t index, const char *name, const char *format, bool json)
{
    enum rig_level level;
    if (lists[index].list != list_levels) {
        rig_cli_complain("list: `%s` takes no name", lists[index].name);
        return RIG_EXIT_USAGE;
    }
    if (format != NULL) {
        rig_cli_complain("list: --format %s draws all levels; one comes as text or json", format);
        return RIG_EXIT_USAGE;
    }
    if (!rig_level_find(name, &level)) {
        const char *nearest = rig_level_nearest(name);
        if (nearest != NULL)
            rig_cli_complain("list: there is no level `%s`; did you mean `%s`?", name, nearest);
        else
            rig_cli_complain("list: there is no level `%s`; `rig list levels` shows them", name);
        return RIG_EXIT_USAGE;
    }
    return print_list(index, json, &level);
}

int rig_cli_list(int argc, char **argv)
{
    struct rig_arguments arguments;
    const int status = rig_arguments_parse(&table_of_list, argc, argv, &arguments);
    if (status != RIG_ARGUMENTS_GO_ON)
        return status;
    const char *format = rig_arguments_value(&arguments, "format"), *list = arguments.positionals[0];
    const bool draws = format != NULL && (strcmp(format, "dot") == 0 || strcmp(format, "svg") == 0);
    size_t index = 0;
    while (index < LIST_COUNT && strcmp(lists[index].name, list) != 0)
        index++;
    if (index == LIST_COUNT)
        return complain_unknown(list);
    if (arguments.positional_count > 1)
        return print_level(index, arguments.positionals[1], draws ? format : NULL, rig_arguments_json(&arguments));
    if (draws)
        return print_picture(index, format);
    return print_list(index, rig_arguments_json(&arguments), NULL);
}
