/*
 * Result codes and error details.
 *
 * Every function that can fail returns `enum rig_rc` and takes `struct rig_err *` as its last parameter. The details
 * have a fixed size and no owner. The first error wins: a second rig_fail() on the same object keeps the first text, so
 * that cleaning up after a failure cannot hide its cause. Outputs are written only on success.
 *
 * Threads: a struct rig_err belongs to one thread at a time.
 *
 * This header is installed for drivers and has no other dependency; a driver needs to link nothing for it.
 */
#ifndef RIG_BASE_ERR_H
#define RIG_BASE_ERR_H

#include <stdarg.h>
#include <stdio.h>

/* X(name, exit status, one-line description). The exit statuses are those of the command line (docs/rig.1). */
#define RIG_RC_TABLE(X)                                                                                                \
    X(RIG_OK, 0, "success")                                                                                            \
    X(RIG_E_USAGE, 64, "wrong command line")                                                                           \
    X(RIG_E_PLAN, 64, "a plan that cannot be used")                                                                    \
    X(RIG_E_INPUT, 64, "a history or other input that is not in the expected form")                                    \
    X(RIG_E_IO, 3, "reading or writing failed")                                                                        \
    X(RIG_E_LIMIT, 3, "a configured or built-in limit was reached")                                                    \
    X(RIG_E_CLUSTER, 3, "the cluster could not be started, reached or stopped")                                        \
    X(RIG_E_DRIVER, 3, "a driver could not be loaded or failed")                                                       \
    X(RIG_E_INTERRUPTED, 3, "stopped by a signal")                                                                     \
    X(RIG_E_BUG, 70, "a bug in rig")

enum rig_rc {
#define RIG_RC_ENUM(name, status, text) name,
    RIG_RC_TABLE(RIG_RC_ENUM)
#undef RIG_RC_ENUM
};

enum { RIG_ERR_TEXT_BYTES = 1024 };

struct rig_err {
    enum rig_rc rc; /* RIG_OK while nothing has failed */
    char text[RIG_ERR_TEXT_BYTES];
};

#if defined(__GNUC__)
#define RIG_PRINTF(format_index, first_argument) __attribute__((format(printf, format_index, first_argument)))
#else
#define RIG_PRINTF(format_index, first_argument)
#endif

/*
 * Records the failure `rc` with its text (truncated to fit) and returns `rc`. Keeps what is there already when `err`
 * holds an error. `err` may be NULL.
 */
static inline enum rig_rc rig_fail(struct rig_err *err, enum rig_rc rc, const char *format, ...) RIG_PRINTF(3, 4);

static inline enum rig_rc rig_fail(struct rig_err *err, enum rig_rc rc, const char *format, ...)
{
    if (err == NULL || err->rc != RIG_OK)
        return rc;
    err->rc = rc;
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(err->text, sizeof err->text, format, arguments);
    va_end(arguments);
    return rc;
}

/* The one wording for an allocation that failed: RIG_NO_MEMORY "the verdict". */
#define RIG_NO_MEMORY "not enough memory for "

static inline enum rig_rc rig_no_memory(struct rig_err *err, const char *what)
{
    return rig_fail(err, RIG_E_LIMIT, RIG_NO_MEMORY "%s", what);
}

/* The same for memory that --max-memory bounds. */
static inline enum rig_rc rig_memory_limit(struct rig_err *err, const char *what)
{
    return rig_fail(err, RIG_E_LIMIT, RIG_NO_MEMORY "%s; raise --max-memory", what);
}

/* The exit status of the command line for `rc`. */
int rig_rc_exit_status(enum rig_rc rc);

#endif
