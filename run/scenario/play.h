/*
 * Plays a scenario on a database that a driver has set up: each session in a thread of its own, one step at a time, in
 * the written order.
 *
 * A step that has not returned after `patience_ms` waits for another session (a lock); the steps of other sessions go
 * on meanwhile, and the next step of its own session waits for it. So a slow server can make a step look as if it
 * waited, but never changes the order of two steps of a session, or of two steps neither of which waited. After the
 * end of a transaction, waiting steps get as long to return before the next step begins. A play shows nothing if the
 * end of a transaction waits until another one begins whose first step is written after it: the two would be
 * concurrent.
 *
 * Time: that of the steps, plus patience_ms for each that waits. Threads: the caller's and one a session.
 */
#ifndef RIG_RUN_SCENARIO_PLAY_H
#define RIG_RUN_SCENARIO_PLAY_H

#include <stdatomic.h>

#include "drivers/driver.h"
#include "run/scenario/scenario.h"

enum rig_played_state {
    RIG_PLAYED_NOT, /* the transaction was over before */
    RIG_PLAYED_DONE,
    RIG_PLAYED_FAILED, /* the transaction, too; `code` and `text` say why */
    RIG_PLAYED_STUCK,  /* it never returned, and was interrupted */
};

struct rig_played_step {
    enum rig_played_state state;
    uint32_t until;                /* it waited, and returned after this step began; UINT32_MAX: it did not wait */
    struct rig_scenario_rows rows; /* of a selection; in the performance's arena */
    bool conflict;                 /* it failed because of another transaction */
    char code[RIG_ERROR_CODE_BYTES];
    char text[RIG_ERROR_TEXT_BYTES];
    const char *line; /* the answer to a statement that rig does not understand; NULL: another one */
};

struct rig_performance {
    struct rig_played_step steps[RIG_SCENARIO_STEPS_MOST];
    enum rig_outcome outcomes[RIG_SCENARIO_SESSIONS_MOST];
    bool ended[RIG_SCENARIO_SESSIONS_MOST]; /* the outcome is there */
    bool shows;                             /* the anomaly */
    bool overlaps;                          /* a transaction that had to end before another one began did not */
    uint32_t sign;                          /* by which entry of `shows` */
    struct rig_arena arena;
};

/* Holds the commits of a scenario that has some (rig_scenario.holds_commits). From the caller's thread. */
struct rig_commit_hold {
    void (*arm)(void *context);           /* the next commit of any session is held */
    bool (*is_held)(const void *context); /* one is */
    void (*release)(void *context);       /* no commit is held any more, nor will the next one be */
    void *context;
};

struct rig_play_options {
    uint32_t table;               /* number of the scenario's table in the driver's schema */
    uint32_t first_statement;     /* number of the scenario's first statement in the driver's schema */
    uint32_t patience_ms;         /* 0: 250 */
    uint32_t stuck_ms;            /* a step that waits longer is interrupted; 0: 10 s */
    const atomic_int *interrupts; /* above 0: give up; NULL: never */
    struct rig_commit_hold hold;
};

/*
 * Loads the rows into the table, which `setup` has made. RIG_E_DRIVER or RIG_E_CLUSTER where a session cannot be
 * opened, RIG_E_DRIVER where the server did not hold a commit, RIG_E_INTERRUPTED; rig_performance_done() in any case.
 */
enum rig_rc rig_scenario_play(const struct rig_scenario *scenario, const struct rig_driver *driver, void *driver_run,
                              const struct rig_play_options *options, struct rig_performance *performance,
                              struct rig_err *err);
/* Whether the answers and outcomes show the anomaly. */
void rig_scenario_judge(const struct rig_scenario *scenario, struct rig_performance *performance);
/* Takes a zeroed one, too. */
void rig_performance_done(struct rig_performance *performance);

#endif
