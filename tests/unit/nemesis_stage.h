/*
 * A cluster of three idle processes, and a nemesis over it. The nodes are named n1 to n3 and are children of the test;
 * the driver's hooks fork and kill them. The nemesis's events and failures are kept for the test.
 *
 * Each test begins with stage_prepare() and ends with stage_release(), which also checks that no undo is left.
 * Threads: the nemesis's own thread calls the hooks; a test changes a field before stage_begin(), or an atomic one
 * later.
 */
#ifndef RIG_TESTS_UNIT_NEMESIS_STAGE_H
#define RIG_TESTS_UNIT_NEMESIS_STAGE_H

#include "tests/unit/cmocka_first.h"

#include <stdatomic.h>

#include "nemesis/fault_setup.h"
#include "nemesis/journal.h"
#include "nemesis/nemesis.h"

enum { STAGE_NODES = 3, STAGE_EVENTS_MOST = 200, STAGE_ENTRIES_MOST = 4 };

struct stage_event {
    enum rig_nemesis_step step;
    uint64_t injection;
    bool failed, withdrawn;
    char fault[32], targets[64], text[300];
    int64_t at_ns;
};

struct stage {
    /* the cluster */
    pid_t pids[STAGE_NODES]; /* 0: the node is down */
    uint32_t primary, count; /* UINT32_MAX: no primary */
    bool deaf;               /* stop_node does nothing */
    bool broken;             /* start_node fails */
    atomic_bool ill;         /* node 1 is never healthy */
    atomic_int restores, starts;
    /* the plan; entries have room for the options' defaults: zero is the first choice */
    struct rig_nemesis_entry entries[STAGE_ENTRIES_MOST];
    uint64_t option_room[STAGE_ENTRIES_MOST][16];
    struct rig_nemesis_plan plan;
    struct rig_fault_setup setup;
    struct rig_schedule *schedule; /* NULL: the plan's */
    /* the nemesis */
    struct rig_nemesis *nemesis;
    struct rig_journal *journal;
    char folder[64]; /* of the journal */
    struct rig_err err;
    atomic_bool over, stopping_now;
    /* its events, in order; `at_event` (NULL: none) is called with each, on the nemesis's thread */
    struct stage_event events[STAGE_EVENTS_MOST];
    atomic_int event_count, failures;
    void (*at_event)(const struct rig_nemesis_event *event);
};

extern struct stage stage;
extern const struct rig_cluster_ops stage_cluster;
extern const struct rig_core stage_core;

/* Set-up and tear-down of a test. */
int stage_prepare(void **state);
int stage_release(void **state);
/* Adds an entry to the plan. */
struct rig_nemesis_entry *stage_add(const char *fault, const char *target, int64_t after_ns, int64_t for_ns);
/* Starts the nemesis and the load; `started`: rig started the cluster, else there are only the plan's nodes. */
void stage_begin(bool started);
/* Frees nemesis and journal. */
void stage_end(void);
/* Waits until there are `count` events; fails the test after 20 s. */
void stage_await(int wanted);
/* Event `at` is this step, with these targets and a text that holds `text`. */
void stage_assert_event(int at, enum rig_nemesis_step step, const char *targets, const char *text);
/* The number of journals in the folder: each has something to undo. */
int stage_journals(void);

#endif
