#include "run/plan/plan_check.h"

#include <stdio.h>
#include <string.h>

#include "base/option_parse.h"
#include "checker/model/delivery.h"
#include "checker/judge/asked.h"
#include "checker/model/anomaly.h"
#include "checker/model/assumption.h"
#include "checker/model/certified.h"
#include "checker/model/level.h"
#include "run/plan/reproduction.h"
#include "history/types/types.h"

/* The options by which drivers name given servers. */
static bool names_servers(const struct rig_option *option)
{
    static const char *const names[] = {"cluster.hosts", "cluster.read-only-hosts", "endpoints"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (option->type == RIG_OPTION_TEXT_LIST && strcmp(option->name, names[i]) == 0)
            return true;
    }
    return false;
}

void rig_plan_place(const struct rig_plan *plan, char place[RIG_PLAN_PLACE_BYTES])
{
    size_t length = (size_t)snprintf(place, RIG_PLAN_PLACE_BYTES, "%.64s", plan->driver->name);
    for (const struct rig_option *option = plan->driver->options; option != NULL && option->name != NULL; option++) {
        const char *at = (const char *)plan->driver_options + option->offset;
        const struct rig_text_list *list =
            names_servers(option) ? (const struct rig_text_list *)(const void *)at : NULL;
        for (size_t i = 0; list != NULL && i < list->count; i++) {
            const size_t size = strlen(list->at[i]);
            if (length + 1 + size < RIG_PLAN_PLACE_BYTES)
                length += (size_t)snprintf(place + length, RIG_PLAN_PLACE_BYTES - length, " %s", list->at[i]);
        }
    }
}

/* The place of the i-th element of a list option. */
static struct rig_yaml_place element_place(const struct rig_plan_checking *from, const char *option, size_t i)
{
    const struct rig_yaml_node *given = rig_plan_section_given(from->section, option);
    if (given == NULL)
        return from->tree->root->place;
    const struct rig_yaml_entry *entry = given->first;
    for (; entry != NULL && i > 0; i--)
        entry = entry->next;
    return entry == NULL ? given->place : entry->value->place;
}

/* One of the two lists of names in `check:`. */
struct name_list {
    const char *option;
    const char *kind;  /* "level" */
    const char *kinds; /* "levels": what `rig list` calls them */
    const char *(*nearest)(const char *wanted);
    /* The bits (of levels or anomalies) and the proper name; false when there is none. */
    bool (*find)(const char *name, rig_anomaly_set *bits, const char **proper);
    rig_anomaly_set
        *promised; /* takes the anomalies that a promise of delivery in the list rules out; NULL: none may be */
};

static bool find_level(const char *name, rig_anomaly_set *bit, const char **proper)
{
    enum rig_level level;
    if (!rig_level_find(name, &level))
        return false;
    *bit = RIG_LEVEL_BIT(level);
    *proper = rig_level_info(level)->name;
    return true;
}

static enum rig_rc refuse_name(const struct rig_plan_checking *from, const struct name_list *kind,
                               struct rig_yaml_place place, const char *name, struct rig_err *err)
{
    struct rig_buf quoted;
    rig_buf_init(&quoted, 512);
    rig_option_quote(name, &quoted);
    const char *near = kind->nearest(name);
    enum rig_rc rc;
    if (rig_discrepancy_is_name(name))
        rc = rig_yaml_refuse(from->tree, &place, err, "check.%s: %s " RIG_DISCREPANCY_NOT_ASKED, kind->option, name);
    else if (near != NULL)
        rc = rig_yaml_refuse(from->tree, &place, err, "check.%s: there is no %s %s; did you mean `%s`?", kind->option,
                             kind->kind, rig_buf_text(&quoted), near);
    else
        rc = rig_yaml_refuse(from->tree, &place, err, "check.%s: there is no %s %s; `rig list %s` shows them",
                             kind->option, kind->kind, rig_buf_text(&quoted), kind->kinds);
    rig_buf_done(&quoted);
    return rc;
}

/* Turns names into bits, and aliases in `list` into proper names. */
static enum rig_rc resolve_names(const struct rig_plan_checking *from, const struct name_list *kind,
                                 struct rig_text_list *list, rig_anomaly_set *bits, struct rig_err *err)
{
    const char **proper = rig_arena_array(from->arena, list->count + 1, sizeof *proper);
    if (proper == NULL)
        return rig_no_memory(err, "a plan");
    for (size_t i = 0; i < list->count; i++) {
        rig_anomaly_set bit = 0;
        const struct rig_yaml_place place = element_place(from, kind->option, i);
        if (kind->promised != NULL && rig_delivery_promise_find(list->at[i], &bit, &proper[i])) {
            *kind->promised |= bit;
            continue;
        }
        if (!kind->find(list->at[i], &bit, &proper[i]))
            return refuse_name(from, kind, place, list->at[i], err);
        if ((bit & ~*bits) == 0)
            return rig_yaml_refuse(from->tree, &place, err, "check.%s: %s is named twice", kind->option, proper[i]);
        *bits |= bit;
    }
    list->at = proper;
    return RIG_OK;
}

/* The names are among the option's choices already. */
static unsigned assumption_bit(const char *name)
{
#define ASSUMPTION_NAME(id, text, meaning) text,
    static const char *const names[] = {RIG_ASSUMPTION_TABLE(ASSUMPTION_NAME)};
#undef ASSUMPTION_NAME
    for (unsigned i = 0; i < RIG_ASSUMPTION_COUNT; i++) {
        if (strcmp(names[i], name) == 0)
            return RIG_ASSUMPTION_BIT(i);
    }
    return strcmp(name, RIG_ORDER_NAME) == 0 ? RIG_ASSUMES_ORDER : 0;
}

bool rig_known_names_add(struct rig_known_names *names, const char *name)
{
    const size_t length = strlen(name);
    if (names->count == RIG_KNOWN_MOST || length >= RIG_KNOWN_BYTES)
        return false;
    memcpy(names->at[names->count++], name, length + 1);
    return true;
}

static enum rig_rc resolve_known(const struct rig_plan_checking *from, const struct rig_text_list *list,
                                 struct rig_known_names *known, struct rig_err *err)
{
    for (size_t i = 0; i < list->count; i++) {
        const struct rig_yaml_place place = element_place(from, "known", i);
        for (uint32_t at = 0; at < known->count; at++) {
            if (strcmp(known->at[at], list->at[i]) == 0)
                return rig_yaml_refuse(from->tree, &place, err, "check.known: %s is named twice", list->at[i]);
        }
        if (!rig_known_names_add(known, list->at[i]))
            return rig_yaml_refuse(from->tree, &place, err,
                                   "check.known: expected at most %d names of fewer than %d bytes each",
                                   (int)RIG_KNOWN_MOST, (int)RIG_KNOWN_BYTES);
    }
    return RIG_OK;
}

static enum rig_rc resolve_initial(const struct rig_plan_checking *from, const char *text, struct rig_err *err)
{
    struct rig_err why = {0};
    if (text == NULL || *text == '\0' ||
        rig_initial_parse(text, &from->asked->initial, &from->asked->assumptions, &why) == RIG_OK)
        return RIG_OK;
    const struct rig_yaml_place place = rig_plan_section_given(from->section, "initial")->place;
    return rig_yaml_refuse(from->tree, &place, err, "check.initial: %s", why.text);
}

enum rig_rc rig_plan_check_resolve(const struct rig_plan_checking *from, struct rig_err *err)
{
    rig_anomaly_set promised = 0, levels_asked = 0;
    const struct name_list levels = {"levels", "level", "levels", rig_level_nearest, find_level, &promised};
    const struct name_list anomalies = {"anomalies",          "anomaly", "anomalies", rig_anomaly_nearest,
                                        rig_anomaly_find_all, NULL};
    struct rig_plan_check *check = from->section->parts[0].object;
    struct rig_check_section *asked = from->asked;
    enum rig_rc rc = resolve_names(from, &levels, &check->levels, &levels_asked, err);
    asked->levels = (uint64_t)levels_asked;
    if (rc == RIG_OK)
        rc = resolve_names(from, &anomalies, &check->anomalies, &asked->anomalies, err);
    asked->anomalies |= promised;
    if (rc == RIG_OK && asked->levels == 0 && promised == 0) {
        const struct rig_yaml_place place = rig_plan_section_given(from->section, "levels")->place;
        rc = rig_yaml_refuse(from->tree, &place, err, "check.levels: expected at least one level");
    }
    for (size_t i = 0; i < check->assume.count; i++)
        asked->assumptions |= assumption_bit(check->assume.at[i]);
    asked->assumptions |= check->prefilled ? RIG_ASSUMES_PREFILLED : 0;
    if (rc == RIG_OK)
        rc = resolve_initial(from, check->initial, err);
    asked->lattice = (enum rig_lattice)check->lattice;
    asked->budget_ns = check->budget_ns;
    asked->max_witnesses = check->max_witnesses;
    asked->online = check->online;
    asked->online_memory_bytes = check->online_memory_bytes;
    asked->stop_on = check->stop_on;
    asked->server_crash = check->server_crash;
    asked->durability = check->durability;
    asked->proof = check->proof;
    asked->known_required = check->known_required;
    if (rc == RIG_OK)
        rc = resolve_known(from, &check->known, &asked->known, err);
    asked->minimum = (struct rig_minimum){.acknowledged = (uint64_t)check->least_acknowledged,
                                          .load = check->least_load,
                                          .answering = check->least_answering,
                                          .held = check->require == RIG_REQUIRE_HELD};
    return rc;
}

const char *rig_plan_isolation_shares(const struct rig_driver *driver, const void *options)
{
    const struct rig_option *option =
        driver->options == NULL ? NULL : rig_option_find(driver->options, "isolation-shares");
    return option == NULL ? NULL : *(const char *const *)(const void *)((const char *)options + option->offset);
}

/* The levels that the text names. */
static uint64_t levels_in(const char *shares)
{
    uint64_t levels = 0;
    for (const char *at = shares; *at != '\0'; at += strcspn(at, ","), at += *at == ',') {
        enum rig_level level;
        char name[64];
        at += strspn(at, " ");
        (void)snprintf(name, sizeof name, "%.*s", (int)strcspn(at, ":"), at);
        levels |= rig_level_find(name, &level) ? RIG_LEVEL_BIT(level) : 0;
    }
    return levels;
}

enum rig_rc rig_plan_check_take_shares(const struct rig_plan_checking *from, const struct rig_driver *driver,
                                       const void *options, struct rig_err *err)
{
    struct rig_plan_check *check = from->section->parts[0].object;
    const char *shares = rig_plan_isolation_shares(driver, options);
    const uint64_t levels = shares == NULL ? 0 : rig_levels_weakest(levels_in(shares));
    if (levels == 0 || rig_plan_section_given(from->section, "levels") != NULL)
        return RIG_OK;
    const char **names = rig_arena_array(from->arena, check->anomalies.count + 2, sizeof *names);
    const char **level = rig_arena_array(from->arena, 1, sizeof *level);
    if (names == NULL || level == NULL)
        return rig_no_memory(err, "a plan");
    for (size_t i = 0; i < check->anomalies.count; i++)
        names[i] = check->anomalies.at[i];
    if ((from->asked->anomalies & RIG_ANOMALY_BIT(RIG_ANOMALY_G_MIXED)) == 0) {
        names[check->anomalies.count] = rig_anomaly_info(RIG_ANOMALY_G_MIXED)->name;
        check->anomalies = (struct rig_text_list){names, check->anomalies.count + 1};
    }
    *level = rig_level_info((enum rig_level)__builtin_ctzll(levels))->name;
    check->levels = (struct rig_text_list){level, 1};
    for (size_t i = 0; i < from->section->parts[0].option_count; i++)
        from->section->parts[0].known[i] |= strcmp(rig_plan_check_table[i].name, "anomalies") == 0;
    from->asked->levels = levels & -levels;
    from->asked->anomalies |= RIG_ANOMALY_BIT(RIG_ANOMALY_G_MIXED);
    return RIG_OK;
}

/* Each is the name of an entry that can be read. The plan of a run that is over is not asked: the entry may be gone. */
static enum rig_rc require_known(const struct rig_plan_checking *from, struct rig_err *err)
{
    const struct rig_known_names *known = &from->asked->known;
    for (uint32_t i = 0; i < known->count; i++) {
        const struct rig_yaml_place place = element_place(from, "known", i);
        struct rig_reproduction entry;
        struct rig_err own = {0};
        if (rig_reproduction_load(known->at[i], from->arena, &entry, &own) != RIG_OK)
            return rig_yaml_refuse(from->tree, &place, err, "check.known: %s", own.text);
    }
    return RIG_OK;
}

enum rig_rc rig_plan_check_require(const struct rig_plan_checking *from, enum rig_workload workload,
                                   struct rig_err *err)
{
    struct rig_err why = {0};
    if (rig_asked_require_possible(workload, from->asked->anomalies, &why) != RIG_OK) {
        const struct rig_yaml_place place = rig_plan_section_given(from->section, "anomalies")->place;
        return rig_yaml_refuse(from->tree, &place, err, "check.anomalies: %s", why.text);
    }
    const struct rig_yaml_node *initial = rig_plan_section_given(from->section, "initial");
    if (initial != NULL && from->asked->initial.known && !rig_workload_may_begin(workload))
        return rig_yaml_refuse(from->tree, &initial->place, err,
                               "check.initial: the load is of %s, whose keys begin in one state; leave it out",
                               rig_data_types[workload].name);
    return require_known(from, err);
}

/* The load says whether keys have their rows before it, and what they begin with; that of a bank, what its accounts
 * have. */
void rig_plan_check_take_load(const struct rig_generator_options *workload, struct rig_check_section *check)
{
    const struct rig_accounts accounts = rig_generator_accounts(workload);
    check->assumptions |= workload->prefill ? RIG_ASSUMES_PREFILLED : 0;
    const enum rig_workload type = (enum rig_workload)workload->type;
    if (!check->initial.known && rig_workload_is_object(type) && rig_workload_may_begin(type))
        (void)rig_initial_set_nil(&check->initial); /* the keys are new: no value was there before the load */
    if (accounts.count == 0)
        return;
    check->total = (struct rig_known_total){.known = true, .value = accounts.count * accounts.balance};
    check->assumptions |= accounts.negative ? RIG_ASSUMES_NEGATIVE_BALANCES : 0;
}
