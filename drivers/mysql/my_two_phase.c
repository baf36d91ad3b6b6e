#include "drivers/mysql/my_two_phase.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/clock.h"

enum { SQL_BYTES = 256, LIST_MOST = 1 << 20 };

static const int64_t pause_ns = 5000000;

void rig_my_two_phase_name(struct rig_my_two_phase *numbers, const struct rig_run_env *env, uint32_t client,
                           char xid[static RIG_MY_XID_BYTES])
{
    const uint64_t number = atomic_fetch_add(&numbers->begun, 1);
    (void)snprintf(xid, RIG_MY_XID_BYTES, "'%s','%u.%llu',%d", env->run_name, client, (unsigned long long)number,
                   RIG_MY_XID_FORMAT);
}

/* ---- the server's list ---- */

/* The run's prepared transactions, each as the second part of its identifier and a line feed. */
struct found {
    const char *run;
    char client[16]; /* "3."; empty: of any */
    struct rig_buf parts;
};

/* A row of XA RECOVER: format, lengths of the two parts of the identifier, both parts. */
static void take_row(void *context, const char *const *values, uint32_t count)
{
    struct found *found = context;
    if (count != 4 || values[0] == NULL || values[1] == NULL || values[2] == NULL || values[3] == NULL)
        return;
    const size_t run_length = strlen(found->run), length = strtoul(values[2], NULL, 10);
    const char *part = values[3] + run_length;
    if (strtol(values[0], NULL, 10) != RIG_MY_XID_FORMAT || strtoul(values[1], NULL, 10) != run_length ||
        strlen(values[3]) != run_length + length || strncmp(values[3], found->run, run_length) != 0 ||
        strncmp(part, found->client, strlen(found->client)) != 0 || strspn(part, "0123456789.") != length)
        return;
    rig_buf_add(&found->parts, part, length);
    rig_buf_add_char(&found->parts, '\n');
}

static enum rig_rc list(struct found *found, struct rig_my_connection *connection, int64_t deadline_ns,
                        struct rig_err *err)
{
    rig_buf_clear(&found->parts);
    const enum rig_rc rc = rig_my_query_rows(connection, "XA RECOVER", deadline_ns, take_row, found, err);
    return rc == RIG_OK && found->parts.failed ? rig_no_memory(err, "the list of prepared transactions") : rc;
}

/* ---- settling ---- */

/* Rolls back each transaction of the list; returns the number of those that stay. */
static uint32_t roll_back(struct rig_my_two_phase *numbers, const struct rig_run_env *env, const struct found *found,
                          struct rig_my_connection *connection, int64_t deadline_ns)
{
    uint32_t left = 0;
    for (const char *part = rig_buf_text(&found->parts); *part != '\0'; part += strcspn(part, "\n") + 1) {
        const int length = (int)strcspn(part, "\n");
        char sql[SQL_BYTES];
        struct rig_err own = {.rc = RIG_OK};
        (void)snprintf(sql, sizeof sql, "XA ROLLBACK '%s','%.*s',%d", env->run_name, length, part, RIG_MY_XID_FORMAT);
        if (rig_my_query(connection, sql, deadline_ns, NULL, &own) == RIG_OK) {
            (void)atomic_fetch_add(&numbers->rolled_back, 1);
            env->core->log(3, "mysql", "rolled back the transaction %.*s, which was left prepared", length, part);
        } else {
            env->core->log(3, "mysql", "the transaction %.*s stays prepared: %s", length, part, own.text);
            left++;
        }
    }
    return left;
}

enum rig_rc rig_my_two_phase_settle(struct rig_my_two_phase *numbers, const struct rig_run_env *env, uint32_t client,
                                    struct rig_my_connection *connection, int64_t patience_ns, int64_t deadline_ns,
                                    uint32_t *left, struct rig_err *err)
{
    const int64_t end_ns = env->core->now_ns() + patience_ns;
    struct found found = {.run = env->run_name};
    enum rig_rc rc = RIG_OK;
    if (client != UINT32_MAX)
        (void)snprintf(found.client, sizeof found.client, "%u.", client);
    rig_buf_init(&found.parts, LIST_MOST);
    do {
        if (*left > 0)
            rig_clock_sleep_until_ns(rig_clock_now_ns() + pause_ns);
        rc = list(&found, connection, deadline_ns, err);
        *left = rc == RIG_OK ? roll_back(numbers, env, &found, connection, deadline_ns) : 0;
    } while (*left > 0 && env->core->now_ns() < end_ns);
    rig_buf_done(&found.parts);
    return rc;
}

/* ---- the server ---- */

static void take_switch(void *context, const char *const *values, uint32_t count)
{
    bool *on = context;
    *on |= count == 2 && values[1] != NULL && (strcmp(values[1], "ON") == 0 || strcmp(values[1], "1") == 0);
}

enum rig_rc rig_my_two_phase_check(struct rig_my_connection *connection, int64_t deadline_ns, struct rig_err *err)
{
    bool galera = false;
    struct rig_err problem = {.rc = RIG_OK};
    enum rig_rc rc =
        rig_my_query_rows(connection, "SHOW GLOBAL VARIABLES LIKE 'wsrep_on'", deadline_ns, take_switch, &galera, err);
    if (rc != RIG_OK)
        return rc;
    if (galera)
        return rig_fail(err, RIG_E_CLUSTER,
                        "database.two-phase: a Galera node certifies a transaction when it commits, so it has no "
                        "prepared ones; leave it out");
    rc = rig_my_query(connection, "XA RECOVER", deadline_ns, NULL, &problem);
    if (rc != RIG_OK)
        return rig_fail(err, rc,
                        "database.two-phase: rig must see prepared transactions to roll back what a lost session left: "
                        "%.300s; GRANT XA_RECOVER_ADMIN to the user, or leave it out",
                        problem.text);
    return RIG_OK;
}
