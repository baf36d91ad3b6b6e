#include "run/load/remote_driver.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/bug.h"
#include "run/ranks/rank_wire.h"
#include "run/load/run_state.h"

enum message { ASK_TRANSACT = 1, ASK_CLOSE, TELL_OPENED, TELL_ANSWER, TELL_CLOSED };

/* Behind it: the operations. */
struct question {
    struct rig_hold hold;
    struct rig_rollback rollback;
    uint32_t op_count, node;
    bool rolls_back, delayed, read_only;
};

/* Behind it: the reads, one an operation, and the elements. */
struct answer {
    enum rig_outcome outcome;
    enum rig_phase phase;
    enum rig_error_class error_class;
    uint32_t op_count;
    uint64_t element_count;
    bool session_lost;
    struct rig_column_row columns;
    int64_t end_ns, next_ns; /* of the session's own clock */
    char error_code[RIG_ERROR_CODE_BYTES], error_text[RIG_ERROR_TEXT_BYTES];
};

struct opened {
    enum rig_rc rc;
    int64_t next_ns;
    char text[RIG_ERR_TEXT_BYTES];
};

/* Names have numbers of this process, and times are on its clock: the other rank does not get them. */
#define LOCAL_COLUMN(name, text, type, expected, help) | (RIG_COLUMNS_OF_##type(name))
#define RIG_COLUMNS_OF_NAME(name)                      RIG_COLUMN_BIT(name)
#define RIG_COLUMNS_OF_SPANS(name)                     RIG_COLUMN_BIT(name)
#define RIG_COLUMNS_OF_NUMBER(name)                    0
static const uint32_t local_columns = 0 RIG_COLUMN_TABLE(LOCAL_COLUMN);

/* -- another rank -------------------------------------------------------------------------------------------------- */

struct remote_run {
    const struct rig_run_env *env;
    const struct rig_remote_options *options;
};

struct remote_session {
    const struct remote_run *run;
    _Atomic int fd; /* one more than it; 0: none */
    atomic_bool interrupted;
    bool has_ended; /* now_ns() has not given end_ns yet */
    int64_t end_ns, next_ns;
    struct rig_buf out, in;
};

static enum rig_rc remote_init(void *run, const struct rig_run_env *env, struct rig_err *err)
{
    (void)err;
    struct remote_run *r = run;
    *r = (struct remote_run){.env = env, .options = env->options};
    return RIG_OK;
}

static void remote_done(void *run)
{
    (void)run;
}

static int fd_of(struct remote_session *s)
{
    return atomic_load(&s->fd) - 1;
}

static enum rig_rc remote_open(void *session, void *run, uint32_t client, struct rig_err *err)
{
    struct remote_session *s = session;
    struct remote_run *r = run;
    int fd;
    s->run = r;
    rig_buf_init(&s->out, RIG_WIRE_MESSAGE_MOST);
    rig_buf_init(&s->in, RIG_WIRE_MESSAGE_MOST);
    const enum rig_rc rc = rig_team_call(r->options->team, client, &fd, err);
    if (rc != RIG_OK)
        return rc;
    atomic_store(&s->fd, fd + 1);
    if (atomic_load(&s->interrupted))
        return rig_fail(err, RIG_E_INTERRUPTED, "interrupted");
    uint32_t kind;
    struct opened opened;
    if (!rig_wire_receive(fd, 0, &kind, &s->in) || kind != TELL_OPENED || s->in.size != sizeof opened)
        return rig_fail(err, RIG_E_CLUSTER, "rank 0 closed the session's connection");
    memcpy(&opened, s->in.data, sizeof opened);
    s->next_ns = opened.next_ns;
    return opened.rc == RIG_OK ? RIG_OK : rig_fail(err, opened.rc, "%s", opened.text);
}

/* Nothing is known of the transaction that was sent. */
static enum rig_outcome lose_answer(struct rig_transaction *transaction)
{
    transaction->phase = RIG_PHASE_COMMIT;
    transaction->session_lost = true;
    (void)snprintf(transaction->error_code, sizeof transaction->error_code, "rank-0");
    (void)snprintf(transaction->error_text, sizeof transaction->error_text, "the connection to rank 0 ended");
    return RIG_OUTCOME_INFO;
}

/* False: the answer makes no sense, or there is no memory for it. */
static bool take_answer(struct remote_session *s, struct rig_transaction *transaction, struct answer *answer)
{
    if (s->in.size < sizeof *answer)
        return false;
    memcpy(answer, s->in.data, sizeof *answer);
    const size_t reads_bytes = transaction->op_count * sizeof *transaction->reads;
    const size_t left = s->in.size - sizeof *answer;
    if (answer->op_count != transaction->op_count || left < reads_bytes ||
        answer->element_count != (left - reads_bytes) / sizeof(int64_t))
        return false;
    memcpy(transaction->reads, s->in.data + sizeof *answer, reads_bytes);
    if (answer->element_count > 0) {
        int64_t *elements = s->run->env->core->elements(transaction, answer->element_count);
        if (elements == NULL)
            return false;
        memcpy(elements, s->in.data + sizeof *answer + reads_bytes, answer->element_count * sizeof *elements);
        transaction->element_count += answer->element_count;
    }
    return true;
}

static enum rig_outcome remote_transact(void *session, struct rig_transaction *transaction)
{
    struct remote_session *s = session;
    const struct question question = {.hold = transaction->hold,
                                      .rollback = transaction->rollback,
                                      .op_count = transaction->op_count,
                                      .node = transaction->node,
                                      .rolls_back = transaction->rolls_back,
                                      .delayed = transaction->delayed,
                                      .read_only = transaction->read_only};
    rig_buf_clear(&s->out);
    rig_buf_add(&s->out, &question, sizeof question);
    rig_buf_add(&s->out, transaction->ops, transaction->op_count * sizeof *transaction->ops);
    uint32_t kind;
    struct answer answer;
    const int fd = fd_of(s);
    s->end_ns = s->next_ns; /* if nothing comes back: it has lasted at least for no time */
    s->has_ended = true;
    if (!rig_wire_send(fd, ASK_TRANSACT, s->out.data, s->out.size) || !rig_wire_receive(fd, 0, &kind, &s->in) ||
        kind != TELL_ANSWER || !take_answer(s, transaction, &answer))
        return lose_answer(transaction);
    transaction->phase = answer.phase;
    transaction->error_class = answer.error_class;
    transaction->session_lost = answer.session_lost;
    transaction->columns = answer.columns;
    transaction->columns.given &= ~local_columns;
    memcpy(transaction->error_code, answer.error_code, sizeof answer.error_code);
    memcpy(transaction->error_text, answer.error_text, sizeof answer.error_text);
    s->end_ns = answer.end_ns;
    s->next_ns = answer.next_ns;
    return answer.outcome;
}

static void remote_interrupt(void *session)
{
    struct remote_session *s = session;
    atomic_store(&s->interrupted, true);
    const int fd = fd_of(s);
    if (fd >= 0)
        (void)shutdown(fd, SHUT_RDWR);
}

static void remote_close(void *session, bool last)
{
    struct remote_session *s = session;
    const int fd = fd_of(s);
    uint32_t kind;
    if (fd >= 0) {
        if (rig_wire_send(fd, ASK_CLOSE, &last, sizeof last))
            (void)rig_wire_receive(fd, 0, &kind, &s->in);
        (void)close(fd);
    }
    rig_buf_done(&s->out);
    rig_buf_done(&s->in);
}

static int64_t remote_now_ns(void *session)
{
    struct remote_session *s = session;
    if (!s->has_ended)
        return s->next_ns;
    s->has_ended = false;
    return s->end_ns;
}

void rig_remote_driver_init(struct rig_driver *driver, const struct rig_driver *original)
{
    *driver = (struct rig_driver){.abi = RIG_DRIVER_ABI,
                                  .struct_size = sizeof *driver,
                                  .name = original->name,
                                  .summary = original->summary,
                                  .workloads = original->workloads,
                                  .features = original->features,
                                  .run_size = sizeof(struct remote_run),
                                  .session_size = sizeof(struct remote_session),
                                  .init = remote_init,
                                  .done = remote_done,
                                  .open = remote_open,
                                  .transact = remote_transact,
                                  .interrupt = remote_interrupt,
                                  .close = remote_close,
                                  .now_ns = original->now_ns != NULL ? remote_now_ns : NULL,
                                  .columns = original->columns & ~local_columns};
}

/* -- rank 0 -------------------------------------------------------------------------------------------------------- */

/* One session of another rank. */
struct rig_served {
    struct rig_served *next;
    struct rig_run_client client; /* what services of the core know a transaction by */
    void *session;
    struct rig_buf in, out, ops;
};

static void enlist(struct rig_served_list *list, struct rig_served *served)
{
    pthread_mutex_lock(&list->lock);
    served->next = list->first;
    list->first = served;
    pthread_mutex_unlock(&list->lock);
}

static void strike_out(struct rig_served_list *list, struct rig_served *served)
{
    pthread_mutex_lock(&list->lock);
    struct rig_served **at = &list->first;
    while (*at != served)
        at = &(*at)->next;
    *at = served->next;
    pthread_mutex_unlock(&list->lock);
}

void rig_remote_interrupt_all(struct rig_run_state *run)
{
    pthread_mutex_lock(&run->served.lock);
    for (struct rig_served *one = run->served.first; one != NULL; one = one->next)
        run->driver->interrupt(one->session);
    pthread_mutex_unlock(&run->served.lock);
}

static struct rig_served *served_new(struct rig_run_state *run, uint32_t client)
{
    struct rig_served *made = aligned_alloc(alignof(struct rig_served), sizeof *made);
    const size_t lines = (run->driver->session_size + RIG_CACHE_LINE_BYTES) / RIG_CACHE_LINE_BYTES;
    if (made == NULL)
        return NULL;
    memset(made, 0, sizeof *made);
    made->session = aligned_alloc(RIG_CACHE_LINE_BYTES, lines * RIG_CACHE_LINE_BYTES);
    if (made->session == NULL) {
        free(made);
        return NULL;
    }
    memset(made->session, 0, lines * RIG_CACHE_LINE_BYTES);
    made->client.run = run;
    made->client.index = client;
    made->client.transaction.client = client;
    made->client.transaction.core_private = &made->client;
    rig_rng_init(&made->client.jitter, run->plan->seed, (UINT64_C(1) << 33) + client);
    rig_buf_init(&made->in, RIG_WIRE_MESSAGE_MOST);
    rig_buf_init(&made->out, RIG_WIRE_MESSAGE_MOST);
    rig_buf_init(&made->ops, RIG_WIRE_MESSAGE_MOST);
    return made;
}

static void served_free(struct rig_served *served)
{
    free(served->client.transaction.elements);
    free(served->client.reads);
    free(served->session);
    rig_buf_done(&served->in);
    rig_buf_done(&served->out);
    rig_buf_done(&served->ops);
    free(served);
}

static int64_t session_now_ns(const struct rig_run_state *run, struct rig_served *served)
{
    return run->simulated ? run->driver->now_ns(served->session) : 0;
}

/* False: the question makes no sense. */
static bool take_question(struct rig_served *served)
{
    struct rig_transaction *transaction = &served->client.transaction;
    struct question question;
    if (served->in.size < sizeof question)
        return false;
    memcpy(&question, served->in.data, sizeof question);
    const size_t bytes = served->in.size - sizeof question;
    if (question.op_count == 0 || bytes != question.op_count * sizeof(struct rig_op))
        return false;
    rig_buf_clear(&served->ops);
    rig_buf_add(&served->ops, served->in.data + sizeof question, bytes);
    struct rig_read *reads = realloc(served->client.reads, question.op_count * sizeof *reads);
    if (reads == NULL || served->ops.failed)
        return false;
    memset(reads, 0, question.op_count * sizeof *reads);
    served->client.reads = reads;
    *transaction = (struct rig_transaction){.ops = (const struct rig_op *)(const void *)served->ops.data,
                                            .op_count = question.op_count,
                                            .hold = question.hold,
                                            .rollback = question.rollback,
                                            .rolls_back = question.rolls_back,
                                            .delayed = question.delayed,
                                            .client = served->client.index,
                                            .read_only = question.read_only,
                                            .node = question.node,
                                            .reads = reads,
                                            .elements = transaction->elements,
                                            .element_capacity = transaction->element_capacity,
                                            .phase = RIG_PHASE_CONNECT,
                                            .core_private = &served->client};
    return true;
}

/* Runs the transaction that was asked for, and answers. False: the connection is over. */
static bool serve_transaction(struct rig_run_state *run, struct rig_served *served, int fd)
{
    struct rig_transaction *transaction = &served->client.transaction;
    if (!take_question(served))
        return false;
    struct answer answer = {.outcome = run->driver->transact(served->session, transaction)};
    answer.end_ns = session_now_ns(run, served);
    answer.next_ns = session_now_ns(run, served);
    answer.phase = transaction->phase;
    answer.error_class = transaction->error_class;
    answer.session_lost = transaction->session_lost;
    answer.columns = transaction->columns;
    answer.op_count = transaction->op_count;
    answer.element_count = transaction->element_count;
    memcpy(answer.error_code, transaction->error_code, sizeof answer.error_code);
    memcpy(answer.error_text, transaction->error_text, sizeof answer.error_text);
    rig_buf_clear(&served->out);
    rig_buf_add(&served->out, &answer, sizeof answer);
    rig_buf_add(&served->out, transaction->reads, transaction->op_count * sizeof *transaction->reads);
    rig_buf_add(&served->out, transaction->elements, transaction->element_count * sizeof *transaction->elements);
    return !served->out.failed && rig_wire_send(fd, TELL_ANSWER, served->out.data, served->out.size);
}

/* Until the session is to be closed; `last` as the driver's close takes it. A connection that ends is the client's
 * end. */
static void serve_session(struct rig_run_state *run, struct rig_served *served, int fd, bool *last)
{
    uint32_t kind;
    *last = true;
    while (rig_wire_receive(fd, 0, &kind, &served->in)) {
        if (kind == ASK_CLOSE && served->in.size == sizeof *last) {
            memcpy(last, served->in.data, sizeof *last);
            return;
        }
        if (kind != ASK_TRANSACT || !serve_transaction(run, served, fd))
            return;
    }
}

void rig_remote_serve(void *context, int fd, uint32_t client)
{
    struct rig_run_state *run = context;
    if (client >= run->part.all_clients)
        return;
    struct rig_served *served = served_new(run, client);
    if (served == NULL)
        return;
    enlist(&run->served, served);
    struct rig_err err = {.rc = RIG_OK};
    struct opened opened = {.rc = run->driver->open(served->session, run->driver_run, client, &err)};
    bool last = false;
    if (opened.rc == RIG_OK)
        opened.next_ns = session_now_ns(run, served);
    (void)snprintf(opened.text, sizeof opened.text, "%s", err.text);
    if (rig_wire_send(fd, TELL_OPENED, &opened, sizeof opened) && opened.rc == RIG_OK)
        serve_session(run, served, fd, &last);
    run->driver->close(served->session, last);
    strike_out(&run->served, served);
    (void)rig_wire_send(fd, TELL_CLOSED, NULL, 0);
    served_free(served);
}

void rig_remote_retire(struct rig_run_state *run, uint32_t client)
{
    struct rig_err err = {.rc = RIG_OK};
    struct rig_served *served = served_new(run, client);
    if (served == NULL)
        return;
    (void)run->driver->open(served->session, run->driver_run, client, &err);
    run->driver->close(served->session, true);
    served_free(served);
}
