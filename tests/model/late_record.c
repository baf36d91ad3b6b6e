/*
 * Writes a long record with keys that are used again late: late_record TXNS SPAN FILE
 *
 * One client after the other appends to one of 100 keys and reads it; after 100 appends a new key replaces it. Every
 * 20,000 transactions an indeterminate one appends to a key that was just left. The first read that shows this append
 * comes SPAN transactions later. The history is serializable.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "history/source/event_writer.h"

enum { ACTIVE = 100, APPENDS = 100, EVERY = 20000, LATE_VALUE = APPENDS + 1, CLIENTS = 4 };

static struct rig_err err;
static struct rig_event_writer *writer;
static int64_t now_ns;
static int64_t late_process = 1000;

static void require(enum rig_rc rc)
{
    if (rc == RIG_OK)
        return;
    (void)fprintf(stderr, "late_record: %s\n", err.text);
    exit(3);
}

static void run(uint32_t client, int64_t process, const struct rig_op *ops, uint32_t op_count, enum rig_outcome outcome,
                const struct rig_record_read *reads)
{
    const struct rig_record_completion completion = {.outcome = outcome, .reads = reads};
    struct rig_client_event event = {client, op_count, process, now_ns++, ops};
    require(rig_event_writer_invoke(writer, &event, &err));
    event.time_ns = now_ns++;
    require(rig_event_writer_complete(writer, &event, &completion, &err));
}

/* The list of every key is 1, 2, 3 ..., and at last LATE_VALUE. */
static struct rig_record_read read_of(uint32_t count)
{
    static int64_t elements[LATE_VALUE];
    for (uint32_t i = 0; elements[LATE_VALUE - 1] == 0 && i < LATE_VALUE; i++)
        elements[i] = (int64_t)i + 1;
    return (struct rig_record_read){.state = RIG_READ_SEEN, .count = count, .elements = elements};
}

static void append_and_read(uint64_t i)
{
    int64_t key = (int64_t)(i / (ACTIVE * APPENDS) * ACTIVE + i % ACTIVE);
    uint32_t count = (uint32_t)(i / ACTIVE % APPENDS) + 1;
    const struct rig_op ops[] = {{.kind = RIG_OP_APPEND, .key = key, .value = count},
                                 {.kind = RIG_OP_READ_LIST, .key = key}};
    const struct rig_record_read reads[] = {{.state = RIG_READ_UNKNOWN}, read_of(count)};
    run((uint32_t)(i % CLIENTS), (int64_t)(i % CLIENTS), ops, 2, RIG_OUTCOME_OK, reads);
}

/* The key that was left when transaction `i`, a multiple of EVERY, came. */
static int64_t key_left(uint64_t i)
{
    return (int64_t)((i / (ACTIVE * APPENDS) - 1) * ACTIVE);
}

static void append_unknown(uint64_t i)
{
    const struct rig_op op = {.kind = RIG_OP_APPEND, .key = key_left(i), .value = LATE_VALUE};
    const struct rig_record_read none = {.state = RIG_READ_UNKNOWN};
    run(CLIENTS, late_process++, &op, 1, RIG_OUTCOME_INFO, &none);
}

static void read_late(uint64_t i)
{
    const struct rig_op op = {.kind = RIG_OP_READ_LIST, .key = key_left(i)};
    const struct rig_record_read read = read_of(LATE_VALUE);
    run(0, 0, &op, 1, RIG_OUTCOME_OK, &read);
}

int main(int argc, char **argv)
{
    struct rig_output output;
    const struct rig_event_writer_options options = {.save = {.form = RIG_FORM_RIG},
                                                     .workload = RIG_WORKLOAD_LIST_APPEND};
    if (argc != 4)
        return 64;
    uint64_t txns = strtoull(argv[1], NULL, 10), span = strtoull(argv[2], NULL, 10);
    require(rig_output_open(&output, argv[3], &err));
    require(rig_event_writer_new(&options, &output, &writer, &err));
    for (uint64_t i = 0; i < txns; i++) {
        append_and_read(i);
        if (i % EVERY == 0 && i > 0)
            append_unknown(i);
        if (i >= span && (i - span) % EVERY == 0 && i > span)
            read_late(i - span);
    }
    require(rig_event_writer_finish(writer, &err));
    rig_event_writer_free(writer);
    require(rig_output_close(&output, RIG_OK, &err));
    return 0;
}
