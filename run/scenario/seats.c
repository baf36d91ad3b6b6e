#include "run/scenario/seats.h"

#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "base/thread.h"

void rig_seats_init(struct rig_seats *seats, const struct rig_driver *driver, void *driver_run,
                    void (*play)(struct rig_seat *seat))
{
    *seats = (struct rig_seats){.driver = driver, .driver_run = driver_run, .play = play};
    RIG_INVARIANT(pthread_mutex_init(&seats->lock, NULL) == 0 && pthread_cond_init(&seats->changed, NULL) == 0);
}

void rig_seats_done(struct rig_seats *seats)
{
    (void)pthread_cond_destroy(&seats->changed);
    (void)pthread_mutex_destroy(&seats->lock);
}

static void *seat_main(void *argument)
{
    struct rig_seat *seat = argument;
    struct rig_seats *seats = seat->seats;
    const bool is_open = seats->driver->open(seat->session, seats->driver_run, seat->number, &seat->err) == RIG_OK;
    (void)pthread_mutex_lock(&seats->lock);
    seat->is_open = is_open;
    seats->arrived++;
    (void)pthread_cond_broadcast(&seats->changed);
    (void)pthread_mutex_unlock(&seats->lock);
    seats->play(seat);
    seats->driver->close(seat->session, true);
    return NULL;
}

enum rig_rc rig_seats_add(struct rig_seats *seats, struct rig_seat *seat, struct rig_err *err)
{
    RIG_REQUIRE(seats->count < RIG_SEATS_MOST);
    seat->seats = seats;
    seat->number = seats->count;
    seat->order = RIG_SEAT_NOTHING;
    seat->session = calloc(1, seats->driver->session_size == 0 ? 1 : seats->driver->session_size);
    if (seat->session == NULL)
        return rig_no_memory(err, "a session");
    const int error = rig_thread_start(&seat->thread, seat_main, seat);
    if (error != 0) {
        free(seat->session);
        return rig_fail(err, RIG_E_LIMIT, "cannot start the thread of a session: %s", strerror(error));
    }
    seats->at[seats->count++] = seat;
    return RIG_OK;
}

enum rig_rc rig_seats_await(struct rig_seats *seats, const char *const *names, struct rig_err *err)
{
    (void)pthread_mutex_lock(&seats->lock);
    while (seats->arrived < seats->count)
        (void)pthread_cond_wait(&seats->changed, &seats->lock);
    (void)pthread_mutex_unlock(&seats->lock);
    for (uint32_t i = 0; i < seats->count; i++) {
        const struct rig_seat *seat = seats->at[i];
        if (!seat->is_open)
            return rig_fail(err, seat->err.rc, "session %s cannot be opened: %s", names[i], seat->err.text);
    }
    return RIG_OK;
}

void rig_seats_empty(struct rig_seats *seats)
{
    (void)pthread_mutex_lock(&seats->lock);
    for (uint32_t i = 0; i < seats->count; i++)
        seats->at[i]->order = RIG_SEAT_TO_THE_END;
    (void)pthread_cond_broadcast(&seats->changed);
    (void)pthread_mutex_unlock(&seats->lock);
    for (uint32_t i = 0; i < seats->count; i++) {
        (void)pthread_join(seats->at[i]->thread, NULL);
        free(seats->at[i]->session);
    }
}

int rig_seat_await(struct rig_seat *seat)
{
    struct rig_seats *seats = seat->seats;
    (void)pthread_mutex_lock(&seats->lock);
    while (seat->order == RIG_SEAT_NOTHING)
        (void)pthread_cond_wait(&seats->changed, &seats->lock);
    const int order = seat->order;
    if (order >= 0) {
        seat->running = (uint32_t)order;
        seat->order = RIG_SEAT_NOTHING;
    }
    (void)pthread_mutex_unlock(&seats->lock);
    return order;
}
