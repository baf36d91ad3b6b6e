#include "cli/outputs.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bug.h"
#include "base/output_file.h"
#include "base/plural.h"
#include "base/printable.h"
#include "base/run_files.h"
#include "checker/judge/proof/prove.h"
#include "cli/cli.h"
#include "cli/requests.h"
#include "history/model/process_lanes.h"
#include "history/types/types.h"
#include "report/charts.h"
#include "report/server_log.h"
#include "report/witness_file.h"

static const struct {
    const char *name;
    enum rig_form form;
    const char *suffix;
} history_forms[] = {
    {"rig", RIG_FORM_RIG, ".rig"},     {"jsonl", RIG_FORM_JSON_LINES, ".jsonl"},
    {"edn", RIG_FORM_EDN, ".edn"},     {"json", RIG_FORM_JSON_LINES, ".json"},
    {"plume", RIG_FORM_PLUME, ".txt"}, {"dbcop", RIG_FORM_DBCOP, ".bincode"},
};

const char *const rig_cli_form_names[] = {"rig", "jsonl", "edn", "json", NULL};
const struct rig_cli_forms rig_cli_forms = {rig_cli_form_names, "rig, jsonl or edn"};
const char *const rig_cli_all_form_names[] = {"rig", "jsonl", "edn", "json", "plume", "dbcop", NULL};
const struct rig_cli_forms rig_cli_all_forms = {rig_cli_all_form_names, "rig, jsonl, edn, plume or dbcop"};

const char *rig_cli_form_name(enum rig_form form)
{
    size_t i = 0;
    while (history_forms[i].form != form)
        i++;
    return history_forms[i].name;
}

static bool ends_in(const char *path, const char *ending)
{
    size_t length = strlen(path);
    size_t ending_length = strlen(ending);
    return length > ending_length && strcmp(path + length - ending_length, ending) == 0;
}

static bool is_allowed(const struct rig_cli_forms *allowed, const char *name)
{
    size_t i = 0;
    while (allowed->names[i] != NULL && strcmp(allowed->names[i], name) != 0)
        i++;
    return allowed->names[i] != NULL;
}

enum rig_form rig_cli_output_form(const struct rig_arguments *args, const char *option,
                                  const struct rig_cli_forms *allowed, const char *out)
{
    const char *given = rig_arguments_value(args, option);
    for (size_t i = 0; i < sizeof history_forms / sizeof *history_forms; i++) {
        const bool is_it =
            given != NULL ? strcmp(given, history_forms[i].name) == 0 : ends_in(out, history_forms[i].suffix);
        if (is_it && is_allowed(allowed, history_forms[i].name))
            return history_forms[i].form;
    }
    rig_cli_complain("%s: its suffix gives no form; give one with --%s %s", out, option, allowed->text);
    return RIG_FORM_AUTO;
}

bool rig_cli_may_write(const struct rig_arguments *args, const char *out)
{
    struct rig_err err = {0};
    if (rig_output_check(out, &err) != RIG_OK) {
        rig_cli_complain("%s", err.text);
        return false;
    }
    if (rig_arguments_has(args, "force") || !rig_output_replaces(out))
        return true;
    rig_cli_complain("%s: exists; --force replaces it", out);
    return false;
}

enum rig_rc rig_cli_save_history(const struct rig_history *history, const char *path,
                                 const struct rig_save_options *save, struct rig_err *err)
{
    struct rig_process_lanes lanes;
    if (!history->in_turn)
        return rig_history_save(history, path, save, err);
    enum rig_rc rc = rig_process_lanes_init(&lanes, history, err);
    if (rc == RIG_OK)
        rc = rig_history_save(&lanes.history, path, save, err);
    if (rc == RIG_OK && lanes.moved > 0)
        rig_cli_complain("note: %u transaction%s overlap%s the one before of the same process, as far as the clocks of "
                         "the ranks are known, and got another process in %s: an anomaly that rests on their order is "
                         "in the records only",
                         (unsigned)lanes.moved, rig_plural(lanes.moved), lanes.moved == 1 ? "s" : "",
                         strcmp(path, "-") == 0 ? "the output" : path);
    rig_process_lanes_done(&lanes);
    return rc;
}

enum { PROOF_GIB = 4 };

enum rig_rc rig_cli_proof_check(enum rig_lattice lattice, struct rig_err *err)
{
    if (lattice != RIG_LATTICE_EXACT)
        return rig_fail(err, RIG_E_USAGE, "there are no proofs in the lattice of the reference: leave --lattice out");
    return RIG_OK;
}

bool rig_cli_proof_decides(const struct rig_verdict *verdict)
{
    bool decides = false;
    for (unsigned level = 0; level < RIG_LEVEL_COUNT; level++)
        decides |= verdict->levels[level].fate != RIG_FATE_NOT_REFUTED;
    return decides;
}

/* The history without the certificate: a proof rests on what clients read and wrote. */
static enum rig_rc leave_certificate(const struct rig_history *history, struct rig_history **reads, struct rig_err *err)
{
    struct rig_history *shared = rig_history_share(history);
    if (shared == NULL)
        return rig_no_memory(err, "the proof");
    shared->certificate = NULL;
    *reads = shared;
    return RIG_OK;
}

enum rig_rc rig_cli_proof_write(struct rig_source *source, const char *name, const struct rig_check_options *check,
                                bool decides, const char *path, struct rig_err *err)
{
    struct rig_check_options again = *check;
    const struct rig_load_options load = {.limit_bytes = check->limit_bytes};
    struct rig_history *history = NULL, *reads = NULL;
    struct rig_verdict *verdict = NULL;
    struct rig_buf text;
    struct rig_err why = {0};
    rig_buf_init(&text, (size_t)PROOF_GIB << 30);
    if (!decides)
        again.budget_ns = 1;
    enum rig_rc rc = rig_cli_proof_check(check->lattice, &why);
    if (rc == RIG_OK)
        rc = rig_source_rewind(source, &why);
    if (rc == RIG_OK)
        rc = rig_history_take(source, &load, name, &history, &why);
    if (rc == RIG_OK)
        rc = leave_certificate(history, &reads, &why);
    if (rc == RIG_OK)
        rc = rig_check(reads, &again, &verdict, &why);
    if (rc == RIG_OK)
        rc = rig_prove(reads, verdict, &again, &text, &why);
    if (rc == RIG_OK)
        rc = rig_output_save(&text, path, &why);
    rig_verdict_free(verdict);
    rig_history_free(reads);
    rig_history_free(history);
    rig_buf_done(&text);
    if (rc == RIG_E_LIMIT)
        return rig_fail(err, rc, "a proof needs the whole history in memory: %.900s", why.text);
    return rc == RIG_OK ? RIG_OK : rig_fail(err, rc, "%s", why.text);
}

enum { PATH_BYTES = 4096 };

int rig_cli_verdict_status(const struct rig_verdict *verdict)
{
    switch (verdict->valid) {
    case RIG_VALID_TRUE:
        return RIG_EXIT_OK;
    case RIG_VALID_FALSE:
        return RIG_EXIT_ANOMALY;
    case RIG_VALID_UNKNOWN:
        break;
    }
    return verdict->effort.failure != NULL ? RIG_EXIT_FAILED : RIG_EXIT_UNDECIDED;
}

static void render(const struct rig_verdict *verdict, const struct rig_report_run *run, const struct rig_course *course,
                   const char *name, enum rig_report_form form, struct rig_buf *out)
{
    switch (form) {
    case RIG_REPORT_TEXT:
        rig_report_text(verdict, run, false, 0, out);
        break;
    case RIG_REPORT_JSON:
        rig_report_json(verdict, run, course, out);
        break;
    case RIG_REPORT_HTML:
        rig_report_html(verdict, run, course, name, out);
        break;
    case RIG_REPORT_JUNIT:
        rig_report_junit(verdict, run, name, out);
        break;
    case RIG_REPORT_SARIF:
        rig_report_sarif(verdict, run, name, out);
        break;
    case RIG_REPORT_GITHUB:
        rig_report_annotations(verdict, name, out);
        break;
    case RIG_REPORT_MARKDOWN:
        rig_report_markdown(verdict, run, name, out);
        break;
    case RIG_REPORT_FORM_COUNT:
        break;
    case RIG_REPORT_DOT:
        rig_report_dot(verdict, name, out);
        break;
    }
}

/* A failed write shows in ferror(stdout), which main() checks. */
static enum rig_rc print_buf(const struct rig_buf *buf, struct rig_err *err)
{
    if (buf->failed)
        return rig_fail(err, RIG_E_LIMIT, "the result is larger than %zu bytes, or there is no memory for it",
                        buf->limit);
    (void)fwrite(rig_buf_text(buf), 1, buf->size, stdout);
    return RIG_OK;
}

/* One report, without colour, into the file `path`; "-" is standard output. */
static enum rig_rc cli_write_report(const struct rig_verdict *verdict, const struct rig_report_run *run,
                                    const struct rig_course *course, const char *name, enum rig_report_form form,
                                    const char *path, struct rig_err *err)
{
    struct rig_buf out;
    rig_buf_init(&out, 0);
    render(verdict, run, course, name, form, &out);
    /* texts from a history must not command the terminal or the program that shows the file */
    if (form != RIG_REPORT_JSON && form != RIG_REPORT_SARIF)
        rig_printable_buf(&out);
    (void)fflush(stdout); /* keeps the order where both go to one file */
    enum rig_rc rc = strcmp(path, "-") == 0 ? print_buf(&out, err) : rig_output_save(&out, path, err);
    rig_buf_done(&out);
    return rc;
}

enum rig_rc rig_cli_write_requested(const struct rig_verdict *verdict, const struct rig_report_run *run,
                                    const struct rig_course *course, const char *name,
                                    const struct rig_arguments *arguments, struct rig_err *err)
{
    struct rig_cli_report_request request;
    enum rig_rc rc = RIG_OK;
    for (size_t i = 0; rig_cli_read_report(arguments, i, &request) && request.path != NULL; i++) {
        const enum rig_rc one = cli_write_report(verdict, run, course, name, request.form, request.path, err);
        rc = rc == RIG_OK ? one : rc;
    }
    return rc;
}

enum rig_rc rig_cli_check_requested(const struct rig_arguments *arguments, struct rig_err *err)
{
    struct rig_cli_report_request request;
    enum rig_rc rc = RIG_OK;
    for (size_t i = 0; rc == RIG_OK && rig_cli_read_report(arguments, i, &request) && request.path != NULL; i++)
        rc = rig_output_check(request.path, err);
    return rc;
}

bool rig_cli_shows_screen(const struct rig_arguments *arguments)
{
    return isatty(STDOUT_FILENO) == 1 && !rig_arguments_json(arguments) && !rig_arguments_edn(arguments) &&
           !rig_arguments_has(arguments, "quiet") && !rig_arguments_has(arguments, "brief") &&
           !rig_arguments_has(arguments, "verbose");
}

/* The rows for a result: those of the terminal without the first line of a run and the prompt. */
static unsigned screen_rows(const struct rig_report_run *run)
{
    struct winsize size;
    const unsigned all =
        ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 0 ? size.ws_row : RIG_REPORT_SCREEN_ROWS;
    return all - (run != NULL ? 2 : 1);
}

enum rig_rc rig_cli_print_result(const struct rig_verdict *verdict, const struct rig_report_run *run,
                                 const struct rig_course *course, const struct rig_arguments *arguments,
                                 struct rig_err *err)
{
    const bool colour = rig_terminal_has_colour(stdout);
    const unsigned columns = rig_terminal_text_columns(stdout);
    struct rig_buf out;
    rig_buf_init(&out, 0);
    if (rig_arguments_json(arguments))
        rig_report_json(verdict, run, course, &out);
    else if (rig_arguments_edn(arguments))
        rig_report_edn(verdict, &out);
    else if (rig_arguments_has(arguments, "quiet") || rig_arguments_has(arguments, "brief"))
        rig_report_brief(verdict, run, colour, &out);
    else if (rig_cli_shows_screen(arguments))
        rig_report_screen(verdict, run, colour, columns, screen_rows(run), &out);
    else
        rig_report_text(verdict, run, colour, columns, &out);
    if (rig_arguments_has(arguments, "verbose") && isatty(STDOUT_FILENO) == 1)
        rig_report_ending(verdict, colour, columns, &out);
    if (!rig_arguments_json(arguments) && !rig_arguments_edn(arguments))
        rig_cli_wrap(&out, stdout);
    enum rig_rc rc = print_buf(&out, err);
    rig_buf_done(&out);
    return rc;
}

static enum rig_rc join(char *path, const char *folder, const char *name, struct rig_err *err)
{
    int length = snprintf(path, PATH_BYTES, "%s/%s", folder, name);
    if (length < 0 || length >= PATH_BYTES)
        return rig_fail(err, RIG_E_IO, "%s/%s: the path is too long", folder, name);
    return RIG_OK;
}

/* A link is followed only where the user named the folder, not for one in it. */
static enum rig_rc make_folder(const char *path, bool may_be_link, struct rig_err *err)
{
    struct stat status;
    if (mkdir(path, 0777) == 0)
        return RIG_OK;
    if (errno == EEXIST) {
        if ((may_be_link ? stat(path, &status) : lstat(path, &status)) == 0 && S_ISDIR(status.st_mode))
            return RIG_OK;
        errno = ENOTDIR;
    }
    return rig_fail(err, RIG_E_IO, "%s: cannot create the folder: %s", path, strerror(errno));
}

/* A folder that is rendered again must not keep a witness of an earlier verdict. */
static enum rig_rc remove_witnesses(const char *folder, struct rig_err *err)
{
    DIR *dir = opendir(folder);
    if (dir == NULL)
        return rig_fail(err, RIG_E_IO, "%s: cannot read the folder: %s", folder, strerror(errno));
    enum rig_rc rc = RIG_OK;
    for (struct dirent *entry = readdir(dir); entry != NULL && rc == RIG_OK; entry = readdir(dir))
        if (rig_witness_file_is(entry->d_name) && unlinkat(dirfd(dir), entry->d_name, 0) != 0)
            rc = rig_fail(err, RIG_E_IO, "%s/%s: cannot remove: %s", folder, entry->d_name, strerror(errno));
    (void)closedir(dir);
    return rc;
}

static enum rig_rc write_witness_file(struct rig_buf *text, const char *folder, const struct rig_witness *witness,
                                      uint32_t number, const char *suffix, struct rig_err *err)
{
    char name[RIG_WITNESS_FILE_BYTES], path[PATH_BYTES];
    rig_witness_file_name(witness->anomaly, number, suffix, name);
    enum rig_rc rc = join(path, folder, name, err);
    if (strcmp(suffix, "jsonl") != 0)
        rig_printable_buf(text);
    return rc == RIG_OK ? rig_output_save(text, path, err) : rc;
}

static enum rig_rc write_witness(const struct rig_verdict *verdict, const struct rig_server_logs *logs,
                                 const char *folder, const struct rig_witness *witness, uint32_t number,
                                 struct rig_err *err)
{
    unsigned lines;
    const char *log = rig_server_logs_of(logs, witness, &lines);
    struct rig_buf text;
    rig_buf_init(&text, 0);
    rig_buf_add_text(&text, witness->text == NULL ? "" : witness->text);
    if (text.size > 0 && text.data[text.size - 1] != '\n')
        rig_buf_add_char(&text, '\n');
    if (lines > 0)
        rig_buf_printf(&text, "\nLines of the servers' logs around it:\n%s", log);
    enum rig_rc rc = write_witness_file(&text, folder, witness, number, "txt", err);
    if (rc == RIG_OK) {
        rig_buf_clear(&text);
        rig_report_svg(verdict, witness, &text);
        rc = write_witness_file(&text, folder, witness, number, "svg", err);
    }
    if (rc == RIG_OK) {
        rig_buf_clear(&text);
        rig_report_dot_witness(verdict, witness, number, &text);
        rc = write_witness_file(&text, folder, witness, number, "dot", err);
    }
    if (rc == RIG_OK && rig_witness_is_long(witness)) {
        rig_buf_clear(&text);
        rig_report_steps(verdict, witness, &text);
        rc = write_witness_file(&text, folder, witness, number, "jsonl", err);
    }
    rig_buf_done(&text);
    return rc;
}

static enum rig_rc write_witnesses(const struct rig_verdict *verdict, const struct rig_server_logs *logs,
                                   const char *folder, struct rig_err *err)
{
    enum rig_rc rc = make_folder(folder, false, err);
    if (rc == RIG_OK)
        rc = remove_witnesses(folder, err);
    for (unsigned anomaly = 0; anomaly < RIG_ANOMALY_COUNT && rc == RIG_OK; anomaly++) {
        const struct rig_finding *finding = &verdict->findings[anomaly];
        for (uint32_t i = 0; i < finding->witness_count && rc == RIG_OK; i++)
            rc = write_witness(verdict, logs, folder, &finding->witnesses[i], i + 1, err);
    }
    return rc;
}

/* Writes the file, or removes it where `is_empty`. */
static enum rig_rc write_or_remove(const struct rig_buf *text, bool is_empty, const char *path, struct rig_err *err)
{
    if (!is_empty)
        return rig_output_save(text, path, err);
    return unlink(path) == 0 || errno == ENOENT
               ? RIG_OK
               : rig_fail(err, RIG_E_IO, "%s: cannot remove: %s", path, strerror(errno));
}

static enum rig_rc write_lost(const struct rig_verdict *verdict, const char *folder, struct rig_err *err)
{
    char path[PATH_BYTES];
    enum rig_rc rc = join(path, folder, RIG_RUN_LOST, err);
    if (rc != RIG_OK)
        return rc;
    struct rig_buf out;
    rig_buf_init(&out, 0);
    rig_report_lost(verdict, &out);
    rc = write_or_remove(&out, verdict->lost.count == 0, path, err);
    rig_buf_done(&out);
    return rc;
}

struct rig_course *rig_cli_course(const char *const *paths, size_t count, const struct rig_source_options *options,
                                  const struct rig_verdict *verdict, const struct rig_report_run *run)
{
    struct rig_course *course = NULL;
    struct rig_err err = {0};
    if (strcmp(paths[0], "-") == 0) /* it was read */
        return NULL;
    if (rig_course_read(paths, count, options, verdict, run == NULL ? 0 : run->client_count, &course, &err) != RIG_OK)
        rig_cli_complain("the reports have no charts: %s", err.text);
    return course;
}

static enum rig_rc write_charts(const struct rig_verdict *verdict, const struct rig_course *course, const char *folder,
                                struct rig_err *err)
{
    char path[PATH_BYTES], name[64];
    struct rig_episodes episodes;
    struct rig_buf text;
    enum rig_rc rc = join(path, folder, RIG_RUN_CHARTS, err);
    if (rc == RIG_OK && (course != NULL || access(path, F_OK) == 0))
        rc = make_folder(path, false, err);
    else
        return rc;
    rig_episodes_init(&episodes, verdict);
    rig_buf_init(&text, 0);
    for (unsigned chart = 0; chart < RIG_CHART_COUNT && rc == RIG_OK; chart++) {
        rig_buf_clear(&text);
        const bool drawn = course != NULL && rig_chart_draw(&text, (enum rig_chart)chart, course, &episodes, true);
        rig_printable_buf(&text);
        (void)snprintf(name, sizeof name, RIG_RUN_CHARTS "/%s.svg", rig_chart_name((enum rig_chart)chart));
        rc = join(path, folder, name, err);
        if (rc == RIG_OK)
            rc = write_or_remove(&text, !drawn, path, err);
    }
    rig_buf_done(&text);
    rig_episodes_done(&episodes);
    return rc;
}

/* By form; NULL: it has no file in the folder of a run. */
static const char *const files[RIG_REPORT_FORM_COUNT] = {
#define REPORT_FILE(id, name, file, between) [RIG_REPORT_##id] = file,
    RIG_REPORT_FORM_TABLE(REPORT_FILE)
#undef REPORT_FILE
};

static enum rig_rc check_file(const char *folder, const char *file, struct rig_err *err)
{
    char path[PATH_BYTES];
    const enum rig_rc rc = join(path, folder, file, err);
    return rc == RIG_OK ? rig_output_check(path, err) : rc;
}

enum rig_rc rig_cli_check_folder(const char *folder, struct rig_err *err)
{
    struct stat status;
    if (stat(folder, &status) != 0)
        return rig_output_check(folder, err); /* it will be made where a file could be */
    enum rig_rc rc = S_ISDIR(status.st_mode) ? RIG_OK : rig_fail(err, RIG_E_USAGE, "%s: is no folder", folder);
    if (rc == RIG_OK)
        rc = check_file(folder, RIG_RUN_RESULTS, err);
    for (size_t form = 0; form < RIG_REPORT_FORM_COUNT && rc == RIG_OK; form++)
        rc = files[form] == NULL ? RIG_OK : check_file(folder, files[form], err);
    return rc;
}

enum rig_rc rig_cli_write_reports(const struct rig_verdict *verdict, const struct rig_report_run *run,
                                  const struct rig_course *course, const char *name, const char *folder, uint32_t forms,
                                  struct rig_err *err)
{
    RIG_REQUIRE(verdict != NULL && name != NULL && folder != NULL);
    char path[PATH_BYTES];
    enum rig_rc rc = make_folder(folder, true, err);
    if (rc != RIG_OK)
        return rc;
    /* Each is tried: where the page does not fit, the smaller ones may. results.json is the first, and always
     * wanted. */
    for (size_t i = 0; i <= RIG_REPORT_FORM_COUNT; i++) {
        const enum rig_report_form form = i == 0 ? RIG_REPORT_JSON : (enum rig_report_form)(i - 1);
        if (files[form] == NULL || (i > 0 && form == RIG_REPORT_JSON))
            continue;
        enum rig_rc one = join(path, folder, files[form], err);
        const bool wanted = i == 0 || (forms & 1u << form) != 0;
        if (one == RIG_OK && (wanted || access(path, F_OK) == 0)) /* none may show an earlier verdict */
            one = cli_write_report(verdict, run, course, name, form, path, err);
        rc = rc == RIG_OK ? one : rc;
    }
    const enum rig_rc lost = write_lost(verdict, folder, err), charts = write_charts(verdict, course, folder, err);
    enum rig_rc witnesses = join(path, folder, RIG_RUN_WITNESSES, err);
    if (witnesses == RIG_OK)
        witnesses = write_witnesses(verdict, run == NULL ? NULL : run->logs, path, err);
    rc = rc == RIG_OK ? lost : rc;
    rc = rc == RIG_OK ? charts : rc;
    return rc == RIG_OK ? witnesses : rc;
}
