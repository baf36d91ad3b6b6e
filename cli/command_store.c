/*
 * rig store ls|show|rm|gc|index|news|compare: the runs on disk.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/nearest.h"
#include "base/output_file.h"
#include "base/plural.h"
#include "cli/arguments.h"
#include "cli/cli.h"
#include "jobs/store/compare.h"
#include "jobs/store/index_page.h"
#include "jobs/store/news.h"
#include "jobs/store/retention.h"
#include "jobs/store/run_list.h"
#include "jobs/store/run_table.h"
#include "jobs/store/store_folder.h"
#include "report/words.h"

enum { PATH_BYTES = PATH_MAX + 16 };

static const char *const formats[] = {"text", "json", "markdown", NULL};

static const struct rig_argument store_arguments[] = {
    {.name = "store", .value = "DIR", .help = "folder of the runs; `store` when not given"},
    {.name = "name", .value = "PATTERN", .help = "ls, index, news: only runs with this name (`pg-*`)"},
    {.name = "driver", .value = "PATTERN", .help = "ls, index, news: only runs with this driver"},
    {.name = "verdict",
     .value = "VERDICT",
     .choices = rig_stored_state_words,
     .repeatable = true,
     .help = "ls, index: only runs with this verdict, or in this state"},
    {.name = "anomaly",
     .value = "ANOMALY",
     .repeatable = true,
     .help = "ls, index: only runs in which this anomaly was found (rig list anomalies)"},
    {.name = "since",
     .value = "TIME",
     .help = "ls, index: only runs from this UTC time on, or its beginning (`2026-11-01`, `20261101T1530`); news: what "
             "is new since then, or since LAST, the beginning of the last night, when not given"},
    {.name = "keep",
     .value = "KEY=VALUE",
     .repeatable = true,
     .help = "gc: what stays: runs=N of each name, days=N, failed=N or failed=all of the older ones, bytes=SIZE of the "
             "store; before what keep.yaml in the store says"},
    {.name = "dry-run", .help = "rm, gc: only say what would go"},
    {.name = "output",
     .letter = 'o',
     .value = "FILE",
     .help = "index: where the page goes; index.html in the store when not given"},
    {.name = "force", .help = "rm: also a run with a file KEEP"},
    {.name = "format",
     .value = "text|json|markdown",
     .choices = formats,
     .help = "form of the result; text when not given; markdown only of news"},
    {.name = NULL},
};

static const struct rig_arguments_table store_table = {
    .command = "store",
    .positionals = "ls|show|rm|gc|index|news|compare [RUN]...",
    .least_positionals = 1,
    .most_positionals = RIG_ARGUMENTS_MAX,
    .description =
        "  ls             list the runs: verdict, levels, driver, evidence, anomalies, size\n"
        "  show RUN...    one run with its details\n"
        "  compare A B    two runs side by side, with a test whether chance explains the differences\n"
        "  index          write a page with what is new and the course of each name from run to run\n"
        "  news           what the runs of the last night show that those before did not; exit status 1 when it is "
        "bad\n"
        "  rm RUN...      remove runs\n"
        "  gc             remove the runs that --keep, or keep.yaml in the store, does not keep\n"
        "A RUN is NAME/TIME in the store; show and compare also take NAME, for its latest one, and any folder of a "
        "run.\n"
        "rm and gc remove nothing but folders with a mark that rig made, follow no link, and leave a run that is "
        "under\n"
        "way, that has a file KEEP, or files of others, alone. The newest run of a name always survives gc.\n",
    .arguments = store_arguments,
};

struct job {
    const struct rig_arguments *args;
    const char *store;
    struct rig_run_list list;
    struct rig_buf out;
    char since[RIG_RUN_LIST_SINCE_BYTES];
};

static const char *value(const struct job *job, const char *name)
{
    return rig_arguments_value(job->args, name);
}

static int finish(struct job *job, enum rig_rc rc, const struct rig_err *err)
{
    if (rig_arguments_json(job->args))
        rig_cli_print_data(&job->out);
    else
        rig_cli_print(&job->out);
    return rc == RIG_OK ? RIG_EXIT_OK : rig_cli_fail(err);
}

/* ---- runs by their names ---- */

/* Whether the folder at `path` has something of a run in it. */
static bool has_run(const char *path)
{
    static const char *const files[] = {RIG_RUN_MARK, RIG_RUN_RESULTS, RIG_RUN_RECORD, RIG_RUN_MATRIX};
    char file[PATH_BYTES + 32];
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        (void)snprintf(file, sizeof file, "%s/%s", path, files[i]);
        if (access(file, F_OK) == 0)
            return true;
    }
    return false;
}

/* The real path of a run: as given, or in the store; the latest one of a name. */
static enum rig_rc find_run(const struct job *job, const char *given, char path[PATH_BYTES], struct rig_err *err)
{
    static const char *const ends[] = {"", "/latest"};
    for (size_t i = 0; i < 4; i++) {
        char candidate[PATH_BYTES], found[PATH_MAX];
        const int length = i < 2 ? snprintf(candidate, sizeof candidate, "%s/%s%s", job->store, given, ends[i])
                                 : snprintf(candidate, sizeof candidate, "%s%s", given, ends[i - 2]);
        if (length < 0 || (size_t)length >= sizeof candidate || realpath(candidate, found) == NULL || !has_run(found))
            continue;
        (void)snprintf(path, PATH_BYTES, "%s", found);
        return RIG_OK;
    }
    return rig_fail(err, RIG_E_USAGE, "%s: no run has this name in %s, and it is no folder of a run", given,
                    job->store);
}

static enum rig_rc read_run(struct job *job, const char *given, struct rig_stored_run *run, struct rig_err *err)
{
    char path[PATH_BYTES];
    enum rig_rc rc = find_run(job, given, path, err);
    if (rc != RIG_OK)
        return rc;
    char *time = strrchr(path, '/');
    *time++ = '\0';
    const char *name = strrchr(path, '/') == NULL ? path : strrchr(path, '/') + 1;
    const int parent = open(path[0] == '\0' ? "/" : path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (parent < 0)
        return rig_fail(err, RIG_E_IO, "%s: %s", path, strerror(errno));
    rc = rig_stored_run_read(parent, name, time, &job->list.arena, run, err);
    (void)close(parent);
    return rc;
}

/* ---- the verbs ---- */

static bool read_filter(struct job *job, struct rig_run_filter *filter)
{
    const char *text = value(job, "since"), *proper;
    if (text != NULL && strcmp(job->args->positionals[0], "news") == 0 && strcasecmp(text, "last") == 0)
        text = NULL;
    if (text != NULL && !rig_run_list_since(text, job->since)) {
        rig_cli_complain("--since: `%s` is no UTC time; expected one like 20261101, 2026-11-01 or 20261101T1530", text);
        return false;
    }
    *filter = (struct rig_run_filter){
        .name = value(job, "name"), .driver = value(job, "driver"), .since = text == NULL ? NULL : job->since};
    for (size_t i = 0; (text = rig_arguments_value_at(job->args, "verdict", i)) != NULL; i++) {
        for (unsigned state = 0; state < RIG_STORED_STATE_COUNT; state++)
            filter->states |= strcmp(text, rig_stored_state_words[state]) == 0 ? 1U << state : 0;
    }
    for (size_t i = 0; (text = rig_arguments_value_at(job->args, "anomaly", i)) != NULL; i++) {
        rig_anomaly_set anomalies;
        if (!rig_anomaly_find_all(text, &anomalies, &proper)) {
            rig_cli_complain("--anomaly: there is no anomaly `%s`; `rig list anomalies` shows them", text);
            return false;
        }
        filter->anomalies |= anomalies;
    }
    return true;
}

static enum rig_rc read_list(struct job *job, struct rig_err *err)
{
    return rig_run_list_read(job->store, &job->list, err);
}

static int list(struct job *job)
{
    struct rig_err err = {0};
    struct rig_run_filter filter;
    if (!read_filter(job, &filter))
        return RIG_EXIT_USAGE;
    const enum rig_rc rc = read_list(job, &err);
    if (rc == RIG_OK)
        rig_run_list_filter(&job->list, &filter);
    if (rc == RIG_OK && rig_arguments_json(job->args))
        rig_run_table_json(&job->list, &job->out);
    else if (rc == RIG_OK)
        rig_run_table_text(&job->list, rig_cli_row_columns(), &job->out);
    return finish(job, rc, &err);
}

static int show(struct job *job)
{
    struct rig_err err = {0};
    struct rig_json_writer json;
    enum rig_rc rc = RIG_OK;
    rig_arena_init(&job->list.arena, 0);
    for (size_t i = 1; i < job->args->positional_count && rc == RIG_OK; i++) {
        struct rig_stored_run run;
        rc = read_run(job, job->args->positionals[i], &run, &err);
        if (rc == RIG_OK && rig_arguments_json(job->args)) {
            rig_json_init(&json, &job->out);
            rig_run_table_json_run(&json, NULL, &run);
            rig_buf_add_char(&job->out, '\n');
        } else if (rc == RIG_OK) {
            rig_run_table_show(&run, &job->out);
        }
    }
    return finish(job, rc, &err);
}

static int compare(struct job *job)
{
    struct rig_err err = {0};
    struct rig_stored_run runs[2];
    struct rig_run_comparison comparison;
    enum rig_rc rc = RIG_OK;
    rig_arena_init(&job->list.arena, 0);
    for (size_t i = 0; i < 2 && rc == RIG_OK; i++) {
        rc = read_run(job, job->args->positionals[i + 1], &runs[i], &err);
        if (rc == RIG_OK && (runs[i].state > RIG_STORED_FAILED || runs[i].is_reproduction || runs[i].is_matrix))
            rc = rig_fail(&err, RIG_E_USAGE, "%s: has no verdict to compare (%s)", job->args->positionals[i + 1],
                          rig_stored_state_words[runs[i].state]);
    }
    if (rc == RIG_OK)
        rig_compare_runs(&runs[0], &runs[1], &comparison);
    if (rc == RIG_OK && rig_arguments_json(job->args))
        rig_compare_json(&comparison, &job->out);
    else if (rc == RIG_OK)
        rig_compare_text(&comparison, &job->out);
    return finish(job, rc, &err);
}

/* Leaves the runs of the filter in the list. The last night is that of all runs. */
static enum rig_rc find_news(struct job *job, const char *since, const struct rig_run_filter *filter,
                             struct rig_news *news, struct rig_err *err)
{
    struct rig_news_nights nights;
    const enum rig_rc rc = rig_news_find_nights(&job->list, since, &nights, err);
    if (rc != RIG_OK)
        return rc;
    rig_run_list_filter(&job->list, filter);
    return rig_news_find(&job->list, &nights, news, err);
}

static int write_index(struct job *job)
{
    struct rig_err err = {0};
    struct rig_run_filter filter;
    struct rig_news news = {.since = ""};
    struct rig_buf page;
    char base[PATH_BYTES] = "", path[PATH_BYTES], real[PATH_MAX];
    const char *output = value(job, "output");
    if (!read_filter(job, &filter))
        return RIG_EXIT_USAGE;
    (void)snprintf(path, sizeof path, "%s/index.html", job->store);
    if (output != NULL && realpath(job->store, real) != NULL)
        (void)snprintf(base, sizeof base, "%s/", real);
    rig_buf_init(&page, 0);
    enum rig_rc rc = read_list(job, &err);
    if (rc == RIG_OK)
        rc = find_news(job, NULL, &filter, &news, &err);
    if (rc == RIG_OK) {
        const bool is_part = filter.states != 0 || filter.anomalies != 0 || filter.since != NULL;
        rig_index_page_write(&job->list, is_part ? NULL : &news, base, NULL, &page);
        rc = rig_output_save(&page, output == NULL ? path : output, &err);
    }
    rig_buf_done(&page);
    rig_news_done(&news);
    if (rc == RIG_OK && (output == NULL || strcmp(output, "-") != 0))
        rig_buf_printf(&job->out, "%s\n", output == NULL ? path : output);
    return finish(job, rc, &err);
}

static int tell_news(struct job *job)
{
    struct rig_err err = {0};
    struct rig_run_filter filter;
    struct rig_news news = {.since = ""};
    const char *format = value(job, "format");
    if (!read_filter(job, &filter))
        return RIG_EXIT_USAGE;
    const char *since = filter.since;
    filter.since = NULL; /* the runs before are needed, too */
    enum rig_rc rc = read_list(job, &err);
    if (rc == RIG_OK)
        rc = find_news(job, since, &filter, &news, &err);
    if (rc == RIG_OK)
        (format == NULL || strcmp(format, "text") == 0 ? rig_news_text
         : rig_arguments_json(job->args)               ? rig_news_json
                                                       : rig_news_markdown)(&news, job->store, &job->out);
    const bool is_bad = news.bad > 0;
    rig_news_done(&news);
    const int status = finish(job, rc, &err);
    return status == RIG_EXIT_OK && is_bad ? RIG_EXIT_ANOMALY : status;
}

/* ---- removal ---- */

/* The rest of the path after the folder; NULL: it does not begin with it. */
static const char *path_below(const char *path, const char *folder)
{
    size_t length = strlen(folder);
    while (length > 1 && folder[length - 1] == '/')
        length--;
    if (strncmp(path, folder, length) != 0 || path[length] != '/')
        return NULL;
    return path + length + strspn(path + length, "/");
}

/* NAME/TIME, or the path of a run in the store. */
static enum rig_rc split(const struct job *job, const char *given, char name[PATH_BYTES], const char **time,
                         struct rig_err *err)
{
    char whole[PATH_MAX];
    const char *rest = path_below(given, job->store);
    if (rest == NULL && given[0] == '/' && realpath(job->store, whole) != NULL)
        rest = path_below(given, whole);
    if (rest == NULL)
        rest = given;
    const char *slash = rest[0] == '/' ? NULL : strchr(rest, '/');
    if (slash == NULL || slash[1] == '\0' || (size_t)(slash - rest) >= PATH_BYTES)
        return rig_fail(err, RIG_E_USAGE, "%s: expected NAME/TIME of a run in %s; `rig store ls` shows them", given,
                        job->store);
    memcpy(name, rest, (size_t)(slash - rest));
    name[slash - rest] = '\0';
    *time = slash + 1;
    return RIG_OK;
}

static void tell_removal(struct job *job, const struct rig_stored_run *run, const char *why)
{
    rig_buf_add_text(&job->out, rig_arguments_has(job->args, "dry-run") ? "would remove " : "removed ");
    rig_run_table_name(run, &job->out);
    rig_buf_add_text(&job->out, " (");
    rig_words_size(&job->out, run->bytes);
    rig_buf_printf(&job->out, ")%s%s\n", why[0] == '\0' ? "" : ": ", why);
}

static int remove_given(struct job *job)
{
    const bool only_ask = rig_arguments_has(job->args, "dry-run"), kept_too = rig_arguments_has(job->args, "force");
    char name[PATH_BYTES];
    struct rig_err err = {0};
    int status = RIG_EXIT_OK;
    enum rig_rc rc = read_list(job, &err);
    if (rc != RIG_OK)
        return finish(job, rc, &err);
    rig_run_list_drop_cells(&job->list);
    for (size_t i = 1; i < job->args->positional_count; i++) {
        const char *time = NULL;
        err = (struct rig_err){.rc = RIG_OK};
        rc = split(job, job->args->positionals[i], name, &time, &err);
        if (rc == RIG_OK)
            rc = rig_run_remove(job->list.store, name, time, kept_too, only_ask, &err);
        const struct rig_stored_run *run = rc == RIG_OK ? rig_run_list_find(&job->list, name, time) : NULL;
        if (run != NULL)
            tell_removal(job, run, "");
        const int failed = rc == RIG_OK ? RIG_EXIT_OK : rig_cli_fail(&err);
        status = status == RIG_EXIT_OK ? failed : status;
    }
    (void)finish(job, RIG_OK, NULL);
    return status;
}

static enum rig_rc read_retention(const struct job *job, struct rig_retention *retention, struct rig_err *err)
{
    char path[PATH_BYTES];
    const char *text;
    enum rig_rc rc = RIG_OK;
    rig_retention_init(retention);
    (void)snprintf(path, sizeof path, "%s/keep.yaml", job->store);
    if (access(path, F_OK) == 0)
        rc = rig_retention_load(retention, path, err);
    for (size_t i = 0; rc == RIG_OK && (text = rig_arguments_value_at(job->args, "keep", i)) != NULL; i++) {
        struct rig_err why = {0};
        if (rig_retention_set(retention, text, &why) != RIG_OK)
            rc = rig_fail(err, RIG_E_USAGE, "--keep: %s", why.text);
    }
    if (rc == RIG_OK && !retention->is_given)
        rc = rig_fail(
            err, RIG_E_USAGE,
            "gc: neither --keep nor %s limits the store; give --keep runs=N, --keep days=N or --keep bytes=SIZE", path);
    return rc;
}

static void tell_rest(struct job *job, uint64_t went, uint64_t went_bytes, const struct rig_retention *retention)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < job->list.count; i++)
        bytes += job->list.runs[i].bytes;
    bytes -= went_bytes;
    rig_words_count(&job->out, went);
    rig_buf_printf(&job->out, " run%s %s, ", rig_plural(went),
                   rig_arguments_has(job->args, "dry-run") ? "would go" : "went");
    rig_words_size(&job->out, went_bytes);
    rig_buf_add_text(&job->out, "; ");
    rig_words_count(&job->out, job->list.count - went);
    rig_buf_add_text(&job->out, " stay, ");
    rig_words_size(&job->out, bytes);
    if (bytes > (uint64_t)retention->bytes)
        rig_buf_add_text(&job->out, ", more than keep.bytes: the newest of each name and failed ones stay");
    rig_buf_add_char(&job->out, '\n');
}

static int collect(struct job *job)
{
    const bool only_ask = rig_arguments_has(job->args, "dry-run");
    struct rig_retention retention;
    struct rig_err err = {0};
    uint64_t went = 0, went_bytes = 0;
    int status = RIG_EXIT_OK;
    enum rig_rc rc = read_retention(job, &retention, &err);
    if (rc == RIG_OK)
        rc = read_list(job, &err);
    const char **reasons = rc == RIG_OK ? calloc(job->list.count + 1, sizeof *reasons) : NULL;
    if (rc == RIG_OK && reasons == NULL)
        rc = rig_no_memory(&err, "the list of runs");
    if (rc != RIG_OK)
        return finish(job, rc, &err);
    rig_run_list_drop_cells(&job->list);
    rig_retention_choose(&retention, &job->list, reasons);
    for (size_t i = 0; i < job->list.count; i++) {
        const struct rig_stored_run *run = &job->list.runs[i];
        err = (struct rig_err){.rc = RIG_OK};
        if (reasons[i] == NULL)
            continue;
        rc = rig_run_remove(job->list.store, run->name, run->time, false, only_ask, &err);
        if (rc == RIG_OK) {
            tell_removal(job, run, reasons[i]);
            went++;
            went_bytes += run->bytes;
        } else {
            const int failed = rig_cli_fail(&err);
            status = rc == RIG_E_USAGE ? status : failed; /* one that is left alone is no failure */
        }
    }
    free(reasons);
    tell_rest(job, went, went_bytes, &retention);
    (void)finish(job, RIG_OK, NULL);
    return status;
}

/* ---- the command ---- */

static const struct {
    const char *name;
    int (*run)(struct job *job);
    size_t least, most;  /* runs named */
    const char *options; /* that it takes, with blanks around */
} verbs[] = {
    {"ls", list, 0, 0, " store name driver verdict anomaly since format "},
    {"show", show, 1, RIG_ARGUMENTS_MAX, " store format "},
    {"compare", compare, 2, 2, " store format "},
    {"index", write_index, 0, 0, " store name driver verdict anomaly since output "},
    {"news", tell_news, 0, 0, " store name driver since format "},
    {"rm", remove_given, 1, RIG_ARGUMENTS_MAX, " store dry-run force "},
    {"gc", collect, 0, 0, " store keep dry-run "},
};

enum { VERB_COUNT = sizeof verbs / sizeof verbs[0] };

static int complain_unknown(const char *name)
{
    struct rig_nearest nearest;
    rig_nearest_init(&nearest, name);
    for (size_t i = 0; i < VERB_COUNT; i++)
        rig_nearest_offer(&nearest, verbs[i].name);
    if (nearest.best != NULL)
        rig_cli_complain("store: unknown `%s`; did you mean `%s`?", name, nearest.best);
    else
        rig_cli_complain("store: unknown `%s`; expected ls, show, rm, gc, index, news or compare", name);
    return RIG_EXIT_USAGE;
}

static bool options_fit(const struct rig_arguments *args, size_t verb)
{
    for (size_t i = 0; i < args->given_count; i++) {
        char name[64];
        (void)snprintf(name, sizeof name, " %s ", args->given[i].argument->name);
        const char *given = args->given[i].value;
        if (given != NULL && strcmp(args->given[i].argument->name, "format") == 0 && strcmp(given, "markdown") == 0 &&
            verbs[verb].run != tell_news) {
            rig_cli_complain("store %s: --format markdown is a form of news; expected text or json", verbs[verb].name);
            return false;
        }
        if (strstr(verbs[verb].options, name) != NULL)
            continue;
        rig_cli_complain("store %s: takes no --%s", verbs[verb].name, args->given[i].argument->name);
        return false;
    }
    return true;
}

int rig_cli_store(int argc, char **argv)
{
    static struct rig_arguments args;
    int status = rig_arguments_parse(&store_table, argc, argv, &args);
    if (status != RIG_ARGUMENTS_GO_ON)
        return status;
    size_t verb = 0;
    while (verb < VERB_COUNT && strcmp(verbs[verb].name, args.positionals[0]) != 0)
        verb++;
    if (verb == VERB_COUNT)
        return complain_unknown(args.positionals[0]);
    const size_t named = args.positional_count - 1;
    if (named < verbs[verb].least || named > verbs[verb].most) {
        rig_cli_complain(verbs[verb].most == 0   ? "store %s: takes no RUN"
                         : verbs[verb].most == 2 ? "store %s: expected two runs"
                                                 : "store %s: name a run; `rig store ls` shows them",
                         verbs[verb].name);
        return RIG_EXIT_USAGE;
    }
    if (!options_fit(&args, verb))
        return RIG_EXIT_USAGE;
    const char *store = rig_arguments_value(&args, "store");
    struct job job = {.args = &args, .store = store == NULL ? "store" : store, .list = {.store = -1}};
    rig_buf_init(&job.out, 0);
    status = verbs[verb].run(&job);
    rig_run_list_done(&job.list);
    rig_buf_done(&job.out);
    return status;
}
