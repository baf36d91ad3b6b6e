/*
 * Connections between the ranks of a run: TCP, and messages with a kind and a length.
 *
 * Integers are in the byte order of the machine: all ranks run the same build of rig (run/ranks/rank_team.h checks it).
 *
 * Threads: a connection is read by one thread and written by one at a time.
 */
#ifndef RIG_RUN_RANKS_RANK_WIRE_H
#define RIG_RUN_RANKS_RANK_WIRE_H

#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

enum { RIG_WIRE_ADDRESSES = 12, RIG_WIRE_ADDRESS_BYTES = 48 };
#define RIG_WIRE_MESSAGE_MOST ((size_t)256 << 20)

/* Where a process listens. */
struct rig_wire_place {
    char addresses[RIG_WIRE_ADDRESSES][RIG_WIRE_ADDRESS_BYTES]; /* of this machine, empty ones last */
    uint16_t port;
};

/* Listens on all addresses of this machine, on a free port. RIG_E_IO. */
enum rig_rc rig_wire_listen(int *fd, struct rig_wire_place *place, struct rig_err *err);
/* Connects to one of the addresses, `from` and later ones, and gives its number in `which`. RIG_E_CLUSTER. */
enum rig_rc rig_wire_connect(const struct rig_wire_place *place, uint32_t from, int *fd, uint32_t *which,
                             struct rig_err *err);
/* No delays, and a dead peer is noticed after this time while something is to be sent. */
void rig_wire_tune(int fd, unsigned dead_after_ms);

/* Blocks. False: the connection is gone. */
bool rig_wire_send(int fd, uint32_t kind, const void *body, size_t size);
/* Blocks until a message is there; `timeout_ms` without a byte of it, or 0: for ever. False: the connection is gone, or
 * silent; `body` is cleared first. */
bool rig_wire_receive(int fd, unsigned timeout_ms, uint32_t *kind, struct rig_buf *body);

#endif
