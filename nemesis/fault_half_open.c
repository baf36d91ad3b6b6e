/*
 * half-open: of each open connection between the targets and others one end is reset, and the other never learns of it:
 * what it sends is swallowed, and nothing comes back.
 *
 * New connections are whole. Heal resets the ends that are left: a server that never learns keeps the session, its
 * transaction and its locks until then. Evidence: connections that were left half open; where none is open at first,
 * those that come are waited for.
 */
#include "nemesis/gear.h"
#include "nemesis/network.h"

enum { CLOSED_SERVER, CLOSED_CLIENT };
static const char *const ends[] = {"server", "client", NULL};

struct options {
    struct rig_network_options network; /* `direction` stays both */
    int64_t closed;
};

static const struct rig_option table[] = {
    {.name = "closed",
     .type = RIG_OPTION_CHOICE,
     .offset = offsetof(struct options, closed),
     .default_text = "server",
     .choices = ends,
     .help = "which end is closed: the one that took the connection (server) or the one that opened it (client)"},
    RIG_NETWORK_BETWEEN(struct options, network.between),
    {.name = NULL},
};

struct strike {
    const struct rig_fault_site *site;
    const struct rig_network *network;
};

static void close_pair(void *context, const char *target, const char *peer)
{
    const struct strike *strike = context;
    const struct options *options = strike->site->options;
    struct rig_proxy *proxy = rig_ground_of(strike->site)->gear->proxy;
    const bool opener = options->closed == CLOSED_CLIENT;
    (void)rig_proxy_group_half_open(proxy, strike->network->token, target, peer, opener);
    (void)rig_proxy_group_half_open(proxy, strike->network->token, peer, target, opener);
}

static void close_all(void *context)
{
    const struct strike *strike = context;
    const struct options *options = strike->site->options;
    rig_network_pairs(strike->site, (enum rig_between)options->network.between, close_pair, context);
}

static enum rig_rc inject(const struct rig_fault_site *site, void *state, struct rig_evidence *evidence,
                          struct rig_err *err)
{
    struct rig_network *network = state;
    struct strike strike = {.site = site, .network = network};
    const enum rig_rc rc = rig_network_begin(site, network, err);
    if (rc != RIG_OK)
        return rc;
    close_all(&strike);
    return rig_network_await(site, network, "left half open", close_all, &strike, evidence, err);
}

static enum rig_rc heal(const struct rig_fault_site *site, void *state, struct rig_evidence *evidence,
                        struct rig_err *err)
{
    (void)err;
    return rig_network_heal(site, state, "left half open", evidence);
}

const struct rig_fault rig_fault_half_open = {
    .name = "half-open",
    .summary = "closes one end of connections of nodes, while the other never learns of it",
    .needs = RIG_NEED_ROUTES,
    .options = table,
    .options_size = sizeof(struct options),
    .state_size = sizeof(struct rig_network),
    .inject = inject,
    .heal = heal,
};
