#include "drivers/sql/sql_text.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/bug.h"
#include "base/clock.h"
#include "drivers/sql/sql_run.h"
#include "drivers/sql/sql_session.h"

/* A statement ends by itself or is interrupted long before; a server that is gone without a word is not. */
static const int64_t longest_ns = INT64_C(600) * 1000000000;
enum { SESSIONS_MOST = 64 };

/* ---- hooks ---- */

enum rig_rc rig_sql_text_clear(void *object, struct rig_err *err)
{
    struct rig_sql_run *run = object;
    struct rig_sql_own own;
    enum rig_rc rc = rig_sql_own_connect(&own, run, false, err);
    if (rc == RIG_OK)
        rc = run->client->texts->clear(&own, err);
    rig_sql_own_disconnect(&own);
    return rc;
}

const char *rig_sql_text_space(const void *object)
{
    const struct rig_sql_run *run = object;
    return run->client->texts->space == NULL ? "" : run->client->texts->space(run);
}

void rig_sql_text_execute(void *object, const char *sql, struct rig_text_answer *answer)
{
    struct rig_sql_session *session = object;
    const struct rig_sql_run *run = session->run;
    answer->has_rows = answer->untagged = answer->rolled_back = answer->failed = answer->ended = false;
    answer->conflict = answer->session_lost = false;
    answer->count = -1;
    answer->native = 0;
    answer->code[0] = answer->state[0] = answer->text[0] = '\0';
    if (!session->main->open) {
        rig_sql_text_fail(answer, run->client->outcomes, RIG_SQL_LOST, NULL, 0, "the session has ended", true);
        return;
    }
    run->client->texts->execute(session, sql, run->env->core->now_ns() + longest_ns, answer);
    if (answer->session_lost) {
        run->client->disconnect(session->main);
        session->main->open = false;
    }
}

bool rig_sql_text_look(void *object, void *const *objects, uint32_t count, struct rig_text_wait *waits)
{
    struct rig_sql_session *watch = object;
    struct rig_sql_session *asked[SESSIONS_MOST];
    struct rig_text_wait told[SESSIONS_MOST] = {{.kind = RIG_TEXT_WAIT_UNKNOWN}};
    uint32_t at[SESSIONS_MOST], asked_count = 0;
    RIG_REQUIRE(count <= SESSIONS_MOST);
    for (uint32_t i = 0; i < count; i++) {
        struct rig_sql_session *session = objects[i];
        waits[i] = (struct rig_text_wait){.kind = RIG_TEXT_WAIT_UNKNOWN};
        if (session->main_server != watch->main_server)
            continue; /* another node's locks */
        at[asked_count] = i;
        asked[asked_count++] = session;
    }
    if (asked_count > 0 && (!watch->main->open || !watch->run->client->texts->look(watch, asked, asked_count, told)))
        return false;
    for (uint32_t i = 0; i < asked_count; i++) {
        waits[at[i]] = told[i];
        waits[at[i]].blockers = 0;
        for (uint32_t k = 0; k < asked_count; k++)
            waits[at[i]].blockers |= (told[i].blockers >> k & 1) << at[k];
    }
    return true;
}

enum rig_rc rig_sql_text_server(const struct rig_sql_run *run, const char *node, uint32_t *server, struct rig_err *err)
{
    char names[512] = "";
    size_t length = 0;
    for (uint32_t i = 0; i < rig_sql_run_server_count(run); i++) {
        const char *name = rig_sql_run_server_name(run, i);
        if (strcmp(name, node) == 0) {
            *server = i;
            return RIG_OK;
        }
        if (length < sizeof names)
            length += (size_t)snprintf(names + length, sizeof names - length, "%s%s", i == 0 ? "" : ", ", name);
    }
    return rig_fail(err, RIG_E_PLAN, "there is no node `%.60s`; the plan's nodes are %s", node, names);
}

/* ---- statements ---- */

/* Behind blanks, comments and opening brackets. */
static const char *skip_to_word(const char *sql)
{
    for (;;) {
        sql += strspn(sql, " \t\r\n(;");
        const char *end = NULL;
        if (sql[0] == '-' && sql[1] == '-')
            end = strchr(sql, '\n');
        else if (sql[0] == '/' && sql[1] == '*')
            end = strstr(sql, "*/");
        else
            return sql;
        if (end == NULL)
            return sql + strlen(sql);
        sql = end + (sql[0] == '/' ? 2 : 1);
    }
}

void rig_sql_text_word(const char *sql, char word[static RIG_SQL_WORD_BYTES])
{
    size_t length = 0;
    for (sql = skip_to_word(sql); isalpha((unsigned char)*sql) && length + 1 < RIG_SQL_WORD_BYTES; sql++)
        word[length++] = (char)tolower((unsigned char)*sql);
    word[length] = '\0';
}

bool rig_sql_text_changes_rows(const char *sql)
{
    static const char *const words[] = {"insert", "update", "delete", "replace", "merge"};
    char word[RIG_SQL_WORD_BYTES];
    rig_sql_text_word(sql, word);
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (strcmp(word, words[i]) == 0)
            return true;
    }
    return false;
}

void rig_sql_text_fail(struct rig_text_answer *answer, const struct rig_sql_outcomes *outcomes, const char *code,
                       const char *state, int64_t native, const char *text, bool lost)
{
    answer->failed = true;
    answer->has_rows = false;
    answer->count = -1;
    answer->native = native;
    answer->session_lost = lost;
    answer->ended = answer->ended || lost;
    answer->conflict = rig_sql_error_class(outcomes, code) == RIG_ERROR_CONFLICT;
    (void)snprintf(answer->code, sizeof answer->code, "%s", code);
    (void)snprintf(answer->state, sizeof answer->state, "%.5s", state == NULL ? "" : state);
    rig_sql_one_line(answer->text, sizeof answer->text, text == NULL ? "" : text);
}

/* ---- numbers on the server ---- */

void rig_sql_text_backends(struct rig_sql_session *const *sessions, uint32_t count, char *list, size_t size)
{
    size_t length = 0;
    list[0] = '\0';
    for (uint32_t i = 0; i < count && length < size; i++)
        length +=
            (size_t)snprintf(list + length, size - length, "%s%" PRId64, i == 0 ? "" : ",", sessions[i]->main->backend);
    RIG_INVARIANT(length < size);
}

uint32_t rig_sql_text_session_of(struct rig_sql_session *const *sessions, uint32_t count, const char *backend)
{
    const int64_t number = strtoll(backend, NULL, 10);
    for (uint32_t i = 0; i < count; i++) {
        if (sessions[i]->main->backend == number)
            return i;
    }
    return UINT32_MAX;
}
