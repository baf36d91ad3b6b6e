#include "run/plan/reproduction.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/data_folder.h"
#include "checker/model/level.h"
#include "run/plan/plan_bind.h"

enum { PATH_BYTES = 4096, NAME_BYTES = 128 };

/* As written. */
struct entry {
    const char *database, *level, *shows, *page, *plan, *scenario;
    int64_t typical_ns, within_ns;
    struct rig_text_list set, start, stop, anomalies, keeps;
    int64_t least_transactions, most_transactions, least_nodes, most_nodes, least_meanwhile, most_meanwhile;
    const char *driver;
    struct rig_text_list isolation, versions;
    bool acknowledged;
    int64_t together_ns;
};

#define AT(member) offsetof(struct entry, member)
#define COUNT_MOST 1e9

static const struct rig_option entry_table[] = {
    {.name = "database",
     .type = RIG_OPTION_TEXT,
     .offset = AT(database),
     .required = true,
     .help = "the database, with the versions that have the bug, for people"},
    {.name = "level",
     .type = RIG_OPTION_TEXT,
     .offset = AT(level),
     .required = true,
     .help = "the isolation level, for people"},
    {.name = "shows", .type = RIG_OPTION_TEXT, .offset = AT(shows), .required = true, .help = "one line: what breaks"},
    {.name = "page",
     .type = RIG_OPTION_TEXT,
     .offset = AT(page),
     .required = true,
     .help = "file of docs/findings/ with the cause"},
    {.name = "typical",
     .type = RIG_OPTION_DURATION,
     .offset = AT(typical_ns),
     .least = 1,
     .most = 1e15,
     .required = true,
     .help = "median time in which the plan shows it"},
    {.name = "within",
     .type = RIG_OPTION_DURATION,
     .offset = AT(within_ns),
     .least = 1,
     .most = 1e15,
     .required = true,
     .help = "after this time no further run begins"},
    {.name = "plan",
     .type = RIG_OPTION_TEXT,
     .offset = AT(plan),
     .required = true,
     .help = "the plan, relative to this file"},
    {.name = "scenario",
     .type = RIG_OPTION_TEXT,
     .offset = AT(scenario),
     .help =
         "a scenario that shows it every time on the plan's database, relative to this file; `rig reproduce` plays it, "
         "and the plan's load does not run"},
    {.name = "set",
     .type = RIG_OPTION_TEXT_LIST,
     .offset = AT(set),
     .help = "keys of the plan to override, each KEY=VALUE"},
    {.name = "start", .type = RIG_OPTION_COMMAND, .offset = AT(start), .help = "command before the first run"},
    {.name = "stop", .type = RIG_OPTION_COMMAND, .offset = AT(stop), .help = "command after the last run"},
    {.name = "expect.anomalies",
     .type = RIG_OPTION_TEXT_LIST,
     .offset = AT(anomalies),
     .required = true,
     .help = "names of anomalies or groups, of which the witness is one"},
    {.name = "expect.keeps",
     .type = RIG_OPTION_TEXT_LIST,
     .offset = AT(keeps),
     .help = "levels that the history must not refute"},
    {.name = "expect.transactions.least",
     .type = RIG_OPTION_INT,
     .offset = AT(least_transactions),
     .most = COUNT_MOST,
     .help = "fewest transactions of the witness"},
    {.name = "expect.transactions.most",
     .type = RIG_OPTION_INT,
     .offset = AT(most_transactions),
     .most = COUNT_MOST,
     .help = "most transactions of the witness; 0: any number"},
    {.name = "expect.nodes.least",
     .type = RIG_OPTION_INT,
     .offset = AT(least_nodes),
     .most = COUNT_MOST,
     .help = "fewest nodes that answered them"},
    {.name = "expect.nodes.most",
     .type = RIG_OPTION_INT,
     .offset = AT(most_nodes),
     .most = COUNT_MOST,
     .help = "most nodes that answered them; 0: any number"},
    {.name = "expect.meanwhile.least",
     .type = RIG_OPTION_INT,
     .offset = AT(least_meanwhile),
     .most = COUNT_MOST,
     .help = "fewest transactions that committed while a client held one of them open"},
    {.name = "expect.meanwhile.most",
     .type = RIG_OPTION_INT,
     .offset = AT(most_meanwhile),
     .most = COUNT_MOST,
     .help = "most transactions that committed while a client held one of them open; 0: any number"},
    {.name = "expect.driver", .type = RIG_OPTION_TEXT, .offset = AT(driver), .help = "driver of the run"},
    {.name = "expect.isolation",
     .type = RIG_OPTION_TEXT_LIST,
     .offset = AT(isolation),
     .help = "isolation levels of the driver, one of which the run asked for"},
    {.name = "expect.versions",
     .type = RIG_OPTION_TEXT_LIST,
     .offset = AT(versions),
     .help = "versions of the server, one of which it has; `15` stands for each 15.x"},
    {.name = "expect.acknowledged",
     .type = RIG_OPTION_BOOL,
     .offset = AT(acknowledged),
     .default_text = "false",
     .help = "all transactions of the witness are acknowledged"},
    {.name = "expect.together",
     .type = RIG_OPTION_DURATION,
     .offset = AT(together_ns),
     .least = 1,
     .most = 1e15,
     .help =
         "each cycle has a transaction that did not see what another one wrote, which ended within this time of it"},
    {.name = NULL},
};

static enum rig_rc out_of_memory(struct rig_err *err)
{
    return rig_no_memory(err, "a reproduction");
}

static bool has_suffix(const char *text)
{
    const size_t length = strlen(text);
    return length > 5 && strcmp(text + length - 5, ".yaml") == 0;
}

/* -- one entry ----------------------------------------------------------------------------------------------------- */

struct reading {
    struct rig_yaml_tree tree;
    struct rig_plan_section section;
    struct rig_err *err;
};

static enum rig_rc refuse(const struct reading *reading, const char *option, const char *kind, const char *name)
{
    const struct rig_yaml_place place = rig_plan_section_given(&reading->section, option)->place;
    return rig_yaml_refuse(&reading->tree, &place, reading->err, "%s: there is no %s `%.60s`", option, kind, name);
}

static enum rig_rc read_range(const struct reading *reading, const char *group, int64_t least, int64_t most,
                              struct rig_count_range *range)
{
    if (most != 0 && least > most) {
        const struct rig_yaml_place place = rig_plan_section_blame(&reading->section, &reading->tree, group);
        return rig_yaml_refuse(&reading->tree, &place, reading->err, "%s: the `least` is more than the `most`", group);
    }
    *range = (struct rig_count_range){(uint32_t)least, (uint32_t)most};
    return RIG_OK;
}

static enum rig_rc read_ranges(const struct reading *reading, const struct entry *entry,
                               struct rig_known_anomaly *known)
{
    enum rig_rc rc = read_range(reading, "expect.transactions", entry->least_transactions, entry->most_transactions,
                                &known->transactions);
    if (rc == RIG_OK)
        rc = read_range(reading, "expect.nodes", entry->least_nodes, entry->most_nodes, &known->nodes);
    if (rc == RIG_OK)
        rc = read_range(reading, "expect.meanwhile", entry->least_meanwhile, entry->most_meanwhile, &known->meanwhile);
    return rc;
}

static enum rig_rc read_shape(const struct reading *reading, const struct entry *entry, struct rig_known_anomaly *known)
{
    const char *proper;
    enum rig_level level;
    *known = (struct rig_known_anomaly){.acknowledged = entry->acknowledged, .together_ns = entry->together_ns};
    if (entry->anomalies.count == 0) {
        const struct rig_yaml_place place = rig_plan_section_given(&reading->section, "expect.anomalies")->place;
        return rig_yaml_refuse(&reading->tree, &place, reading->err, "expect.anomalies: expected at least one");
    }
    for (size_t i = 0; i < entry->anomalies.count; i++) {
        rig_anomaly_set bits = 0;
        if (!rig_anomaly_find_all(entry->anomalies.at[i], &bits, &proper))
            return refuse(reading, "expect.anomalies", "anomaly", entry->anomalies.at[i]);
        known->anomalies |= bits;
    }
    for (size_t i = 0; i < entry->keeps.count; i++) {
        if (!rig_level_find(entry->keeps.at[i], &level))
            return refuse(reading, "expect.keeps", "level", entry->keeps.at[i]);
        known->keeps |= RIG_LEVEL_BIT(level);
    }
    return read_ranges(reading, entry, known);
}

static enum rig_rc read_entry(const char *path, const struct rig_buf *text, struct rig_arena *arena,
                              struct rig_reproduction *reproduction, struct rig_err *err)
{
    struct reading reading = {.section = {.name = ""}, .err = err};
    enum rig_rc rc =
        rig_yaml_tree_read(&reading.tree, arena, "reproduction", path, rig_buf_text(text), text->size, err);
    if (rc == RIG_OK)
        rc = rig_plan_part_init(&reading.section.parts[0], entry_table, sizeof(struct entry), arena, err);
    if (rc == RIG_OK)
        rc = rig_plan_section_bind(&reading.section, &reading.tree, reading.tree.root, NULL, err);
    if (rc == RIG_OK)
        rc = rig_plan_section_require(&reading.section, &reading.tree, err);
    if (rc != RIG_OK)
        return rc;
    const struct entry *entry = reading.section.parts[0].object;
    const char *slash = strrchr(path, '/');
    const char *file = slash == NULL ? path : slash + 1;
    *reproduction = (struct rig_reproduction){
        .name = rig_arena_text(arena, file, strlen(file) - (has_suffix(file) ? strlen(".yaml") : 0)),
        .database = entry->database,
        .level = entry->level,
        .shows = entry->shows,
        .page = entry->page,
        .typical_ns = entry->typical_ns,
        .within_ns = entry->within_ns,
        .plan = rig_yaml_beside(&reading.tree, entry->plan),
        .scenario = entry->scenario == NULL ? NULL : rig_yaml_beside(&reading.tree, entry->scenario),
        .set = entry->set,
        .start = entry->start,
        .stop = entry->stop,
        .driver = entry->driver,
        .isolation = entry->isolation,
        .versions = entry->versions};
    if (reproduction->name == NULL || reproduction->plan == NULL ||
        (entry->scenario != NULL && reproduction->scenario == NULL))
        return out_of_memory(err);
    return read_shape(&reading, entry, &reproduction->expect);
}

static bool find_entry(const char *name, char path[PATH_BYTES])
{
    char file[NAME_BYTES];
    struct rig_buf tried;
    rig_buf_init(&tried, 0);
    const int size = snprintf(file, sizeof file, "reproductions/%s.yaml", name);
    const bool found =
        size > 0 && size < NAME_BYTES && rig_data_folder_find(&rig_data_configs, file, path, PATH_BYTES, &tried);
    rig_buf_done(&tried);
    return found;
}

bool rig_reproduction_exists(const char *name)
{
    char path[PATH_BYTES];
    return find_entry(name, path);
}

enum rig_rc rig_reproduction_load(const char *name, struct rig_arena *arena, struct rig_reproduction *reproduction,
                                  struct rig_err *err)
{
    char path[PATH_BYTES] = "";
    const bool is_path = strchr(name, '/') != NULL || has_suffix(name);
    struct rig_buf text;
    if (!is_path && !find_entry(name, path))
        return rig_fail(err, RIG_E_PLAN,
                        "there is no run, history or reproduction `%.60s`; `rig list bugs` shows the known bugs", name);
    const char *own = is_path ? rig_arena_text(arena, name, strlen(name)) : rig_arena_text(arena, path, strlen(path));
    if (own == NULL)
        return out_of_memory(err);
    rig_buf_init(&text, RIG_YAML_BYTES + 2);
    enum rig_rc rc = rig_buf_read_input(&text, own, err);
    if (rc == RIG_OK)
        rc = read_entry(own, &text, arena, reproduction, err);
    rig_buf_done(&text);
    return rc;
}

/* -- what an entry is about
 * ----------------------------------------------------------------------------------------- */

static bool has_text(const char *text)
{
    return text != NULL && text[0] != '\0';
}

static void say_list(const struct rig_text_list *list, const char *found, struct rig_buf *why_not)
{
    for (size_t i = 0; i < list->count; i++)
        rig_buf_printf(why_not, "%s%s", i == 0 ? "" : " or ", list->at[i]);
    rig_buf_printf(why_not, ", not %s", found);
}

static bool is_isolation(const struct rig_text_list *list, const char *isolation)
{
    for (size_t i = 0; i < list->count; i++) {
        if (strcmp(list->at[i], isolation) == 0)
            return true;
    }
    return false;
}

/* Whether the version is the wanted one, or one of its minor ones. */
static bool is_version(const struct rig_text_list *list, const char *version)
{
    for (size_t i = 0; i < list->count; i++) {
        const size_t length = strlen(list->at[i]);
        const char next = strncmp(version, list->at[i], length) == 0 ? version[length] : '0';
        if (next < '0' || next > '9')
            return true;
    }
    return false;
}

bool rig_reproduction_is_about(const struct rig_reproduction *reproduction, const struct rig_reproduction_run *run,
                               bool *unsure, struct rig_buf *why_not)
{
    /* "15.20 (Debian)" of "PostgreSQL 15.20 (Debian)" */
    const char *version = has_text(run->server) ? strpbrk(run->server, "0123456789") : NULL;
    *unsure = false;
    if (reproduction->driver != NULL && has_text(run->driver) && strcmp(run->driver, reproduction->driver) != 0) {
        rig_buf_printf(why_not, "it is about the driver %s, not %s", reproduction->driver, run->driver);
        return false;
    }
    if (reproduction->isolation.count > 0 && has_text(run->isolation) &&
        !is_isolation(&reproduction->isolation, run->isolation)) {
        rig_buf_add_text(why_not, "it is about the isolation level ");
        say_list(&reproduction->isolation, run->isolation, why_not);
        return false;
    }
    if (reproduction->versions.count > 0 && version != NULL && !is_version(&reproduction->versions, version)) {
        rig_buf_add_text(why_not, "it is about version ");
        say_list(&reproduction->versions, run->server, why_not);
        return false;
    }
    *unsure = (reproduction->driver != NULL && !has_text(run->driver)) ||
              (reproduction->isolation.count > 0 && !has_text(run->isolation)) ||
              (reproduction->versions.count > 0 && version == NULL);
    return true;
}

/* -- all entries --------------------------------------------------------------------------------------------------- */

enum rig_rc rig_reproduction_names(struct rig_arena *arena, struct rig_text_list *names, struct rig_err *err)
{
    const enum rig_rc rc = rig_data_folder_names(&rig_data_configs, "/reproductions", arena, names, err);
    if (rc != RIG_OK || names->count > 0)
        return rc;
    return rig_fail(err, RIG_E_PLAN,
                    "there are no reproductions: rig's folder `configs` is missing; "
                    "RIG_CONFIG_PATH names where it is");
}
