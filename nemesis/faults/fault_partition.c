/*
 * partition: cuts links between nodes, and between nodes and clients.
 *
 * Connections stay open: bytes that are sent wait (as TCP would retransmit them) and arrive when the link is restored,
 * or, with `bytes: drop`, are lost together with their connections. Shapes:
 *
 *   isolate  each target is cut off from every other node
 *   halves   the targets are cut off from the other nodes, not from each other
 *   ring     every node sees a majority of the nodes, and no two see the same one; targets have no effect
 *
 * Evidence: bytes that were held, connections that had to wait.
 */
#include "base/rng.h"
#include "nemesis/network.h"

enum { SHAPE_ISOLATE, SHAPE_HALVES, SHAPE_RING };
enum { BYTES_HOLD, BYTES_DROP };

static const char *const shapes[] = {"isolate", "halves", "ring", NULL};
static const char *const fates[] = {"hold", "drop", NULL};

struct options {
    struct rig_network_options network;
    int64_t shape;
    int64_t bytes;
};

static const struct rig_option table[] = {
    {.name = "shape",
     .type = RIG_OPTION_CHOICE,
     .offset = offsetof(struct options, shape),
     .default_text = "isolate",
     .choices = shapes,
     .help =
         ("isolate: each target is cut off from all others; halves: the targets from the rest (`target: minority`); "
          "ring: each of four or more nodes sees a majority, no two the same one")},
    RIG_NETWORK_BETWEEN(struct options, network.between),
    RIG_NETWORK_DIRECTION(struct options, network.direction),
    {.name = "bytes",
     .type = RIG_OPTION_CHOICE,
     .offset = offsetof(struct options, bytes),
     .default_text = "hold",
     .choices = fates,
     .help = ("hold: bytes that are sent arrive when the link is restored; drop: they are lost, and their "
              "connections are reset then")},
    {.name = NULL},
};

static struct rig_proxy_rule rule_of(const struct options *options)
{
    return (struct rig_proxy_rule){.kind = options->bytes == BYTES_DROP ? RIG_PROXY_DROP : RIG_PROXY_HOLD};
}

/* Both directions, or, for `in` and `out`, the direction as the first of them sees it. */
static enum rig_rc cut(const struct rig_fault_site *site, const struct rig_network *network, uint32_t one,
                       uint32_t other, struct rig_err *err)
{
    const struct rig_fleet *fleet = rig_fleet_of(site);
    const struct options *options = site->options;
    const struct rig_proxy_rule rule = rule_of(options);
    enum rig_rc rc = RIG_OK;
    if (options->network.direction != RIG_DIRECTION_OUT)
        rc = rig_network_rule(site, network, fleet->names[other], fleet->names[one], &rule, err);
    if (options->network.direction != RIG_DIRECTION_IN && rc == RIG_OK)
        rc = rig_network_rule(site, network, fleet->names[one], fleet->names[other], &rule, err);
    return rc;
}

/* Clients are on the side of the nodes that are no targets. */
static enum rig_rc cut_halves(const struct rig_fault_site *site, const struct rig_network *network, struct rig_err *err)
{
    const struct options *options = site->options;
    const struct rig_proxy_rule rule = rule_of(options);
    enum rig_rc rc = RIG_OK;
    if (options->network.between != RIG_BETWEEN_NODES) {
        const struct rig_network_options clients = {.between = RIG_BETWEEN_CLIENTS,
                                                    .direction = options->network.direction};
        rc = rig_network_rules(site, network, &clients, &rule, err);
    }
    for (uint32_t i = 0; i < site->node_count && options->network.between != RIG_BETWEEN_CLIENTS; i++) {
        for (uint32_t other = 0; other < rig_fleet_of(site)->count && rc == RIG_OK; other++) {
            if (!rig_network_is_target(site, other))
                rc = cut(site, network, site->nodes[i], other, err);
        }
    }
    return rc;
}

/* The nodes stand in a circle, in random order; each sees its neighbours up to the distance that makes a majority. */
static enum rig_rc cut_ring(const struct rig_fault_site *site, const struct rig_network *network, struct rig_err *err)
{
    const uint32_t count = rig_fleet_of(site)->count;
    uint32_t circle[RIG_NODES_MOST];
    struct rig_rng rng;
    enum rig_rc rc = RIG_OK;
    if (count < 4)
        return rig_fail(err, RIG_E_CLUSTER, "`shape: ring` needs at least four nodes, and there are %u", count);
    rig_rng_init(&rng, site->random, 0);
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t at = (uint32_t)rig_rng_below(&rng, i + 1);
        circle[i] = circle[at];
        circle[at] = i;
    }
    const uint32_t reach = (count / 2 + 1) / 2;
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t j = i + 1; j < count && rc == RIG_OK; j++) {
            const uint32_t apart = j - i < count - (j - i) ? j - i : count - (j - i);
            if (apart > reach)
                rc = cut(site, network, circle[i], circle[j], err);
        }
    }
    return rc;
}

static enum rig_rc inject(const struct rig_fault_site *site, void *state, struct rig_evidence *evidence,
                          struct rig_err *err)
{
    struct rig_network *network = state;
    const struct options *options = site->options;
    const struct rig_proxy_rule rule = rule_of(options);
    enum rig_rc rc = rig_network_begin(site, network, "held back", err);
    if (rc == RIG_OK && options->shape == SHAPE_ISOLATE)
        rc = rig_network_rules(site, network, &options->network, &rule, err);
    else if (rc == RIG_OK && options->shape == SHAPE_HALVES)
        rc = cut_halves(site, network, err);
    else if (rc == RIG_OK)
        rc = cut_ring(site, network, err);
    return rc == RIG_OK ? rig_network_await(site, network, evidence, err) : rc;
}

const struct rig_fault rig_fault_partition = {
    .name = "partition",
    .summary = "cuts the links between nodes, and between nodes and clients, in both directions or one",
    .needs = RIG_NEED_ROUTES,
    .options = table,
    .options_size = sizeof(struct options),
    .state_size = sizeof(struct rig_network),
    .inject = inject,
    .heal = rig_network_heal,
};
