/*
 * A flow of the proxy: the bytes of one connection in one direction that were read and not written yet, each with the
 * earliest time to forward it, and the way in which the flow ended.
 *
 * Bounded: RIG_PROXY_FLOW_BYTES in a ring; when it is full nothing is read until bytes were written.
 *
 * Private to the proxy. Threads: under the proxy's lock.
 */
#ifndef RIG_NEMESIS_PROXY_FLOW_H
#define RIG_NEMESIS_PROXY_FLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { RIG_PROXY_CHUNKS_MOST = 256 };

enum rig_proxy_end {
    RIG_PROXY_OPEN,
    RIG_PROXY_FIN,
    RIG_PROXY_RST,
};

struct rig_proxy_chunk {
    uint32_t size;
    int64_t due_ns;
};

struct rig_proxy_flow {
    unsigned char *bytes; /* NULL until the first byte */
    size_t first, used;
    struct rig_proxy_chunk chunks[RIG_PROXY_CHUNKS_MOST]; /* ring; due times ascend */
    uint32_t first_chunk, chunk_count;
    enum rig_proxy_end end; /* how the sender ended, behind the last byte */
    int64_t end_due_ns;
    bool ended;   /* the end was forwarded */
    bool holed;   /* bytes were dropped: the receiver cannot go on */
    bool blocked; /* the receiver's buffers are full */
};

void rig_proxy_flow_done(struct rig_proxy_flow *flow);
/* Discards the waiting bytes. */
void rig_proxy_flow_clear(struct rig_proxy_flow *flow);

/* Whether the sender is to be read from. */
bool rig_proxy_flow_wants(const struct rig_proxy_flow *flow);
/* Free space in one piece behind the waiting bytes, at most `most`; 0 with NULL when there is no memory. */
unsigned char *rig_proxy_flow_room(struct rig_proxy_flow *flow, size_t most, size_t *size);
/* `size` bytes were put there, to be forwarded from `due_ns` on, or later behind the bytes before them. */
void rig_proxy_flow_put(struct rig_proxy_flow *flow, size_t size, int64_t due_ns);
/* The sender ended. */
void rig_proxy_flow_put_end(struct rig_proxy_flow *flow, enum rig_proxy_end end);

/* The bytes that may be forwarded at `now_ns`, in one piece; 0: none. */
size_t rig_proxy_flow_due(const struct rig_proxy_flow *flow, int64_t now_ns, const unsigned char **bytes);
void rig_proxy_flow_take(struct rig_proxy_flow *flow, size_t size);
/* Whether all bytes were forwarded, and the end is due and was not forwarded. */
bool rig_proxy_flow_end_due(const struct rig_proxy_flow *flow, int64_t now_ns);
/* The time of the next due bytes, INT64_MAX: nothing waits. */
int64_t rig_proxy_flow_next_ns(const struct rig_proxy_flow *flow);
/* All waiting bytes may be forwarded at once. */
void rig_proxy_flow_hurry(struct rig_proxy_flow *flow);

#endif
