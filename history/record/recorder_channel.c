#include "history/record/recorder_priv.h"

#include <pthread.h>
#include <string.h>

#include "base/bug.h"
#include "base/clock.h"

/* The waits of a client whose channel is full. */
static const int64_t first_wait_ns = 50 * RIG_NS_PER_US;
static const int64_t longest_wait_ns = RIG_NS_PER_MS;

static void wake_writer(struct rig_recorder *recorder)
{
    pthread_mutex_lock(&recorder->lock);
    recorder->wanted = true;
    pthread_cond_signal(&recorder->wake);
    pthread_mutex_unlock(&recorder->lock);
}

static void put_slowly(struct rig_channel *channel, const uint8_t *bytes, size_t count)
{
    atomic_fetch_add_explicit(&channel->stalls, 1, memory_order_relaxed);
    /* Longer each time: needless wake-ups take processor time from the writer. */
    for (int64_t wait_ns = first_wait_ns; count > 0; wait_ns = wait_ns < longest_wait_ns ? 2 * wait_ns : wait_ns) {
        rig_byte_ring_publish(&channel->ring);
        wake_writer(channel->recorder);
        rig_clock_sleep_until_ns(rig_clock_now_ns() + wait_ns);
        size_t done = rig_byte_ring_write(&channel->ring, bytes, count);
        bytes += done;
        count -= done;
    }
}

static void put(struct rig_channel *channel, const void *bytes, size_t count)
{
    if (count == 0)
        return;
    size_t done = rig_byte_ring_write(&channel->ring, bytes, count);
    if (done < count)
        put_slowly(channel, (const uint8_t *)bytes + done, count - done);
}

static int64_t recorded_ns(const struct rig_channel *channel, int64_t at_ns)
{
    return channel->recorder->simulated_time ? rig_clock_now_ns() : at_ns;
}

static void publish(struct rig_channel *channel, int64_t at_ns)
{
    rig_byte_ring_publish(&channel->ring);
    if (channel->recorder->simulated_time)
        atomic_store_explicit(&channel->latest_ns, at_ns, memory_order_release);
}

void rig_channel_begin(struct rig_channel *channel)
{
    if (channel->recorder->simulated_time)
        return; /* there, events wait for a channel's latest one anyway */
    /* Before the caller takes the time of the invocation: a cut that misses this store is before that time. */
    atomic_store_explicit(&channel->begun_ns, rig_clock_now_ns(), memory_order_seq_cst);
    atomic_thread_fence(memory_order_seq_cst);
}

void rig_channel_invoke(struct rig_channel *channel, int64_t process, int64_t at_ns, int64_t intended_ns,
                        const struct rig_op *ops, uint32_t op_count)
{
    RIG_REQUIRE(at_ns >= channel->last_ns || !channel->last_completed);
    bool on_time = intended_ns == at_ns;
    if (channel->last_completed && at_ns == channel->last_ns)
        at_ns++;
    struct ring_event event = {
        .size = sizeof event + (uint64_t)op_count * sizeof *ops,
        .at_ns = at_ns,
        .recorded_ns = recorded_ns(channel, at_ns),
        .process = process,
        .intended_ns = on_time ? at_ns : intended_ns,
        .op_count = op_count,
    };
    put(channel, &event, sizeof event);
    put(channel, ops, op_count * sizeof *ops);
    publish(channel, at_ns);
    atomic_store_explicit(&channel->begun_ns, INT64_MAX, memory_order_release);
    channel->last_ns = at_ns;
    channel->op_count = op_count;
    channel->open = true;
    channel->last_completed = false;
}

/* The length of the error, cut where a UTF-8 character starts. */
static uint16_t error_length(const char *error)
{
    size_t length = strnlen(error, RIG_RECORDER_ERROR_BYTES + 1);
    if (length <= RIG_RECORDER_ERROR_BYTES)
        return (uint16_t)length;
    length = RIG_RECORDER_ERROR_BYTES;
    while (length > 0 && ((unsigned char)error[length] & 0xc0) == 0x80)
        length--;
    return (uint16_t)length;
}

static uint32_t element_count(const struct rig_read *read)
{
    return read->state == RIG_READ_SEEN ? read->count : 0;
}

void rig_channel_columns(struct rig_channel *channel, const struct rig_column_row *columns)
{
    channel->columns = columns;
}

/* Gathers the values in the order of their columns; returns how many there are. */
static size_t gather_columns(struct rig_channel *channel, struct ring_event *event, int64_t values[RIG_COLUMN_ROOM])
{
    const struct rig_column_row *row = channel->columns;
    size_t count = 0;
    channel->columns = NULL;
    if (row == NULL)
        return 0;
    event->columns = row->given & channel->recorder->columns;
    for (uint32_t left = event->columns; left != 0; left &= left - 1)
        values[count++] = row->at[__builtin_ctz(left)];
    event->size += count * sizeof *values;
    return count;
}

void rig_channel_complete(struct rig_channel *channel, int64_t at_ns, enum rig_outcome outcome,
                          const struct rig_read *reads, const int64_t *elements, const char *error)
{
    RIG_REQUIRE(channel->open && outcome <= RIG_OUTCOME_INFO);
    /* The invocation may have been moved by 1 ns. */
    RIG_REQUIRE(at_ns >= channel->last_ns - 1);
    if (at_ns < channel->last_ns)
        at_ns = channel->last_ns;
    struct ring_event event = {
        .size = sizeof event,
        .at_ns = at_ns,
        .recorded_ns = recorded_ns(channel, at_ns),
        .op_count = channel->op_count,
        .error_length = error == NULL ? 0 : error_length(error),
        .is_completion = true,
        .outcome = (uint8_t)outcome,
        .has_error = error != NULL,
        .has_reads = reads != NULL,
    };
    static const char padding[8];
    size_t padding_bytes = (8U - event.error_length % 8U) % 8U;
    event.size += event.error_length + padding_bytes;
    for (uint32_t i = 0; reads != NULL && i < channel->op_count; i++)
        event.size += sizeof(struct ring_read) + element_count(&reads[i]) * sizeof *elements;
    int64_t values[RIG_COLUMN_ROOM];
    const size_t value_count = gather_columns(channel, &event, values);
    put(channel, &event, sizeof event);
    put(channel, values, value_count * sizeof *values);
    for (uint32_t i = 0; reads != NULL && i < channel->op_count; i++) {
        struct ring_read read = {
            .state = (uint32_t)reads[i].state, .count = element_count(&reads[i]), .value = reads[i].value};
        put(channel, &read, sizeof read);
        if (read.count > 0)
            put(channel, elements + reads[i].first_element, read.count * sizeof *elements);
    }
    put(channel, error, event.error_length);
    put(channel, padding, padding_bytes);
    publish(channel, at_ns);
    channel->last_ns = at_ns;
    channel->open = false;
    channel->last_completed = true;
}

void rig_recorder_fault(struct rig_recorder *recorder, const struct rig_fault_event *event)
{
    RIG_REQUIRE(recorder->faults);
    struct rig_channel *channel = &recorder->channels[recorder->channel_count - 1];
    const char *const texts[RIG_RECORDER_FAULT_TEXTS] = {event->fault, event->targets, event->text};
    static const char padding[8];
    struct ring_fault fault = {.ok = event->ok,
                               .fail = event->fail,
                               .info = event->info,
                               .injection = event->injection,
                               .step = event->step,
                               .failed = event->failed};
    size_t bytes = 0;
    for (int i = 0; i < RIG_RECORDER_FAULT_TEXTS; i++) {
        fault.lengths[i] = error_length(texts[i]) + 1U;
        bytes += fault.lengths[i];
    }
    const size_t padding_bytes = (8U - bytes % 8U) % 8U;
    const int64_t at_ns = event->time_ns > channel->last_ns ? event->time_ns : channel->last_ns;
    const struct ring_event head = {.size = sizeof head + sizeof fault + bytes + padding_bytes,
                                    .at_ns = at_ns,
                                    .recorded_ns = recorded_ns(channel, at_ns),
                                    .is_fault = true};
    put(channel, &head, sizeof head);
    put(channel, &fault, sizeof fault);
    for (int i = 0; i < RIG_RECORDER_FAULT_TEXTS; i++) {
        put(channel, texts[i], fault.lengths[i] - 1);
        put(channel, padding, 1);
    }
    put(channel, padding, padding_bytes);
    rig_byte_ring_publish(&channel->ring); /* `latest_ns` stays: the channel delays no cut */
    channel->last_ns = at_ns;
}
