/*
 * Bare clients, for comparison with rig's drivers: the same statements without rig (bench/bare_compare.py).
 *
 *   bench_bare mysql SOCKET DATABASE CLIENTS TRANSACTIONS
 *   bench_bare sqlite FILE SYNCHRONOUS CLIENTS TRANSACTIONS
 *
 * A transaction has four operations, each a read or an upsert of a list kept as text with even chance, on 2000 keys
 * chosen uniformly. mysql: one request of several statements a transaction, on blocking connections of threads. sqlite:
 * prepared statements, a process a client, as the driver has. A transaction that the database refuses is not repeated.
 * Prints the acknowledged transactions a second.
 */
#include <pthread.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/rng.h"

#ifdef RIG_BENCH_MYSQL
#include <mysql.h>
#endif

enum { OPERATIONS = 4, KEYS = 2000, CLIENTS_MOST = 256 };

/* In memory that processes share. */
struct shared {
    pthread_barrier_t start;
    _Atomic long acknowledged;
};

struct client {
    struct shared *shared;
    const char *place, *further; /* of the database */
    long transactions;
    unsigned number;
    struct rig_rng rng;
};

static _Noreturn void die(const char *what)
{
    (void)fprintf(stderr, "bench_bare: %s\n", what);
    exit(EXIT_FAILURE);
}

struct operation {
    bool reads;
    long long key, value;
};

static void draw(struct client *client, struct operation *operations)
{
    for (int i = 0; i < OPERATIONS; i++)
        operations[i] = (struct operation){.reads = rig_rng_below(&client->rng, 2) == 0,
                                           .key = (long long)rig_rng_below(&client->rng, KEYS),
                                           .value = 1 + (long long)rig_rng_below(&client->rng, 300)};
}

#ifdef RIG_BENCH_MYSQL
/* Takes all answers; false when one is an error. */
static bool take_answers(MYSQL *my)
{
    int next;
    do {
        MYSQL_RES *result = mysql_store_result(my);
        while (result != NULL && mysql_fetch_row(result) != NULL) {
        }
        mysql_free_result(result);
    } while ((next = mysql_next_result(my)) == 0);
    return next == -1;
}

static void *run_mysql(void *object)
{
    struct client *client = object;
    MYSQL *my = mysql_init(NULL);
    if (my == NULL ||
        mysql_real_connect(my, NULL, "root", NULL, client->further, 0, client->place, CLIENT_MULTI_STATEMENTS) == NULL)
        die(my == NULL ? "no memory" : mysql_error(my));
    if (mysql_query(my, "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED") != 0)
        die(mysql_error(my));
    (void)pthread_barrier_wait(&client->shared->start);
    for (long t = 0; t < client->transactions; t++) {
        struct operation operations[OPERATIONS];
        char sql[1024];
        int length = snprintf(sql, sizeof sql, "START TRANSACTION");
        draw(client, operations);
        for (int i = 0; i < OPERATIONS; i++) {
            const struct operation *op = &operations[i];
            if (op->reads)
                length += snprintf(sql + length, sizeof sql - (size_t)length,
                                   ";SELECT v FROM `%s`.rig_list_0 WHERE k = %lld", client->further, op->key);
            else
                length += snprintf(sql + length, sizeof sql - (size_t)length,
                                   ";INSERT INTO `%s`.rig_list_0 (k, v) VALUES (%lld, %lld) ON DUPLICATE KEY UPDATE v "
                                   "= CONCAT(v, ',', %lld)",
                                   client->further, op->key, op->value, op->value);
        }
        length += snprintf(sql + length, sizeof sql - (size_t)length, ";COMMIT");
        const bool sent = mysql_real_query(my, sql, (unsigned long)length) == 0;
        if (sent && take_answers(my))
            (void)atomic_fetch_add(&client->shared->acknowledged, 1);
        else if (mysql_query(my, "ROLLBACK") != 0)
            die(mysql_error(my));
    }
    mysql_close(my);
    return NULL;
}
#endif

enum { BEGIN, COMMIT, ROLLBACK, READ, PUT, STATEMENTS };

static bool step(sqlite3_stmt *statement)
{
    int rc;
    while ((rc = sqlite3_step(statement)) == SQLITE_ROW)
        (void)sqlite3_column_text(statement, 0);
    (void)sqlite3_reset(statement);
    return rc == SQLITE_DONE;
}

static bool transact_sqlite(struct client *client, sqlite3_stmt **statements)
{
    struct operation operations[OPERATIONS];
    draw(client, operations);
    bool good = step(statements[BEGIN]);
    for (int i = 0; good && i < OPERATIONS; i++) {
        sqlite3_stmt *statement = statements[operations[i].reads ? READ : PUT];
        (void)sqlite3_bind_int64(statement, 1, operations[i].key);
        if (!operations[i].reads)
            (void)sqlite3_bind_int64(statement, 2, operations[i].value);
        good = step(statement);
    }
    good = good && step(statements[COMMIT]);
    if (!good)
        (void)step(statements[ROLLBACK]);
    return good;
}

static void run_sqlite(struct client *client)
{
    static const char *const texts[STATEMENTS] = {
        "BEGIN IMMEDIATE", "COMMIT", "ROLLBACK", "SELECT v FROM rig_0 WHERE k = ?1",
        "INSERT INTO rig_0 AS t (k, v) VALUES (?1, ?2) ON CONFLICT (k) DO UPDATE SET v = t.v || ',' || excluded.v"};
    sqlite3 *db = NULL;
    sqlite3_stmt *statements[STATEMENTS];
    char sql[128];
    (void)snprintf(sql, sizeof sql, "PRAGMA journal_mode=wal; PRAGMA synchronous=%.20s", client->further);
    if (sqlite3_open(client->place, &db) != SQLITE_OK || sqlite3_busy_timeout(db, 5000) != SQLITE_OK ||
        sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK)
        die(db == NULL ? "no memory" : sqlite3_errmsg(db));
    for (int i = 0; i < STATEMENTS; i++) {
        if (sqlite3_prepare_v2(db, texts[i], -1, &statements[i], NULL) != SQLITE_OK)
            die(sqlite3_errmsg(db));
    }
    (void)pthread_barrier_wait(&client->shared->start);
    for (long t = 0; t < client->transactions; t++) {
        if (transact_sqlite(client, statements))
            (void)atomic_fetch_add(&client->shared->acknowledged, 1);
    }
    for (int i = 0; i < STATEMENTS; i++)
        (void)sqlite3_finalize(statements[i]);
    (void)sqlite3_close(db);
}

#ifdef RIG_BENCH_MYSQL
/* Starts the clients; returns the nanoseconds from the barrier to the end of the last one. */
static int64_t run_threads(struct client *clients, unsigned count, void *(*run)(void *client))
{
    pthread_t threads[CLIENTS_MOST];
    for (unsigned i = 0; i < count; i++) {
        if (pthread_create(&threads[i], NULL, run, &clients[i]) != 0)
            die("cannot start a thread");
    }
    (void)pthread_barrier_wait(&clients[0].shared->start);
    const int64_t start_ns = rig_clock_now_ns();
    for (unsigned i = 0; i < count; i++)
        (void)pthread_join(threads[i], NULL);
    return rig_clock_now_ns() - start_ns;
}
#endif

/* The same for processes. */
static int64_t run_processes(struct client *clients, unsigned count, void (*run)(struct client *client))
{
    for (unsigned i = 0; i < count; i++) {
        const pid_t pid = fork();
        if (pid < 0)
            die("cannot start a process");
        if (pid == 0) {
            run(&clients[i]);
            _exit(EXIT_SUCCESS);
        }
    }
    (void)pthread_barrier_wait(&clients[0].shared->start);
    const int64_t start_ns = rig_clock_now_ns();
    for (unsigned i = 0; i < count; i++) {
        int status = 0;
        if (wait(&status) < 0 || status != 0)
            die("a client failed");
    }
    return rig_clock_now_ns() - start_ns;
}

int main(int argc, char **argv)
{
    static struct client clients[CLIENTS_MOST];
    const long count = argc == 6 ? strtol(argv[4], NULL, 10) : 0,
               transactions = argc == 6 ? strtol(argv[5], NULL, 10) : 0;
    if (count < 1 || count > CLIENTS_MOST || transactions < count)
        die("usage: bench_bare mysql SOCKET DATABASE CLIENTS TRANSACTIONS, or sqlite FILE SYNCHRONOUS CLIENTS "
            "TRANSACTIONS");
    struct shared *shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pthread_barrierattr_t attributes;
    if (shared == MAP_FAILED || pthread_barrierattr_init(&attributes) != 0 ||
        pthread_barrierattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED) != 0 ||
        pthread_barrier_init(&shared->start, &attributes, (unsigned)count + 1) != 0)
        die("no shared memory");
    for (unsigned i = 0; i < count; i++) {
        clients[i] = (struct client){
            .shared = shared, .place = argv[2], .further = argv[3], .transactions = transactions / count, .number = i};
        rig_rng_init(&clients[i].rng, 1, i);
    }
    int64_t spent_ns = 0;
#ifdef RIG_BENCH_MYSQL
    if (strcmp(argv[1], "mysql") == 0)
        spent_ns = run_threads(clients, (unsigned)count, run_mysql);
#endif
    if (strcmp(argv[1], "sqlite") == 0)
        spent_ns = run_processes(clients, (unsigned)count, run_sqlite);
    if (spent_ns == 0)
        die("built without this database's library");
    printf("%.1f\n", (double)atomic_load(&shared->acknowledged) / ((double)spent_ns / 1e9));
    return EXIT_SUCCESS;
}
