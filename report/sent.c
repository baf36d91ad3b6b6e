#include "report/sent.h"

#include <stdio.h>
#include <string.h>

#include "history/types/sent_sql.h"
#include "report/tell.h"
#include "report/words.h"

enum { BEFORE_BYTES = 64, TXNS_MOST = 16 };

/* Some transactions of a history: those of a witness, or all. */
struct some {
    const struct rig_history *history;
    const struct rig_witness *witness; /* NULL: all */
};

static uint32_t count_of(const struct some *some)
{
    return some->witness != NULL ? some->witness->txn_count : some->history->txn_count;
}

static uint32_t shown_of(const struct some *some)
{
    return count_of(some) < TXNS_MOST ? count_of(some) : TXNS_MOST;
}

static uint32_t txn_of(const struct some *some, uint32_t i)
{
    return some->witness != NULL ? some->witness->txns[i] : i;
}

static void say_text(struct rig_buf *out, const struct some *some, const char *before)
{
    struct rig_sent_sql sent;
    char deeper[BEFORE_BYTES];
    if (!rig_sent_sql_read(some->history->meta, &sent))
        return;
    (void)snprintf(deeper, sizeof deeper, "%s  ", before);
    rig_sent_sql_say_session(&sent, before, out);
    for (uint32_t i = 0; i < shown_of(some); i++) {
        rig_buf_add_text(out, before);
        rig_words_txn(out, some->history, txn_of(some, i));
        rig_buf_add_char(out, '\n');
        (void)rig_sent_sql_say_txn(&sent, some->history, txn_of(some, i), deeper, out);
    }
    if (shown_of(some) < count_of(some))
        rig_tell(out, "%s-- [.. %d other%p ..]\n", before, count_of(some) - TXNS_MOST, count_of(some) - TXNS_MOST);
}

static void say_json(struct rig_json_writer *json, const struct some *some)
{
    struct rig_sent_sql sent;
    struct rig_buf lines;
    if (!rig_sent_sql_read(some->history->meta, &sent))
        return;
    rig_buf_init(&lines, 0);
    rig_json_begin_array(json, "sql");
    for (uint32_t i = 0; i < shown_of(some); i++) {
        rig_buf_clear(&lines);
        (void)rig_sent_sql_say_txn(&sent, some->history, txn_of(some, i), "", &lines);
        rig_json_begin_object(json, NULL);
        rig_json_int(json, "transaction", rig_txn_name(some->history, txn_of(some, i)));
        rig_json_begin_array(json, "statements");
        char *line = lines.size == 0 ? NULL : lines.data;
        for (char *end; line != NULL && (end = strchr(line, '\n')) != NULL; line = end + 1) {
            *end = '\0';
            rig_json_text(json, NULL, line);
        }
        rig_json_end(json);
        rig_json_end(json);
    }
    rig_json_end(json);
    rig_buf_done(&lines);
}

void rig_sent_witness_text(struct rig_buf *out, const struct rig_history *history, const struct rig_witness *witness,
                           const char *before)
{
    say_text(out, &(struct some){.history = history, .witness = witness}, before);
}

void rig_sent_witness_json(struct rig_json_writer *json, const struct rig_history *history,
                           const struct rig_witness *witness)
{
    say_json(json, &(struct some){.history = history, .witness = witness});
}

void rig_sent_history_text(struct rig_buf *out, const struct rig_history *history, const char *before)
{
    say_text(out, &(struct some){.history = history}, before);
}

void rig_sent_history_json(struct rig_json_writer *json, const struct rig_history *history)
{
    say_json(json, &(struct some){.history = history});
}
