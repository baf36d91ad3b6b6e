#include "run/plan/plan_phases.h"

#include <stdio.h>
#include <string.h>

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
    if (phase->workload.reads >= 1 &&
        (phase->workload.shape == RIG_LOAD_ROTATING || phase->workload.shape == RIG_LOAD_PAIRS))
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
