/*
 * A proxy between the driver and the first server of a harness. Once armed it forwards a given number of bytes in one
 * direction, and then cuts the connection, falls silent, or forwards single bytes slowly.
 */
#ifndef RIG_TESTS_SYSTEM_POSTGRES_PG_PROXY_H
#define RIG_TESTS_SYSTEM_POSTGRES_PG_PROXY_H

#include <stdatomic.h>
#include <sys/un.h>

#include "tests/system/postgres/pg_harness.h"

enum proxy_direction { PROXY_TO_SERVER, PROXY_TO_CLIENT };

enum proxy_end {
    PROXY_CUTS,   /* closes both sides */
    PROXY_STALLS, /* reads and sends nothing more, in either direction, until the client closes */
    PROXY_DRIPS,  /* a byte each 20 ms in that direction */
    PROXY_LOSES,  /* to the client: when the server answers, sends the error of a pooler that lost its server; then
                   * closes both sides */
};

/* Forwards one connection at a time. */
struct proxy {
    char folder[64]; /* the client's host */
    struct sockaddr_un server;
    int listener;
    pthread_t thread;
    atomic_bool ending;
    atomic_bool armed;
    atomic_int direction;
    atomic_int end;
    atomic_long allowed;
    atomic_long passed[2]; /* bytes since it was armed, by direction */
};

void proxy_start(struct proxy *proxy, const struct harness *server);
void proxy_stop(struct proxy *proxy);
void proxy_arm(struct proxy *proxy, enum proxy_direction direction, long allowed, enum proxy_end end);
/* Lets everything pass again, on the next connection. */
void proxy_disarm(struct proxy *proxy);

#endif
