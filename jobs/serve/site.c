#include "jobs/serve/site.h"

#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/run_files.h"
#include "jobs/serve/live_run.h"
#include "jobs/serve/store_file.h"
#include "jobs/store/compare.h"
#include "jobs/store/index_page.h"
#include "jobs/store/run_table.h"
#include "report/plain_page.h"
#include "report/tell.h"

enum { HOST_BYTES = 128 };

static const int64_t least_age_ns = RIG_NS_PER_S / 2;
static const char script_path[] = "/live.js";

/* Pages that rig makes for this server, and files of runs that are no pages. */
static const char page_policy[] = "default-src 'none'; style-src 'unsafe-inline'; script-src 'self'; connect-src "
                                  "'self'; img-src data:; base-uri 'none'; "
                                  "form-action 'none'; frame-ancestors 'none'";
static const char file_policy[] = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'";

/* Asks for the page again, and changes what is different: a link that is being pressed, or has the focus, stays. */
static const char script[] =
    "'use strict';\n"
    "(() => {\n"
    "  let tag = '\"\"', note = null, pressed = false;\n"
    "  const lost = yes => {\n"
    "    if (yes && !note) {\n"
    "      note = document.createElement('p');\n"
    "      note.className = 'warn';\n"
    "      note.id = 'lost';\n"
    "      note.textContent = 'The server does not answer: this page may be old.';\n"
    "      document.body.prepend(note);\n"
    "    }\n"
    "    if (!yes && note) {\n"
    "      note.remove();\n"
    "      note = null;\n"
    "    }\n"
    "  };\n"
    "  const become = (old, made) => {\n"
    "    if (old.nodeName !== made.nodeName) {\n"
    "      old.replaceWith(made);\n"
    "      return;\n"
    "    }\n"
    "    if (old.nodeType !== Node.ELEMENT_NODE) {\n"
    "      if (old.data !== made.data) old.data = made.data;\n"
    "      return;\n"
    "    }\n"
    "    for (const {name, value} of [...made.attributes])\n"
    "      if (name !== 'open' && old.getAttribute(name) !== value) old.setAttribute(name, value);\n"
    "    for (const {name} of [...old.attributes])\n"
    "      if (name !== 'open' && !made.hasAttribute(name)) old.removeAttribute(name);\n"
    "    const before = [...old.childNodes], after = [...made.childNodes];\n"
    "    after.forEach((node, i) => i < before.length ? become(before[i], node) : old.append(node));\n"
    "    before.slice(after.length).forEach(node => node.remove());\n"
    "  };\n"
    "  const look = async () => {\n"
    "    try {\n"
    "      const answer = await fetch(location.href,\n"
    "        {cache: 'no-store', redirect: 'manual', headers: {'If-None-Match': tag}});\n"
    "      lost(false);\n"
    "      if (answer.type === 'opaqueredirect') {\n"
    "        location.reload();\n"
    "        return;\n"
    "      }\n"
    "      const text = answer.ok ? await answer.text() : '';\n"
    "      if (answer.ok && !pressed && document.getSelection().isCollapsed) {\n"
    "        const made = new DOMParser().parseFromString(text, 'text/html');\n"
    "        become(document.querySelector('main'), made.querySelector('main'));\n"
    "        document.title = made.title;\n"
    "        tag = answer.headers.get('ETag');\n"
    "      }\n"
    "    } catch (problem) {\n"
    "      lost(true);\n"
    "    }\n"
    "    setTimeout(look, 1000);\n"
    "  };\n"
    "  addEventListener('pointerdown', () => { pressed = true; });\n"
    "  for (const end of ['pointerup', 'pointercancel', 'blur'])\n"
    "    addEventListener(end, () => { setTimeout(() => { pressed = false; }, 100); });\n"
    "  setTimeout(look, 1000);\n"
    "})();\n";

struct rig_site {
    char path[RIG_STORE_PATH_BYTES];
    char host[HOST_BYTES]; /* empty: any */
    int store;
    pthread_mutex_t lock; /* for what follows */
    struct rig_run_list list;
    struct rig_news news;
    int64_t read_ns, cost_ns; /* when it was read, and how long that took; 0: never */
};

/* ---- answers ---- */

static void add_tag(struct rig_web_answer *answer)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325); /* FNV-1a */
    for (size_t i = 0; i < answer->text.size; i++)
        hash = (hash ^ (unsigned char)answer->text.data[i]) * UINT64_C(0x100000001b3);
    (void)snprintf(answer->tag, sizeof answer->tag, "\"%016" PRIx64 "\"", hash);
}

static void give_page(struct rig_web_answer *answer, unsigned status)
{
    answer->status = status;
    answer->type = "text/html; charset=utf-8";
    answer->policy = page_policy;
    if (status == 200)
        add_tag(answer);
}

/* A page with one sentence. */
static void refuse(struct rig_web_answer *answer, unsigned status, const char *format, ...) RIG_PRINTF(3, 4);

static void refuse(struct rig_web_answer *answer, unsigned status, const char *format, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    rig_buf_clear(&answer->text);
    rig_plain_page_begin(&answer->text, "Not shown");
    rig_tell(&answer->text, "<header class=\"banner open\"><h1>%h</h1></header>\n<p><a href=\"/\">All runs</a></p>\n",
             text);
    rig_plain_page_end(&answer->text);
    give_page(answer, status);
}

static void redirect(struct rig_web_answer *answer, const char *path, const char *file)
{
    struct rig_buf address;
    rig_buf_init(&address, RIG_WEB_LOCATION_BYTES - 1);
    rig_buf_add_char(&address, '/');
    rig_run_table_address(path, &address);
    rig_buf_add_text(&address, file);
    answer->status = 302;
    (void)snprintf(answer->location, sizeof answer->location, "%s", rig_buf_text(&address));
    rig_buf_done(&address);
}

/* ---- requests ---- */

static int hex(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

/* Decodes escapes once. False: a wrong one, or one of a slash, a backslash or a control character. */
static bool decode(const char *text, char *decoded, size_t size)
{
    size_t used = 0;
    for (; *text != '\0'; text++) {
        unsigned char c = (unsigned char)*text;
        if (c == '%') {
            const int high = hex(text[1]), low = high < 0 ? -1 : hex(text[2]);
            if (low < 0)
                return false;
            c = (unsigned char)(high * 16 + low);
            text += 2;
            if (c == '/')
                return false;
        }
        if (c < ' ' || c == 0x7F || c == '\\' || used + 1 >= size)
            return false;
        decoded[used++] = (char)c;
    }
    decoded[used] = '\0';
    return true;
}

/* "127.0.0.1:8437", and localhost with any port. */
static bool is_host(const struct rig_site *site, const char *host)
{
    static const char *const names[] = {"localhost", "127.0.0.1", "[::1]"};
    if (site->host[0] == '\0' || (host != NULL && strcasecmp(host, site->host) == 0))
        return true;
    for (size_t i = 0; host != NULL && i < sizeof names / sizeof names[0]; i++) {
        const size_t length = strlen(names[i]);
        if (strncasecmp(host, names[i], length) == 0 && (host[length] == '\0' || host[length] == ':'))
            return true;
    }
    return false;
}

/* ---- the list of runs ---- */

static enum rig_rc read_list(struct rig_site *site, struct rig_err *err)
{
    struct rig_news_nights nights;
    const int64_t start_ns = rig_clock_now_ns();
    const int64_t age_ns = site->cost_ns * 10 > least_age_ns ? site->cost_ns * 10 : least_age_ns;
    if (site->read_ns != 0 && start_ns - site->read_ns < age_ns)
        return RIG_OK;
    rig_news_done(&site->news);
    rig_run_list_done(&site->list);
    site->news = (struct rig_news){.since = ""};
    site->read_ns = 0;
    enum rig_rc rc = rig_run_list_read(site->path, &site->list, err);
    if (rc == RIG_OK)
        rc = rig_news_find_nights(&site->list, NULL, &nights, err);
    if (rc == RIG_OK)
        rc = rig_news_find(&site->list, &nights, &site->news, err);
    if (rc == RIG_OK) {
        site->read_ns = rig_clock_now_ns();
        site->cost_ns = site->read_ns - start_ns;
    }
    return rc;
}

static const struct rig_stored_run *find_run(const struct rig_site *site, const char *given)
{
    char folder[RIG_STORE_PATH_BYTES];
    if (given == NULL || !decode(given, folder, sizeof folder))
        return NULL;
    for (size_t i = 0; i < site->list.count; i++) {
        if (strcmp(site->list.runs[i].folder, folder) == 0)
            return &site->list.runs[i];
    }
    return NULL;
}

static void say_progress(void *context, const struct rig_stored_run *run, struct rig_buf *out)
{
    const struct rig_site *site = context;
    struct rig_store_file file;
    rig_store_file_open(site->store, run->folder, &file);
    if (file.found == RIG_STORE_RUN)
        rig_live_run_say(file.fd, out);
    if (file.fd >= 0)
        (void)close(file.fd);
}

static void show_index(struct rig_site *site, const struct rig_web_request *request, struct rig_web_answer *answer)
{
    struct rig_err err = {0};
    if (read_list(site, &err) != RIG_OK) {
        refuse(answer, 500, "%s", err.text);
        return;
    }
    const struct rig_stored_run *chosen = find_run(site, request->with);
    const struct rig_index_live live = {.script = script_path,
                                        .chosen = chosen == NULL ? NULL : chosen->folder,
                                        .say_progress = say_progress,
                                        .context = site};
    rig_index_page_write(&site->list, &site->news, "/", &live, &answer->text);
    give_page(answer, 200);
}

static void show_comparison(struct rig_site *site, const struct rig_web_request *request, struct rig_web_answer *answer)
{
    struct rig_err err = {0};
    struct rig_run_comparison comparison;
    if (read_list(site, &err) != RIG_OK) {
        refuse(answer, 500, "%s", err.text);
        return;
    }
    const struct rig_stored_run *a = find_run(site, request->a), *b = find_run(site, request->b);
    if (a == NULL || b == NULL || !rig_run_table_has_verdict(a) || !rig_run_table_has_verdict(b)) {
        refuse(answer, 404, "Two runs with a verdict are compared: choose them on the page of all runs.");
        return;
    }
    rig_compare_runs(a, b, &comparison);
    rig_compare_page(&comparison, "/", &answer->text);
    give_page(answer, 200);
}

/* ---- runs and their files ---- */

/* The page that a person wants of a run; NULL: it has none. A matrix has one while it is under way, too. */
static const char *find_report(int folder, bool is_running)
{
    static const char *const names[] = {"/" RIG_RUN_MATRIX_PAGE, "/" RIG_RUN_HTML, "/" RIG_RUN_TEXT,
                                        "/" RIG_RUN_RESULTS};
    for (size_t i = 0; i < (is_running ? 1 : sizeof names / sizeof names[0]); i++) {
        if (faccessat(folder, names[i] + 1, R_OK, AT_SYMLINK_NOFOLLOW) == 0)
            return names[i];
    }
    return NULL;
}

static void show_run(const struct rig_store_file *file, struct rig_web_answer *answer)
{
    struct rig_arena arena;
    struct rig_stored_run run;
    struct rig_err err = {0};
    rig_arena_init(&arena, 0);
    /* The folder by itself: its name and its time are not read from it. */
    const enum rig_rc rc = rig_stored_run_read(file->fd, file->path, ".", &arena, &run, &err);
    const char *report = rc == RIG_OK ? find_report(file->fd, run.state == RIG_STORED_RUNNING) : NULL;
    if (rc != RIG_OK) {
        refuse(answer, 500, "%s", err.text);
    } else if (report != NULL) {
        redirect(answer, file->path, report);
    } else {
        rig_live_run_page(file->fd, &run, file->path, script_path, &answer->text);
        give_page(answer, 200);
    }
    rig_arena_done(&arena);
}

/* Takes the file. */
static void give_file(struct rig_store_file *file, struct rig_web_answer *answer)
{
    answer->status = 200;
    answer->type = file->type;
    answer->policy = file->is_page ? NULL : file_policy;
    answer->is_stored = file->is_finished;
    answer->fd = file->fd;
    answer->size_bytes = file->size_bytes;
    (void)snprintf(answer->tag, sizeof answer->tag, "%s", file->tag);
    file->fd = -1;
}

static void show_file(struct rig_site *site, const char *path, struct rig_web_answer *answer)
{
    struct rig_store_file file;
    rig_store_file_open(site->store, path, &file);
    switch (file.found) {
    case RIG_STORE_FILE:
        give_file(&file, answer);
        break;
    case RIG_STORE_RUN:
        show_run(&file, answer);
        break;
    case RIG_STORE_LATEST:
        redirect(answer, file.path, "");
        break;
    case RIG_STORE_NOTHING:
        refuse(answer, 404, "There is no such page, run or file of a run.");
        break;
    }
    if (file.fd >= 0)
        (void)close(file.fd);
}

/* ---- the function ---- */

static void answer_path(struct rig_site *site, const char *path, const struct rig_web_request *request,
                        struct rig_web_answer *answer)
{
    void (*show)(struct rig_site *, const struct rig_web_request *, struct rig_web_answer *) =
        strcmp(path, "/") == 0          ? show_index
        : strcmp(path, "/compare") == 0 ? show_comparison
                                        : NULL;
    if (show != NULL) {
        (void)pthread_mutex_lock(&site->lock);
        show(site, request, answer);
        (void)pthread_mutex_unlock(&site->lock);
    } else if (strcmp(path, "/index.html") == 0) {
        redirect(answer, "", "");
    } else if (strcmp(path, script_path) == 0) {
        rig_buf_add_text(&answer->text, script);
        answer->status = 200;
        answer->type = "text/javascript; charset=utf-8";
        answer->policy = file_policy;
        answer->is_stored = true;
        add_tag(answer);
    } else {
        show_file(site, path + 1, answer);
    }
}

void rig_site_answer(void *context, const struct rig_web_request *request, struct rig_web_answer *answer)
{
    struct rig_site *site = context;
    char path[RIG_STORE_PATH_BYTES];
    if (strcmp(request->method, "GET") != 0 && strcmp(request->method, "HEAD") != 0) {
        refuse(answer, 405, "This server only shows a store: expected GET or HEAD.");
        answer->allow = "GET, HEAD";
    } else if (!is_host(site, request->host)) {
        refuse(answer, 403, "This server answers to localhost and to its own address alone.");
    } else if (request->path[0] != '/' || !decode(request->path, path, sizeof path)) {
        refuse(answer, 400, "The address has characters that no file of a run has.");
    } else {
        answer_path(site, path, request, answer);
    }
    if (answer->status == 200 && answer->tag[0] != '\0' && request->if_none_match != NULL &&
        strcmp(request->if_none_match, answer->tag) == 0) {
        answer->status = 304;
        rig_buf_clear(&answer->text);
        answer->type = NULL;
        if (answer->fd >= 0)
            (void)close(answer->fd);
        answer->fd = -1;
    }
}

enum rig_rc rig_site_new(const char *store, struct rig_site **site, struct rig_err *err)
{
    struct rig_site *made = calloc(1, sizeof *made);
    if (made == NULL)
        return rig_no_memory(err, "the pages of the store");
    (void)snprintf(made->path, sizeof made->path, "%s", store);
    made->store = -1;
    made->list.store = -1;
    (void)pthread_mutex_init(&made->lock, NULL);
    enum rig_rc rc = read_list(made, err);
    if (rc == RIG_OK)
        made->store = fcntl(made->list.store, F_DUPFD_CLOEXEC, 0);
    if (rc == RIG_OK && made->store < 0)
        rc = rig_fail(err, RIG_E_IO, "%s: cannot be opened again", store);
    if (rc == RIG_OK)
        *site = made;
    else
        rig_site_free(made);
    return rc;
}

void rig_site_require_host(struct rig_site *site, const char *address)
{
    (void)snprintf(site->host, sizeof site->host, "%s", address);
}

void rig_site_free(struct rig_site *site)
{
    if (site == NULL)
        return;
    rig_news_done(&site->news);
    rig_run_list_done(&site->list);
    if (site->store >= 0)
        (void)close(site->store);
    (void)pthread_mutex_destroy(&site->lock);
    free(site);
}
