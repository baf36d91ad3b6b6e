#include "nemesis/network.h"

#include "base/plural.h"
#include "nemesis/fault_setup.h"

const char *const rig_between_names[] = {"all", "nodes", "clients", NULL};
const char *const rig_direction_names[] = {"both", "in", "out", NULL};

static struct rig_proxy *proxy_of(const struct rig_fault_site *site)
{
    return rig_fault_context_of(site)->setup->proxy;
}

enum rig_rc rig_network_begin(const struct rig_fault_site *site, struct rig_network *network, const char *verb,
                              struct rig_err *err)
{
    network->verb = verb;
    if (proxy_of(site) == NULL || rig_proxy_route_count(proxy_of(site)) == 0)
        return rig_fail(err, RIG_E_CLUSTER,
                        "no connection goes through rig's proxy: this driver does not request routes, or its nodes "
                        "do not listen on TCP");
    return rig_proxy_group_new(proxy_of(site), &network->token, err);
}

enum rig_rc rig_network_rule(const struct rig_fault_site *site, const struct rig_network *network, const char *from,
                             const char *to, const struct rig_proxy_rule *rule, struct rig_err *err)
{
    return rig_proxy_group_add(proxy_of(site), network->token, from, to, rule, err);
}

/* -- the links ----------------------------------------------------------------------------------------------------- */

bool rig_network_is_target(const struct rig_fault_site *site, uint32_t node)
{
    for (uint32_t i = 0; i < site->node_count; i++) {
        if (site->nodes[i] == node)
            return true;
    }
    return false;
}

/* Calls `visit` for each pair of parties, a target and a peer, each pair once. */
static void visit_pairs(const struct rig_fault_site *site, enum rig_between between,
                        void (*visit)(void *context, const char *target, const char *peer), void *context)
{
    const struct rig_fleet *fleet = rig_fleet_of(site);
    for (uint32_t i = 0; i < site->node_count; i++) {
        const uint32_t target = site->nodes[i];
        if (between != RIG_BETWEEN_NODES)
            visit(context, fleet->names[target], RIG_PROXY_CLIENT);
        for (uint32_t peer = 0; peer < fleet->count && between != RIG_BETWEEN_CLIENTS; peer++) {
            /* For two targets, the pair belongs to the one with the lower number. */
            if (peer != target && !(peer < target && rig_network_is_target(site, peer)))
                visit(context, fleet->names[target], fleet->names[peer]);
        }
    }
}

struct ruling {
    const struct rig_fault_site *site;
    const struct rig_network *network;
    const struct rig_network_options *options;
    const struct rig_proxy_rule *rule;
    struct rig_err *err;
    enum rig_rc rc;
};

static void rule_pair(void *context, const char *target, const char *peer)
{
    struct ruling *ruling = context;
    const int64_t direction = ruling->options->direction;
    if (direction != RIG_DIRECTION_OUT && ruling->rc == RIG_OK)
        ruling->rc = rig_network_rule(ruling->site, ruling->network, peer, target, ruling->rule, ruling->err);
    if (direction != RIG_DIRECTION_IN && ruling->rc == RIG_OK)
        ruling->rc = rig_network_rule(ruling->site, ruling->network, target, peer, ruling->rule, ruling->err);
}

enum rig_rc rig_network_rules(const struct rig_fault_site *site, const struct rig_network *network,
                              const struct rig_network_options *options, const struct rig_proxy_rule *rule,
                              struct rig_err *err)
{
    struct ruling ruling = {
        .site = site, .network = network, .options = options, .rule = rule, .err = err, .rc = RIG_OK};
    visit_pairs(site, (enum rig_between)options->between, rule_pair, &ruling);
    return ruling.rc;
}

/* -- evidence ------------------------------------------------------------------------------------------------------ */

static void say(struct rig_evidence *evidence, const char *when, const char *verb,
                const struct rig_proxy_counts *counts)
{
    const char *plural = rig_plural(counts->connections);
    const unsigned long long bytes = counts->bytes, connections = counts->connections;
    if (connections == 0)
        rig_evidence_add(evidence, "%s%llu byte%s %s", when, bytes, rig_plural(bytes), verb);
    else if (bytes == 0)
        rig_evidence_add(evidence, "%s%llu connection%s %s", when, connections, plural, verb);
    else
        rig_evidence_add(evidence, "%s%llu byte%s and %llu connection%s %s", when, bytes, rig_plural(bytes),
                         connections, plural, verb);
}

/* The awaited effect, and how to strike again meanwhile. */
struct watched {
    const struct rig_fault_site *site;
    struct rig_proxy *proxy;
    uint32_t token;
    enum rig_between between;
    void (*visit)(const struct rig_fault_site *site, struct rig_proxy *proxy, uint32_t token, const char *from,
                  const char *to); /* NULL: rules do it */
};

static uint64_t touched(const void *context)
{
    const struct watched *watched = context;
    const struct rig_proxy_counts counts = rig_proxy_group_counts(watched->proxy, watched->token);
    return counts.bytes + counts.connections;
}

static void strike_pair(void *context, const char *target, const char *peer)
{
    const struct watched *watched = context;
    watched->visit(watched->site, watched->proxy, watched->token, target, peer);
    watched->visit(watched->site, watched->proxy, watched->token, peer, target);
}

static void strike_all(void *context)
{
    const struct watched *watched = context;
    if (watched->visit != NULL)
        visit_pairs(watched->site, watched->between, strike_pair, context);
}

static enum rig_rc await(struct watched *watched, const char *verb, struct rig_evidence *evidence, struct rig_err *err)
{
    char what[64];
    (void)snprintf(what, sizeof what, "bytes or connections %s", verb);
    const struct rig_effect effect = {.count = touched, .again = strike_all, .context = watched, .what = what};
    const enum rig_rc rc = rig_await_effect(watched->site, &effect, err);
    if (rc != RIG_OK)
        return rc;
    const struct rig_proxy_counts counts = rig_proxy_group_counts(watched->proxy, watched->token);
    say(evidence, "at first ", verb, &counts);
    return RIG_OK;
}

enum rig_rc rig_network_await(const struct rig_fault_site *site, const struct rig_network *network,
                              struct rig_evidence *evidence, struct rig_err *err)
{
    struct watched watched = {.site = site, .proxy = proxy_of(site), .token = network->token};
    return await(&watched, network->verb, evidence, err);
}

enum rig_rc rig_network_strike(const struct rig_fault_site *site, struct rig_network *network,
                               const struct rig_network_options *options, const struct rig_proxy_rule *rule,
                               const char *verb, struct rig_evidence *evidence, struct rig_err *err)
{
    enum rig_rc rc = rig_network_begin(site, network, verb, err);
    if (rc == RIG_OK)
        rc = rig_network_rules(site, network, options, rule, err);
    return rc == RIG_OK ? rig_network_await(site, network, evidence, err) : rc;
}

enum rig_rc rig_network_strike_open(const struct rig_fault_site *site, const struct rig_network *network,
                                    enum rig_between between,
                                    void (*visit)(const struct rig_fault_site *site, struct rig_proxy *proxy,
                                                  uint32_t token, const char *from, const char *to),
                                    struct rig_evidence *evidence, struct rig_err *err)
{
    struct watched watched = {
        .site = site, .proxy = proxy_of(site), .token = network->token, .between = between, .visit = visit};
    strike_all(&watched);
    return await(&watched, network->verb, evidence, err);
}

enum rig_rc rig_network_heal(const struct rig_fault_site *site, void *state, struct rig_evidence *evidence,
                             struct rig_err *err)
{
    struct rig_network *network = state;
    (void)err;
    if (network->token == 0)
        return RIG_OK;
    const struct rig_proxy_counts counts = rig_proxy_group_end(proxy_of(site), network->token);
    network->token = 0;
    say(evidence, "in all ", network->verb, &counts);
    return RIG_OK;
}
