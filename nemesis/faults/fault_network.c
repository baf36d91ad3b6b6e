/*
 * The faults of links between nodes, and between nodes and clients. Each opens with its effect and its evidence.
 */
#include "base/clock.h"
#include "base/rng.h"
#include "nemesis/network.h"

/*
 * delay: every chunk on the links of the targets takes longer, by a fixed time and a random one; order is kept.
 *
 * Evidence: bytes that were delayed.
 */

struct delay_options {
    struct rig_network_options network;
    int64_t delay_ns, jitter_ns;
};

static const struct rig_option delay_table[] = {
    {.name = "delay",
     .type = RIG_OPTION_DURATION,
     .offset = offsetof(struct delay_options, delay_ns),
     .default_text = "50ms",
     .least = 1e3,
     .most = 600e9,
     .help = "additional time for a chunk, each way"},
    {.name = "jitter",
     .type = RIG_OPTION_DURATION,
     .offset = offsetof(struct delay_options, jitter_ns),
     .default_text = "10ms",
     .least = 0,
     .most = 600e9,
     .help = "random variation of the delay, up or down, uniformly distributed; at most the delay itself"},
    RIG_NETWORK_BETWEEN(struct delay_options, network.between),
    RIG_NETWORK_DIRECTION(struct delay_options, network.direction),
    {.name = NULL},
};

static enum rig_rc delay_inject(const struct rig_fault_site *site, void *state, struct rig_evidence *evidence,
                                struct rig_err *err)
{
    const struct delay_options *options = site->options;
    const struct rig_proxy_rule rule = {
        .kind = RIG_PROXY_DELAY, .delay_ns = options->delay_ns, .jitter_ns = options->jitter_ns};
    return rig_network_strike(site, state, &options->network, &rule, "delayed", evidence, err);
}

const struct rig_fault rig_fault_delay = {
    .name = "delay",
    .summary = "delays all bytes on the links of nodes, by a fixed and a random time",
    .needs = RIG_NEED_ROUTES,
    .options = delay_table,
    .options_size = sizeof(struct delay_options),
    .state_size = sizeof(struct rig_network),
    .inject = delay_inject,
    .heal = rig_network_heal,
};

/*
 * half-open: resets one end of each open connection between the targets and others. The other end is not notified: its
 * bytes are discarded, and it receives nothing.
 *
 * New connections are whole. Heal resets the remaining ends: until then a server keeps the session, its transaction and
 * its locks. Evidence: connections that were left half open; when none is open at first, the fault waits for new ones.
 */

enum { CLOSED_SERVER, CLOSED_CLIENT };
static const char *const ends[] = {"server", "client", NULL};

struct half_open_options {
    struct rig_network_options network; /* `direction` stays both */
    int64_t closed;
};

static const struct rig_option half_open_table[] = {
    {.name = "closed",
     .type = RIG_OPTION_CHOICE,
     .offset = offsetof(struct half_open_options, closed),
     .default_text = "server",
     .choices = ends,
     .help = "the end that is closed: the one that accepted the connection (server) or the one that opened it "
             "(client)"},
    RIG_NETWORK_BETWEEN(struct half_open_options, network.between),
    {.name = NULL},
};

static void close_line(const struct rig_fault_site *site, struct rig_proxy *proxy, uint32_t token, const char *from,
                       const char *to)
{
    const struct half_open_options *options = site->options;
    (void)rig_proxy_group_half_open(proxy, token, from, to, options->closed == CLOSED_CLIENT);
}

static enum rig_rc half_open_inject(const struct rig_fault_site *site, void *state, struct rig_evidence *evidence,
                                    struct rig_err *err)
{
    struct rig_network *network = state;
    const struct half_open_options *options = site->options;
    const enum rig_rc rc = rig_network_begin(site, network, "left half open", err);
    if (rc != RIG_OK)
        return rc;
    return rig_network_strike_open(site, network, (enum rig_between)options->network.between, close_line, evidence,
                                   err);
}

const struct rig_fault rig_fault_half_open = {
    .name = "half-open",
    .summary = "closes one end of connections of nodes without notifying the other",
    .needs = RIG_NEED_ROUTES,
    .options = half_open_table,
    .options_size = sizeof(struct half_open_options),
    .state_size = sizeof(struct rig_network),
    .inject = half_open_inject,
    .heal = rig_network_heal,
};

/*
 * loss: chunks on the links of the targets are lost with a probability, with TCP's behaviour: they, and all bytes
 * behind them, stall for the retransmission time-out, which doubles when the same chunk is lost again.
 *
 * Evidence: bytes of chunks that stalled.
 */

struct loss_options {
    struct rig_network_options network;
    double share;
    int64_t timeout_ns;
};

static const struct rig_option loss_table[] = {
    {.name = "share",
     .type = RIG_OPTION_SHARE,
     .offset = offsetof(struct loss_options, share),
     .default_text = "5%",
     .least = 0.0001,
     .most = 1,
     .help = "probability that a chunk is lost, each time it is sent"},
    {.name = "timeout",
     .type = RIG_OPTION_DURATION,
     .offset = offsetof(struct loss_options, timeout_ns),
     .default_text = "200ms",
     .least = 1e6,
     .most = 60e9,
     .help = "time after which a lost chunk is sent again; doubled each time, at most six times"},
    RIG_NETWORK_BETWEEN(struct loss_options, network.between),
    RIG_NETWORK_DIRECTION(struct loss_options, network.direction),
    {.name = NULL},
};

static enum rig_rc loss_inject(const struct rig_fault_site *site, void *state, struct rig_evidence *evidence,
                               struct rig_err *err)
{
    const struct loss_options *options = site->options;
    const struct rig_proxy_rule rule = {
        .kind = RIG_PROXY_LOSS, .share = options->share, .timeout_ns = options->timeout_ns};
    return rig_network_strike(site, state, &options->network, &rule, "lost and sent again", evidence, err);
}

const struct rig_fault rig_fault_loss = {
    .name = "loss",
    .summary = "loses a share of the bytes on the links of nodes: they stall until they are sent again",
    .needs = RIG_NEED_ROUTES,
    .options = loss_table,
    .options_size = sizeof(struct loss_options),
    .state_size = sizeof(struct rig_network),
    .inject = loss_inject,
    .heal = rig_network_heal,
};

/*
 * reset: resets the open connections between the targets and others, on both sides. While it lasts, further ones are
 * reset by chance at any chunk, and, where the plan asks for it, every new one.
 *
 * Evidence: connections that were reset or refused. When none is open at first, the fault waits for new ones.
 */

struct reset_options {
    struct rig_network_options network; /* `direction` stays both */
    double chance;
    bool refuse;
};

static const struct rig_option reset_table[] = {
    {.name = "chance",
     .type = RIG_OPTION_SHARE,
     .offset = offsetof(struct reset_options, chance),
     .default_text = "0%",
     .least = 0,
     .most = 1,
     .help = "probability that a chunk resets its connection instead of arriving, while the fault lasts"},
    {.name = "refuse",
     .type = RIG_OPTION_BOOL,
     .offset = offsetof(struct reset_options, refuse),
     .default_text = "false",
     .help = "whether new connections are refused while the fault lasts"},
    RIG_NETWORK_BETWEEN(struct reset_options, network.between),
    {.name = NULL},
};

static void reset_line(const struct rig_fault_site *site, struct rig_proxy *proxy, uint32_t token, const char *from,
                       const char *to)
{
    (void)site;
    (void)rig_proxy_group_reset(proxy, token, from, to);
}

static enum rig_rc reset_inject(const struct rig_fault_site *site, void *state, struct rig_evidence *evidence,
                                struct rig_err *err)
{
    struct rig_network *network = state;
    const struct reset_options *options = site->options;
    const struct rig_proxy_rule refuse = {.kind = RIG_PROXY_REFUSE};
    const struct rig_proxy_rule chance = {.kind = RIG_PROXY_RESET, .share = options->chance};
    enum rig_rc rc = rig_network_begin(site, network, "reset", err);
    if (rc == RIG_OK && options->chance > 0)
        rc = rig_network_rules(site, network, &options->network, &chance, err);
    if (rc == RIG_OK && options->refuse)
        rc = rig_network_rules(site, network, &options->network, &refuse, err);
    if (rc != RIG_OK)
        return rc;
    return rig_network_strike_open(site, network, (enum rig_between)options->network.between, reset_line, evidence,
                                   err);
}

const struct rig_fault rig_fault_reset = {
    .name = "reset",
    .summary = "resets connections of nodes, and optionally refuses new ones",
    .needs = RIG_NEED_ROUTES,
    .options = reset_table,
    .options_size = sizeof(struct reset_options),
    .state_size = sizeof(struct rig_network),
    .inject = reset_inject,
    .heal = rig_network_heal,
};

/*
 * throttle: limits the bytes a second on each link of the targets, over all its connections together.
 *
 * Evidence: bytes that had to wait.
 */

struct throttle_options {
    struct rig_network_options network;
    int64_t bytes_per_s;
};

static const struct rig_option throttle_table[] = {
    {.name = "rate",
     .type = RIG_OPTION_SIZE,
     .offset = offsetof(struct throttle_options, bytes_per_s),
     .default_text = "16KiB",
     .least = 1,
     .most = 1e12,
     .help = "bytes a second over a link, each way"},
    RIG_NETWORK_BETWEEN(struct throttle_options, network.between),
    RIG_NETWORK_DIRECTION(struct throttle_options, network.direction),
    {.name = NULL},
};

static enum rig_rc throttle_inject(const struct rig_fault_site *site, void *state, struct rig_evidence *evidence,
                                   struct rig_err *err)
{
    const struct throttle_options *options = site->options;
    const struct rig_proxy_rule rule = {.kind = RIG_PROXY_THROTTLE, .bytes_per_s = options->bytes_per_s};
    return rig_network_strike(site, state, &options->network, &rule, "slowed down", evidence, err);
}

const struct rig_fault rig_fault_throttle = {
    .name = "throttle",
    .summary = "limits the bytes a second over the links of nodes",
    .needs = RIG_NEED_ROUTES,
    .options = throttle_table,
    .options_size = sizeof(struct throttle_options),
    .state_size = sizeof(struct rig_network),
    .inject = throttle_inject,
    .heal = rig_network_heal,
};

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

enum { SHAPE_ISOLATE, SHAPE_HALVES, SHAPE_RING };
enum { BYTES_HOLD, BYTES_DROP };

static const char *const shapes[] = {"isolate", "halves", "ring", NULL};
static const char *const fates[] = {"hold", "drop", NULL};

struct partition_options {
    struct rig_network_options network;
    int64_t shape;
    int64_t bytes;
};

static const struct rig_option partition_table[] = {
    {.name = "shape",
     .type = RIG_OPTION_CHOICE,
     .offset = offsetof(struct partition_options, shape),
     .default_text = "isolate",
     .choices = shapes,
     .help =
         ("isolate: each target is cut off from all others; halves: the targets from the rest (`target: minority`); "
          "ring: each of four or more nodes sees a majority, no two the same one")},
    RIG_NETWORK_BETWEEN(struct partition_options, network.between),
    RIG_NETWORK_DIRECTION(struct partition_options, network.direction),
    {.name = "bytes",
     .type = RIG_OPTION_CHOICE,
     .offset = offsetof(struct partition_options, bytes),
     .default_text = "hold",
     .choices = fates,
     .help = ("hold: bytes that are sent arrive when the link is restored; drop: they are lost, and their "
              "connections are reset then")},
    {.name = NULL},
};

static struct rig_proxy_rule rule_of(const struct partition_options *options)
{
    return (struct rig_proxy_rule){.kind = options->bytes == BYTES_DROP ? RIG_PROXY_DROP : RIG_PROXY_HOLD};
}

/* Both directions, or, for `in` and `out`, the direction as the first of them sees it. */
static enum rig_rc cut(const struct rig_fault_site *site, const struct rig_network *network, uint32_t one,
                       uint32_t other, struct rig_err *err)
{
    const struct rig_fleet *fleet = rig_fleet_of(site);
    const struct partition_options *options = site->options;
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
    const struct partition_options *options = site->options;
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

static enum rig_rc partition_inject(const struct rig_fault_site *site, void *state, struct rig_evidence *evidence,
                                    struct rig_err *err)
{
    struct rig_network *network = state;
    const struct partition_options *options = site->options;
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
    .options = partition_table,
    .options_size = sizeof(struct partition_options),
    .state_size = sizeof(struct rig_network),
    .inject = partition_inject,
    .heal = rig_network_heal,
};
