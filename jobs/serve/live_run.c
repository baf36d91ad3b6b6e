#include "jobs/serve/live_run.h"

#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/printable.h"
#include "base/run_files.h"
#include "jobs/store/run_table.h"
#include "report/plain_page.h"
#include "report/tell.h"
#include "report/words.h"

enum { PROGRESS_BYTES_MOST = 64 << 10, LOG_BYTES = 12 << 10 };

/* A longer time that is left is the bound of a load that ends otherwise. */
static const int64_t longest_told_ns = 24 * 3600 * RIG_NS_PER_S;

/* ---- reading ---- */

/* The last bytes of a file; nothing where there is none. False: its beginning is left out. */
static bool read_end(int folder, const char *name, size_t most, struct rig_buf *text)
{
    struct stat status;
    struct rig_err ignored = {0};
    bool is_whole = true;
    const int fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return true;
    if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode)) {
        is_whole = status.st_size <= (off_t)most;
        if (!is_whole)
            (void)lseek(fd, status.st_size - (off_t)most, SEEK_SET);
        (void)rig_buf_read_up_to(text, fd, most, name, &ignored);
    }
    (void)close(fd);
    return is_whole;
}

static json_t *read_progress(int folder)
{
    struct rig_buf text;
    rig_buf_init(&text, 0);
    (void)read_end(folder, RIG_RUN_PROGRESS, PROGRESS_BYTES_MOST, &text);
    json_t *progress = json_loadb(rig_buf_text(&text), text.size, 0, NULL);
    rig_buf_done(&text);
    return progress;
}

static const char *text_of(const json_t *progress, const char *key)
{
    const char *text = json_string_value(json_object_get(progress, key));
    return text == NULL ? "" : text;
}

static uint64_t count_of(const json_t *progress, const char *key)
{
    const double number = json_number_value(json_object_get(progress, key));
    return number > 0 && number < 1e18 ? (uint64_t)number : 0;
}

static int64_t time_of(const json_t *progress, const char *key, double unit_ns)
{
    const double number = json_number_value(json_object_get(progress, key)) * unit_ns;
    return number > 0 && number < 1e18 ? (int64_t)number : 0;
}

static bool has(const json_t *progress, const char *key)
{
    return json_object_get(progress, key) != NULL;
}

/* ---- words ---- */

/* G2-item-process where there is G2-item: the plain form says it. */
static bool is_told_already(const json_t *found, const char *name)
{
    static const char *const forms[] = {"-process", "-realtime"};
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        const char *form = strstr(name, forms[i]);
        if (form == NULL)
            continue;
        char plain[64];
        (void)snprintf(plain, sizeof plain, "%.*s", (int)(form - name), name);
        return json_object_get(found, plain) != NULL;
    }
    return false;
}

/* "G2-item 3, lost-update 1"; false: nothing was found. */
static bool add_found(const json_t *progress, struct rig_buf *out)
{
    const json_t *found = json_object_get(progress, "found");
    const char *name;
    json_t *count;
    bool is_first = true;
    json_object_foreach((json_t *)(uintptr_t)found, name, count)
    {
        if (is_told_already(found, name))
            continue;
        rig_tell(out, "%s%h %n", is_first ? "" : ", ", name, (uint64_t)json_integer_value(count));
        is_first = false;
    }
    return !is_first;
}

static void say(const json_t *progress, struct rig_buf *out)
{
    if (progress == NULL) {
        rig_buf_add_text(out, "no progress yet: it starts its servers, or ends");
        return;
    }
    rig_tell(out, "%h", text_of(progress, "phase"));
    if (has(progress, "part"))
        rig_tell(out, " (%h)", text_of(progress, "part"));
    rig_tell(out, ", %t, %n transaction%p", time_of(progress, "elapsed_s", 1e9), count_of(progress, "transactions"),
             count_of(progress, "transactions"));
    rig_tell(out, ", %n a second", count_of(progress, "rate"));
    if (has(progress, "share"))
        rig_tell(out, ", %d %%", (int)(json_number_value(json_object_get(progress, "share")) * 100));
    if (has(progress, "faults"))
        rig_tell(out, ", under %h", text_of(progress, "faults"));
    struct rig_buf found;
    rig_buf_init(&found, 0);
    if (add_found(progress, &found))
        rig_buf_printf(out, "; found <b>%s</b>", rig_buf_text(&found));
    rig_buf_done(&found);
}

void rig_live_run_say(int folder, struct rig_buf *out)
{
    json_t *progress = read_progress(folder);
    say(progress, out);
    json_decref(progress);
}

/* ---- the page ---- */

static void add_outcomes(const json_t *progress, struct rig_buf *out)
{
    rig_tell(out, "<tr><th>Outcomes</th><td>%n ok, %n failed, %n unknown</td></tr>\n", count_of(progress, "ok"),
             count_of(progress, "fail"), count_of(progress, "info"));
    if (has(progress, "total"))
        rig_tell(out, "<tr><th>Of</th><td>%n transactions</td></tr>\n", count_of(progress, "total"));
    if (has(progress, "duration_s"))
        rig_tell(out, "<tr><th>Of</th><td>%t</td></tr>\n", time_of(progress, "duration_s", 1e9));
    if (has(progress, "p50_ms"))
        rig_tell(out, "<tr><th>Latency</th><td>median %t, 99 %% %t</td></tr>\n", time_of(progress, "p50_ms", 1e6),
                 time_of(progress, "p99_ms", 1e6));
    if (has(progress, "faults"))
        rig_tell(out, "<tr><th>Faults</th><td>%h</td></tr>\n", text_of(progress, "faults"));
    if (has(progress, "error"))
        rig_tell(out, "<tr><th>Most frequent error</th><td>%h, %n time%p</td></tr>\n", text_of(progress, "error"),
                 count_of(progress, "error_count"), count_of(progress, "error_count"));
}

static void add_progress(const json_t *progress, struct rig_buf *out)
{
    struct rig_buf found;
    if (progress == NULL)
        return;
    rig_buf_init(&found, 0);
    rig_buf_add_text(out, "<h2>Progress</h2>\n<div class=\"wide\"><table class=\"runs\" id=\"progress\"><tbody>\n");
    rig_tell(out, "<tr><th>Phase</th><td>%h %h</td></tr>\n<tr><th>Since</th><td>%t</td></tr>\n",
             text_of(progress, "phase"), text_of(progress, "part"), time_of(progress, "elapsed_s", 1e9));
    rig_tell(out, "<tr><th>Transactions</th><td>%n, %n a second</td></tr>\n", count_of(progress, "transactions"),
             count_of(progress, "rate"));
    if (has(progress, "share"))
        rig_tell(out, "<tr><th>Of the record</th><td>%d %%</td></tr>\n",
                 (int)(json_number_value(json_object_get(progress, "share")) * 100));
    else
        add_outcomes(progress, out);
    if (has(progress, "left_s") && time_of(progress, "left_s", 1e9) < longest_told_ns)
        rig_tell(out, "<tr><th>Left</th><td>about %t</td></tr>\n", time_of(progress, "left_s", 1e9));
    rig_buf_add_text(out, "</tbody></table></div>\n<h2>Found so far</h2>\n");
    if (add_found(progress, &found))
        rig_buf_printf(out, "<p class=\"warn\" id=\"found\">%s</p>\n", rig_buf_text(&found));
    else if (has(progress, "found"))
        rig_buf_add_text(out, "<p id=\"found\">No anomaly.</p>\n");
    else
        rig_buf_add_text(out,
                         "<p id=\"found\">The record is checked after the load (<code>check.online</code>).</p>\n");
    if (json_is_true(json_object_get(progress, "check_put_off")))
        rig_buf_add_text(out, "<p>The check could not go along with the load: it goes on after it.</p>\n");
    rig_buf_done(&found);
}

static void add_log(int folder, const char *path, struct rig_buf *out)
{
    struct rig_buf log;
    rig_buf_init(&log, 0);
    const bool is_whole = read_end(folder, RIG_RUN_LOG, LOG_BYTES, &log);
    rig_printable_buf(&log);
    const char *text = rig_buf_text(&log);
    const char *line = is_whole ? text : strchr(text, '\n');
    if (log.size > 0)
        rig_tell(out, "<h2>Log</h2>\n<pre>%h</pre>\n", line == NULL ? text : line);
    rig_buf_done(&log);
    rig_buf_add_text(out, "<p>");
    static const char *const names[] = {RIG_RUN_PLAN, RIG_RUN_LOG};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        rig_buf_add_text(out, "<a href=\"/");
        rig_run_table_address(path, out);
        rig_buf_printf(out, "/%s\">%s</a> ", names[i], names[i]);
    }
    rig_buf_add_text(out, "</p>\n");
}

void rig_live_run_page(int folder, const struct rig_stored_run *run, const char *path, const char *script,
                       struct rig_buf *out)
{
    const bool is_running = run->state == RIG_STORED_RUNNING;
    json_t *progress = read_progress(folder);
    rig_plain_page_begin_live(out, path, script);
    rig_tell(out, "<p><a href=\"/\">All runs</a></p>\n<header class=\"banner %s\"><h1>%h: %s</h1><p>",
             is_running ? "allowed" : "broken", path, rig_stored_state_words[run->state]);
    if (is_running)
        say(progress, out);
    else
        rig_tell(out, "%h", run->why);
    rig_buf_add_text(out, "</p></header>\n");
    add_progress(progress, out);
    add_log(folder, path, out);
    rig_plain_page_end(out);
    json_decref(progress);
}
