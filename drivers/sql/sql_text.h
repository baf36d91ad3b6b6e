/*
 * Texts (drivers/texts.h) on the SQL core: the hooks of a driver's struct rig_text_ops, over the client's functions.
 *
 * Threads: those of the hooks.
 */
#ifndef RIG_DRIVERS_SQL_SQL_TEXT_H
#define RIG_DRIVERS_SQL_SQL_TEXT_H

#include "drivers/driver.h"
#include "drivers/sql/sql_client.h"

/* A database's part of texts, in struct rig_sql_client. */
struct rig_sql_texts {
    /* Optional, as in struct rig_text_ops; on a connection of the run's own. */
    enum rig_rc (*clear)(struct rig_sql_own *own, struct rig_err *err);
    const char *(*space)(const struct rig_sql_run *run); /* NULL: there is none */
    void (*execute)(struct rig_sql_session *session, const char *sql, int64_t deadline_ns,
                    struct rig_text_answer *answer);
    /* Optional. All of them are on the server of `watch`. */
    bool (*look)(struct rig_sql_session *watch, struct rig_sql_session *const *sessions, uint32_t count,
                 struct rig_text_wait *waits);
};

enum rig_rc rig_sql_text_clear(void *run, struct rig_err *err);
const char *rig_sql_text_space(const void *run);
void rig_sql_text_execute(void *session, const char *sql, struct rig_text_answer *answer);
bool rig_sql_text_look(void *watch, void *const *sessions, uint32_t count, struct rig_text_wait *waits);

/* The server of a client's node, by its name. RIG_E_CLUSTER, with the names that there are. */
enum rig_rc rig_sql_text_server(const struct rig_sql_run *run, const char *node, uint32_t *server, struct rig_err *err);

/* ---- for clients ---- */

enum { RIG_SQL_WORD_BYTES = 16 };

/* The first word of a statement in lower case, after comments and brackets; cut to fit. */
void rig_sql_text_word(const char *sql, char word[static RIG_SQL_WORD_BYTES]);
/* Whether the statement begins with INSERT, UPDATE, DELETE, REPLACE or MERGE: its answer is a number of rows. */
bool rig_sql_text_changes_rows(const char *sql);
/* An error; `state` may be NULL. `lost`: the session is of no further use. */
void rig_sql_text_fail(struct rig_text_answer *answer, const struct rig_sql_outcomes *outcomes, const char *code,
                       const char *state, int64_t native, const char *text, bool lost);
/* "1,2" of the sessions' numbers on the server, for a query that asks for them. */
void rig_sql_text_backends(struct rig_sql_session *const *sessions, uint32_t count, char *list, size_t size);
/* The session with this number on the server; UINT32_MAX: none. */
uint32_t rig_sql_text_session_of(struct rig_sql_session *const *sessions, uint32_t count, const char *backend);

#endif
