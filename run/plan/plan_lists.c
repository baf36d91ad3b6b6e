#include "run/plan/plan_lists.h"

#include <stdio.h>
#include <string.h>

#include "base/nearest.h"
#include "base/option_parse.h"
#include "run/plan/plan_sections.h"

enum { NAME_BYTES_MAX = 32 };

static enum rig_rc out_of_memory(struct rig_err *err)
{
    return rig_no_memory(err, "a plan");
}

/* The values of the section `from` become those of the part with the same options, as if they were its defaults. */
static void inherit(struct rig_plan_part *part, size_t first, size_t offset, size_t size,
                    const struct rig_plan_part *from)
{
    memcpy((char *)part->object + offset, from->object, size);
    for (size_t i = first; i < part->option_count; i++) {
        const char *name = part->table[i].name + (first == 0 ? 0 : strlen("clients."));
        const size_t at = (size_t)(rig_option_find(from->table, name) - from->table);
        part->known[i] = from->known[at];
        part->shown[i] = from->shown[at];
    }
}

static enum rig_rc init_section(struct rig_plan_section *section, uint32_t number, struct rig_arena *arena,
                                const struct rig_plan_section *workload, const struct rig_plan_section *clients,
                                struct rig_err *err)
{
    char text[32];
    (void)snprintf(text, sizeof text, "phases.%u", number);
    section->name = rig_arena_text(arena, text, strlen(text));
    if (section->name == NULL)
        return out_of_memory(err);
    enum rig_rc rc =
        rig_plan_part_init(&section->parts[0], rig_plan_phase_table, sizeof(struct rig_plan_phase_options), arena, err);
    if (rc == RIG_OK)
        rc = rig_plan_part_init(&section->parts[1], rig_generator_option_table, sizeof(struct rig_generator_options),
                                arena, err);
    if (rc != RIG_OK)
        return rc;
    inherit(&section->parts[0], 1, offsetof(struct rig_plan_phase_options, clients), sizeof(struct rig_clients_options),
            &clients->parts[0]);
    inherit(&section->parts[1], 0, 0, sizeof(struct rig_generator_options), &workload->parts[0]);
    return RIG_OK;
}

static enum rig_rc refuse(const struct rig_yaml_tree *tree, const struct rig_plan_section *section, const char *problem,
                          struct rig_err *err)
{
    const struct rig_yaml_place place = rig_plan_section_blame(section, tree, problem);
    return rig_yaml_refuse(tree, &place, err, "%s: %s", section->name, problem);
}

/* The name is shown in the progress line and in reports. */
static enum rig_rc check_name(const struct rig_yaml_tree *tree, const struct rig_plan_section *section,
                              const struct rig_plan_phase *earlier, uint32_t count, struct rig_err *err)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";
    const char *name = ((const struct rig_plan_phase_options *)section->parts[0].object)->name;
    const size_t length = strlen(name);
    if (length == 0 || length > NAME_BYTES_MAX || strspn(name, allowed) != length)
        return refuse(tree, section, "`name`: expected 1 to 32 letters, digits, `-`, `_` and `.`", err);
    for (uint32_t i = 0; i < count; i++) {
        if (strcmp(earlier[i].name, name) == 0)
            return refuse(tree, section, "the `name` is that of an earlier phase", err);
    }
    return RIG_OK;
}

static enum rig_rc check_phase(const struct rig_yaml_tree *tree, const struct rig_plan_section *section,
                               const struct rig_generator_options *base, const struct rig_plan_phase *phase,
                               struct rig_err *err)
{
    if (phase->workload.type != base->type)
        return refuse(tree, section, "the `type` of a load is the same in all phases; give it in `workload`", err);
    if (phase->workload.final_reads != base->final_reads)
        return refuse(tree, section, "`final-reads` come after the last phase; give it in `workload`", err);
    if (phase->workload.transactions == 0 && phase->workload.duration_ns == 0)
        return refuse(tree, section,
                      "the phase has no end: give `transactions` (such as 20000), `duration` (such as 60s) or both",
                      err);
    if (phase->workload.reads >= 1 && (rig_load_shape_is_pooled(phase->workload.shape)))
        return refuse(tree, section,
                      "`reads` is 100%, and a phase of this `shape` has fresh keys, which nothing writes then; use the "
                      "shape general, whose keys stay for all phases",
                      err);
    return RIG_OK;
}

static enum rig_rc bind_phase(struct rig_plan_section *section, const struct rig_yaml_tree *tree,
                              const struct rig_yaml_node *node, struct rig_plan_phase *made, struct rig_err *err)
{
    enum rig_rc rc = rig_plan_section_bind(section, tree, node, NULL, err);
    if (rc == RIG_OK)
        rc = rig_plan_section_require(section, tree, err);
    if (rc != RIG_OK)
        return rc;
    const struct rig_plan_phase_options *options = section->parts[0].object;
    made->name = options->name;
    made->clients = options->clients;
    memcpy(&made->workload, section->parts[1].object, sizeof made->workload);
    return RIG_OK;
}

/* Each phase has an end of its own. */
static enum rig_rc check_base(const struct rig_yaml_tree *tree, const struct rig_plan_section *workload,
                              struct rig_err *err)
{
    const char *const ends[] = {"transactions", "duration"};
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        const struct rig_yaml_node *given = rig_plan_section_given(workload, ends[i]);
        if (given != NULL)
            return rig_yaml_refuse(
                tree, &given->place, err,
                "workload.%s has no effect beside `phases`, each of which has an end of its own; give "
                "it there",
                ends[i]);
    }
    return RIG_OK;
}

enum rig_rc rig_plan_phases_bind(struct rig_plan_phases *phases, const struct rig_yaml_tree *tree,
                                 const struct rig_yaml_node *node, const struct rig_plan_section *workload,
                                 const struct rig_plan_section *clients, struct rig_plan *plan, struct rig_err *err)
{
    if (node->kind == RIG_YAML_SCALAR && !node->is_null && strcmp(node->text, "[]") == 0)
        return RIG_OK;
    if (node->kind != RIG_YAML_SEQUENCE || node->count == 0)
        return rig_yaml_refuse(tree, &node->place, err,
                               "phases: expected a list of mappings, `- {name: fill, duration: 10s, reads: 10%%}`; "
                               "`--set phases=[]` removes all, `--set phases.0.reads=20%%` changes one");
    if (node->count > RIG_PLAN_PHASES_MOST)
        return rig_yaml_refuse(tree, &node->place, err, "phases: more than %d phases", (int)RIG_PLAN_PHASES_MOST);
    enum rig_rc rc = check_base(tree, workload, err);
    if (rc != RIG_OK)
        return rc;
    phases->sections = rig_arena_array(tree->arena, node->count, sizeof *phases->sections);
    struct rig_plan_phase *made = rig_arena_array(tree->arena, node->count, sizeof *made);
    if (phases->sections == NULL || made == NULL)
        return out_of_memory(err);
    int64_t most = 0;
    for (const struct rig_yaml_entry *entry = node->first; entry != NULL && rc == RIG_OK; entry = entry->next) {
        struct rig_plan_section *section = &phases->sections[phases->count];
        struct rig_plan_phase *phase = &made[phases->count];
        rc = init_section(section, phases->count, tree->arena, workload, clients, err);
        if (rc == RIG_OK)
            rc = bind_phase(section, tree, entry->value, phase, err);
        if (rc == RIG_OK)
            rc = check_name(tree, section, made, phases->count, err);
        if (rc == RIG_OK)
            rc = check_phase(tree, section, workload->parts[0].object, phase, err);
        most = phase->clients.count > most ? phase->clients.count : most;
        phases->count += rc == RIG_OK ? 1 : 0;
    }
    plan->phases = made;
    plan->phase_count = phases->count;
    plan->clients.count = rc == RIG_OK ? most : plan->clients.count;
    return rc;
}

enum { NAME_BYTES = 96, FAULTS_MOST = 256 };

static const struct rig_yaml_entry *find(const struct rig_yaml_node *mapping, const char *key)
{
    for (const struct rig_yaml_entry *entry = mapping->first; entry != NULL; entry = entry->next) {
        if (strcmp(entry->key, key) == 0)
            return entry;
    }
    return NULL;
}

enum rig_rc rig_plan_nemesis_normalize(struct rig_yaml_tree *tree, struct rig_err *err)
{
    for (struct rig_yaml_entry *entry = tree->root->first; entry != NULL; entry = entry->next) {
        if (strcmp(entry->key, "nemesis") != 0 || entry->value->kind != RIG_YAML_SEQUENCE)
            continue;
        struct rig_yaml_node *mapping = rig_arena_alloc(tree->arena, sizeof *mapping);
        struct rig_yaml_entry *faults = rig_arena_alloc(tree->arena, sizeof *faults);
        if (mapping == NULL || faults == NULL)
            return out_of_memory(err);
        *faults = (struct rig_yaml_entry){.key = "faults", .key_place = entry->key_place, .value = entry->value};
        *mapping = (struct rig_yaml_node){
            .kind = RIG_YAML_MAPPING, .place = entry->value->place, .first = faults, .last = faults, .count = 1};
        entry->value = mapping;
    }
    return RIG_OK;
}

enum rig_rc rig_plan_nemesis_init(struct rig_plan_nemesis *nemesis, struct rig_arena *arena, struct rig_err *err)
{
    *nemesis = (struct rig_plan_nemesis){.top.name = "nemesis"};
    return rig_plan_part_init(&nemesis->top.parts[0], rig_nemesis_table, sizeof(struct rig_nemesis_options), arena,
                              err);
}

/* -- faults -------------------------------------------------------------------------------------------------------- */

/* One pass over the tree, with what it needs on the way. */
struct binder {
    struct rig_plan_nemesis *nemesis;
    const struct rig_yaml_tree *tree;
    const struct rig_driver *driver;
    struct rig_nemesis_plan *plan;
    const struct rig_yaml_node *faults, *nodes; /* NULL: not given */
};

static void offer_name(void *context, const struct rig_fault *fault, bool driver_own)
{
    (void)driver_own;
    rig_nearest_offer(context, fault->name);
}

static enum rig_rc refuse_fault(const struct binder *binder, const struct rig_plan_section *section,
                                const struct rig_yaml_node *node, const char *name, struct rig_err *err)
{
    struct rig_nearest nearest;
    rig_nearest_init(&nearest, name);
    rig_fault_each(binder->driver == NULL ? NULL : binder->driver->cluster, offer_name, &nearest);
    struct rig_buf quoted;
    rig_buf_init(&quoted, 512);
    rig_option_quote(name, &quoted);
    const char *near = nearest.best;
    const enum rig_rc rc =
        rig_yaml_refuse(binder->tree, &node->place, err, "%s.fault: there is no fault %s; %s%s%s", section->name,
                        rig_buf_text(&quoted), near == NULL ? "`rig list faults` shows them" : "did you mean `",
                        near == NULL ? "" : near, near == NULL ? "" : "`?");
    rig_buf_done(&quoted);
    return rc;
}

/* The fault's own keys mean nothing before it is known, so its name is looked for first. */
static enum rig_rc bind_fault_name(const struct binder *binder, struct rig_plan_section *section,
                                   const struct rig_yaml_node *node, struct rig_nemesis_entry *made,
                                   struct rig_err *err)
{
    static const struct rig_option no_options[] = {{.name = NULL}};
    const struct rig_yaml_entry *entry = node->kind == RIG_YAML_MAPPING ? find(node, "fault") : NULL;
    if (entry == NULL)
        return RIG_OK;
    struct rig_yaml_entry name_entry = *entry;
    name_entry.next = NULL;
    const struct rig_yaml_node name_only = {
        .kind = RIG_YAML_MAPPING, .place = node->place, .first = &name_entry, .last = &name_entry, .count = 1};
    enum rig_rc rc = rig_plan_section_bind(section, binder->tree, &name_only, NULL, err);
    if (rc != RIG_OK)
        return rc;
    const struct rig_nemesis_entry_options *options = section->parts[0].object;
    made->fault = rig_fault_find(binder->driver == NULL ? NULL : binder->driver->cluster, options->fault);
    if (made->fault == NULL)
        return refuse_fault(binder, section, entry->value, options->fault, err);
    struct rig_err own = {0};
    rc = rig_plan_part_init(&section->parts[1], made->fault->options == NULL ? no_options : made->fault->options,
                            made->fault->options_size, binder->tree->arena, &own);
    if (rc != RIG_OK)
        return rig_fail(err, rc, "fault %s: %s", made->fault->name, own.text);
    made->options = section->parts[1].object;
    return RIG_OK;
}

/* A sentence about the section as a whole, at the key that it names in backquotes. */
static enum rig_rc refuse_section(const struct binder *binder, const struct rig_plan_section *section,
                                  const struct rig_err *why, struct rig_err *err)
{
    const struct rig_yaml_place place = rig_plan_section_blame(section, binder->tree, why->text);
    return rig_yaml_refuse(binder->tree, &place, err, "%s: %s", section->name, why->text);
}

static enum rig_rc bind_fault(const struct binder *binder, struct rig_plan_section *section,
                              const struct rig_yaml_node *node, struct rig_nemesis_entry *made, struct rig_err *err)
{
    enum rig_rc rc = rig_plan_part_init(&section->parts[0], rig_nemesis_entry_table,
                                        sizeof(struct rig_nemesis_entry_options), binder->tree->arena, err);
    if (rc == RIG_OK)
        rc = bind_fault_name(binder, section, node, made, err);
    if (rc == RIG_OK)
        rc = rig_plan_section_bind(section, binder->tree, node, NULL, err);
    if (rc == RIG_OK)
        rc = rig_plan_section_require(section, binder->tree, err);
    if (rc != RIG_OK)
        return rc;
    memcpy(&made->schedule, section->parts[0].object, sizeof made->schedule);
    struct rig_err own = {0};
    rc = rig_nemesis_entry_resolve(made, binder->tree->arena, &own);
    return rc == RIG_OK ? RIG_OK : refuse_section(binder, section, &own, err);
}

static enum rig_rc name_section(const struct binder *binder, struct rig_plan_section *section, const char *name,
                                uint32_t number, struct rig_err *err)
{
    char text[NAME_BYTES];
    if (name != NULL)
        (void)snprintf(text, sizeof text, "nemesis.nodes.%s", name);
    else
        (void)snprintf(text, sizeof text, "nemesis.faults.%u", number);
    section->name = rig_arena_text(binder->tree->arena, text, strlen(text));
    return section->name == NULL ? out_of_memory(err) : RIG_OK;
}

static enum rig_rc bind_faults(const struct binder *binder, struct rig_err *err)
{
    const struct rig_yaml_node *list = binder->faults;
    struct rig_plan_nemesis *nemesis = binder->nemesis;
    if (list == NULL || (list->kind == RIG_YAML_SCALAR && !list->is_null && strcmp(list->text, "[]") == 0))
        return RIG_OK;
    if (list->kind != RIG_YAML_SEQUENCE)
        return rig_yaml_refuse(binder->tree, &list->place, err,
                               "nemesis.faults: expected a list of mappings, `- {fault: kill, every: 10s}`; `--set "
                               "nemesis.faults=[]` removes all, `--set nemesis.faults.0.every=10s` changes one");
    if (list->count > FAULTS_MOST)
        return rig_yaml_refuse(binder->tree, &list->place, err, "nemesis.faults: more than %d entries",
                               (int)FAULTS_MOST);
    nemesis->faults = rig_arena_array(binder->tree->arena, list->count + 1, sizeof *nemesis->faults);
    struct rig_nemesis_entry *made = rig_arena_array(binder->tree->arena, list->count + 1, sizeof *made);
    if (nemesis->faults == NULL || made == NULL)
        return out_of_memory(err);
    enum rig_rc rc = RIG_OK;
    for (const struct rig_yaml_entry *entry = list->first; entry != NULL && rc == RIG_OK; entry = entry->next) {
        const uint32_t number = nemesis->fault_count;
        rc = name_section(binder, &nemesis->faults[number], NULL, number, err);
        if (rc == RIG_OK)
            rc = bind_fault(binder, &nemesis->faults[number], entry->value, &made[number], err);
        nemesis->fault_count += rc == RIG_OK ? 1 : 0;
    }
    binder->plan->entries = made;
    binder->plan->entry_count = nemesis->fault_count;
    return rc;
}

/* -- nodes --------------------------------------------------------------------------------------------------------- */

static enum rig_rc bind_node(const struct binder *binder, struct rig_plan_section *section,
                             const struct rig_yaml_entry *entry, struct rig_nemesis_node *made, struct rig_err *err)
{
    for (const struct rig_yaml_entry *earlier = binder->nodes->first; earlier != entry; earlier = earlier->next) {
        if (strcmp(earlier->key, entry->key) == 0)
            return rig_yaml_refuse(binder->tree, &entry->key_place, err,
                                   "the key `%s` is repeated; the first is on line %u", entry->key,
                                   earlier->key_place.line);
    }
    if (entry->key[0] == '\0' || strlen(entry->key) >= RIG_NODE_NAME_BYTES || strpbrk(entry->key, ", ") != NULL)
        return rig_yaml_refuse(binder->tree, &entry->key_place, err,
                               "nemesis.nodes: a node's name has 1 to %d bytes, no blank and no comma",
                               (int)RIG_NODE_NAME_BYTES - 1);
    enum rig_rc rc = rig_plan_part_init(&section->parts[0], rig_nemesis_node_table,
                                        sizeof(struct rig_nemesis_node_options), binder->tree->arena, err);
    if (rc == RIG_OK)
        rc = rig_plan_section_bind(section, binder->tree, entry->value, NULL, err);
    if (rc != RIG_OK)
        return rc;
    made->name = entry->key;
    memcpy(&made->commands, section->parts[0].object, sizeof made->commands);
    struct rig_err own = {0};
    rc = rig_nemesis_node_check(&made->commands, &own);
    return rc == RIG_OK ? RIG_OK : refuse_section(binder, section, &own, err);
}

static enum rig_rc bind_nodes(const struct binder *binder, struct rig_err *err)
{
    const struct rig_yaml_node *mapping = binder->nodes;
    struct rig_plan_nemesis *nemesis = binder->nemesis;
    if (mapping == NULL)
        return RIG_OK;
    if (mapping->kind != RIG_YAML_MAPPING || mapping->count == 0)
        return rig_yaml_refuse(binder->tree, &mapping->place, err,
                               "nemesis.nodes: expected a mapping from nodes' names to their commands, `db1: {kill: "
                               "..., start: ...}`");
    if (mapping->count > RIG_NODES_MOST)
        return rig_yaml_refuse(binder->tree, &mapping->place, err, "nemesis.nodes: more than %d nodes",
                               (int)RIG_NODES_MOST);
    nemesis->nodes = rig_arena_array(binder->tree->arena, mapping->count, sizeof *nemesis->nodes);
    nemesis->node_names = rig_arena_array(binder->tree->arena, mapping->count, sizeof *nemesis->node_names);
    struct rig_nemesis_node *made = rig_arena_array(binder->tree->arena, mapping->count, sizeof *made);
    if (nemesis->nodes == NULL || nemesis->node_names == NULL || made == NULL)
        return out_of_memory(err);
    enum rig_rc rc = RIG_OK;
    for (const struct rig_yaml_entry *entry = mapping->first; entry != NULL && rc == RIG_OK; entry = entry->next) {
        const uint32_t number = nemesis->node_count;
        rc = name_section(binder, &nemesis->nodes[number], entry->key, 0, err);
        if (rc == RIG_OK)
            rc = bind_node(binder, &nemesis->nodes[number], entry, &made[number], err);
        nemesis->node_names[number] = entry->key;
        nemesis->node_count += rc == RIG_OK ? 1 : 0;
    }
    binder->plan->nodes = made;
    binder->plan->node_count = nemesis->node_count;
    return rc;
}

/* -- the section --------------------------------------------------------------------------------------------------- */

static enum rig_rc take_other(void *context, const struct rig_yaml_entry *entry, struct rig_err *err)
{
    struct binder *binder = context;
    (void)err;
    if (strcmp(entry->key, "faults") == 0)
        binder->faults = entry->value;
    else
        binder->nodes = entry->value;
    return RIG_OK;
}

enum rig_rc rig_plan_nemesis_bind(struct rig_plan_nemesis *nemesis, const struct rig_yaml_tree *tree,
                                  const struct rig_yaml_node *node, const struct rig_driver *driver,
                                  struct rig_nemesis_plan *plan, struct rig_err *err)
{
    static const char *const others_names[] = {"faults", "nodes", NULL};
    struct binder binder = {.nemesis = nemesis, .tree = tree, .driver = driver, .plan = plan};
    const struct rig_plan_others others = {others_names, take_other, &binder};
    nemesis->node = node;
    enum rig_rc rc = rig_plan_section_bind(&nemesis->top, tree, node, &others, err);
    if (rc == RIG_OK)
        rc = bind_faults(&binder, err);
    if (rc == RIG_OK)
        rc = bind_nodes(&binder, err);
    if (rc != RIG_OK)
        return rc;
    memcpy(&plan->options, nemesis->top.parts[0].object, sizeof plan->options);
    if (plan->options.quiet_least_ns <= plan->options.quiet_most_ns)
        return RIG_OK;
    struct rig_err own = {0};
    (void)rig_fail(&own, RIG_E_PLAN, "`quiet.min` is longer than `quiet.max`");
    return refuse_section(&binder, &nemesis->top, &own, err);
}
