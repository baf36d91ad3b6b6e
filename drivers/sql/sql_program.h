/*
 * Programs that carry sessions of a SQL database, by lines of JSON (docs/sql-programs.md): how they start, how sessions
 * share one, and one request with its answer.
 *
 * Sessions that share a program take turns to read its answers: a session that waits reads for all, and hands over the
 * answers of others. A session that gives up a request (a time limit, an interrupt) ends the program, and with it the
 * other sessions of it: the answer that is missing could be taken for the next one's.
 *
 * Memory: an answer at a time for each session, of at most `most_bytes`. Threads: those of the sessions, each with its
 * own link; programs may be started from any.
 */
#ifndef RIG_DRIVERS_SQL_SQL_PROGRAM_H
#define RIG_DRIVERS_SQL_SQL_PROGRAM_H

#include <jansson.h>
#include <pthread.h>

#include "base/json_write.h"
#include "drivers/local/line_program.h"

struct rig_sql_program;

/* The command of a run, and how its sessions share it. */
struct rig_sql_programs {
    const struct rig_run_env *env;
    const char *const *arguments; /* NULL-ended; the first is a path */
    const char *home;             /* their working folder */
    size_t most_bytes;            /* of a line */
    bool shared;                  /* all sessions share one */
    struct rig_children *children;
    pthread_mutex_t lock;            /* of `current` */
    struct rig_sql_program *current; /* the shared one; NULL: none yet */
};

/* Borrows all that is pointed to. RIG_E_CLUSTER. */
enum rig_rc rig_sql_programs_init(struct rig_sql_programs *programs, struct rig_err *err);
/* Ends the shared one. Every link was closed. Safe on zeroed ones. */
void rig_sql_programs_done(struct rig_sql_programs *programs);

/* A session in a program. Zeroed: closed. */
struct rig_sql_link {
    struct rig_sql_programs *programs;
    struct rig_sql_program *program;
    struct rig_sql_link *next; /* of those that wait in the program */
    uint32_t session;
    int64_t request; /* the number of the last one */
    int64_t awaited; /* of the one that is answered next: above `request` when all are */
    bool waits;      /* it is among those that wait in the program */
    int awake_plus_one; /* a descriptor that is readable when the answer is there, or when it is this session's turn to read */
    json_t *answer;      /* handed over by another session */
    struct rig_buf line; /* of the request */
};

/* Starts or joins a program, and sends nothing yet. RIG_E_CLUSTER, with the reason that the program gave. Close it in
 * any case. */
enum rig_rc rig_sql_link_open(struct rig_sql_link *link, struct rig_sql_programs *programs,
                              const struct rig_line_patience *patience, struct rig_err *err);
/* A session without an open request is closed in its program within `grace_ns`; else the program is ended. */
void rig_sql_link_close(struct rig_sql_link *link, int64_t grace_ns);

/* Whether rig_sql_link_follow() may be used: the program skips the requests of a sequence that come after an error, and
 * has one session. */
bool rig_sql_link_takes_sequences(const struct rig_sql_link *link);
/* Whether a COMMIT may end such a sequence: the program also tells how far it came. */
bool rig_sql_link_takes_commits(const struct rig_sql_link *link);
/* Ends the program of such a session, and tells whether it may have begun to perform the request. False is certain. */
bool rig_sql_link_may_have_begun(struct rig_sql_link *link, int64_t request);
/* Begins a request as an object that the caller completes, without its end. All requests before were answered. */
void rig_sql_link_begin(struct rig_sql_link *link, struct rig_json_writer *writer);
/* Ends the object, and begins the next one of a sequence, which is sent as a whole: the program performs it `condition`
 * "ok" unless a request of the sequence failed, "none" where the one before also counted no row. */
void rig_sql_link_follow(struct rig_sql_link *link, struct rig_json_writer *writer, const char *condition);
/* Ends the object and sends all. `*sent`: a part may have left. RIG_LINE_TOO_LARGE also where memory runs out. */
enum rig_line_end rig_sql_link_send(struct rig_sql_link *link, struct rig_json_writer *writer,
                                    const struct rig_line_patience *patience, bool *sent);
/* Whether every request that was sent has its answer. */
bool rig_sql_link_is_answered(const struct rig_sql_link *link);
/* Takes the next answer, an object; release it with json_decref(). RIG_LINE_TOO_LARGE also where the program writes
 * what is no answer. */
enum rig_line_end rig_sql_link_take(struct rig_sql_link *link, const struct rig_line_patience *patience,
                                    json_t **answer);
/* After RIG_LINE_ENDED or RIG_LINE_TOO_LARGE: the reason, for a person. */
void rig_sql_link_tell_end(const struct rig_sql_link *link, char *text, size_t size);

#endif
