#include "nemesis/targets.h"

#include <stdio.h>
#include <string.h>

#include "base/bug.h"
#include "nemesis/fleet.h"

enum { PART_BYTES = 64 };

/* Nodes as a set of bits. */
typedef uint32_t node_set;

static node_set all_of(uint32_t count)
{
    return (node_set)((UINT64_C(1) << count) - 1);
}

static uint32_t size_of(node_set set)
{
    uint32_t size = 0;
    for (; set != 0; set &= set - 1)
        size++;
    return size;
}

/* `count` members of the set, each choice equally likely. */
static node_set draw(node_set set, uint32_t count, struct rig_rng *rng)
{
    node_set drawn = 0;
    RIG_REQUIRE(count <= size_of(set));
    for (uint32_t i = 0; i < count; i++) {
        uint64_t skip = rig_rng_below(rng, size_of(set));
        node_set rest = set;
        while (skip-- > 0)
            rest &= rest - 1;
        const node_set lowest = rest & (~rest + 1);
        drawn |= lowest;
        set &= ~lowest;
    }
    return drawn;
}

static node_set named(const char *name, const struct rig_node_status *nodes, uint32_t count)
{
    node_set set = 0;
    for (uint32_t i = 0; i < count; i++)
        set |= strcmp(nodes[i].name, name) == 0 ? (node_set)1 << i : 0;
    return set;
}

static node_set with_role(const char *role, const struct rig_node_status *nodes, uint32_t count)
{
    node_set set = 0;
    for (uint32_t i = 0; i < count; i++)
        set |= nodes[i].role[0] != '\0' && rig_fleet_role_is(nodes[i].role, role) ? (node_set)1 << i : 0;
    return set;
}

/* "pg-1 primary, pg-2 standby": the existing nodes, for a message. */
static void describe(const struct rig_node_status *nodes, uint32_t count, char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (uint32_t i = 0; i < count && used < size; i++) {
        const char *role = nodes[i].role[0] == '\0' ? "role unknown" : nodes[i].role;
        const int length = snprintf(text + used, size - used, "%s%s (%s)", i == 0 ? "" : ", ", nodes[i].name,
                                    nodes[i].reachable ? role : "down");
        used += length < 0 ? 0 : (size_t)length;
    }
}

static enum rig_rc refuse(enum rig_rc rc, const char *part, const struct rig_node_status *nodes, uint32_t count,
                          struct rig_err *err)
{
    char there[512];
    describe(nodes, count, there, sizeof there);
    return rig_fail(err, rc, "no node is `%s` at present; there are %s", part, count == 0 ? "none" : there);
}

static bool is_number_word(const char *part)
{
    return strcmp(part, "all") == 0 || strcmp(part, "one") == 0 || strcmp(part, "minority") == 0 ||
           strcmp(part, "majority") == 0;
}

static enum rig_rc resolve_part(const char *part, const struct rig_node_status *nodes, uint32_t count,
                                struct rig_rng *rng, node_set *set, struct rig_err *err)
{
    const node_set all = all_of(count);
    const uint32_t minority = count == 0 ? 0 : (count - 1) / 2;
    if (count == 0)
        return rig_fail(err, RIG_E_PLAN, "there are no nodes for a fault");
    if (strcmp(part, "minority") == 0 && minority == 0)
        return rig_fail(err, RIG_E_PLAN, "%u node%s no minority", count, count == 1 ? " has" : "s have");
    const node_set by_name = named(part, nodes, count);
    if (by_name != 0)
        *set |= by_name;
    else if (strcmp(part, "all") == 0)
        *set |= all;
    else if (strcmp(part, "one") == 0)
        *set |= draw(all, 1, rng);
    else if (strcmp(part, "minority") == 0)
        *set |= draw(all, minority, rng);
    else if (strcmp(part, "majority") == 0)
        *set |= draw(all, count / 2 + 1, rng);
    else {
        const bool one = strncmp(part, "one ", 4) == 0;
        const node_set fitting = with_role(one ? part + 4 : part, nodes, count);
        if (fitting == 0)
            return refuse(RIG_E_CLUSTER, part, nodes, count, err);
        *set |= one ? draw(fitting, 1, rng) : fitting;
    }
    return RIG_OK;
}

/* Copies the next of the parts between commas, without blanks around it; false: it does not fit. */
static bool take_part(const char **at, char part[PART_BYTES])
{
    const char *start = *at + strspn(*at, " ,");
    size_t length = strcspn(start, ",");
    *at = start + length;
    while (length > 0 && start[length - 1] == ' ')
        length--;
    const bool fits = length < PART_BYTES;
    (void)snprintf(part, PART_BYTES, "%.*s", fits ? (int)length : PART_BYTES - 1, start);
    return fits;
}

bool rig_targets_need_roles(const char *target, const struct rig_node_status *nodes, uint32_t node_count)
{
    bool need = false;
    for (const char *at = target; *at != '\0' && !need;) {
        char part[PART_BYTES];
        need = take_part(&at, part) && part[0] != '\0' && !is_number_word(part) && named(part, nodes, node_count) == 0;
    }
    return need;
}

enum rig_rc rig_targets_resolve(const char *target, const struct rig_node_status *nodes, uint32_t node_count,
                                struct rig_rng *rng, struct rig_targets *targets, struct rig_err *err)
{
    RIG_REQUIRE(node_count <= RIG_NODES_MOST);
    node_set set = 0;
    for (const char *at = target; *at != '\0';) {
        char part[PART_BYTES];
        if (!take_part(&at, part))
            return rig_fail(err, RIG_E_PLAN, "a target is longer than any node's name: %.80s", part);
        const enum rig_rc rc = part[0] == '\0' ? RIG_OK : resolve_part(part, nodes, node_count, rng, &set, err);
        if (rc != RIG_OK)
            return rc;
    }
    if (set == 0)
        return rig_fail(err, RIG_E_PLAN, "the target names no node");
    *targets = (struct rig_targets){.count = 0};
    for (uint32_t i = 0; i < node_count; i++) {
        if ((set >> i & 1) != 0)
            targets->at[targets->count++] = i;
    }
    return RIG_OK;
}

void rig_targets_text(const struct rig_targets *targets, const struct rig_node_status *nodes, char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (uint32_t i = 0; i < targets->count && used < size; i++) {
        const int length = snprintf(text + used, size - used, "%s%s", i == 0 ? "" : ", ", nodes[targets->at[i]].name);
        used += length < 0 ? 0 : (size_t)length;
    }
}
