#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "base/nearest.h"
#include "base/option_parse.h"
#include "base/password.h"
#include "base/rng.h"
#include "base/secret.h"
#include "checker/infer/type_inference.h"
#include "drivers/loader.h"
#include "generator/load_schedule.h"
#include "generator/programs/program.h"
#include "history/types/object_specification.h"
#include "nemesis/placeholder.h"
#include "run/plan/plan_check.h"
#include "run/plan/driver_needs.h"
#include "run/plan/plan_lists.h"
#include "run/plan/plan_sections.h"
#include "run/plan/plan_text.h"
#include "run/plan/shipped_plan.h"

enum { PLAN_PATH_BYTES = 4096, NAME_BYTES_MAX = 64, MOST_PREFILLED = 1000000 /* rows: a few seconds of `setup` */ };

struct reader {
    struct rig_plan *plan;
    struct rig_plan_storage *storage;
    struct rig_yaml_tree tree;
    const struct rig_yaml_node *phases;  /* bound after the sections, which give what a phase does not */
    const struct rig_yaml_node *nemesis; /* bound last: the driver brings faults along */
};

static struct rig_plan_section *section_of(const struct reader *reader, enum rig_plan_section_id id)
{
    return &reader->storage->sections[id];
}

static enum rig_rc out_of_memory(struct rig_err *err)
{
    return rig_no_memory(err, "a plan");
}

/* -- the driver ---------------------------------------------------------------------------------------------------- */

struct driver_search {
    struct rig_nearest nearest;
    char near[NAME_BYTES_MAX];
    struct rig_buf names;
    bool exists; /* the driver was found, and could not be loaded */
};

static void search_driver(void *context, const char *name, const struct rig_driver *driver, const char *problem)
{
    struct driver_search *search = context;
    (void)driver;
    search->exists = search->exists || strcmp(name, search->nearest.wanted) == 0;
    if (problem != NULL)
        return;
    const size_t before = search->nearest.best_distance;
    rig_nearest_offer(&search->nearest, name);
    if (search->nearest.best_distance < before)
        (void)snprintf(search->near, sizeof search->near, "%s", name);
    search->nearest.best = search->near; /* `name` does not outlive this call */
    rig_buf_printf(&search->names, "%s%s", search->names.size == 0 ? "" : ", ", name);
}

static enum rig_rc refuse_driver(const struct reader *reader, const struct rig_yaml_node *node, const char *name,
                                 const struct rig_err *problem, struct rig_err *err)
{
    struct driver_search search = {.near = ""};
    rig_nearest_init(&search.nearest, name);
    rig_buf_init(&search.names, 512);
    rig_driver_each(search_driver, &search);
    struct rig_buf quoted;
    rig_buf_init(&quoted, 512);
    rig_option_quote(name, &quoted);
    enum rig_rc rc;
    if (search.exists)
        rc = rig_fail(err, problem->rc, "%s", problem->text);
    else if (rig_driver_has_package(name))
        rc = rig_yaml_refuse(&reader->tree, &node->place, err,
                             "database.driver: the driver %s is not installed: install the package rig-driver-%s",
                             rig_buf_text(&quoted), name);
    else if (search.near[0] != '\0')
        rc = rig_yaml_refuse(&reader->tree, &node->place, err,
                             "database.driver: there is no driver %s; did you mean `%s`?", rig_buf_text(&quoted),
                             search.near);
    else
        rc = rig_yaml_refuse(&reader->tree, &node->place, err,
                             "database.driver: there is no driver %s; expected one of %s, or a driver in a folder of "
                             "RIG_DRIVER_PATH",
                             rig_buf_text(&quoted), rig_buf_text(&search.names));
    rig_buf_done(&quoted);
    rig_buf_done(&search.names);
    return rc;
}

static enum rig_rc load_driver(struct reader *reader, const struct rig_yaml_node *node, const char *name,
                               struct rig_err *err)
{
    static const struct rig_option no_options[] = {{.name = NULL}};
    const struct rig_driver *driver = NULL;
    struct rig_err own = {0};
    if (rig_driver_load(name, &driver, &own) != RIG_OK)
        return refuse_driver(reader, node, name, &own, err);
    const struct rig_option *table = driver->options == NULL ? no_options : driver->options;
    struct rig_plan_part *part = &section_of(reader, RIG_PLAN_DATABASE)->parts[1];
    const enum rig_rc rc = rig_plan_part_init(part, table, driver->options_size, &reader->storage->arena, &own);
    if (rc != RIG_OK)
        return rig_fail(err, rc, "driver %s: %s", driver->name, own.text);
    reader->plan->driver = driver;
    reader->plan->driver_options = part->object;
    return RIG_OK;
}

static const char *text_at(const struct rig_plan_part *part, size_t index)
{
    return *(const char *const *)(const void *)((const char *)part->object + part->table[index].offset);
}

/* `user:password` is how Basic authentication sends the two, encoded: so a password too short to be hidden by itself
 * is hidden there. */
static bool register_pairs(const struct rig_plan_part *part)
{
    for (size_t i = 0; i < part->option_count; i++) {
        const char *secret = part->table[i].type == RIG_OPTION_SECRET ? text_at(part, i) : NULL;
        const struct rig_option *user = rig_option_find(part->table, "user");
        if (secret == NULL || user == NULL || user->type != RIG_OPTION_TEXT)
            continue;
        const char *name = text_at(part, (size_t)(user - part->table));
        char pair[512];
        (void)snprintf(pair, sizeof pair, "%s:%s", name == NULL ? "" : name, secret);
        if (!rig_secret_register(pair))
            return false;
    }
    return true;
}

/* The other keys of `database:` mean nothing before the driver is known, so its name is looked for first. */
static enum rig_rc bind_database(struct reader *reader, const struct rig_yaml_node *node, struct rig_err *err)
{
    struct rig_plan_section *section = section_of(reader, RIG_PLAN_DATABASE);
    const struct rig_yaml_entry *entry = node->kind == RIG_YAML_MAPPING ? node->first : NULL;
    while (entry != NULL && strcmp(entry->key, "driver") != 0)
        entry = entry->next;
    if (entry != NULL) {
        /* A mapping of this key alone; so its value is checked as any other. */
        struct rig_yaml_entry driver_entry = *entry;
        driver_entry.next = NULL;
        struct rig_yaml_node driver_only = {
            .kind = RIG_YAML_MAPPING, .place = node->place, .first = &driver_entry, .last = &driver_entry, .count = 1};
        enum rig_rc rc = rig_plan_section_bind(section, &reader->tree, &driver_only, NULL, err);
        if (rc == RIG_OK) {
            const struct rig_plan_database *database = section->parts[0].object;
            rc = load_driver(reader, entry->value, database->driver, err);
        }
        if (rc != RIG_OK)
            return rc;
    } else if (node->kind == RIG_YAML_MAPPING && node->count > 0) {
        section->node = node;
        return rig_plan_section_require(section, &reader->tree, err);
    }
    const enum rig_rc rc = rig_plan_section_bind(section, &reader->tree, node, NULL, err);
    if (rc == RIG_OK && !register_pairs(&section->parts[1]))
        return rig_yaml_refuse(&reader->tree, &node->place, err, "too many secrets in one plan");
    return rc;
}

/* -- reading the sections ------------------------------------------------------------------------------------------ */

static enum rig_rc bind_section(void *context, const struct rig_yaml_entry *entry, struct rig_err *err)
{
    struct reader *reader = context;
    if (strcmp(entry->key, rig_plan_nemesis_key) == 0) {
        reader->nemesis = entry->value;
        return RIG_OK;
    }
    if (strcmp(entry->key, rig_plan_phases_key) == 0) {
        reader->phases = entry->value;
        return RIG_OK;
    }
    for (int id = 0; id < RIG_PLAN_SECTION_COUNT; id++) {
        if (strcmp(rig_plan_section_names[id], entry->key) != 0)
            continue;
        if (id == RIG_PLAN_DATABASE)
            return bind_database(reader, entry->value, err);
        return rig_plan_section_bind(&reader->storage->sections[id], &reader->tree, entry->value, NULL, err);
    }
    rig_bug(__FILE__, __LINE__, "a section of a known name");
}

static enum rig_rc init_sections(struct reader *reader, struct rig_err *err)
{
    static const struct {
        const struct rig_option *table;
        size_t size;
    } parts[] = {
        [RIG_PLAN_WORKLOAD] = {rig_generator_option_table, sizeof(struct rig_generator_options)},
        [RIG_PLAN_CLIENTS] = {rig_plan_clients_table, sizeof(struct rig_clients_options)},
        [RIG_PLAN_DATABASE] = {rig_plan_database_table, sizeof(struct rig_plan_database)},
        [RIG_PLAN_CHECK] = {rig_plan_check_table, sizeof(struct rig_plan_check)},
    };
    struct rig_plan_storage *storage = reader->storage;
    storage->top.name = "";
    enum rig_rc rc = rig_plan_part_init(&storage->top.parts[0], rig_plan_top_table, sizeof(struct rig_plan_top),
                                        &storage->arena, err);
    for (int id = 0; rc == RIG_OK && id < RIG_PLAN_SECTION_COUNT; id++) {
        storage->sections[id].name = rig_plan_section_names[id];
        rc = rig_plan_part_init(&storage->sections[id].parts[0], parts[id].table, parts[id].size, &storage->arena, err);
    }
    return rc == RIG_OK ? rig_plan_nemesis_init(&storage->nemesis, &storage->arena, err) : rc;
}

static enum rig_rc bind_sections(struct reader *reader, struct rig_err *err)
{
    const struct rig_plan_others others = {rig_plan_top_names, bind_section, reader};
    struct rig_plan_storage *storage = reader->storage;
    enum rig_rc rc = rig_plan_section_bind(&storage->top, &reader->tree, reader->tree.root, &others, err);
    if (rc == RIG_OK)
        rc = rig_plan_section_require(&storage->top, &reader->tree, err);
    for (int id = 0; rc == RIG_OK && id < RIG_PLAN_SECTION_COUNT; id++)
        rc = rig_plan_section_require(&storage->sections[id], &reader->tree, err);
    if (rc == RIG_OK && reader->nemesis != NULL)
        rc = rig_plan_nemesis_bind(&storage->nemesis, &reader->tree, reader->nemesis, reader->plan->driver,
                                   &reader->plan->nemesis, err);
    return rc;
}

/* -- what the values mean ------------------------------------------------------------------------------------------ */

static struct rig_plan_checking checking_of(const struct reader *reader)
{
    return (struct rig_plan_checking){.tree = &reader->tree,
                                      .section = section_of(reader, RIG_PLAN_CHECK),
                                      .arena = &reader->storage->arena,
                                      .asked = &reader->plan->check};
}

static enum rig_rc resolve_check(const struct reader *reader, struct rig_err *err)
{
    const struct rig_plan_checking from = checking_of(reader);
    return rig_plan_check_resolve(&from, err);
}

/* A plan's name becomes a folder's. */
static enum rig_rc check_name(const struct reader *reader, const char *name, struct rig_err *err)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";
    const size_t length = strlen(name);
    if (length <= NAME_BYTES_MAX && strspn(name, allowed) == length && name[0] != '.' && name[0] != '-')
        return RIG_OK;
    struct rig_buf quoted;
    rig_buf_init(&quoted, 512);
    rig_option_quote(name, &quoted);
    const enum rig_rc rc =
        rig_yaml_refuse(&reader->tree, &rig_plan_section_given(&reader->storage->top, "name")->place, err,
                        "name: expected at most %d letters, digits, `-`, `_` and `.`, the first a letter, a digit or "
                        "`_` (it names a folder), not %s",
                        (int)NAME_BYTES_MAX, rig_buf_text(&quoted));
    rig_buf_done(&quoted);
    return rc;
}

static enum rig_rc resolve_top(struct reader *reader, const uint64_t *seed, struct rig_err *err)
{
    struct rig_plan_part *part = &reader->storage->top.parts[0];
    struct rig_plan_top *top = part->object;
    struct rig_plan *plan = reader->plan;
    const enum rig_rc rc = check_name(reader, top->name, err);
    if (rc != RIG_OK)
        return rc;
    const size_t seed_at = (size_t)(rig_option_find(part->table, "seed") - part->table);
    plan->seed_given = seed != NULL || part->given[seed_at] != NULL;
    if (seed != NULL)
        top->seed = (int64_t)*seed;
    else if (!plan->seed_given)
        top->seed = (int64_t)(rig_rng_fresh_seed() & ((UINT64_C(1) << 53) - 1)); /* exact in every JSON reader */
    part->known[seed_at] = true;
    plan->name = top->name;
    plan->seed = (uint64_t)top->seed;
    plan->store = top->store;
    plan->compress = (enum rig_record_compression)top->compress;
    plan->time_limit_ns = top->time_limit_ns;
    const struct rig_plan_database *database = section_of(reader, RIG_PLAN_DATABASE)->parts[0].object;
    plan->certificate = (enum rig_certificate_mode)database->certificate;
    plan->versions_source = database->versions_source;
    const struct rig_option *report = rig_option_find(part->table, "report");
    for (size_t i = 0; i < top->report.count; i++) {
        for (unsigned form = 0; report->choices[form] != NULL; form++)
            plan->reports |= strcmp(report->choices[form], top->report.at[i]) == 0 ? 1U << form : 0U;
    }
    return RIG_OK;
}

/* -- contradictions ------------------------------------------------------------------------------------------------ */

static enum rig_rc refuse_in(const struct reader *reader, const struct rig_plan_section *section, const char *problem,
                             struct rig_err *err)
{
    const struct rig_yaml_place place = rig_plan_section_blame(section, &reader->tree, problem);
    if (rig_plan_section_speaks(section, problem))
        return rig_yaml_refuse(&reader->tree, &place, err, "%s", problem);
    return rig_yaml_refuse(&reader->tree, &place, err, "%s: %s", section->name, problem);
}

static enum rig_rc refuse_section(const struct reader *reader, enum rig_plan_section_id id, const char *problem,
                                  struct rig_err *err)
{
    return refuse_in(reader, section_of(reader, id), problem, err);
}

static enum rig_rc check_clients(const struct reader *reader, struct rig_err *err)
{
    const struct rig_clients_options *clients = &reader->plan->clients;
    if (clients->backoff_ns > clients->max_backoff_ns)
        return refuse_section(reader, RIG_PLAN_CLIENTS, "`reconnect.pause` is longer than `reconnect.max-pause`", err);
    if (clients->conflict_pause_ns > clients->max_pause_ns || clients->resources_pause_ns > clients->max_pause_ns)
        return refuse_section(reader, RIG_PLAN_CLIENTS,
                              "`back-off.max` is shorter than `back-off.conflict` or `back-off.resources`", err);
    return RIG_OK;
}

static enum rig_rc check_checking(const struct reader *reader, struct rig_err *err)
{
    const struct rig_check_section *check = &reader->plan->check;
    if (check->proof && check->lattice != RIG_LATTICE_EXACT)
        return refuse_section(reader, RIG_PLAN_CHECK, "`proof` needs `lattice: exact`", err);
    if (check->known_required && check->known.count == 0)
        return refuse_section(reader, RIG_PLAN_CHECK, "`known-required` needs names in `known`", err);
    const struct rig_plan_checking from = checking_of(reader);
    const enum rig_rc rc = rig_plan_check_require(&from, (enum rig_workload)reader->plan->workload.type, err);
    if (rc != RIG_OK)
        return rc;
    if (check->stop_on == RIG_STOP_ON_NOTHING || check->online)
        return RIG_OK;
    return refuse_section(reader, RIG_PLAN_CHECK,
                          "`stop-on` has no effect after the run: give `online: true` (check during the run)", err);
}

/* One phase of the load, or all of it. */
struct load_part {
    const struct rig_plan_section *section; /* of what it gives */
    const struct rig_generator_options *workload;
    const struct rig_clients_options *clients;
};

/* `most`: of a transaction of this database. */
static enum rig_rc check_most_keys(const struct reader *reader, const struct load_part *part, int64_t most,
                                   struct rig_err *err)
{
    const struct rig_generator_options *workload = part->workload;
    const int64_t keys = rig_generator_most_keys(workload);
    char problem[RIG_ERR_TEXT_BYTES];
    if (keys <= most)
        return RIG_OK;
    if (rig_load_shape_is_pooled(workload->shape))
        (void)snprintf(
            problem, sizeof problem,
            "`operations.max` is above %lld, the largest number of keys in a transaction of this database; lower it, "
            "or `keys.active`",
            (long long)most);
    else
        (void)snprintf(problem, sizeof problem,
                       "`shape`: a transaction of the shape `%s` may have %lld keys, and one of this database has "
                       "%lld at most; use another shape",
                       rig_load_shape_names[workload->shape], (long long)keys, (long long)most);
    return refuse_in(reader, part->section, problem, err);
}

static enum rig_rc check_driver_on(const struct reader *reader, const struct load_part *part, struct rig_err *err)
{
    const struct rig_plan *plan = reader->plan;
    const struct rig_driver *driver = plan->driver;
    char problem[RIG_ERR_TEXT_BYTES];
    if (rig_driver_needs_unmet(part->workload, driver, problem, sizeof problem))
        return refuse_in(reader, part->section, problem, err);
    if (part->clients->count != plan->clients.count && driver->now_ns != NULL && driver->rest == NULL)
        return refuse_in(
            reader, part->section,
            "`clients.count` differs between phases, and the driver simulates time, for which it needs all "
            "clients",
            err);
    const enum rig_workload workload = (enum rig_workload)plan->workload.type;
    const int64_t most = driver->most_keys == NULL ? 0 : driver->most_keys(plan->driver_options, workload);
    return most > 0 ? check_most_keys(reader, part, most, err) : RIG_OK;
}

/* Pauses of clients. */
static enum rig_rc check_pauses(const struct reader *reader, const struct load_part *part, struct rig_err *err)
{
    const struct rig_clients_options *clients = part->clients;
    /* A phase has its clients' options under `clients`; without phases they are a section. */
    const struct rig_plan_section *section =
        reader->plan->phase_count > 0 ? part->section : section_of(reader, RIG_PLAN_CLIENTS);
    const char *prefix = reader->plan->phase_count > 0 ? "clients." : "";
    const bool has_pauses = clients->pause_ns > 0 || clients->burst_on_ns > 0;
    char problem[RIG_ERR_TEXT_BYTES] = "";
    if ((clients->burst_on_ns > 0) != (clients->burst_off_ns > 0))
        (void)snprintf(problem, sizeof problem, "`%sbursts.on` and `%sbursts.off` need each other", prefix, prefix);
    else if (has_pauses && clients->rate > 0)
        (void)snprintf(problem, sizeof problem,
                       "`%srate` gives each transaction its time; leave it out, or `%spause` and `%sbursts`", prefix,
                       prefix, prefix);
    else if (has_pauses && reader->plan->driver->now_ns != NULL)
        (void)snprintf(problem, sizeof problem, "`%s%s` depends on real time, which the driver simulates", prefix,
                       clients->pause_ns > 0 ? "pause.mean" : "bursts.on");
    return problem[0] == '\0' ? RIG_OK : refuse_in(reader, section, problem, err);
}

/* Two phases that need different tables of programs. */
static bool differs_in_tables(const struct rig_generator_options *a, const struct rig_generator_options *b)
{
    const bool same_sizes = a->warehouses == b->warehouses && a->users == b->users && a->rows == b->rows;
    return a->program != b->program || (a->program && (a->shape != b->shape || !same_sizes));
}

static enum rig_rc check_part(const struct reader *reader, const struct load_part *part, struct rig_err *err)
{
    struct rig_err own = {0};
    if (rig_generator_check(part->workload, &own) != RIG_OK)
        return refuse_in(reader, part->section, own.text, err);
    if (part->workload->program && rig_program_check(part->workload, &own) != RIG_OK)
        return refuse_in(reader, part->section, own.text, err);
    if (differs_in_tables(part->workload, &reader->plan->workload))
        return refuse_in(reader, part->section,
                         "`program`, its `shape`, `warehouses`, `users` and `rows` are the same in all phases, whose "
                         "tables are filled once; give them in `workload`",
                         err);
    if (part->workload->prefill != reader->plan->workload.prefill)
        return refuse_in(reader, part->section,
                         "`keys.prefill` is the same in all phases, whose reads are checked together; give it in "
                         "`workload`",
                         err);
    if (part->clients->count == 1 && part->workload->long_commits > 0 && part->workload->long_duration_ns == 0)
        return refuse_in(reader, part->section,
                         "`long-transactions.until-commits` waits for other clients, and clients.count is 1; give "
                         "`long-transactions.hold` or more clients",
                         err);
    const enum rig_rc rc = check_pauses(reader, part, err);
    return rc == RIG_OK ? check_driver_on(reader, part, err) : rc;
}

static enum rig_rc check_certificate(const struct reader *reader, struct rig_err *err)
{
    const struct rig_plan *plan = reader->plan;
    char problem[RIG_ERR_TEXT_BYTES] = "";
    const char *mode = rig_option_find(rig_plan_database_table, "certificate")->choices[plan->certificate];
    const struct rig_type_inference *type = rig_type_inference((enum rig_workload)plan->workload.type);
    const bool by_command = plan->versions_source.count > 0;
    if (by_command && plan->certificate != RIG_CERTIFICATE_STREAM)
        return refuse_section(reader, RIG_PLAN_DATABASE,
                              "`versions-source` gives the order of the versions: add `certificate: stream`", err);
    if (plan->certificate == RIG_CERTIFICATE_NONE)
        return RIG_OK;
    struct rig_err own = {0};
    if (rig_placeholder_check("versions-source", &plan->versions_source, &own) != RIG_OK)
        return refuse_section(reader, RIG_PLAN_DATABASE, own.text, err);
    if (!by_command && (plan->driver->certificates & RIG_CERTIFICATE_BIT(plan->certificate)) == 0)
        (void)snprintf(problem, sizeof problem, "the driver %s does not give the `certificate` %s", plan->driver->name,
                       mode);
    else if (type == NULL || !type->has_certificates || plan->workload.program)
        (void)snprintf(problem, sizeof problem,
                       "`certificate` is for lists, registers and rows without programs: list-append, rw-register, "
                       "long-fork, predicate");
    else if (by_command && rig_type_has_conditions(type))
        (void)snprintf(problem, sizeof problem, "`versions-source` is for lists and registers");
    else if (plan->workload.prefill && plan->certificate == RIG_CERTIFICATE_FULL)
        (void)snprintf(
            problem, sizeof problem,
            "`certificate: full` names the writer of each row, and the rows of `workload.keys.prefill` have none "
            "in the record; use `stream`, or leave one of them out");
    return problem[0] == '\0' ? RIG_OK : refuse_section(reader, RIG_PLAN_DATABASE, problem, err);
}

static enum rig_rc check_driver(const struct reader *reader, struct rig_err *err)
{
    const struct rig_plan *plan = reader->plan;
    char problem[RIG_ERR_TEXT_BYTES];
    const enum rig_workload workload = (enum rig_workload)plan->workload.type;
    if ((plan->driver->workloads & RIG_WORKLOAD_BIT(workload)) == 0) {
        const struct rig_option *type = rig_option_find(rig_generator_option_table, "type");
        (void)snprintf(problem, sizeof problem, "the driver %s does not run the `type` %s", plan->driver->name,
                       type->choices[workload]);
        return refuse_section(reader, RIG_PLAN_WORKLOAD, problem, err);
    }
    struct rig_err own = {0};
    if (plan->driver->check != NULL && plan->driver->check(plan->driver_options, workload, &own) != RIG_OK)
        return refuse_section(reader, RIG_PLAN_DATABASE, own.text, err);
    return check_certificate(reader, err);
}

static enum rig_rc check_parts(const struct reader *reader, struct rig_err *err)
{
    const struct rig_plan *plan = reader->plan;
    enum rig_rc rc = RIG_OK;
    for (uint32_t i = 0; i < rig_plan_phases(plan) && rc == RIG_OK; i++) {
        const struct load_part part = {.section = plan->phase_count > 0 ? &reader->storage->phases.sections[i]
                                                                        : section_of(reader, RIG_PLAN_WORKLOAD),
                                       .workload = rig_plan_workload(plan, i),
                                       .clients = rig_plan_clients(plan, i)};
        rc = check_part(reader, &part, err);
    }
    return rc;
}

/* The number of rows before the load. */
static enum rig_rc count_prefilled(const struct reader *reader, struct rig_err *err)
{
    struct rig_plan *plan = reader->plan;
    const struct rig_generator_options *phases[RIG_PLAN_PHASES_MOST];
    uint32_t client_counts[RIG_PLAN_PHASES_MOST];
    char problem[RIG_ERR_TEXT_BYTES];
    if (!plan->workload.prefill)
        return RIG_OK;
    for (uint32_t i = 0; i < rig_plan_phases(plan); i++) {
        phases[i] = rig_plan_workload(plan, i);
        client_counts[i] = (uint32_t)rig_plan_clients(plan, i)->count;
    }
    const enum rig_rc rc = rig_load_key_bound(phases, client_counts, rig_plan_phases(plan), plan->seed, MOST_PREFILLED,
                                              &plan->prefilled_keys, err);
    if (rc != RIG_OK || plan->prefilled_keys <= MOST_PREFILLED)
        return rc;
    (void)snprintf(problem, sizeof problem,
                   "`keys.prefill` makes up to %d rows before the load, and this load may use more keys; lower "
                   "`transactions`, or raise `keys.appends-per-key`",
                   (int)MOST_PREFILLED);
    return refuse_section(reader, RIG_PLAN_WORKLOAD, problem, err);
}

static enum rig_rc check_contradictions(const struct reader *reader, struct rig_err *err)
{
    enum rig_rc rc = check_driver(reader, err);
    if (rc == RIG_OK)
        rc = check_parts(reader, err);
    if (rc == RIG_OK)
        rc = count_prefilled(reader, err);
    if (rc == RIG_OK)
        rc = check_clients(reader, err);
    return rc == RIG_OK ? check_checking(reader, err) : rc;
}

/* -- the whole ----------------------------------------------------------------------------------------------------- */

/* Whatever a plan says anywhere, also in the wrong place, no message may show its passwords. */
static bool register_passwords(const struct rig_yaml_node *node)
{
    if (node->kind == RIG_YAML_SCALAR)
        return rig_plan_register_raw(node->text);
    for (const struct rig_yaml_entry *entry = node->first; entry != NULL; entry = entry->next) {
        if (entry->key != NULL && !rig_plan_register_raw(entry->key))
            return false;
        if (entry->key != NULL && entry->value->kind == RIG_YAML_SCALAR && rig_password_is_key(entry->key) &&
            strchr(entry->value->text, '$') == NULL && !rig_secret_register(entry->value->text))
            return false;
        if (!register_passwords(entry->value))
            return false;
    }
    return true;
}

/* A command line that names servers means them, and not those that the file's `cluster.local` starts. */
static void drop_local(struct rig_yaml_node *root)
{
    struct rig_yaml_node *database = rig_yaml_value(root, "database");
    struct rig_yaml_node *cluster = database == NULL ? NULL : rig_yaml_value(database, "cluster");
    const struct rig_yaml_node *hosts = cluster == NULL ? NULL : rig_yaml_value(cluster, "hosts");
    const struct rig_yaml_node *named = hosts != NULL      ? hosts
                                        : database != NULL ? rig_yaml_value(database, "endpoints")
                                                           : NULL;
    const struct rig_yaml_node *local = cluster == NULL ? NULL : rig_yaml_value(cluster, "local");
    if (named != NULL && named->place.override != NULL && local != NULL && local->place.override == NULL)
        rig_yaml_remove(cluster, "local");
}

static enum rig_rc read_plan(struct reader *reader, const struct rig_plan_text *text,
                             const struct rig_plan_override *overrides, size_t override_count, const uint64_t *seed,
                             struct rig_err *err)
{
    struct rig_plan *plan = reader->plan;
    enum rig_rc rc =
        rig_yaml_tree_read(&reader->tree, &reader->storage->arena, "plan", plan->path, text->text, text->size, err);
    if (rc == RIG_OK)
        rc = rig_plan_nemesis_normalize(&reader->tree, err);
    for (size_t i = 0; rc == RIG_OK && i < override_count; i++)
        rc = rig_yaml_tree_set(&reader->tree, overrides[i].text, err);
    if (rc == RIG_OK)
        drop_local(reader->tree.root);
    if (rc == RIG_OK && !register_passwords(reader->tree.root))
        rc = rig_yaml_refuse(&reader->tree, &reader->tree.root->place, err, "too many secrets in one plan");
    if (rc == RIG_OK)
        rc = init_sections(reader, err);
    if (rc == RIG_OK)
        rc = bind_sections(reader, err);
    if (rc == RIG_OK)
        rc = resolve_top(reader, seed, err);
    if (rc == RIG_OK)
        rc = resolve_check(reader, err);
    const struct rig_plan_checking checking = checking_of(reader);
    if (rc == RIG_OK)
        rc = rig_plan_check_take_shares(&checking, plan->driver, plan->driver_options, err);
    if (rc != RIG_OK)
        return rc;
    memcpy(&plan->workload, section_of(reader, RIG_PLAN_WORKLOAD)->parts[0].object, sizeof plan->workload);
    if (plan->workload.model != NULL)
        rc = rig_specification_open(plan->workload.model, &plan->workload.specification, err);
    if (rc != RIG_OK)
        return rc;
    rig_plan_check_take_load(&plan->workload, &plan->check);
    memcpy(&plan->clients, section_of(reader, RIG_PLAN_CLIENTS)->parts[0].object, sizeof plan->clients);
    if (reader->phases != NULL)
        rc = rig_plan_phases_bind(&reader->storage->phases, &reader->tree, reader->phases,
                                  section_of(reader, RIG_PLAN_WORKLOAD), section_of(reader, RIG_PLAN_CLIENTS), plan,
                                  err);
    return rc == RIG_OK ? check_contradictions(reader, err) : rc;
}

/* Bytes of `<name>:<line>:<column>` that a text begins with: they stay readable where a secret is like a part of them.
 */
static size_t place_length(const char *text, const char *name)
{
    const size_t length = strlen(name);
    return strncmp(text, name, length) != 0 ? 0 : length + strspn(text + length, ":0123456789");
}

enum rig_rc rig_plan_parse(const struct rig_plan_text *text, const struct rig_plan_override *overrides,
                           size_t override_count, const uint64_t *seed, struct rig_plan **plan, struct rig_err *err)
{
    if (seed != NULL && *seed > INT64_MAX)
        return rig_fail(err, RIG_E_PLAN, "--seed: expected a whole number from 0 to %" PRId64, INT64_MAX);
    struct rig_plan_storage *storage = calloc(1, sizeof *storage);
    struct rig_plan *made = calloc(1, sizeof *made);
    struct rig_err own = {0};
    enum rig_rc rc = RIG_OK;
    if (storage == NULL || made == NULL) {
        free(storage);
        free(made);
        return out_of_memory(err);
    }
    rig_arena_init(&storage->arena, 0);
    made->storage = storage;
    struct reader reader = {.plan = made, .storage = storage};
    char *path = rig_arena_text(&storage->arena, text->name, strlen(text->name));
    made->path = path;
    rc = path == NULL ? out_of_memory(&own) : read_plan(&reader, text, overrides, override_count, seed, &own);
    if (rc == RIG_OK) {
        *plan = made;
        return RIG_OK;
    }
    rig_plan_free(made);
    const size_t place = place_length(own.text, text->name);
    rig_secret_redact(own.text + place, sizeof own.text - place);
    return rig_fail(err, rc, "%s", own.text);
}

/* NULL: the file has no such section. */
static const struct rig_yaml_entry *find_section(const struct reader *reader, size_t id)
{
    const struct rig_yaml_entry *entry = reader->tree.root->first;
    while (entry != NULL && strcmp(entry->key, rig_plan_section_names[id]) != 0)
        entry = entry->next;
    return entry;
}

static enum rig_rc read_check(struct reader *reader, const char *text, size_t size, struct rig_err *err)
{
    enum rig_rc rc =
        rig_yaml_tree_read(&reader->tree, &reader->storage->arena, "plan", reader->plan->path, text, size, err);
    if (rc == RIG_OK)
        rc = init_sections(reader, err);
    const struct rig_yaml_entry *load = rc == RIG_OK ? find_section(reader, RIG_PLAN_WORKLOAD) : NULL;
    struct rig_plan_section *workload = section_of(reader, RIG_PLAN_WORKLOAD);
    if (load != NULL && rig_plan_section_bind(workload, &reader->tree, load->value, NULL, NULL) == RIG_OK)
        rig_plan_check_take_load(workload->parts[0].object, &reader->plan->check);
    const struct rig_yaml_entry *entry = rc == RIG_OK ? find_section(reader, RIG_PLAN_CHECK) : NULL;
    if (entry != NULL)
        rc = rig_plan_section_bind(section_of(reader, RIG_PLAN_CHECK), &reader->tree, entry->value, NULL, err);
    return rc == RIG_OK ? resolve_check(reader, err) : rc;
}

enum rig_rc rig_plan_parse_check(const char *name, const char *text, size_t size, struct rig_check_section *check,
                                 struct rig_err *err)
{
    struct rig_plan_storage *storage = calloc(1, sizeof *storage);
    if (storage == NULL)
        return out_of_memory(err);
    struct rig_plan plan = {.path = name, .storage = storage};
    struct reader reader = {.plan = &plan, .storage = storage};
    rig_arena_init(&storage->arena, 0);
    const enum rig_rc rc = read_check(&reader, text, size, err);
    if (rc == RIG_OK)
        *check = plan.check;
    rig_arena_done(&storage->arena);
    free(storage);
    return rc;
}

/* The text of a key of a section; empty where it has none, or one that is too long. */
static void copy_scalar(const struct rig_yaml_node *section, const char *key, char *text, size_t size)
{
    const struct rig_yaml_entry *entry = section->kind == RIG_YAML_MAPPING ? section->first : NULL;
    while (entry != NULL && strcmp(entry->key, key) != 0)
        entry = entry->next;
    text[0] = '\0';
    if (entry != NULL && entry->value->kind == RIG_YAML_SCALAR && strlen(entry->value->text) < size)
        memcpy(text, entry->value->text, strlen(entry->value->text) + 1);
}

enum rig_rc rig_plan_parse_database(const char *name, const char *text, size_t size,
                                    struct rig_plan_database_names *names, struct rig_err *err)
{
    struct rig_yaml_tree tree;
    struct rig_arena arena;
    rig_arena_init(&arena, 0);
    const enum rig_rc rc = rig_yaml_tree_read(&tree, &arena, "plan", name, text, size, err);
    const struct rig_yaml_entry *entry = rc == RIG_OK ? tree.root->first : NULL;
    while (entry != NULL && strcmp(entry->key, rig_plan_section_names[RIG_PLAN_DATABASE]) != 0)
        entry = entry->next;
    *names = (struct rig_plan_database_names){.driver = ""};
    if (entry != NULL) {
        copy_scalar(entry->value, "driver", names->driver, sizeof names->driver);
        copy_scalar(entry->value, "isolation", names->isolation, sizeof names->isolation);
    }
    rig_arena_done(&arena);
    return rc;
}

enum rig_rc rig_plan_load(const char *path, const struct rig_plan_override *overrides, size_t override_count,
                          const uint64_t *seed, struct rig_plan **plan, struct rig_err *err)
{
    struct rig_buf text;
    /* One byte more than a plan may have, so that what is too large is refused as such. */
    rig_buf_init(&text, RIG_YAML_BYTES + 2);
    struct rig_err own = {0};
    char file[PLAN_PATH_BYTES];
    enum rig_rc rc = rig_shipped_plan_find(path, file, sizeof file, err);
    if (rc != RIG_OK)
        return rc;
    rc = rig_buf_read_file(&text, file, &own);
    const char *shown = strcmp(path, "-") == 0 ? "standard input" : file;
    const struct rig_plan_text read = {shown, rig_buf_text(&text), text.size};
    if (rc == RIG_OK || text.size > RIG_YAML_BYTES)
        rc = rig_plan_parse(&read, overrides, override_count, seed, plan, err);
    else
        rc = rig_fail(err, rc == RIG_E_IO ? RIG_E_PLAN : rc, "%s", own.text);
    rig_buf_done(&text);
    return rc;
}

void rig_plan_free(struct rig_plan *plan)
{
    if (plan == NULL)
        return;
    struct rig_plan_storage *storage = plan->storage;
    rig_arena_done(&storage->arena);
    free(storage);
    free(plan);
}
