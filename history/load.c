#include "history/load.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bug.h"
#include "base/buf.h"
#include "history/edn.h"
#include "history/json_lines.h"
#include "history/output.h"
#include "history/record_reader.h"
#include "history/record_writer.h"

static const size_t largest_stream_bytes = (size_t)1 << 38;

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* By the first characters that tell: {" of an object against {: or # of an EDN map. */
static enum rig_form recognise(const char *data, size_t size)
{
    size_t at = 0;
    if (rig_record_recognise(data, size))
        return RIG_FORM_RIG;
    while (at < size && (is_blank(data[at]) || data[at] == '['))
        at++;
    if (at == size)
        return RIG_FORM_JSON_LINES;
    if (data[at] == ']')
        return RIG_FORM_JSON_LINES;
    if (data[at] == '#' || data[at] == ';' || data[at] == '(' || data[at] == ',')
        return RIG_FORM_EDN;
    if (data[at] != '{')
        return RIG_FORM_AUTO;
    for (at++; at < size && (is_blank(data[at]) || data[at] == ','); at++)
        ;
    return at < size && data[at] != '"' && data[at] != '}' ? RIG_FORM_EDN : RIG_FORM_JSON_LINES;
}

enum rig_rc rig_history_parse(const char *name, const void *data, size_t size, const struct rig_load_options *options,
                              struct rig_history **history, struct rig_err *err)
{
    if (size == 0)
        return rig_fail(err, RIG_E_INPUT, "%s: is empty; a history has at least a header or one operation", name);
    enum rig_form form = options->form == RIG_FORM_AUTO ? recognise(data, size) : options->form;
    switch (form) {
    case RIG_FORM_RIG:
        if (!rig_record_recognise(data, size))
            return rig_fail(err, RIG_E_INPUT, "%s: byte 0: is no record of rig's; leave its form to be recognised",
                            name);
        return rig_record_parse(name, data, size, options, history, err);
    case RIG_FORM_JSON_LINES:
        return rig_json_lines_parse(name, data, size, options, history, err);
    case RIG_FORM_EDN:
        return rig_edn_parse(name, data, size, options, history, err);
    case RIG_FORM_AUTO:
        break;
    }
    return rig_fail(err, RIG_E_INPUT,
                    "%s:1:1: is no history: neither rig's own form, nor JSON lines or EDN in Jepsen's field names",
                    name);
}

static enum rig_rc load_stream(const char *path, const struct rig_load_options *options, struct rig_history **history,
                               struct rig_err *err)
{
    struct rig_buf buf;
    rig_buf_init(&buf, options->limit_bytes == 0 ? largest_stream_bytes : options->limit_bytes);
    enum rig_rc rc = rig_buf_read_file(&buf, path, err);
    if (rc == RIG_OK)
        rc = rig_history_parse(strcmp(path, "-") == 0 ? "standard input" : path, buf.data, buf.size, options, history,
                               err);
    rig_buf_done(&buf);
    return rc;
}

static enum rig_rc load_mapped(const char *path, int fd, size_t size, const struct rig_load_options *options,
                               struct rig_history **history, struct rig_err *err)
{
    void *data = mmap(NULL, size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, fd, 0);
    if (data == MAP_FAILED)
        return rig_fail(err, RIG_E_IO, "%s: cannot map: %s", path, strerror(errno));
    enum rig_rc rc = rig_history_parse(path, data, size, options, history, err);
    (void)munmap(data, size);
    return rc;
}

enum rig_rc rig_history_load(const char *path, const struct rig_load_options *options, struct rig_history **history,
                             struct rig_err *err)
{
    if (strcmp(path, "-") == 0)
        return load_stream(path, options, history, err);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat status;
    if (fd < 0 || fstat(fd, &status) != 0) {
        enum rig_rc failed = rig_fail(err, RIG_E_IO, "%s: cannot open: %s", path, strerror(errno));
        if (fd >= 0)
            (void)close(fd);
        return failed;
    }
    enum rig_rc rc;
    if (S_ISDIR(status.st_mode))
        rc = rig_fail(err, RIG_E_IO, "%s: is a folder; name the history in it", path);
    else if (S_ISREG(status.st_mode) && status.st_size > 0)
        rc = load_mapped(path, fd, (size_t)status.st_size, options, history, err);
    else
        rc = load_stream(path, options, history, err);
    (void)close(fd);
    return rc;
}

enum rig_rc rig_history_save(const struct rig_history *history, const char *path, enum rig_form form,
                             struct rig_err *err)
{
    RIG_REQUIRE(form != RIG_FORM_AUTO);
    struct rig_output output;
    enum rig_rc rc = rig_output_open(&output, path, err);
    if (rc != RIG_OK)
        return rc;
    if (form == RIG_FORM_RIG)
        rc = rig_record_write(history, &output, err);
    else if (form == RIG_FORM_EDN)
        rc = rig_edn_write(history, &output, err);
    else
        rc = rig_json_lines_write(history, &output, err);
    return rig_output_close(&output, rc, err);
}
