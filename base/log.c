#include "base/log.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/printable.h"
#include "base/output_file.h"
#include "base/secret.h"

/* A line is redacted before it is cut, so that the cut cannot leave the first half of a secret. */
enum { LINE_BYTES = 4096, CUT_BYTES = 2048 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* innermost: nothing is locked while it is held */
static int log_fd = -1;
static enum rig_log_level stderr_level = RIG_LOG_ERROR;
static enum rig_log_level verbosity = RIG_LOG_INFO;

static const char *const level_names[] = {"error", "warn", "info", "debug"};

enum rig_rc rig_log_open(const char *path, struct rig_err *err)
{
    int fd = rig_output_append(path);
    if (fd < 0)
        return rig_fail(err, RIG_E_IO, "%s: cannot open the log: %s", path, strerror(errno));
    rig_log_close();
    pthread_mutex_lock(&lock);
    log_fd = fd;
    pthread_mutex_unlock(&lock);
    return RIG_OK;
}

void rig_log_close(void)
{
    pthread_mutex_lock(&lock);
    if (log_fd >= 0)
        (void)close(log_fd);
    log_fd = -1;
    pthread_mutex_unlock(&lock);
}

void rig_log_to_stderr(enum rig_log_level level)
{
    pthread_mutex_lock(&lock);
    stderr_level = level;
    pthread_mutex_unlock(&lock);
}

void rig_log_verbosity(enum rig_log_level level)
{
    pthread_mutex_lock(&lock);
    verbosity = level;
    pthread_mutex_unlock(&lock);
}

static void write_line(int fd, const char *line, size_t length)
{
    ssize_t written = write(fd, line, length);
    (void)written; /* a full disk must not stop a run; the record reports it */
}

void rig_log(enum rig_log_level level, const char *area, const char *format, ...)
{
    char line[LINE_BYTES + CUT_BYTES];
    char utc[32];
    rig_clock_utc_text(utc, sizeof utc);
    int start = snprintf(line, sizeof line, "%s %s %s: ", utc, level_names[level], area);
    if (start < 0 || (size_t)start >= sizeof line - 2)
        return;
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(line + start, sizeof line - (size_t)start - 1, format, arguments);
    va_end(arguments);
    rig_secret_redact(line, sizeof line);
    rig_printable_line(line);
    size_t length = strnlen(line, LINE_BYTES - 1);
    line[length] = '\n';

    pthread_mutex_lock(&lock);
    if (level <= verbosity && log_fd >= 0)
        write_line(log_fd, line, length + 1);
    if (level <= verbosity && level <= stderr_level)
        write_line(STDERR_FILENO, line, length + 1);
    pthread_mutex_unlock(&lock);
}
