#include "run/load/run_session.h"

#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "base/clock.h"
#include "base/printable.h"
#include "base/secret.h"
#include "run/load/run_state.h"

enum rig_rc rig_run_session_init(struct rig_run_session *session, const struct rig_run_state *run, uint32_t client,
                                 struct rig_err *err)
{
    /* Whole cache lines, so that neighbours do not share one. */
    const size_t lines = (run->driver->session_size + RIG_CACHE_LINE_BYTES) / RIG_CACHE_LINE_BYTES;
    session->process = client;
    RIG_INVARIANT(pthread_mutex_init(&session->lock, NULL) == 0);
    session->object = aligned_alloc(RIG_CACHE_LINE_BYTES, lines * RIG_CACHE_LINE_BYTES);
    return session->object != NULL ? RIG_OK : rig_fail(err, RIG_E_LIMIT, RIG_NO_MEMORY "client %u", client);
}

void rig_run_session_done(struct rig_run_session *session)
{
    RIG_INVARIANT(!session->is_live);
    free(session->object);
    (void)pthread_mutex_destroy(&session->lock);
}

static void set_live(struct rig_run_session *session, bool live)
{
    pthread_mutex_lock(&session->lock);
    session->is_live = live;
    pthread_mutex_unlock(&session->lock);
}

void rig_run_session_interrupt(struct rig_run_client *client)
{
    struct rig_run_session *session = &client->session;
    pthread_mutex_lock(&session->lock);
    if (session->is_live)
        client->run->driver->interrupt(session->object);
    pthread_mutex_unlock(&session->lock);
}

void rig_run_session_close(struct rig_run_client *client, bool last)
{
    struct rig_run_session *session = &client->session;
    rig_run_session_mark_busy(session, rig_clock_now_ns());
    client->run->driver->close(session->object, last);
    rig_run_session_mark_busy(session, 0);
    set_live(session, false);
    session->is_open = false;
    atomic_store(&session->connected, false);
}

static void begin(struct rig_run_session *session, uint32_t client_count)
{
    if (rig_run_read(&session->opened) > 0)
        session->process += client_count;
    RIG_REQUIRE(session->process <= INT32_MAX);
    rig_run_count(&session->opened);
    session->is_open = true;
    session->failed_in_a_row = 0;
    atomic_store(&session->connected, true);
}

bool rig_run_session_open(struct rig_run_client *client)
{
    const struct rig_driver *driver = client->run->driver;
    struct rig_run_session *session = &client->session;
    struct rig_err err = {0};
    memset(session->object, 0, driver->session_size);
    rig_run_count(&session->attempts);
    set_live(session, true);
    rig_run_session_mark_busy(session, rig_clock_now_ns());
    enum rig_rc rc = driver->open(session->object, client->run->driver_run, client->index, &err);
    rig_run_session_mark_busy(session, 0);
    if (rc == RIG_OK) {
        begin(session, client->run->part.all_clients);
        return true;
    }
    rig_run_count(&session->failures);
    session->failed_in_a_row++;
    rig_secret_redact(err.text, sizeof err.text);
    rig_printable_line(err.text);
    if (session->first_err.rc == RIG_OK)
        session->first_err = err;
    rig_run_outages_note(&client->run->outages, client->index, err.text, rig_clock_now_ns());
    rig_run_session_close(client, false);
    return false;
}
