/*
 * half-open: resets one end of each open connection between the targets and others. The other end is not notified: its
 * bytes are discarded, and it receives nothing.
 *
 * New connections are whole. Heal resets the remaining ends: until then a server keeps the session, its transaction and
 * its locks. Evidence: connections that were left half open; when none is open at first, the fault waits for new ones.
 */
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
     .help = "the end that is closed: the one that accepted the connection (server) or the one that opened it "
             "(client)"},
    RIG_NETWORK_BETWEEN(struct options, network.between),
    {.name = NULL},
};

static void close_line(const struct rig_fault_site *site, struct rig_proxy *proxy, uint32_t token, const char *from,
                       const char *to)
{
    const struct options *options = site->options;
    (void)rig_proxy_group_half_open(proxy, token, from, to, options->closed == CLOSED_CLIENT);
}

static enum rig_rc inject(const struct rig_fault_site *site, void *state, struct rig_evidence *evidence,
                          struct rig_err *err)
{
    struct rig_network *network = state;
    const struct options *options = site->options;
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
    .options = table,
    .options_size = sizeof(struct options),
    .state_size = sizeof(struct rig_network),
    .inject = inject,
    .heal = rig_network_heal,
};
