/* Lines of a watch: those of a run are handed over, whatever the pieces in which they arrive; all others are
 * refused. */
#include "tests/unit/cmocka_first.h"

#include <stdlib.h>
#include <string.h>

#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "drivers/etcd/etcd_certificate.h"
#include "drivers/etcd/etcd_watch.h"
#include "tests/unit/certificate_words.h"

static bool take_commit(void *context, uint64_t place, uint64_t id, uint32_t timeline)
{
    (void)context;
    assert_true(id == 0 && timeline == 0);
    rig_buf_printf(&taken, "commit %llu;", (unsigned long long)place);
    return true;
}

static const struct rig_certificate_sink sink = {.commit = take_commit, .version = take_version};

#define LINE(events) "{\"result\":{\"header\":{\"revision\":\"9\"},\"events\":[" events "]}}\n"
#define CREATED      "{\"result\":{\"header\":{\"revision\":\"9\"},\"created\":true}}\n"
#define PUT(key, revision, version, value)                                                                             \
    "{\"kv\":{\"key\":\"" key "\",\"create_revision\":\"2\",\"mod_revision\":\"" revision "\",\"version\":\"" version  \
    "\",\"value\":\"" value "\"}}"
#define REMOVED(key, revision) "{\"type\":\"DELETE\",\"kv\":{\"key\":\"" key "\",\"mod_revision\":\"" revision "\"}}"
/* run/5, run/6, run/end, run/x, other/5; [], [1], [1,2], [-3], 12, [1 */
#define RUN_5  "cnVuLzU="
#define RUN_6  "cnVuLzY="
#define END    "cnVuL2VuZA=="
#define RUN_X  "cnVuL3g="
#define OTHER  "b3RoZXIvNQ=="
#define EMPTY  "W10="
#define ONE    "WzFd"
#define TWO    "WzEsMl0="
#define THREE  "Wy0zXQ=="
#define TWELVE "MTI="
#define OPEN   "WzE="

/* The words for the text, in pieces of `piece` bytes; `*err` is the watch's. */
static const char *take(const char *text, bool is_list, size_t piece, struct rig_err *err, bool *ended)
{
    struct rig_etcd_watch watch;
    rig_etcd_watch_init(&watch, &sink, "run", is_list, 1);
    rig_buf_clear(&taken);
    for (size_t at = 0, size = strlen(text); at < size; at += piece) {
        if (!rig_etcd_watch_take(&watch, text + at, size - at < piece ? size - at : piece))
            break;
    }
    *err = watch.err;
    *ended = watch.ended;
    rig_etcd_watch_done(&watch);
    return rig_buf_text(&taken);
}

static const char whole[] =
    CREATED LINE(PUT(RUN_5, "2", "1", EMPTY) "," PUT(RUN_6, "2", "1", ONE) "," PUT(RUN_6, "3", "2", TWO))
        LINE(REMOVED(RUN_6, "5") "," PUT(RUN_6, "6", "1", THREE)) LINE(PUT(END, "7", "1", "MQ=="));

static void revisions_become_commits(void **state)
{
    (void)state;
    static const size_t pieces[] = {1, 7, sizeof whole};
    for (size_t i = 0; i < sizeof pieces / sizeof pieces[0]; i++) {
        struct rig_err err;
        bool ended;
        assert_string_equal(take(whole, true, pieces[i], &err, &ended),
                            "commit 2; 5=; 6=1;commit 3; 6=1,2;commit 5; 6=removed;commit 6; 6=-3;");
        assert_true(ended && err.rc == RIG_OK);
    }
    struct rig_err err;
    bool ended;
    assert_string_equal(take(LINE(PUT(RUN_5, "2", "1", TWELVE)), false, 9, &err, &ended), "commit 2; 5=12;");
    assert_true(!ended && err.rc == RIG_OK);
}

/* A connection that ends within a line goes on after the last revision of the line before. */
static void a_watch_resumes_after_whole_lines(void **state)
{
    (void)state;
    static const char first[] = LINE(PUT(RUN_5, "2", "1", ONE)), second[] = LINE(PUT(RUN_5, "3", "2", TWO));
    struct rig_etcd_watch watch;
    rig_etcd_watch_init(&watch, &sink, "run", true, 1);
    rig_buf_clear(&taken);
    assert_true(rig_etcd_watch_take(&watch, first, strlen(first)));
    assert_true(rig_etcd_watch_take(&watch, second, 40));
    rig_etcd_watch_resume(&watch);
    assert_int_equal(watch.revision, 2);
    assert_true(rig_etcd_watch_take(&watch, second, strlen(second)));
    assert_string_equal(rig_buf_text(&taken), "commit 2; 5=1;commit 3; 5=1,2;");
    rig_etcd_watch_done(&watch);
}

static void gaps_and_foreign_lines_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text, *problem;
    } cases[] = {
        {LINE(PUT(RUN_5, "2", "1", ONE) "," PUT(RUN_5, "4", "3", TWO)), "a version of a key is missing"},
        {LINE(PUT(RUN_5, "2", "2", ONE)), "a version of a key is missing"},
        {LINE(PUT(RUN_5, "2", "0", ONE)), "a version of a key is missing"},
        {LINE(PUT(RUN_5, "3", "1", ONE) "," PUT(RUN_6, "2", "1", ONE)), "revisions that do not ascend"},
        {LINE(PUT(RUN_5, "1", "1", ONE)), "revisions that do not ascend"},
        {LINE(PUT(RUN_X, "2", "1", ONE)), "a key that rig did not write"},
        {LINE(PUT(OTHER, "2", "1", ONE)), "a key of another run"},
        {LINE(PUT(RUN_5, "2", "1", OPEN)), "a value that rig did not write"},
        {LINE(PUT(RUN_5, "2", "1", TWELVE)), "a value that rig did not write"},
        {LINE(PUT("!", "2", "1", ONE)), "no text in base64"},
        {"{\"result\":{\"canceled\":true,\"compact_revision\":\"40\"}}\n",
         "etcd was compacted at revision 40, and the certificate ends at revision 1"},
        {"{\"result\":{\"canceled\":true}}\n", "etcd ended it"},
        {"{\"error\":{\"code\":5}}\n", "{\"error\":{\"code\":5}}"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct rig_err err;
        bool ended;
        (void)take(cases[i].text, true, 4096, &err, &ended);
        assert_true(!ended && err.rc == RIG_E_CLUSTER);
        if (strstr(err.text, cases[i].problem) == NULL)
            fail_msg("%zu: %s", i, err.text);
    }
}

/* ---- a watch while the load runs ---- */

/* A member that answers each connection with the next text, and then closes it. */
struct member {
    int fd;
    const char *const *answers;
    uint32_t count;
    char requests[2][2048];
};

static void *serve(void *object)
{
    struct member *member = object;
    for (uint32_t i = 0; i < member->count; i++) {
        const char *head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n";
        const int fd = accept(member->fd, NULL, NULL);
        size_t size = 0;
        while (size < sizeof member->requests[0] - 1 && strstr(member->requests[i], "}}") == NULL) {
            const ssize_t got = read(fd, member->requests[i] + size, sizeof member->requests[0] - 1 - size);
            if (got <= 0)
                break;
            size += (size_t)got;
        }
        (void)!write(fd, head, strlen(head));
        (void)!write(fd, member->answers[i], strlen(member->answers[i]));
        (void)close(fd);
    }
    return NULL;
}

static void log_nothing(int level, const char *area, const char *format, ...)
{
    (void)level;
    (void)area;
    (void)format;
}

static bool never(void)
{
    return false;
}

/* The words that the watch keeps when the member answers with these texts; `*err` is the thread's. */
static const char *watch_live(const char *const *answers, uint32_t count, struct member *member, struct rig_err *err,
                              bool *ended)
{
    static const struct rig_core core = {.log = log_nothing, .now_ns = rig_clock_now_ns, .stopping = never};
    static char folder[] = "/tmp/rig-etcd-watch-XXXXXX";
    char endpoint[1][RIG_ENDPOINT_BYTES], path[64];
    const struct rig_http_options options = {.connect_timeout_ns = INT64_C(5000000000), .max_answer_bytes = 1 << 20};
    (void)snprintf(folder, sizeof folder, "/tmp/rig-etcd-watch-XXXXXX");
    assert_non_null(mkdtemp(folder));
    const struct rig_run_env env = {
        .core = &core, .run_name = "run", .workload = RIG_WORKLOAD_LIST_APPEND, .work_dir = folder};
    struct rig_http_run run = {.env = &env, .options = &options, .endpoints = endpoint, .endpoint_count = 1};
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {.s_addr = htonl(INADDR_LOOPBACK)}};
    socklen_t size = sizeof address;
    *member = (struct member){.fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), .answers = answers, .count = count};
    assert_int_equal(bind(member->fd, (struct sockaddr *)&address, size), 0);
    assert_int_equal(listen(member->fd, 4), 0);
    assert_int_equal(getsockname(member->fd, (struct sockaddr *)&address, &size), 0);
    (void)snprintf(endpoint[0], sizeof endpoint[0], "http://127.0.0.1:%u", ntohs(address.sin_port));
    pthread_t thread;
    struct rig_etcd_live_watch live = {.run = NULL};
    struct rig_etcd_watch watch;
    struct rig_err failure = {0};
    assert_int_equal(rig_http_library_init(&failure), RIG_OK);
    assert_int_equal(pthread_create(&thread, NULL, serve, member), 0);
    assert_int_equal(rig_etcd_live_watch_begin(&live, &run, 1, &failure), RIG_OK);
    rig_etcd_watch_init(&watch, &sink, "run", true, 1);
    rig_buf_clear(&taken);
    assert_int_equal(rig_etcd_live_watch_end(&live, INT64_C(20000000000), &watch, &failure), RIG_OK);
    assert_int_equal(watch.err.rc, RIG_OK);
    assert_int_equal(pthread_join(thread, NULL), 0);
    *err = live.watch.err;
    *ended = watch.ended;
    rig_etcd_watch_done(&watch);
    rig_etcd_live_watch_done(&live);
    rig_etcd_live_watch_done(&live);
    (void)close(member->fd);
    (void)snprintf(path, sizeof path, "%s/changes", folder);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rmdir(folder), 0);
    return rig_buf_text(&taken);
}

#define FIRST  CREATED LINE(PUT(RUN_5, "2", "1", EMPTY)) LINE(PUT(RUN_6, "3", "1", ONE))
#define CUT    "{\"result\":{\"events\":[" PUT(RUN_6, "4", "2", TWO) /* no end of the line */
#define SECOND CREATED LINE(PUT(RUN_6, "4", "2", TWO)) LINE(PUT(END, "7", "1", "MQ=="))
#define GAP    "{\"result\":{\"created\":true,\"canceled\":true,\"compact_revision\":\"9\"}}\n"

static void a_watch_goes_on_behind_what_it_has(void **state)
{
    (void)state;
    static const char *const answers[] = {FIRST CUT, SECOND};
    struct member member;
    struct rig_err err;
    bool ended;
    assert_string_equal(watch_live(answers, 2, &member, &err, &ended), "commit 2; 5=;commit 3; 6=1;commit 4; 6=1,2;");
    assert_true(ended && err.rc == RIG_OK);
    assert_non_null(strstr(member.requests[0], "\"start_revision\":\"2\""));
    assert_non_null(strstr(member.requests[1], "\"start_revision\":\"4\""));
}

static void a_gap_ends_a_watch_with_what_it_has(void **state)
{
    (void)state;
    static const char *const answers[] = {FIRST CUT, GAP};
    struct member member;
    struct rig_err err;
    bool ended;
    assert_string_equal(watch_live(answers, 2, &member, &err, &ended), "commit 2; 5=;commit 3; 6=1;");
    assert_false(ended);
    assert_non_null(strstr(err.text, "etcd was compacted at revision 9, and the certificate ends at revision 3"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_watch_goes_on_behind_what_it_has), cmocka_unit_test(a_gap_ends_a_watch_with_what_it_has),
        cmocka_unit_test(revisions_become_commits),           cmocka_unit_test(a_watch_resumes_after_whole_lines),
        cmocka_unit_test(gaps_and_foreign_lines_are_refused),
    };
    rig_buf_init(&taken, 0);
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    rig_buf_done(&taken);
    return failed;
}
