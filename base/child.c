#include "base/child.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/bug.h"
#include "base/clock.h"
#include "base/process.h"
#include "base/thread.h"

enum {
    WAIT_STEP_NS = 2 * 1000 * 1000,
    TETHER_FD = 3,
    PROBLEM_FD_LEAST = 10, /* above the descriptors that a child gets */
    ENVIRONMENT_MOST = 32,
    PROCESSES_MOST = 4096,
    LEFT_MOST = 256,
};

/* The one request that the forking thread serves at a time. */
struct request {
    const struct rig_child_command *command;
    struct rig_child *child;
    struct rig_err *err;
    enum rig_rc rc;
    bool served;
};

struct rig_children {
    char family[RIG_CHILD_MARK_BYTES]; /* begins the marks of its children; constant */
    uint64_t marked;                   /* children with a mark so far; of the forking thread */
    pthread_t thread;
    pthread_mutex_t mutex; /* guards all below */
    pthread_cond_t changed;
    struct request *request;
    bool ending;
};

/* The children of every struct rig_children: none of them is an orphan of another one. The lock is also held while
 * forking, so that no child is without its place here, and taken under any other. */
static pthread_mutex_t all_lock = PTHREAD_MUTEX_INITIALIZER;
static struct rig_child *all;

/* ---- between fork and exec ---- */

/* The child's report of a failure, sent through a pipe that a successful exec closes. */
struct exec_problem {
    int error;
    bool account; /* changing the account failed; otherwise executing the program did */
};

/* Prepared before the fork, because only async-signal-safe calls are allowed after it. */
struct preparation {
    const struct rig_child_command *command;
    const char *environment[ENVIRONMENT_MOST + 1];
    const char **marked; /* owned: the whole environment and the mark; NULL: without one */
    pid_t parent;
    int null_fd;
    int tether_fd;
    int problem_fd;
};

_Noreturn static void become(const struct preparation *ready)
{
    static const int signals[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGPIPE, SIGCHLD, SIGUSR1, SIGUSR2, SIGALRM};
    const struct rig_child_command *command = ready->command;
    struct sigaction normal = {.sa_handler = SIG_DFL};
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++)
        (void)sigaction(signals[i], &normal, NULL);
    sigset_t none;
    (void)sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
    (void)setsid();
    (void)dup2(command->input_plus_one > 0 ? command->input_plus_one - 1 : ready->null_fd, STDIN_FILENO);
    (void)dup2(command->output, STDOUT_FILENO);
    (void)dup2(command->errors_plus_one > 0 ? command->errors_plus_one - 1 : command->output, STDERR_FILENO);
    int tether = fcntl(ready->tether_fd, F_DUPFD_CLOEXEC, PROBLEM_FD_LEAST);
    (void)dup2(tether, TETHER_FD);
    (void)close_range(TETHER_FD + 1, ~0U, CLOSE_RANGE_CLOEXEC);
    (void)umask(077);
    struct exec_problem problem = {.account = true};
    if (rig_account_become(command->account)) {
        problem.account = false;
        /* After the change of account, which clears it; a parent that died before is seen by its number. */
        (void)prctl(PR_SET_PDEATHSIG, command->death_signal);
        if (getppid() == ready->parent && chdir(command->home) == 0)
            (void)execve(command->arguments[0], (char *const *)(uintptr_t)command->arguments,
                         (char *const *)(uintptr_t)(ready->marked != NULL        ? ready->marked
                                                    : command->whole_environment ? command->environment
                                                                                 : ready->environment));
    }
    problem.error = errno;
    (void)!write(ready->problem_fd, &problem, sizeof problem);
    _exit(127);
}

/* ---- starting ---- */

/* The mark replaces that of a rig whose child this one is. */
static enum rig_rc add_mark(struct preparation *ready, const char *mark, struct rig_err *err)
{
    const char *const *given = ready->command->environment;
    const size_t name = strcspn(mark, "=") + 1;
    size_t count = 0, kept = 0;
    while (given[count] != NULL)
        count++;
    ready->marked = calloc(count + 2, sizeof *ready->marked);
    if (ready->marked == NULL)
        return rig_no_memory(err, "an environment");
    for (size_t i = 0; i < count; i++) {
        if (mark[0] == '\0' || strncmp(given[i], mark, name) != 0)
            ready->marked[kept++] = given[i];
    }
    if (mark[0] != '\0')
        ready->marked[kept] = mark;
    return RIG_OK;
}

static enum rig_rc prepare_environment(struct preparation *ready, const char *mark, struct rig_err *err)
{
    static const char *const always[] = {
        "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
        "LC_ALL=C",
        "TZ=UTC",
    };
    size_t count = sizeof always / sizeof always[0];
    if (ready->command->whole_environment)
        return ready->command->marked ? add_mark(ready, mark, err) : RIG_OK;
    memcpy(ready->environment, always, sizeof always);
    for (const char *const *more = ready->command->environment; more != NULL && *more != NULL; more++) {
        if (count == ENVIRONMENT_MOST)
            return rig_fail(err, RIG_E_LIMIT, "more than %d variables for the environment of %s", ENVIRONMENT_MOST,
                            ready->command->arguments[0]);
        ready->environment[count++] = *more;
    }
    ready->environment[count] = NULL;
    return RIG_OK;
}

static enum rig_rc explain(const struct rig_child_command *command, const struct exec_problem *problem,
                           struct rig_err *err)
{
    const char *as = command->account->drop ? command->account->name : "rig's own user";
    if (problem->account)
        return rig_fail(err, RIG_E_CLUSTER, "cannot change to the user %s: %s", as, strerror(problem->error));
    return rig_fail(err, RIG_E_CLUSTER, "%s cannot be executed by %s: %s", command->arguments[0], as,
                    strerror(problem->error));
}

static void close_all(const int *fds, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (fds[i] >= 0)
            (void)close(fds[i]);
    }
}

static void note_program(struct rig_child *child, const char *path)
{
    const char *slash = strrchr(path, '/');
    (void)snprintf(child->program, sizeof child->program, "%s", slash == NULL ? path : slash + 1);
}

/* Forks and waits until the program runs. With `all_lock`. */
static enum rig_rc spawn(const struct rig_child_command *command, struct rig_child *child, struct rig_err *err)
{
    enum { TETHER, TETHER_OF_CHILD, PROBLEM, PROBLEM_OF_CHILD, NULL_FD, FD_COUNT };
    int fds[FD_COUNT] = {-1, -1, -1, -1, -1};
    struct preparation ready = {.command = command, .parent = getpid()};
    if (prepare_environment(&ready, child->mark, err) != RIG_OK)
        return RIG_E_LIMIT;
    fds[NULL_FD] = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (fds[NULL_FD] < 0 || pipe2(fds + TETHER, O_CLOEXEC) != 0 || pipe2(fds + PROBLEM, O_CLOEXEC) != 0) {
        int error = errno;
        close_all(fds, FD_COUNT);
        free(ready.marked);
        return rig_fail(err, RIG_E_CLUSTER, "no descriptors for a child process: %s", strerror(error));
    }
    /* Not a descriptor that the child uses for its own. */
    ready.problem_fd = fcntl(fds[PROBLEM_OF_CHILD], F_DUPFD_CLOEXEC, PROBLEM_FD_LEAST);
    ready.null_fd = fds[NULL_FD];
    ready.tether_fd = fds[TETHER_OF_CHILD];
    pid_t pid = fork();
    if (pid == 0)
        become(&ready);
    int error = errno;
    free(ready.marked);
    close_all(fds + NULL_FD, 1);
    close_all(fds + TETHER_OF_CHILD, 1);
    close_all(fds + PROBLEM_OF_CHILD, 1);
    close_all(&ready.problem_fd, 1);
    enum rig_rc rc = RIG_OK;
    struct exec_problem problem;
    if (pid < 0) {
        rc = rig_fail(err, RIG_E_CLUSTER, "fork: %s", strerror(error));
    } else if (read(fds[PROBLEM], &problem, sizeof problem) == (ssize_t)sizeof problem) {
        (void)waitpid(pid, NULL, 0);
        rc = explain(command, &problem, err);
    }
    close_all(fds + PROBLEM, 1);
    if (rc != RIG_OK) {
        close_all(fds + TETHER, 1);
        return rc;
    }
    child->tether_plus_one = fds[TETHER] + 1;
    note_program(child, command->arguments[0]);
    atomic_store(&child->pid, pid);
    return RIG_OK;
}

static void *fork_on_request(void *object)
{
    struct rig_children *children = object;
    (void)pthread_mutex_lock(&children->mutex);
    while (!children->ending) {
        struct request *request = children->request;
        if (request == NULL) {
            (void)pthread_cond_wait(&children->changed, &children->mutex);
            continue;
        }
        (void)pthread_mutex_lock(&all_lock);
        request->child->mark[0] = '\0';
        if (request->command->marked)
            rig_child_mark_of(children->family, children->marked++, request->child->mark);
        request->rc = spawn(request->command, request->child, request->err);
        if (request->rc == RIG_OK) {
            request->child->next = all;
            all = request->child;
        }
        (void)pthread_mutex_unlock(&all_lock);
        request->served = true;
        children->request = NULL;
        (void)pthread_cond_broadcast(&children->changed);
    }
    (void)pthread_mutex_unlock(&children->mutex);
    return NULL;
}

enum rig_rc rig_children_new(struct rig_children **children, struct rig_err *err)
{
    struct rig_children *made = calloc(1, sizeof *made);
    if (made == NULL)
        return rig_no_memory(err, "the list of child processes");
    rig_child_mark_family(made->family);
    (void)pthread_mutex_init(&made->mutex, NULL);
    (void)pthread_cond_init(&made->changed, NULL);
    int error = rig_thread_start(&made->thread, fork_on_request, made);
    if (error != 0) {
        free(made);
        return rig_fail(err, RIG_E_CLUSTER, "no thread for child processes: %s", strerror(error));
    }
    (void)prctl(PR_SET_CHILD_SUBREAPER, 1);
    *children = made;
    return RIG_OK;
}

void rig_children_free(struct rig_children *children)
{
    if (children == NULL)
        return;
    (void)pthread_mutex_lock(&children->mutex);
    children->ending = true;
    (void)pthread_cond_broadcast(&children->changed);
    (void)pthread_mutex_unlock(&children->mutex);
    (void)pthread_join(children->thread, NULL);
    (void)pthread_cond_destroy(&children->changed);
    (void)pthread_mutex_destroy(&children->mutex);
    free(children);
}

enum rig_rc rig_child_start(struct rig_children *children, const struct rig_child_command *command,
                            struct rig_child *child, struct rig_err *err)
{
    RIG_REQUIRE(command->arguments[0][0] == '/');
    RIG_REQUIRE(rig_child_pid(child) == 0 && child->tether_plus_one == 0);
    struct request request = {.command = command, .child = child, .err = err};
    (void)pthread_mutex_lock(&children->mutex);
    while (children->request != NULL)
        (void)pthread_cond_wait(&children->changed, &children->mutex);
    children->request = &request;
    (void)pthread_cond_broadcast(&children->changed);
    while (!request.served)
        (void)pthread_cond_wait(&children->changed, &children->mutex);
    (void)pthread_mutex_unlock(&children->mutex);
    return request.rc;
}

/* ---- looking ---- */

pid_t rig_child_pid(const struct rig_child *child)
{
    return atomic_load(&child->pid);
}

bool rig_child_ended(const struct rig_child *child)
{
    pid_t pid = rig_child_pid(child);
    if (pid == 0)
        return true;
    siginfo_t info;
    info.si_pid = 0;
    if (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) != 0)
        return errno == ECHILD;
    return info.si_pid == pid;
}

static void wait_a_step(void)
{
    rig_clock_sleep_until_ns(rig_clock_now_ns() + WAIT_STEP_NS);
}

bool rig_child_await(const struct rig_child *child, int64_t timeout_ns)
{
    int64_t deadline_ns = rig_clock_now_ns() + timeout_ns;
    while (!rig_child_ended(child)) {
        if (rig_clock_now_ns() >= deadline_ns)
            return false;
        wait_a_step();
    }
    return true;
}

struct holders {
    struct stat tether;
    pid_t main_pid;
    pid_t *pids;
    uint32_t capacity;
    uint32_t count;
};

/* Numbers of files are unique within their device only: a named pipe of another program can have the tether's. */
static bool holds(pid_t pid, const struct stat *tether)
{
    char path[64];
    struct stat status;
    (void)snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)pid, TETHER_FD);
    return stat(path, &status) == 0 && S_ISFIFO(status.st_mode) && status.st_dev == tether->st_dev &&
           status.st_ino == tether->st_ino;
}

static void note_holder(struct holders *holders, pid_t pid)
{
    if (holders->count < holders->capacity)
        holders->pids[holders->count] = pid;
    holders->count++;
}

static void visit_holder(pid_t pid, void *context)
{
    struct holders *holders = context;
    if (pid != holders->main_pid && pid != getpid() && holds(pid, &holders->tether))
        note_holder(holders, pid);
}

uint32_t rig_child_processes(const struct rig_child *child, pid_t *pids, uint32_t capacity)
{
    struct holders holders = {.pids = pids, .capacity = capacity};
    if (child->tether_plus_one == 0 || fstat(child->tether_plus_one - 1, &holders.tether) != 0)
        return 0;
    holders.main_pid = rig_child_pid(child);
    if (!rig_child_ended(child))
        note_holder(&holders, holders.main_pid);
    rig_process_each(visit_holder, &holders);
    return holders.count;
}

bool rig_child_find(const struct rig_child *child, pid_t pid, struct rig_process *process)
{
    struct stat tether;
    /* Found first and asked for the tether after that: its number may have gone to another process meanwhile. */
    return child->tether_plus_one != 0 && fstat(child->tether_plus_one - 1, &tether) == 0 &&
           rig_process_find(pid, process) && (pid == rig_child_pid(child) || holds(pid, &tether));
}

uint32_t rig_child_signal_all(const struct rig_child *child, pid_t *pids, uint32_t capacity, int signal_number)
{
    const uint32_t count = rig_child_processes(child, pids, capacity);
    for (uint32_t i = 0; i < count && i < capacity; i++) {
        struct rig_process process;
        if (rig_child_find(child, pids[i], &process))
            (void)rig_process_signal(&process, signal_number);
    }
    return count < capacity ? count : capacity;
}

/* Whether a process holds the other end of the tether. Nothing is ever written into it. */
static bool is_held(const struct rig_child *child)
{
    struct pollfd polled = {.fd = child->tether_plus_one - 1, .events = POLLIN};
    return poll(&polled, 1, 0) == 0;
}

/* ---- ending ---- */

/* From here on the number may go to another process, so no thread sees it any more. */
static int reap_main(struct rig_child *child)
{
    int status = 0;
    const pid_t pid = atomic_exchange(&child->pid, 0);
    if (pid == 0)
        return status;
    pid_t reaped;
    do
        reaped = waitpid(pid, &status, 0);
    while (reaped < 0 && errno == EINTR);
    RIG_INVARIANT(reaped == pid || errno == ECHILD);
    return status;
}

struct sweep {
    const char *program;
    pid_t session;
};

/*
 * Whether the process is a zombie in rig's care, and of the child's program or session. A command of a plan can have
 * the same program; it leads a session of its own, and its status is for the code that waits for it.
 */
static bool is_orphan(const struct sweep *sweep, pid_t pid)
{
    struct rig_process_stat stat;
    return rig_process_stat(pid, &stat) && stat.state == 'Z' && stat.parent == getpid() &&
           (stat.session == sweep->session || (strcmp(stat.program, sweep->program) == 0 && stat.session != pid));
}

static void visit_orphan(pid_t pid, void *context)
{
    const struct sweep *sweep = context;
    if (!is_orphan(sweep, pid))
        return;
    for (const struct rig_child *other = all; other != NULL; other = other->next) {
        if (rig_child_pid(other) == pid)
            return;
    }
    (void)waitpid(pid, NULL, WNOHANG);
}

/* Takes the child out of the list, and reaps the orphans that it left. */
static void forget(struct rig_child *child, pid_t main_pid)
{
    (void)pthread_mutex_lock(&all_lock);
    struct rig_child **link = &all;
    while (*link != child)
        link = &(*link)->next;
    *link = child->next;
    struct sweep sweep = {.program = child->program, .session = main_pid};
    rig_process_each(visit_orphan, &sweep);
    (void)pthread_mutex_unlock(&all_lock);
    (void)close(child->tether_plus_one - 1);
    child->tether_plus_one = 0;
    child->next = NULL;
}

/* Waits until the kernel has ended a process that rig has to reap. */
static void reap_orphan(pid_t pid, int64_t deadline_ns)
{
    while (waitpid(pid, NULL, WNOHANG) == 0 && rig_clock_now_ns() < deadline_ns)
        wait_a_step();
}

bool rig_child_clear(struct rig_child *child, int64_t timeout_ns, int *status)
{
    static const uint32_t room = PROCESSES_MOST;
    if (child->tether_plus_one == 0)
        return true;
    int64_t deadline_ns = rig_clock_now_ns() + timeout_ns;
    pid_t *pids = malloc(room * sizeof *pids);
    RIG_INVARIANT(pids != NULL);
    pid_t main_pid = rig_child_pid(child);
    /* The main process first, so that it stops forking while the others are looked for. */
    if (main_pid != 0)
        (void)kill(main_pid, SIGKILL);
    bool gone = rig_child_await(child, timeout_ns);
    while (gone && is_held(child)) {
        const uint32_t count = rig_child_signal_all(child, pids, room, SIGKILL);
        for (uint32_t i = 0; i < count; i++)
            reap_orphan(pids[i], deadline_ns);
        gone = rig_clock_now_ns() < deadline_ns;
        if (count == 0)
            wait_a_step();
    }
    free(pids);
    if (!gone)
        return false;
    int ended = reap_main(child);
    forget(child, main_pid);
    if (status != NULL)
        *status = ended;
    return true;
}

/* ---- processes that have left ---- */

bool rig_child_left_processes(const struct rig_child *child)
{
    return rig_child_mark_find(child->mark, NULL, 0) > 0;
}

void rig_children_end_left(struct rig_children *children, int64_t timeout_ns,
                           void (*tell)(void *context, const char *program, pid_t pid, bool ended), void *context)
{
    struct rig_process found[LEFT_MOST];
    const int64_t deadline_ns = rig_clock_now_ns() + timeout_ns;
    uint32_t count = 1;
    /* More than once: a process that is ended later may have started another one meanwhile, and one that is executing
     * another program has no environment for a moment, so it cannot be recognised. */
    for (bool late = false; count > 0 && !late;) {
        const uint32_t all_left = rig_child_mark_find(children->family, found, LEFT_MOST);
        bool none_ended = true;
        count = all_left < LEFT_MOST ? all_left : LEFT_MOST;
        late = rig_clock_now_ns() >= deadline_ns;
        for (uint32_t i = 0; i < count; i++) {
            struct rig_process_stat stat = {.program = ""};
            (void)rig_process_stat(found[i].pid, &stat);
            bool ended = rig_child_mark_signal(children->family, &found[i], SIGKILL);
            const int64_t left_ns = deadline_ns - rig_clock_now_ns();
            ended =
                (ended || !rig_process_lives(&found[i])) && rig_process_await_end(&found[i], left_ns > 0 ? left_ns : 0);
            if (ended || late)
                tell(context, stat.program, found[i].pid, ended);
            (void)waitpid(found[i].pid, NULL, WNOHANG); /* of an orphan, which is rig's own child now */
            none_ended = none_ended && !ended;
        }
        if (count > 0 && none_ended && !late)
            wait_a_step();
    }
}
