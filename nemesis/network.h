/*
 * The common parts of the network faults: their links, one group of rules at the proxy, and the wait for its effect.
 *
 * Links: between each target and the other nodes, each target and the clients, or both. The direction is that of the
 * bytes as the targets see it, whichever side opened the connection.
 *
 * Evidence: inject returns when the group's counters show that the fault touched something; when there is no traffic on
 * these links for 10 s, the fault has no effect, and that is an error.
 */
#ifndef RIG_NEMESIS_NETWORK_H
#define RIG_NEMESIS_NETWORK_H

#include "nemesis/fault_context.h"
#include "nemesis/proxy.h"

enum rig_between { RIG_BETWEEN_ALL, RIG_BETWEEN_NODES, RIG_BETWEEN_CLIENTS };
enum rig_direction { RIG_DIRECTION_BOTH, RIG_DIRECTION_IN, RIG_DIRECTION_OUT };

/* The first members of the options of a fault of links. */
struct rig_network_options {
    int64_t between;   /* enum rig_between */
    int64_t direction; /* enum rig_direction */
};

extern const char *const rig_between_names[];
extern const char *const rig_direction_names[];

#define RIG_NETWORK_BETWEEN(struct_name, member)                                                                       \
    {                                                                                                                  \
        .name = "between", .type = RIG_OPTION_CHOICE, .offset = offsetof(struct_name, member), .default_text = "all",  \
        .choices = rig_between_names,                                                                                  \
        .help = "nodes: the targets and the other nodes; clients: the targets and the "                                \
                "clients; all: both"                                                                                   \
    }
#define RIG_NETWORK_DIRECTION(struct_name, member)                                                                     \
    {                                                                                                                  \
        .name = "direction", .type = RIG_OPTION_CHOICE, .offset = offsetof(struct_name, member),                       \
        .default_text = "both", .choices = rig_direction_names,                                                        \
        .help = "in: bytes that the targets receive; out: bytes that they send; both"                                  \
    }

/* The state object of each of them, or its first member. */
struct rig_network {
    uint32_t token;   /* the group; 0: none */
    const char *verb; /* the effect on bytes and connections, in the words of the evidence: "held up" */
};

/* Whether the node is among the targets. */
bool rig_network_is_target(const struct rig_fault_site *site, uint32_t node);
/* Makes the group. RIG_E_CLUSTER when nothing goes through the proxy. */
enum rig_rc rig_network_begin(const struct rig_fault_site *site, struct rig_network *network, const char *verb,
                              struct rig_err *err);
/* Puts the rule on the bytes from one party to the other. */
enum rig_rc rig_network_rule(const struct rig_fault_site *site, const struct rig_network *network, const char *from,
                             const char *to, const struct rig_proxy_rule *rule, struct rig_err *err);
/* Puts the rule on every link of the targets that `between` and `direction` select. */
enum rig_rc rig_network_rules(const struct rig_fault_site *site, const struct rig_network *network,
                              const struct rig_network_options *options, const struct rig_proxy_rule *rule,
                              struct rig_err *err);
/* Waits for the effect of the rules and writes the evidence ("at first 311 bytes and 3 connections held up"). */
enum rig_rc rig_network_await(const struct rig_fault_site *site, const struct rig_network *network,
                              struct rig_evidence *evidence, struct rig_err *err);
/* The inject of a fault that is one rule: group, rule, effect. */
enum rig_rc rig_network_strike(const struct rig_fault_site *site, struct rig_network *network,
                               const struct rig_network_options *options, const struct rig_proxy_rule *rule,
                               const char *verb, struct rig_evidence *evidence, struct rig_err *err);
/*
 * The inject of a fault that strikes open connections, behind rig_network_begin(): calls `visit` with the two parties
 * of each link, one way and the other, now and every few ms until it had an effect.
 */
enum rig_rc rig_network_strike_open(const struct rig_fault_site *site, const struct rig_network *network,
                                    enum rig_between between,
                                    void (*visit)(const struct rig_fault_site *site, struct rig_proxy *proxy,
                                                  uint32_t token, const char *from, const char *to),
                                    struct rig_evidence *evidence, struct rig_err *err);
/* The heal of every fault of links. */
enum rig_rc rig_network_heal(const struct rig_fault_site *site, void *state, struct rig_evidence *evidence,
                             struct rig_err *err);

#endif
