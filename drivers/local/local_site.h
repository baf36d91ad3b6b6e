/*
 * The common parts of the servers of one local cluster: their account, one private folder, child processes, logs.
 *
 * A driver that starts a cluster on this machine has one site and a node (local_site.h) for each server. It adds only
 * its own parts: the command line, the request that shows whether a server answers, and roles.
 *
 * The private folder (mode 0700) belongs to the account. It is made below the run's work folder where the account can
 * reach it and a socket's path in it is short enough (107 bytes), else below /var/tmp or /tmp. The output of servers
 * and programs goes to files in the run's own folder.
 *
 * Threads: open and close on the main thread; the rest from any, one call for one file at a time.
 */
#ifndef RIG_DRIVERS_LOCAL_LOCAL_SITE_H
#define RIG_DRIVERS_LOCAL_LOCAL_SITE_H

#include "base/child.h"
#include "drivers/driver.h"

/*
 * One server of a local cluster: its process, data folder, environment and log (`<name>.log` in the run's folder).
 *
 * The server and all processes that it forks are one child (base/child.h): they end together, and with rig. The driver
 * adds the command line and the request that shows whether a server answers.
 *
 * Threads: one at a time changes a node (main, then the nemesis's); its process number and its state may be read from
 * any.
 */

enum { RIG_LOCAL_VARIABLES_MOST = 16, RIG_LOCAL_NAME_BYTES = 16 };

enum { RIG_LOCAL_FOLDER_BYTES = 128, RIG_LOCAL_PATH_BYTES = 256, RIG_LOCAL_TAIL_BYTES = 601 };

struct rig_local_node {
    struct rig_local_site *site;
    char name[RIG_LOCAL_NAME_BYTES];
    char data[RIG_LOCAL_PATH_BYTES]; /* in the private folder; not made here */
    struct rig_child server;
    char *variables[RIG_LOCAL_VARIABLES_MOST + 1]; /* owned: "NAME=value", ended by NULL */
};

/* Node `index`, from 0. Zeroed before; variables that are already set stay. Before the site is open the node gets its
 * name only: call it again then. */
void rig_local_node_init(struct rig_local_node *node, struct rig_local_site *site, uint32_t index);
/* Frees the node's memory; a node that could not be ended is left alone. Safe on a zeroed one, safe to repeat. */
void rig_local_node_done(struct rig_local_node *node);

/* From its next start on; `value` NULL removes the variable. RIG_E_LIMIT. */
enum rig_rc rig_local_node_set_variable(struct rig_local_node *node, const char *name, const char *value,
                                        struct rig_err *err);

/* Starts the process of a node that is down; its working folder is `home`. RIG_E_CLUSTER. */
enum rig_rc rig_local_node_launch(struct rig_local_node *node, const char *const *arguments, const char *home,
                                  struct rig_err *err);

/* How a driver finds out whether a node serves; bounded by about a second. */
struct rig_local_wait {
    bool (*answers)(void *context, struct rig_err *why); /* False: `why` has the reason, for the error */
    void *context;
    bool always;         /* also while the run ends */
    int64_t deadline_ns; /* of core->now_ns() */
};
/* Waits until a launched node answers. RIG_E_CLUSTER with its log's end when it ended or is late. */
enum rig_rc rig_local_node_await(const struct rig_local_node *node, const struct rig_local_wait *wait,
                                 struct rig_err *err);

/* Whether its main process runs. */
bool rig_local_node_runs(const struct rig_local_node *node);
/*
 * Ends it, and waits until each of its processes is gone and reaped. The database's own signals come first, as `how`
 * selects; a process that does not follow one within `timeout_ns` gets the next, and finally SIGKILL. RIG_OK when it is
 * down. RIG_E_CLUSTER when a process is stuck in the kernel.
 */
enum rig_rc rig_local_node_stop(struct rig_local_node *node, enum rig_node_end how, int64_t timeout_ns,
                                struct rig_err *err);
/* Tells it to end at once; rig_local_node_stop() follows, unless rig itself ends. Async-signal-safe. */
void rig_local_node_kill_now(const struct rig_local_node *node);

/* A database, as this module sees it; constant. */
struct rig_local_kind {
    const char *name;            /* the driver's: the area in rig.log, and a part of the folder's name */
    const char *node_prefix;     /* "pg" for pg-1, pg-2, ... */
    const char *product;         /* "PostgreSQL", in messages */
    const char *account_package; /* the package that makes the plan's default account; NULL: none */
    bool refuses_root;
    size_t socket_name_bytes; /* the longest name of a socket in the folder; 0: there is none */
    int fast_signal;          /* asks a server for a clean shutdown that does not wait for clients */
    int immediate_signal;     /* ends it with all its processes, without a clean shutdown; 0: only SIGKILL does */
};

struct rig_local_site {
    const struct rig_local_kind *kind;
    const struct rig_run_env *env;
    struct rig_account account;
    struct rig_children *children;
    char folder[RIG_LOCAL_FOLDER_BYTES]; /* empty: none was made */
};

/* Safe for rig_local_site_close(). No I/O. Borrows both. */
void rig_local_site_init(struct rig_local_site *site, const struct rig_local_kind *kind, const struct rig_run_env *env);
/*
 * Finds the account and makes the folder. `run_as`: the plan's name of the account, used when rig is root.
 * RIG_E_CLUSTER with the remedy; rig_local_site_close() removes parts that were already made.
 */
enum rig_rc rig_local_site_open(struct rig_local_site *site, const char *run_as, struct rig_err *err);
/* Removes the folder with all its contents. Every child was cleared. Safe after a failed open, safe to repeat. */
void rig_local_site_close(struct rig_local_site *site);

/* The path of `name` in the private folder. */
void rig_local_path(const struct rig_local_site *site, const char *name, char path[static RIG_LOCAL_PATH_BYTES]);
/* Makes a folder of the account (mode 0700). RIG_E_CLUSTER. */
enum rig_rc rig_local_make_folder(const struct rig_local_site *site, const char *path, struct rig_err *err);
/* Writes a file that only the account can read; `flags` beside O_WRONLY. RIG_E_CLUSTER. */
enum rig_rc rig_local_write(const struct rig_local_site *site, const char *path, int flags, const char *text,
                            struct rig_err *err);

/* A random password for servers of one run: 32 characters. RIG_E_CLUSTER. */
enum rig_rc rig_local_make_password(char password[static 33], struct rig_err *err);

/* The end of a log in the run's folder as one line, for an error; empty when it cannot be read. */
void rig_local_log_tail(const struct rig_run_env *env, const char *name, char line[static RIG_LOCAL_TAIL_BYTES]);

/* A program that runs to its end as the account. */
struct rig_local_program {
    const char *const *arguments;   /* NULL-ended, the first is the program's absolute path */
    const char *const *environment; /* as rig_child_command has it; NULL: none */
    const char *home;               /* its working folder; NULL: the private folder */
    const char *log_name;           /* gets its output; unused with `line` */
    char *line;                     /* gets its first line of output; NULL: nothing does */
    size_t line_size;
    bool always;         /* the end of the run does not end it early */
    int64_t deadline_ns; /* of core->now_ns() */
};

/*
 * Runs a program to its end, at most until the deadline, and ends its remaining processes. RIG_E_CLUSTER with the end
 * of its output when its exit status is not 0; RIG_E_INTERRUPTED.
 */
enum rig_rc rig_local_run_program(struct rig_local_site *site, const struct rig_local_program *program,
                                  struct rig_err *err);
/* The same, with its output in the log `log_name`. */
enum rig_rc rig_local_run(struct rig_local_site *site, const char *const *arguments, const char *log_name, bool always,
                          int64_t deadline_ns, struct rig_err *err);

/* Time for processes to be gone after SIGKILL, before they count as stuck in the kernel. */
#define RIG_LOCAL_CLEAR_NS (INT64_C(10) * 1000000000)

#endif
