#include "runner/run_orders.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/bug.h"
#include "base/log.h"
#include "base/output_file.h"

enum { BUFFER_BYTES = 64 * 1024, LINE_BYTES_MOST = 80, PATH_BYTES = 4096, WRITE_EVERY_NS = 200 * 1000 * 1000 };

static const char head[] = "process\tnumber\torder\n";

void rig_run_orders_init(struct rig_run_orders *orders, const char *folder)
{
    *orders = (struct rig_run_orders){.folder = folder};
    RIG_INVARIANT(pthread_mutex_init(&orders->lock, NULL) == 0);
}

void rig_run_orders_done(struct rig_run_orders *orders)
{
    if (orders->fd > 0)
        (void)close(orders->fd - 1);
    (void)pthread_mutex_destroy(&orders->lock);
    *orders = (struct rig_run_orders){0};
}

/* Lock held. */
static bool open_file(struct rig_run_orders *orders)
{
    char path[PATH_BYTES];
    if (orders->fd > 0)
        return true;
    const int length = snprintf(path, sizeof path, "%s/orders.tsv", orders->folder);
    const int fd = length > 0 && length < PATH_BYTES ? rig_output_append(path) : -1;
    if (fd < 0)
        return false;
    orders->fd = fd + 1;
    return write(fd, head, sizeof head - 1) == (ssize_t)(sizeof head - 1);
}

static void write_out(struct rig_run_orders *orders, struct rig_run_orders_buffer *buffer)
{
    pthread_mutex_lock(&orders->lock);
    const bool failed_before = orders->failed;
    if (!orders->failed)
        orders->failed = !open_file(orders) ||
                         write(orders->fd - 1, buffer->text.data, buffer->text.size) != (ssize_t)buffer->text.size;
    const bool tell = orders->failed && !failed_before;
    const int error = errno;
    pthread_mutex_unlock(&orders->lock);
    if (tell)
        rig_log(RIG_LOG_WARN, "run", "cannot write %s/orders.tsv: %s", orders->folder, strerror(error));
    rig_buf_clear(&buffer->text);
}

void rig_run_orders_note(struct rig_run_orders *orders, struct rig_run_orders_buffer *buffer, int64_t process,
                         uint64_t number, int64_t order, int64_t end_ns)
{
    struct rig_buf *text = &buffer->text;
    if (text->limit == 0) {
        rig_buf_init(text, BUFFER_BYTES);
        buffer->written_ns = end_ns;
    }
    rig_buf_add_int(text, process);
    rig_buf_add_char(text, '\t');
    rig_buf_add_int(text, (long long)number);
    rig_buf_add_char(text, '\t');
    rig_buf_add_int(text, order);
    rig_buf_add_char(text, '\n');
    if (text->size > BUFFER_BYTES - LINE_BYTES_MOST || end_ns - buffer->written_ns >= WRITE_EVERY_NS) {
        write_out(orders, buffer);
        buffer->written_ns = end_ns;
    }
}

void rig_run_orders_flush(struct rig_run_orders *orders, struct rig_run_orders_buffer *buffer)
{
    if (buffer->text.size > 0)
        write_out(orders, buffer);
    if (buffer->text.limit != 0)
        rig_buf_done(&buffer->text);
    *buffer = (struct rig_run_orders_buffer){0};
}
