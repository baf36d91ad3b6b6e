/*
 * The recorder's functions in memory, in place of history/record/recorder.c: tests of `run/` examine the recorded
 * events.
 *
 * Include it once a test program; the linker then takes these and leaves the library's out.
 */
#ifndef RIG_TESTS_UNIT_FAKE_RECORDER_H
#define RIG_TESTS_UNIT_FAKE_RECORDER_H

#include "tests/unit/cmocka_first.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "history/record/recorder.h"

enum { FAKE_OPS = 16, FAKE_EVENTS = 200000 };

struct fake_event {
    int64_t process, invoke_ns, intended_ns, complete_ns;
    bool complete;
    enum rig_outcome outcome;
    uint32_t op_count;
    struct rig_op ops[FAKE_OPS];
    char error[128];
};

struct rig_channel {
    struct fake_event *events;
    size_t count;
};

struct rig_recorder {
    struct rig_channel *channels;
    uint32_t channel_count;
};

/* The last run's recorded events; valid until the next one opens its recorder. */
static struct rig_recorder fake_record;
static int fake_closed;
static atomic_bool fake_fails;

static void fake_recorder_release(void)
{
    for (uint32_t i = 0; i < fake_record.channel_count; i++)
        free(fake_record.channels[i].events);
    free(fake_record.channels);
    fake_record = (struct rig_recorder){0};
}

enum rig_rc rig_recorder_open(const struct rig_recorder_options *options, struct rig_recorder **recorder,
                              struct rig_err *err)
{
    (void)err;
    fake_recorder_release();
    fake_record.channel_count = options->channel_count;
    fake_record.channels = calloc(options->channel_count, sizeof *fake_record.channels);
    assert_non_null(fake_record.channels);
    for (uint32_t i = 0; i < options->channel_count; i++) {
        fake_record.channels[i].events = calloc(FAKE_EVENTS / options->channel_count, sizeof(struct fake_event));
        assert_non_null(fake_record.channels[i].events);
    }
    fake_closed = 0;
    *recorder = &fake_record;
    return RIG_OK;
}

struct rig_channel *rig_recorder_channel(struct rig_recorder *recorder, uint32_t index)
{
    assert_true(index < recorder->channel_count);
    return &recorder->channels[index];
}

void rig_channel_invoke(struct rig_channel *channel, int64_t process, int64_t at_ns, int64_t intended_ns,
                        const struct rig_op *ops, uint32_t op_count)
{
    struct fake_event *last = channel->count == 0 ? NULL : &channel->events[channel->count - 1];
    if (last != NULL && (!last->complete || last->complete_ns > at_ns))
        fail_msg("invoked at %lld before the last transaction was complete", (long long)at_ns);
    if (channel->count == FAKE_EVENTS / fake_record.channel_count || op_count > FAKE_OPS)
        fail_msg("more than the fake can record");
    struct fake_event *event = &channel->events[channel->count++];
    *event =
        (struct fake_event){.process = process, .invoke_ns = at_ns, .intended_ns = intended_ns, .op_count = op_count};
    memcpy(event->ops, ops, op_count * sizeof *ops);
}

void rig_recorder_certify(struct rig_recorder *recorder, const struct rig_certificate *certificate)
{
    (void)recorder;
    (void)certificate;
}

void rig_recorder_clock(struct rig_recorder *recorder, const struct rig_clock_sample *sample)
{
    (void)recorder;
    (void)sample;
}

void rig_channel_begin(struct rig_channel *channel)
{
    (void)channel;
}

void rig_channel_columns(struct rig_channel *channel, const struct rig_column_row *columns, const int64_t *times)
{
    (void)channel;
    (void)columns;
    (void)times;
}

void rig_channel_complete(struct rig_channel *channel, int64_t at_ns, enum rig_outcome outcome,
                          const struct rig_read *reads, const int64_t *elements, const char *error)
{
    (void)reads;
    (void)elements;
    struct fake_event *event = &channel->events[channel->count - 1];
    event->complete = true;
    event->complete_ns = at_ns;
    event->outcome = outcome;
    (void)snprintf(event->error, sizeof event->error, "%s", error == NULL ? "" : error);
}

enum rig_rc rig_recorder_close(struct rig_recorder *recorder, struct rig_err *err)
{
    (void)recorder;
    fake_closed++;
    return atomic_load(&fake_fails) ? rig_fail(err, RIG_E_IO, "the disk is full") : RIG_OK;
}

enum { FAKE_FAULTS = 512, FAKE_FAULT_BYTES = 256 };

/* The nemesis's events, texts cut. */
static struct fake_fault {
    struct rig_fault_event event;
    char fault[32], targets[64], text[FAKE_FAULT_BYTES];
} fake_faults[FAKE_FAULTS];
static uint32_t fake_fault_count;

void rig_recorder_fault(struct rig_recorder *recorder, const struct rig_fault_event *event)
{
    (void)recorder;
    assert_true(fake_fault_count < FAKE_FAULTS);
    struct fake_fault *kept = &fake_faults[fake_fault_count++];
    kept->event = *event;
    (void)snprintf(kept->fault, sizeof kept->fault, "%s", event->fault);
    (void)snprintf(kept->targets, sizeof kept->targets, "%s", event->targets);
    (void)snprintf(kept->text, sizeof kept->text, "%s", event->text);
}

bool rig_recorder_failed(const struct rig_recorder *recorder)
{
    (void)recorder;
    return atomic_load(&fake_fails);
}

void rig_recorder_stats(const struct rig_recorder *recorder, struct rig_recorder_stats *stats)
{
    (void)recorder;
    *stats = (struct rig_recorder_stats){0};
}

#endif
