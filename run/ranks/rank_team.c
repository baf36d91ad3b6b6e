#include "run/ranks/rank_team.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/bug.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/thread.h"
#include "base/version.h"
#include "base/vec.h"
#include "run/ranks/rank_seat.h"
#include "run/ranks/rank_wire.h"

enum { SECRET_BYTES = 16, BUILD_BYTES = 64, WHY_BYTES = 160, GREETING_MS = 5000 };
/* A rank that is silent for so long is lost: each one pings all the time. */
enum { SILENCE_MS = 30000 };
static const int64_t gather_ns = 60 * RIG_NS_PER_S;
/* How long ranks may take to leave after rank 0 has told them to. */
static const int64_t leave_ns = 5 * RIG_NS_PER_S;
static const int64_t ping_every_ns = 50 * RIG_NS_PER_MS;
enum { FIRST_PINGS = 40 }; /* without a pause, so that the offset is known well when the load begins */

/* What MPI carries from rank 0 to all. */
struct card {
    struct rig_wire_place place;
    unsigned char secret[SECRET_BYTES];
    char build[BUILD_BYTES];
};

enum greeting_kind { GREETING_RANK = 0x52414e4b, GREETING_CALL = 0x43414c4c };

/* The first bytes of a connection, and the answer. */
struct greeting {
    unsigned char secret[SECRET_BYTES];
    uint32_t rank, client;
};

struct message {
    bool is_there;
    struct rig_buf body;
};

/* The connection to one rank. */
struct peer {
    struct rig_team *team;
    uint32_t rank;
    int fd; /* -1: not connected yet */
    bool has_thread;
    pthread_t thread;
    pthread_mutex_t send_lock; /* nothing is locked under it */
    bool is_lost;              /* the following under the team's lock */
    char why[WHY_BYTES];
    struct message boxes[RIG_TEAM_KINDS];
};

/* A connection that is served, on rank 0. */
struct call {
    struct rig_team *team;
    pthread_t thread;
    int fd;
    uint32_t rank, client;
    bool is_over; /* under the team's lock */
};

RIG_VEC(struct call *, call_list)

struct rig_team {
    struct rig_rank_seat seat;
    struct card card;
    _Atomic uint32_t address; /* of the card, that answered */
    int listener_fd;
    struct rig_team_listener listener;
    struct peer *peers; /* by rank; on another rank than 0 only peers[0] */
    bool has_acceptor, has_pinger;
    pthread_t acceptor, pinger;
    pthread_mutex_t lock; /* guards what follows, and the peers' states */
    pthread_cond_t moved;
    bool is_leaving;
    struct rig_clock_offsets clock;
    int64_t last_pong_ns; /* when the last round trip that came back had left */
    void (*serve)(void *context, int fd, uint32_t client);
    void *serve_context;
    struct call_list calls;
};

/* -- seats --------------------------------------------------------------------------------------------------------- */

enum rig_rc rig_team_meet(struct rig_team **team, struct rig_err *err)
{
    struct rig_team *made = calloc(1, sizeof *made);
    if (made == NULL)
        return rig_no_memory(err, "the ranks");
    made->listener_fd = -1;
    enum rig_rc rc = rig_wire_listen(&made->listener_fd, &made->card.place, err);
    if (rc == RIG_OK && getrandom(made->card.secret, SECRET_BYTES, 0) != SECRET_BYTES)
        rc = rig_fail(err, RIG_E_IO, "no random number for the connections between ranks");
    (void)snprintf(made->card.build, BUILD_BYTES, "%s %s", rig_version(), rig_commit());
    struct card own = made->card;
    if (rc == RIG_OK)
        rc = rig_rank_seat_take(&made->card, sizeof made->card, &made->seat, err);
    if (rc == RIG_OK && memcmp(own.build, made->card.build, BUILD_BYTES) != 0)
        rc = rig_fail(err, RIG_E_CLUSTER, "rank %u is rig %s, and rank 0 is rig %s: all ranks need the same build",
                      made->seat.rank, own.build, made->card.build);
    const uint32_t peer_count = made->seat.rank == 0 ? made->seat.ranks : 1;
    if (rc == RIG_OK)
        made->peers = calloc(peer_count == 0 ? 1 : peer_count, sizeof *made->peers);
    if (rc == RIG_OK && made->peers == NULL)
        rc = rig_no_memory(err, "the ranks");
    if (rc != RIG_OK) {
        (void)close(made->listener_fd);
        free(made);
        return rc;
    }
    if (made->seat.rank > 0) {
        (void)close(made->listener_fd);
        made->listener_fd = -1;
    }
    RIG_INVARIANT(pthread_mutex_init(&made->lock, NULL) == 0 && pthread_cond_init(&made->moved, NULL) == 0);
    for (uint32_t i = 0; i < peer_count; i++) {
        struct peer *peer = &made->peers[i];
        *peer = (struct peer){.team = made, .rank = i, .fd = -1};
        RIG_INVARIANT(pthread_mutex_init(&peer->send_lock, NULL) == 0);
        for (uint32_t kind = 0; kind < RIG_TEAM_KINDS; kind++)
            rig_buf_init(&peer->boxes[kind].body, RIG_WIRE_MESSAGE_MOST);
    }
    *team = made;
    return RIG_OK;
}

uint32_t rig_team_rank(const struct rig_team *team)
{
    return team->seat.rank;
}

uint32_t rig_team_ranks(const struct rig_team *team)
{
    return team->seat.ranks;
}

static uint32_t peer_count(const struct rig_team *team)
{
    return team->seat.rank == 0 ? team->seat.ranks : 1;
}

/* -- connections --------------------------------------------------------------------------------------------------- */

static void lose(struct peer *peer, const char *why)
{
    struct rig_team *team = peer->team;
    pthread_mutex_lock(&team->lock);
    const bool is_news = !peer->is_lost && !team->is_leaving;
    if (!peer->is_lost)
        (void)snprintf(peer->why, sizeof peer->why, "%s", why);
    peer->is_lost = true;
    (void)pthread_cond_broadcast(&team->moved);
    pthread_mutex_unlock(&team->lock);
    (void)shutdown(peer->fd, SHUT_RDWR);
    if (is_news)
        rig_log(RIG_LOG_WARN, "ranks", "rank %u is gone: %s", peer->rank, why);
}

static bool send_to(struct peer *peer, enum rig_team_kind kind, const void *body, size_t size)
{
    if (peer->fd < 0)
        return false;
    pthread_mutex_lock(&peer->send_lock);
    const bool sent = rig_wire_send(peer->fd, kind, body, size);
    pthread_mutex_unlock(&peer->send_lock);
    if (!sent)
        (void)shutdown(peer->fd, SHUT_RDWR); /* its thread reads what came before, and then knows that it is lost */
    return sent;
}

static struct peer *peer_of(struct rig_team *team, uint32_t rank)
{
    RIG_REQUIRE(rank < peer_count(team) && rank != team->seat.rank);
    return &team->peers[rank];
}

bool rig_team_tell(struct rig_team *team, uint32_t rank, enum rig_team_kind kind, const void *body, size_t size)
{
    return send_to(peer_of(team, rank), kind, body, size);
}

void rig_team_tell_all(struct rig_team *team, enum rig_team_kind kind, const void *body, size_t size)
{
    for (uint32_t i = 1; i < peer_count(team); i++)
        (void)send_to(&team->peers[i], kind, body, size);
}

static void take_pong(struct peer *peer, const struct rig_buf *body)
{
    int64_t times[2];
    if (body->size != sizeof times)
        return;
    memcpy(times, body->data, sizeof times);
    const int64_t now_ns = rig_clock_now_ns();
    pthread_mutex_lock(&peer->team->lock);
    (void)rig_clock_offsets_note(&peer->team->clock, times[0], times[1], now_ns);
    peer->team->last_pong_ns = times[0];
    pthread_mutex_unlock(&peer->team->lock);
}

static void keep(struct peer *peer, enum rig_team_kind kind, const struct rig_buf *body)
{
    struct rig_team *team = peer->team;
    pthread_mutex_lock(&team->lock);
    struct message *box = &peer->boxes[kind];
    rig_buf_clear(&box->body);
    rig_buf_add(&box->body, body->data, body->size);
    box->is_there = !box->body.failed;
    const bool is_there = box->is_there;
    (void)pthread_cond_broadcast(&team->moved);
    pthread_mutex_unlock(&team->lock);
    if (!is_there)
        lose(peer, "its message does not fit into memory");
}

static void take(struct peer *peer, uint32_t kind, const struct rig_buf *body)
{
    struct rig_team *team = peer->team;
    if (kind == RIG_TEAM_PING && body->size == sizeof(int64_t)) {
        int64_t times[2] = {0, rig_clock_now_ns()};
        memcpy(times, body->data, sizeof times[0]);
        (void)send_to(peer, RIG_TEAM_PONG, times, sizeof times);
    } else if (kind == RIG_TEAM_PONG) {
        take_pong(peer, body);
    } else if (kind > RIG_TEAM_PONG && kind < RIG_TEAM_STREAMED) {
        if (team->listener.heard != NULL)
            team->listener.heard(team->listener.context, peer->rank, (enum rig_team_kind)kind, body);
    } else if (kind > RIG_TEAM_STREAMED && kind < RIG_TEAM_KINDS) {
        keep(peer, (enum rig_team_kind)kind, body);
    }
}

static void *peer_main(void *argument)
{
    struct peer *peer = argument;
    struct rig_buf body;
    rig_buf_init(&body, RIG_WIRE_MESSAGE_MOST);
    uint32_t kind;
    const int64_t silence_ns = SILENCE_MS * RIG_NS_PER_MS;
    int64_t since_ns = rig_clock_now_ns();
    while (rig_wire_receive(peer->fd, SILENCE_MS, &kind, &body)) {
        since_ns = rig_clock_now_ns();
        take(peer, kind, &body);
    }
    const bool was_silent = rig_clock_now_ns() - since_ns >= silence_ns;
    lose(peer, was_silent ? "it does not answer" : "its connection was closed");
    rig_buf_done(&body);
    return NULL;
}

static enum rig_rc start_peer(struct peer *peer, int fd, struct rig_err *err)
{
    rig_wire_tune(fd, SILENCE_MS);
    peer->fd = fd;
    const int error = rig_thread_start(&peer->thread, peer_main, peer);
    if (error != 0)
        return rig_fail(err, RIG_E_LIMIT, "cannot start a thread for rank %u: %s", peer->rank, strerror(error));
    peer->has_thread = true;
    return RIG_OK;
}

static void *ping_main(void *argument)
{
    struct rig_team *team = argument;
    for (uint32_t i = 0;; i++) {
        const int64_t now_ns = rig_clock_now_ns();
        pthread_mutex_lock(&team->lock);
        const bool is_over = team->is_leaving || team->peers[0].is_lost;
        pthread_mutex_unlock(&team->lock);
        if (is_over || !send_to(&team->peers[0], RIG_TEAM_PING, &now_ns, sizeof now_ns))
            return NULL;
        rig_clock_sleep_until_ns(rig_clock_now_ns() + (i < FIRST_PINGS ? RIG_NS_PER_MS : ping_every_ns));
    }
}

/* -- greetings ----------------------------------------------------------------------------------------------------- */

/* A connection to rank 0, of which the one at the other end knows the secret. */
static enum rig_rc greet(struct rig_team *team, enum greeting_kind kind, uint32_t client, int *fd, struct rig_err *err)
{
    struct greeting greeting = {.rank = team->seat.rank, .client = client};
    memcpy(greeting.secret, team->card.secret, SECRET_BYTES);
    struct rig_buf answer;
    rig_buf_init(&answer, 0);
    enum rig_rc rc = RIG_OK;
    for (uint32_t from = team->address; rc == RIG_OK; from++) {
        rc = rig_wire_connect(&team->card.place, from, fd, &from, err);
        uint32_t echo = 0;
        if (rc != RIG_OK)
            break;
        if (rig_wire_send(*fd, kind, &greeting, sizeof greeting) &&
            rig_wire_receive(*fd, GREETING_MS, &echo, &answer) && echo == (uint32_t)kind) {
            team->address = from;
            break;
        }
        (void)close(*fd);
    }
    rig_buf_done(&answer);
    return rc;
}

static void *call_main(void *argument)
{
    struct call *call = argument;
    struct rig_team *team = call->team;
    team->serve(team->serve_context, call->fd, call->client);
    (void)shutdown(call->fd, SHUT_RDWR);
    pthread_mutex_lock(&team->lock);
    call->is_over = true;
    pthread_mutex_unlock(&team->lock);
    return NULL;
}

static bool is_wanted(const struct call *call, bool all, uint32_t rank)
{
    return all || call->is_over || call->rank == rank;
}

/* Frees the calls that are over, and all others, or those of the rank, as soon as they are. */
static void end_calls(struct rig_team *team, bool all, uint32_t rank)
{
    struct call_list ended = {.at = NULL};
    pthread_mutex_lock(&team->lock);
    size_t kept = 0;
    for (size_t i = 0; i < team->calls.count; i++) {
        struct call *call = team->calls.at[i];
        if (is_wanted(call, all, rank) && call_list_add(&ended, call))
            (void)shutdown(call->fd, SHUT_RDWR);
        else
            team->calls.at[kept++] = call;
    }
    team->calls.count = kept;
    pthread_mutex_unlock(&team->lock);
    for (size_t i = 0; i < ended.count; i++) {
        (void)pthread_join(ended.at[i]->thread, NULL);
        (void)close(ended.at[i]->fd);
        free(ended.at[i]);
    }
    call_list_done(&ended);
}

static void begin_call(struct rig_team *team, int fd, const struct greeting *greeting)
{
    end_calls(team, false, UINT32_MAX);
    struct call *call = calloc(1, sizeof *call);
    pthread_mutex_lock(&team->lock);
    bool begun = call != NULL && team->serve != NULL && !team->is_leaving && greeting->rank < team->seat.ranks &&
                 !team->peers[greeting->rank].is_lost && call_list_add(&team->calls, call);
    if (begun) {
        *call = (struct call){.team = team, .fd = fd, .rank = greeting->rank, .client = greeting->client};
        begun = rig_thread_start(&call->thread, call_main, call) == 0;
        team->calls.count -= !begun;
    }
    pthread_mutex_unlock(&team->lock);
    if (begun)
        return;
    free(call);
    (void)close(fd);
}

static void begin_peer(struct rig_team *team, int fd, uint32_t rank)
{
    struct rig_err err = {0};
    pthread_mutex_lock(&team->lock);
    const bool is_new = rank > 0 && rank < team->seat.ranks && team->peers[rank].fd < 0;
    if (is_new && start_peer(&team->peers[rank], fd, &err) != RIG_OK)
        rig_log(RIG_LOG_ERROR, "ranks", "%s", err.text);
    (void)pthread_cond_broadcast(&team->moved);
    pthread_mutex_unlock(&team->lock);
    if (!is_new)
        (void)close(fd);
}

/* Answers a connection, if it shows the secret. Others are closed without a word. */
static void welcome(struct rig_team *team, int fd)
{
    struct rig_buf body;
    rig_buf_init(&body, sizeof(struct greeting));
    uint32_t kind;
    struct greeting greeting;
    if (!rig_wire_receive(fd, GREETING_MS, &kind, &body) || body.size != sizeof greeting ||
        memcmp(body.data, team->card.secret, SECRET_BYTES) != 0 || !rig_wire_send(fd, kind, NULL, 0)) {
        (void)close(fd);
        rig_buf_done(&body);
        return;
    }
    memcpy(&greeting, body.data, sizeof greeting);
    rig_buf_done(&body);
    if (kind == GREETING_RANK)
        begin_peer(team, fd, greeting.rank);
    else
        begin_call(team, fd, &greeting);
}

static void *accept_main(void *argument)
{
    struct rig_team *team = argument;
    for (;;) {
        const int fd = accept4(team->listener_fd, NULL, NULL, SOCK_CLOEXEC);
        pthread_mutex_lock(&team->lock);
        const bool is_over = team->is_leaving;
        pthread_mutex_unlock(&team->lock);
        if (is_over) {
            if (fd >= 0)
                (void)close(fd);
            return NULL;
        }
        if (fd >= 0)
            welcome(team, fd);
        else
            rig_clock_sleep_until_ns(rig_clock_now_ns() + RIG_NS_PER_MS); /* no descriptor is free, or the like */
    }
}

/* -- the beginning ------------------------------------------------------------------------------------------------- */

/* Lock held; released while waiting. */
static void wait_a_little(struct rig_team *team)
{
    struct timespec until;
    (void)clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec++;
    (void)pthread_cond_timedwait(&team->moved, &team->lock, &until);
}

static enum rig_rc gather(struct rig_team *team, struct rig_err *err)
{
    const int64_t until_ns = rig_clock_now_ns() + gather_ns;
    uint32_t missing = 0;
    pthread_mutex_lock(&team->lock);
    for (uint32_t i = 1; i < team->seat.ranks && missing == 0; i++) {
        while (!team->peers[i].has_thread && rig_clock_now_ns() < until_ns)
            wait_a_little(team);
        missing = team->peers[i].has_thread ? 0 : i;
    }
    pthread_mutex_unlock(&team->lock);
    return missing == 0 ? RIG_OK
                        : rig_fail(err, RIG_E_CLUSTER, "rank %u did not connect to rank 0, port %u, within %lld s",
                                   missing, team->card.place.port, (long long)(gather_ns / RIG_NS_PER_S));
}

enum rig_rc rig_team_begin(struct rig_team *team, const struct rig_team_listener *listener, struct rig_err *err)
{
    team->listener = *listener;
    if (team->seat.rank == 0) {
        const int error = rig_thread_start(&team->acceptor, accept_main, team);
        if (error != 0)
            return rig_fail(err, RIG_E_LIMIT, "cannot start a thread for the ranks: %s", strerror(error));
        team->has_acceptor = true;
        return gather(team, err);
    }
    int fd = -1;
    enum rig_rc rc = greet(team, GREETING_RANK, 0, &fd, err);
    if (rc == RIG_OK)
        rc = start_peer(&team->peers[0], fd, err);
    if (rc == RIG_OK)
        team->has_pinger = rig_thread_start(&team->pinger, ping_main, team) == 0;
    return rc;
}

enum rig_rc rig_team_await(struct rig_team *team, uint32_t rank, enum rig_team_kind kind, struct rig_buf *body,
                           struct rig_err *err)
{
    struct peer *peer = peer_of(team, rank);
    struct message *box = &peer->boxes[kind];
    pthread_mutex_lock(&team->lock);
    const struct message *end = &peer->boxes[RIG_TEAM_STATUS];
    while (!box->is_there && !end->is_there && !peer->is_lost)
        wait_a_little(team);
    const bool is_there = box->is_there;
    const bool is_over = !is_there && end->is_there;
    if (is_there && body != NULL)
        rig_buf_add(body, box->body.data, box->body.size);
    box->is_there = false;
    pthread_mutex_unlock(&team->lock);
    if (is_there)
        return RIG_OK;
    return is_over ? rig_fail(err, RIG_E_CLUSTER, "rank %u has ended the run", rank)
                   : rig_fail(err, RIG_E_CLUSTER, "rank %u was lost: %s", rank, peer->why);
}

enum rig_rc rig_team_await_status(struct rig_team *team, int *status, struct rig_err *err)
{
    struct rig_buf body;
    rig_buf_init(&body, 0);
    enum rig_rc rc = rig_team_await(team, 0, RIG_TEAM_STATUS, &body, err);
    if (rc == RIG_OK && body.size != sizeof *status)
        rc = rig_fail(err, RIG_E_CLUSTER, "rank 0 told a status of another build of rig");
    if (rc == RIG_OK)
        memcpy(status, body.data, sizeof *status);
    rig_buf_done(&body);
    return rc;
}

const char *rig_team_lost(struct rig_team *team, uint32_t rank)
{
    struct peer *peer = peer_of(team, rank);
    pthread_mutex_lock(&team->lock);
    const bool is_lost = peer->is_lost;
    pthread_mutex_unlock(&team->lock);
    return is_lost ? peer->why : NULL;
}

bool rig_team_clock_reaches(struct rig_team *team, int64_t at_ns)
{
    pthread_mutex_lock(&team->lock);
    const bool reaches = team->last_pong_ns > at_ns || team->peers[0].is_lost;
    pthread_mutex_unlock(&team->lock);
    return reaches;
}

void rig_team_clock(struct rig_team *team, bool settle, struct rig_clock_offsets *clock)
{
    pthread_mutex_lock(&team->lock);
    if (settle)
        (void)rig_clock_offsets_settle(&team->clock);
    *clock = team->clock;
    pthread_mutex_unlock(&team->lock);
}

/* -- calls --------------------------------------------------------------------------------------------------------- */

void rig_team_serve(struct rig_team *team, void (*serve)(void *context, int fd, uint32_t client), void *context)
{
    pthread_mutex_lock(&team->lock);
    team->serve = serve;
    team->serve_context = context;
    pthread_mutex_unlock(&team->lock);
}

void rig_team_serve_no_more(struct rig_team *team)
{
    pthread_mutex_lock(&team->lock);
    team->serve = NULL;
    pthread_mutex_unlock(&team->lock);
    end_calls(team, true, 0);
}

void rig_team_hang_up(struct rig_team *team, uint32_t rank)
{
    end_calls(team, false, rank);
}

enum rig_rc rig_team_call(struct rig_team *team, uint32_t client, int *fd, struct rig_err *err)
{
    const enum rig_rc rc = greet(team, GREETING_CALL, client, fd, err);
    if (rc == RIG_OK)
        rig_wire_tune(*fd, SILENCE_MS);
    return rc;
}

/* -- the end ------------------------------------------------------------------------------------------------------- */

void rig_team_dismiss(struct rig_team *team, int status)
{
    const int64_t until_ns = rig_clock_now_ns() + leave_ns;
    pthread_mutex_lock(&team->lock);
    team->is_leaving = true;
    pthread_mutex_unlock(&team->lock);
    rig_team_tell_all(team, RIG_TEAM_STATUS, &status, sizeof status);
    pthread_mutex_lock(&team->lock);
    for (uint32_t i = 1; i < peer_count(team); i++) {
        while (team->peers[i].has_thread && !team->peers[i].is_lost && rig_clock_now_ns() < until_ns)
            wait_a_little(team);
    }
    pthread_mutex_unlock(&team->lock);
}

void rig_team_free(struct rig_team *team)
{
    if (team == NULL)
        return;
    rig_team_serve_no_more(team);
    pthread_mutex_lock(&team->lock);
    team->is_leaving = true;
    pthread_mutex_unlock(&team->lock);
    if (team->has_acceptor) { /* a shutdown ends the listening of a copy, too */
        (void)shutdown(team->listener_fd, SHUT_RDWR);
        (void)pthread_join(team->acceptor, NULL);
    }
    if (team->listener_fd >= 0)
        (void)close(team->listener_fd);
    for (uint32_t i = 0; i < peer_count(team); i++) {
        struct peer *peer = &team->peers[i];
        if (peer->fd >= 0)
            (void)shutdown(peer->fd, SHUT_RDWR);
        if (peer->has_thread)
            (void)pthread_join(peer->thread, NULL);
    }
    if (team->has_pinger)
        (void)pthread_join(team->pinger, NULL);
    for (uint32_t i = 0; i < peer_count(team); i++) {
        struct peer *peer = &team->peers[i];
        if (peer->fd >= 0)
            (void)close(peer->fd);
        for (uint32_t kind = 0; kind < RIG_TEAM_KINDS; kind++)
            rig_buf_done(&peer->boxes[kind].body);
        (void)pthread_mutex_destroy(&peer->send_lock);
    }
    call_list_done(&team->calls);
    (void)pthread_cond_destroy(&team->moved);
    (void)pthread_mutex_destroy(&team->lock);
    free(team->peers);
    free(team);
}
