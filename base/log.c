#include "base/log.h"

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/printable.h"
#include "base/output_file.h"
#include "base/secret.h"

/* A line is redacted before it is cut, so that the cut cannot leave the first half of a secret. */
enum { LINE_BYTES = 4096, CUT_BYTES = 2048 };

struct rig_log_file {
    int fd;
    unsigned holders;
};

/* Guards all of this but `own`; innermost: nothing is locked while it is held. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Thread_local struct rig_log_file *own;

static const char *const level_names[] = {"error", "warn", "info", "debug"};

enum rig_rc rig_log_open(const char *path, struct rig_err *err)
{
    struct rig_log_file *file = malloc(sizeof *file);
    if (file == NULL)
        return rig_fail(err, RIG_E_LIMIT, "%s: " RIG_NO_MEMORY "the log", path);
    *file = (struct rig_log_file){.fd = rig_output_append(path), .holders = 1};
    if (file->fd < 0) {
        free(file);
        return rig_fail(err, RIG_E_IO, "%s: cannot open the log: %s", path, strerror(errno));
    }
    rig_log_use(file);
    return RIG_OK;
}

struct rig_log_file *rig_log_share(void)
{
    pthread_mutex_lock(&lock);
    if (own != NULL)
        own->holders++;
    pthread_mutex_unlock(&lock);
    return own;
}

void rig_log_release(struct rig_log_file *file)
{
    if (file == NULL)
        return;
    pthread_mutex_lock(&lock);
    const bool last = --file->holders == 0;
    pthread_mutex_unlock(&lock);
    if (!last)
        return;
    (void)close(file->fd);
    free(file);
}

void rig_log_use(struct rig_log_file *file)
{
    rig_log_release(own);
    own = file;
}

void rig_log_close(void)
{
    rig_log_use(NULL);
}

static void write_line(int fd, const char *line, size_t length)
{
    ssize_t written = write(fd, line, length);
    (void)written; /* a full disk must not stop a run; the record reports it */
}

static void write_entry(const struct rig_log_file *file, enum rig_log_level level, const char *area, const char *format,
                        va_list arguments) RIG_PRINTF(4, 0);

static void write_entry(const struct rig_log_file *file, enum rig_log_level level, const char *area, const char *format,
                        va_list arguments)
{
    char line[LINE_BYTES + CUT_BYTES];
    char utc[32];
    rig_clock_utc_text(utc, sizeof utc);
    int start = snprintf(line, sizeof line, "%s %s %s: ", utc, level_names[level], area);
    if (start < 0 || (size_t)start >= sizeof line - 2)
        return;
    (void)vsnprintf(line + start, sizeof line - (size_t)start - 1, format, arguments);
    rig_secret_redact(line, sizeof line);
    rig_printable_line(line);
    size_t length = strnlen(line, LINE_BYTES - 1);
    line[length] = '\n';

    pthread_mutex_lock(&lock);
    if (level <= RIG_LOG_INFO && file != NULL)
        write_line(file->fd, line, length + 1);
    if (level <= RIG_LOG_ERROR)
        write_line(STDERR_FILENO, line, length + 1);
    pthread_mutex_unlock(&lock);
}

void rig_log(enum rig_log_level level, const char *area, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    write_entry(own, level, area, format, arguments);
    va_end(arguments);
}

void rig_log_into(struct rig_log_file *file, enum rig_log_level level, const char *area, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    write_entry(file, level, area, format, arguments);
    va_end(arguments);
}
