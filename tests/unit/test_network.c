/*
 * The faults of the network by their contract: five nodes and the clients, every pair connected through the proxy, and
 * a thread that keeps sending on each connection.
 */
#include "tests/unit/proxy_ends.h"

#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#include "nemesis/faults.h"
#include "nemesis/fault_setup.h"
#include "nemesis/fault_context.h"

enum { NODES = 5, CLIENT = NODES, PARTIES = NODES + 1 };
/*
 * Traffic consists of waves of one byte value each. A wave begins when the one before has arrived on all whole lines.
 * When the last wave has arrived, the proxy, which handles in one turn all ready connections, has forwarded the first
 * one wherever it may.
 */
enum { WAVES = 4 };

struct world {
    struct rig_fault_setup setup;
    struct rig_fault_context fault_context;
    int servers[NODES];
    int openers[PARTIES][NODES], takers[PARTIES][NODES]; /* of the connection from one to another */
    pthread_t thread;
    _Atomic bool over;          /* no more traffic */
    _Atomic unsigned char wave; /* the byte that is sent now */
};

static struct world world;
static _Atomic bool load_is_over;

static bool never(void)
{
    return false;
}

static bool ask_over(void *context)
{
    (void)context;
    return atomic_load(&load_is_over);
}

static void send_once(void)
{
    const unsigned char wave = atomic_load(&world.wave);
    for (int from = 0; from < PARTIES; from++) {
        for (int to = 0; to < NODES; to++) {
            if (from != to) {
                (void)send(world.openers[from][to], &wave, 1, MSG_NOSIGNAL | MSG_DONTWAIT);
                (void)send(world.takers[from][to], &wave, 1, MSG_NOSIGNAL | MSG_DONTWAIT);
            }
        }
    }
}

static void *send_all_the_time(void *unused)
{
    (void)unused;
    while (!atomic_load(&world.over)) {
        send_once();
        rig_clock_sleep_until_ns(rig_clock_now_ns() + 2 * RIG_NS_PER_MS);
    }
    return NULL;
}

static void name_nodes(struct rig_fleet *fleet)
{
    for (int node = 0; node < NODES; node++)
        (void)snprintf(fleet->names[node], sizeof fleet->names[node], "n%d", node + 1);
    fleet->count = NODES;
}

static void connect_all(void)
{
    struct rig_err err = {0};
    for (int to = 0; to < NODES; to++) {
        uint16_t port = 0, via = 0;
        world.servers[to] = server_open(&port);
        for (int from = 0; from < PARTIES; from++) {
            if (from == to)
                continue;
            const char *name = from == CLIENT ? RIG_PROXY_CLIENT : world.fault_context.fleet.names[from];
            assert_int_equal(rig_proxy_route(world.setup.proxy, name, world.fault_context.fleet.names[to], "127.0.0.1",
                                             port, &via, &err),
                             RIG_OK);
            world.openers[from][to] = client_open(via);
            world.takers[from][to] = server_accept(world.servers[to]);
        }
    }
    await_connections(world.setup.proxy, PARTIES * NODES - NODES);
}

static int set_up(void **state)
{
    (void)state;
    const struct rig_nemesis_entry entry = {.fault = &rig_fault_partition};
    const struct rig_nemesis_plan plan = {.entries = &entry, .entry_count = 1};
    struct rig_err err = {0};
    world = (struct world){.over = false};
    atomic_store(&load_is_over, false);
    assert_int_equal(rig_fault_setup_init(&world.setup, &plan, 3, &err), RIG_OK);
    name_nodes(&world.fault_context.fleet);
    world.fault_context.setup = &world.setup;
    world.fault_context.is_over = ask_over;
    connect_all();
    assert_int_equal(pthread_create(&world.thread, NULL, send_all_the_time, NULL), 0);
    return 0;
}

static void stop_traffic(void)
{
    if (!atomic_exchange(&world.over, true))
        assert_int_equal(pthread_join(world.thread, NULL), 0);
}

static int tear_down(void **state)
{
    (void)state;
    stop_traffic();
    rig_fault_setup_done(&world.setup);
    for (int to = 0; to < NODES; to++) {
        (void)close(world.servers[to]);
        for (int from = 0; from < PARTIES; from++) {
            if (from != to) {
                (void)close(world.openers[from][to]);
                (void)close(world.takers[from][to]);
            }
        }
    }
    return 0;
}

/* -- one injection ------------------------------------------------------------------------------------------------- */

struct trial {
    const struct rig_fault *fault;
    struct rig_fault_site site;
    void *state;
    struct rig_evidence evidence;
    struct rig_err err;
};

static const struct rig_core core = {.stopping = never};

static struct trial trial_of(const struct rig_fault *fault, const void *options)
{
    struct trial trial = {.fault = fault, .state = calloc(1, fault->state_size)};
    trial.site = (struct rig_fault_site){
        .core = &core, .options = options, .nodes = {0}, .node_count = 1, .random = 5, .nemesis = &world.fault_context};
    return trial;
}

static enum rig_rc inject(struct trial *trial)
{
    return rig_fault_inject(trial->fault, &trial->site, trial->state, &trial->evidence, &trial->err);
}

/* Heals twice: the second time changes nothing, and adds no text. */
static void heal(struct trial *trial)
{
    assert_int_equal(rig_fault_heal(trial->fault, &trial->site, trial->state, &trial->evidence, &trial->err), RIG_OK);
    struct rig_evidence said = trial->evidence;
    assert_int_equal(rig_fault_heal(trial->fault, &trial->site, trial->state, &trial->evidence, &trial->err), RIG_OK);
    assert_string_equal(said.text, trial->evidence.text);
    free(trial->state);
}

/* An options object as the plan would make it: the defaults of the table are those with number 0. */
struct partition_options {
    int64_t between, direction, shape, bytes;
};
enum { ALL, ONLY_NODES, ONLY_CLIENTS };
enum { BOTH, IN, OUT };
enum { ISOLATE, HALVES, RING };

/* The bytes received since a look began, on the connection that one party opened to another. */
struct seen {
    unsigned bytes;       /* of the look's waves; the end of the connection counts as one */
    unsigned char latest; /* wave */
};
struct arrivals {
    unsigned char first; /* wave of the look */
    struct seen opener_to_taker[PARTIES][NODES], taker_to_opener[PARTIES][NODES];
};

static void take(int fd, unsigned char first, struct seen *seen)
{
    unsigned char bytes[4096];
    ssize_t got = 0;
    while ((got = recv(fd, bytes, sizeof bytes, MSG_DONTWAIT)) > 0) {
        for (ssize_t i = 0; i < got; i++)
            seen->bytes += bytes[i] >= first ? 1 : 0;
        seen->latest = bytes[got - 1];
    }
    if (got == 0 || errno != EAGAIN)
        seen->bytes++;
}

static void take_all(struct arrivals *arrivals)
{
    for (int from = 0; from < PARTIES; from++) {
        for (int to = 0; to < NODES; to++) {
            if (from != to) {
                take(world.takers[from][to], arrivals->first, &arrivals->opener_to_taker[from][to]);
                take(world.openers[from][to], arrivals->first, &arrivals->taker_to_opener[from][to]);
            }
        }
    }
}

/* Whether bytes get from one party to the other, on the connections of both; the two must agree. */
static bool arrives(const struct arrivals *arrivals, int from, int to)
{
    bool known = false, answer = false;
    if (to < NODES) {
        answer = arrivals->opener_to_taker[from][to].bytes > 0;
        known = true;
    }
    if (from < NODES) {
        const bool back = arrivals->taker_to_opener[to][from].bytes > 0;
        assert_true(!known || back == answer);
        answer = back;
    }
    return answer;
}

/* Whether the wave has arrived on each connection of the lines that are certainly whole. */
static bool has_come(const struct arrivals *arrivals, unsigned char wave, bool (*may_be_cut)(int from, int to))
{
    for (int from = 0; from < PARTIES; from++) {
        for (int to = 0; to < NODES; to++) {
            if (from == to)
                continue;
            if (arrivals->opener_to_taker[from][to].latest < wave && !may_be_cut(from, to))
                return false;
            if (arrivals->taker_to_opener[from][to].latest < wave && !may_be_cut(to, from))
                return false;
        }
    }
    return true;
}

static void await_wave(struct arrivals *arrivals, unsigned char wave, bool (*may_be_cut)(int from, int to))
{
    const int64_t until_ns = rig_clock_now_ns() + PATIENCE_MS * RIG_NS_PER_MS;
    take_all(arrivals);
    while (!has_come(arrivals, wave, may_be_cut)) {
        assert_true(rig_clock_now_ns() < until_ns);
        rig_clock_sleep_until_ns(rig_clock_now_ns() + RIG_NS_PER_MS);
        take_all(arrivals);
    }
}

static unsigned char next_wave(void)
{
    const unsigned char before = atomic_load(&world.wave);
    assert_true(before < UCHAR_MAX);
    atomic_store(&world.wave, (unsigned char)(before + 1));
    return (unsigned char)(before + 1);
}

/* The arrivals of all bytes sent from now on: all waves on lines that may not be cut, and on the others where they are
 * whole. */
static struct arrivals arrivals_now(bool (*may_be_cut)(int from, int to))
{
    struct arrivals arrivals = {.first = next_wave()};
    await_wave(&arrivals, arrivals.first, may_be_cut);
    for (int i = 1; i < WAVES; i++)
        await_wave(&arrivals, next_wave(), may_be_cut);
    return arrivals;
}

static bool never_cut(int from, int to)
{
    (void)from, (void)to;
    return false;
}

static void assert_all_arrive(void)
{
    (void)arrivals_now(never_cut);
}

/* Ends the traffic, and waits until no byte is under way. */
static void settle_traffic(void)
{
    stop_traffic();
    struct arrivals arrivals = {.first = next_wave()};
    send_once();
    await_wave(&arrivals, arrivals.first, never_cut);
}

/* -- partitions ---------------------------------------------------------------------------------------------------- */

static void assert_cut(const struct partition_options *options, const uint32_t *targets, uint32_t count,
                       bool (*is_cut)(int from, int to))
{
    struct trial trial = trial_of(&rig_fault_partition, options);
    memcpy(trial.site.nodes, targets, count * sizeof targets[0]);
    trial.site.node_count = count;
    assert_int_equal(inject(&trial), RIG_OK);
    assert_non_null(strstr(trial.evidence.text, "held back"));
    const struct arrivals arrivals = arrivals_now(is_cut);
    for (int from = 0; from < PARTIES; from++) {
        for (int to = 0; to < PARTIES; to++)
            assert_true(from == to || arrives(&arrivals, from, to) == !is_cut(from, to));
    }
    heal(&trial);
    assert_non_null(strstr(trial.evidence.text, "in all"));
    assert_all_arrive();
}

static bool is_alone(int from, int to)
{
    return from == 1 || to == 1;
}

static bool is_alone_among_nodes(int from, int to)
{
    return is_alone(from, to) && from != CLIENT && to != CLIENT;
}

static bool is_alone_of_clients(int from, int to)
{
    return is_alone(from, to) && (from == CLIENT || to == CLIENT);
}

static bool is_deaf(int from, int to)
{
    (void)from;
    return to == 1;
}

static bool is_dumb(int from, int to)
{
    (void)to;
    return from == 1;
}

static bool is_across(int from, int to)
{
    return (from == 1 || from == 3) != (to == 1 || to == 3);
}

static void a_node_is_isolated(void **state)
{
    (void)state;
    const uint32_t target = 1;
    assert_cut(&(struct partition_options){.between = ALL}, &target, 1, is_alone);
    assert_cut(&(struct partition_options){.between = ONLY_NODES}, &target, 1, is_alone_among_nodes);
    assert_cut(&(struct partition_options){.between = ONLY_CLIENTS}, &target, 1, is_alone_of_clients);
}

static void a_line_is_cut_one_way(void **state)
{
    (void)state;
    const uint32_t target = 1;
    assert_cut(&(struct partition_options){.direction = IN}, &target, 1, is_deaf);
    assert_cut(&(struct partition_options){.direction = OUT}, &target, 1, is_dumb);
}

static void the_cluster_is_halved(void **state)
{
    (void)state;
    const uint32_t targets[] = {1, 3};
    assert_cut(&(struct partition_options){.shape = HALVES}, targets, 2, is_across);
}

static bool is_between_nodes(int from, int to)
{
    return from != CLIENT && to != CLIENT;
}

static void a_ring_shows_each_node_another_majority(void **state)
{
    (void)state;
    const struct partition_options options = {.shape = RING};
    struct trial trial = trial_of(&rig_fault_partition, &options);
    assert_int_equal(inject(&trial), RIG_OK);
    const struct arrivals arrivals = arrivals_now(is_between_nodes);
    unsigned seen[NODES] = {0};
    for (int from = 0; from < NODES; from++) {
        int count = 1;
        seen[from] = 1U << from;
        for (int to = 0; to < NODES; to++) {
            if (from != to && arrives(&arrivals, from, to)) {
                assert_true(arrives(&arrivals, to, from));
                seen[from] |= 1U << to;
                count++;
            }
        }
        assert_int_equal(count, 3);
        assert_true(arrives(&arrivals, CLIENT, from));
        for (int before = 0; before < from; before++)
            assert_int_not_equal(seen[before], seen[from]);
    }
    heal(&trial);
    assert_all_arrive();
}

static void a_ring_of_three_is_refused(void **state)
{
    (void)state;
    const struct partition_options options = {.shape = RING};
    struct trial trial = trial_of(&rig_fault_partition, &options);
    world.fault_context.fleet.count = 3;
    assert_int_equal(inject(&trial), RIG_E_CLUSTER);
    assert_non_null(strstr(trial.err.text, "four nodes"));
    heal(&trial);
}

/* The target of trials that name none. */
static bool is_first(int from, int to)
{
    return from == 0 || to == 0;
}

static void dropped_bytes_cost_their_connections(void **state)
{
    (void)state;
    const struct partition_options options = {.bytes = 1};
    struct trial trial = trial_of(&rig_fault_partition, &options);
    assert_int_equal(inject(&trial), RIG_OK);
    (void)arrivals_now(is_first);
    heal(&trial);
    await_connections(world.setup.proxy, PARTIES * NODES - NODES - 2 * NODES + 1);
}

/* -- the other faults ---------------------------------------------------------------------------------------------- */

static void delay_is_seen_and_ends(void **state)
{
    (void)state;
    const struct {
        int64_t between, direction, delay_ns, jitter_ns;
    } options = {ALL, BOTH, 3600 * RIG_NS_PER_S, 0};
    struct trial trial = trial_of(&rig_fault_delay, &options);
    assert_int_equal(inject(&trial), RIG_OK);
    const struct arrivals arrivals = arrivals_now(is_first);
    assert_false(arrives(&arrivals, CLIENT, 0));
    assert_false(arrives(&arrivals, 0, 1));
    assert_true(arrives(&arrivals, 1, 2));
    assert_non_null(strstr(trial.evidence.text, "delayed"));
    heal(&trial);
    assert_all_arrive();
}

static bool is_to_first(int from, int to)
{
    (void)from;
    return to == 0;
}

static void loss_is_seen_and_ends(void **state)
{
    (void)state;
    const struct {
        int64_t between, direction;
        double share;
        int64_t timeout_ns;
    } options = {ALL, IN, 1, 60 * RIG_NS_PER_S};
    struct trial trial = trial_of(&rig_fault_loss, &options);
    assert_int_equal(inject(&trial), RIG_OK);
    const struct arrivals arrivals = arrivals_now(is_to_first);
    assert_false(arrives(&arrivals, CLIENT, 0));
    assert_true(arrives(&arrivals, 0, CLIENT));
    heal(&trial);
    assert_all_arrive();
}

static bool is_first_and_client(int from, int to)
{
    return is_first(from, to) && (from == CLIENT || to == CLIENT);
}

static void a_throttle_is_seen_and_ends(void **state)
{
    (void)state;
    const struct {
        int64_t between, direction, bytes_per_s;
    } options = {ONLY_CLIENTS, BOTH, 1};
    struct trial trial = trial_of(&rig_fault_throttle, &options);
    const int64_t begin_ns = rig_clock_now_ns();
    assert_int_equal(inject(&trial), RIG_OK);
    const struct arrivals arrivals = arrivals_now(is_first_and_client);
    const int64_t most = (rig_clock_now_ns() - begin_ns) / RIG_NS_PER_S + 1; /* a byte a second */
    assert_true(arrivals.opener_to_taker[CLIENT][0].bytes <= most);
    assert_true(arrivals.taker_to_opener[CLIENT][0].bytes <= most);
    assert_true(arrives(&arrivals, 0, 1));
    heal(&trial);
    assert_all_arrive();
}

struct reset_options {
    int64_t between, direction;
    double chance;
    bool refuse;
};

static void connections_are_reset(void **state)
{
    (void)state;
    const struct reset_options options = {.between = ALL};
    struct trial trial = trial_of(&rig_fault_reset, &options);
    assert_int_equal(inject(&trial), RIG_OK);
    assert_non_null(strstr(trial.evidence.text, "9 connections reset")); /* 4 nodes both ways, and the clients' */
    stop_traffic();
    assert_int_equal(connection_count(world.setup.proxy, NULL, NULL), PARTIES * NODES - NODES - 9);
    heal(&trial);
}

static void resets_come_by_chance_at_a_chunk(void **state)
{
    (void)state;
    const struct reset_options options = {.between = ONLY_CLIENTS, .chance = 1, .refuse = true};
    struct trial trial = trial_of(&rig_fault_reset, &options);
    assert_int_equal(inject(&trial), RIG_OK);
    await_connections(world.setup.proxy, PARTIES * NODES - NODES - 1);
    heal(&trial);
}

static void an_end_never_learns(void **state)
{
    (void)state;
    const struct {
        int64_t between, direction, closed;
    } options = {.between = ONLY_CLIENTS};
    struct trial trial = trial_of(&rig_fault_half_open, &options);
    assert_int_equal(inject(&trial), RIG_OK);
    assert_non_null(strstr(trial.evidence.text, "1 connection left half open"));
    const struct arrivals arrivals = arrivals_now(is_first_and_client);
    assert_int_equal(arrivals.taker_to_opener[CLIENT][0].bytes, 0);
    assert_true(arrives(&arrivals, CLIENT, 1));
    assert_int_equal(send(world.openers[CLIENT][0], "q", 1, MSG_NOSIGNAL), 1);
    heal(&trial);
    assert_ends_with(world.openers[CLIENT][0], GOT_RESET);
}

/* -- without effect ------------------------------------------------------------------------------------------------ */

static void the_end_of_the_load_is_no_failure(void **state)
{
    (void)state;
    const struct partition_options options = {.between = ALL};
    struct trial trial = trial_of(&rig_fault_partition, &options);
    settle_traffic();
    atomic_store(&load_is_over, true);
    assert_int_equal(inject(&trial), RIG_E_INTERRUPTED);
    heal(&trial);
}

/* Other faults under way may be the reason for no traffic: it waits less, and the run goes on without it. */
static void other_faults_may_hide_one(void **state)
{
    (void)state;
    const struct partition_options options = {.between = ALL};
    struct trial trial = trial_of(&rig_fault_partition, &options);
    settle_traffic();
    world.fault_context.under_way = 2;
    assert_int_equal(inject(&trial), RIG_E_INTERRUPTED);
    assert_non_null(strstr(trial.err.text, "other faults"));
    heal(&trial);
}

static void without_routes_there_is_no_fault(void **state)
{
    (void)state;
    const struct partition_options options = {.between = ALL};
    const struct rig_nemesis_plan plan = {.entry_count = 0};
    struct trial trial = trial_of(&rig_fault_partition, &options);
    struct rig_fault_setup none;
    assert_int_equal(rig_fault_setup_init(&none, &plan, 1, &trial.err), RIG_OK);
    assert_null(none.proxy);
    world.fault_context.setup = &none;
    assert_int_equal(inject(&trial), RIG_E_CLUSTER);
    assert_non_null(strstr(trial.err.text, "proxy"));
    heal(&trial);
    rig_fault_setup_done(&none);
}

static void a_driver_without_routes_is_refused_before_the_run(void **state)
{
    (void)state;
    char why[512] = "";
    struct rig_fault_footing footing = {.started = true};
    assert_false(rig_fault_is_possible(&rig_fault_delay, &footing, NULL, why, sizeof why));
    assert_non_null(strstr(why, "delay: this driver"));
    footing.routes = true;
    assert_true(rig_fault_is_possible(&rig_fault_delay, &footing, NULL, why, sizeof why));
}

#define NETWORK_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        NETWORK_TEST(a_node_is_isolated),
        NETWORK_TEST(a_line_is_cut_one_way),
        NETWORK_TEST(the_cluster_is_halved),
        NETWORK_TEST(a_ring_shows_each_node_another_majority),
        NETWORK_TEST(a_ring_of_three_is_refused),
        NETWORK_TEST(dropped_bytes_cost_their_connections),
        NETWORK_TEST(delay_is_seen_and_ends),
        NETWORK_TEST(loss_is_seen_and_ends),
        NETWORK_TEST(a_throttle_is_seen_and_ends),
        NETWORK_TEST(connections_are_reset),
        NETWORK_TEST(resets_come_by_chance_at_a_chunk),
        NETWORK_TEST(an_end_never_learns),
        NETWORK_TEST(the_end_of_the_load_is_no_failure),
        NETWORK_TEST(other_faults_may_hide_one),
        cmocka_unit_test(a_driver_without_routes_is_refused_before_the_run),
        NETWORK_TEST(without_routes_there_is_no_fault),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
