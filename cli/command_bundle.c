/*
 * rig bundle DIR: one archive for a bug report, from the folder of a run with an anomaly.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/archive.h"
#include "base/folder.h"
#include "base/output_file.h"
#include "base/run_files.h"
#include "base/secret.h"
#include "base/sha256.h"
#include "checker/judge/repeated_values.h"
#include "checker/judge/minimum.h"
#include "cli/arguments.h"
#include "cli/check_run.h"
#include "cli/cli.h"
#include "cli/earlier_runs.h"
#include "cli/input_path.h"
#include "cli/outputs.h"
#include "cli/reproduce_files.h"
#include "cli/requests.h"
#include "cli/saved_run.h"
#include "history/source/load.h"
#include "report/cover.h"
#include "report/headline.h"
#include "report/server_log.h"

enum { PATH_BYTES = RIG_CLI_PATH_BYTES + 64, NAME_BYTES = 72, FILES_MOST = 20, FILE_BYTES = 64 << 20 };

static const struct rig_argument bundle_arguments[] = {
    RIG_ARGUMENT_LEVEL,
    RIG_ARGUMENT_ANOMALY,
    RIG_ARGUMENT_LATTICE,
    RIG_ARGUMENT_BUDGET,
    RIG_ARGUMENT_MAX_WITNESSES,
    RIG_ARGUMENT_MAX_MEMORY,
    {.name = "set",
     .value = "A.B=C",
     .repeatable = true,
     .help = "set a key of the plan for the scenario and scripts, such as a secret that the stored plan lacks"},
    {.name = "output",
     .letter = 'o',
     .value = "FILE",
     .help = "the archive; rig-bundle-NAME-TIME.tar.gz in the current folder when not given"},
    {.name = "force", .help = "replace an archive that exists"},
    {.name = NULL},
};

static const struct rig_arguments_table bundle_table = {
    .command = "bundle",
    .positionals = "DIR",
    .least_positionals = 1,
    .most_positionals = 1,
    .description =
        "Packs what a bug report needs from the folder of a run into one .tar.gz: a cover page in Markdown, the plan,\n"
        "the smallest part of the history that has the anomaly (rig shrink), its scenario and scripts (rig reproduce\n"
        "runs them), how often it came back as far as the store knows, the lines of the servers' logs around the\n"
        "anomaly, and checksums. No database is used, and the folder stays as it is. Secrets are masked. DIR is the\n"
        "run's folder, store/NAME for the latest run, the folder of a reproduction, or that of an unpacked bundle,\n"
        "which is then made again.\n"
        "Exit status: 0 when the archive was written; 64 where the run shows no anomaly that it was asked about.\n",
    .arguments = bundle_arguments,
};

struct bundle {
    const struct rig_arguments *args;
    char run[RIG_CLI_PATH_BYTES], work[RIG_CLI_PATH_BYTES]; /* folders: the run's, and one for the files until packed */
    char name[NAME_BYTES + 16], output[RIG_CLI_PATH_BYTES];
    struct rig_cli_saved_run saved;
    struct rig_report_run facts;
    struct rig_check_options check;
    bool has_part_alone;         /* the folder is that of a bundle or of a reproduction */
    struct rig_history *history; /* of that part */
    struct rig_verdict *verdict;
    struct rig_smallest_part part;
    struct rig_cli_repeats repeats;
    struct rig_interleaving interleaving;
    char unshrunk[RIG_ERR_TEXT_BYTES], unplayed[RIG_ERR_TEXT_BYTES];
    struct rig_archive archive;
    struct rig_buf sums;
    struct rig_cover_file files[FILES_MOST];
    size_t file_count;
};

#define COVER    "README.md"
#define LOGS     "logs.txt"
#define PREVIOUS "previous.md"

/* The files of a bundle besides the cover, in order; those that exist are packed. */
static const struct {
    const char *name, *text;
    enum { OF_WORK, OF_RUN } from; /* the folder that has it */
    bool is_script;
} contents[] = {
    {RIG_RUN_WITNESS, "the witness in words, and an order of its statements", OF_WORK, false},
    {RIG_RUN_PART, "the smallest part of the history, for `rig check`", OF_WORK, false},
    {RIG_RUN_PLAN, "the plan of the run, resolved", OF_RUN, false},
    {RIG_RUN_SMALLEST_PLAN, "the smallest plan that shows it, of those that were tried", OF_WORK, false},
    {RIG_RUN_SHRUNK, "how that plan was found", OF_WORK, false},
    {RIG_RUN_SCENARIO, "the part as sessions and statements, for `rig scenario`", OF_WORK, false},
    {RIG_RUN_SCRIPT_PSQL, "the scenario for psql, without rig", OF_WORK, true},
    {RIG_RUN_SCRIPT_MYSQL, "the scenario for the client of MySQL and MariaDB, without rig", OF_WORK, true},
    {RIG_RUN_SCRIPT_SHELL, "the scenario for the database's own shell, without rig", OF_WORK, true},
    {RIG_RUN_SCRIPT_HTTP, "the part as requests for curl, without rig", OF_WORK, true},
    {RIG_RUN_SCRIPT_ISOLATIONTESTER, "the scenario for PostgreSQL's isolationtester", OF_WORK, false},
    {RIG_RUN_LOST, "the acknowledged writes that no later read shows, a line each", OF_RUN, false},
    {LOGS, "lines of the servers' logs around each witness of the anomaly", OF_WORK, false},
    {RIG_RUN_RESULTS, "the result of the run, for programs", OF_RUN, false},
    {PREVIOUS, "the cover page of the bundle that this one was made of", OF_WORK, false},
};

/* -- the evidence -------------------------------------------------------------------------------------------------- */

/* The whole history, or the part where there is no more. */
static enum rig_rc load_history(const struct bundle *bundle, struct rig_history **history, struct rig_err *err)
{
    static struct rig_cli_paths paths; /* one command a process */
    char path[PATH_BYTES];
    const char *given = path;
    const struct rig_load_options load = {.form = bundle->has_part_alone ? RIG_FORM_JSON_LINES : RIG_FORM_RIG,
                                          .limit_bytes = bundle->check.limit_bytes};
    (void)snprintf(path, sizeof path, "%s%s", bundle->run, bundle->has_part_alone ? "/" RIG_RUN_PART : "");
    enum rig_rc rc = rig_cli_find_histories(&given, 1, &paths, err);
    if (rc == RIG_OK)
        rc = rig_history_load_ranks((const char *const *)paths.at, paths.count, &load, history, err);
    rig_cli_paths_done(&paths);
    return rc;
}

static enum rig_rc judge(struct bundle *bundle, struct rig_err *err)
{
    const struct rig_source_options source = {.load = {.form = RIG_FORM_RIG, .limit_bytes = bundle->check.limit_bytes}};
    const struct rig_stream_options windows = {.check = bundle->check};
    const struct rig_minimum minimum = RIG_MINIMUM_OF_HISTORY;
    enum rig_rc rc = RIG_OK;
    if (bundle->has_part_alone)
        rc = load_history(bundle, &bundle->history, err);
    if (rc == RIG_OK && bundle->has_part_alone)
        rc = rig_repeated_values_check(bundle->history, &bundle->check, &bundle->verdict, err);
    else if (rc == RIG_OK)
        rc = rig_cli_check_run(bundle->run, NULL, &source, &windows, &bundle->verdict, err);
    if (rc == RIG_OK)
        rc = rig_verdict_weigh(bundle->verdict, &minimum, &bundle->saved.effort, err);
    if (rc == RIG_OK && bundle->verdict->valid != RIG_VALID_FALSE)
        rc = rig_fail(err, RIG_E_USAGE,
                      "%s: the run shows no anomaly that it was asked about; --level or --anomaly asks about others",
                      bundle->args->positionals[0]);
    return rc;
}

/* Whether a crash took commits, and nothing else is wrong. The levels are judged on what each crash left; a part would
 * be judged without the crash, and refute levels that hold. */
static bool is_loss_alone(const struct rig_verdict *verdict)
{
    if (!rig_durability_is_broken(verdict->durability))
        return false;
    for (unsigned level = 0; level < RIG_LEVEL_COUNT; level++) {
        if ((verdict->requested_levels & RIG_LEVEL_BIT(level)) != 0 && verdict->levels[level].fate == RIG_FATE_REFUTED)
            return false;
    }
    for (unsigned anomaly = 0; anomaly < RIG_ANOMALY_COUNT; anomaly++) {
        if ((verdict->requested_anomalies & RIG_ANOMALY_BIT(anomaly)) != 0 && verdict->findings[anomaly].count > 0)
            return false;
    }
    return true;
}

/* Without a part where the history has none, or does not fit; the witness of the whole history stays. */
static void shrink(struct bundle *bundle)
{
    struct rig_shrink_options options = {
        .check = bundle->check, .budget_ns = bundle->check.budget_ns, .for_scenario = true};
    struct rig_history *history = NULL;
    struct rig_err why = {0};
    if (is_loss_alone(bundle->verdict)) {
        (void)snprintf(bundle->unshrunk, sizeof bundle->unshrunk,
                       "a crash took the commits, and a part of the history would be judged without it");
        return;
    }
    if (!rig_arguments_has(bundle->args, "max-witnesses"))
        options.check.max_witnesses = RIG_CLI_PLAYED_WITNESSES;
    enum rig_rc rc = load_history(bundle, &history, &why);
    if (rc == RIG_OK)
        rc = rig_shrink_history(history, &options, &bundle->part, &why);
    if (rc == RIG_OK)
        rc = rig_interleaving_init(&bundle->interleaving, bundle->part.history, bundle->part.verdict, &why);
    if (rc != RIG_OK)
        (void)snprintf(bundle->unshrunk, sizeof bundle->unshrunk, "%s", why.text);
    else if (bundle->has_part_alone)
        rig_cli_saved_run_size(&bundle->saved, &bundle->part.txns, &bundle->part.ops);
    rig_history_free(history);
}

static enum rig_rc save_text(const struct bundle *bundle, const char *name, const char *text, struct rig_err *err)
{
    struct rig_buf buf;
    if (text == NULL || text[0] == '\0')
        return RIG_OK;
    rig_buf_init(&buf, 0);
    rig_buf_add_text(&buf, text);
    const enum rig_rc rc = rig_cli_reproduce_save(bundle->work, name, false, &buf, err);
    rig_buf_done(&buf);
    return rc;
}

/* Nothing is connected, and scripts have no secrets: a word that no text has stands for each one that the stored plan
 * lacks, because each text is searched for it. */
static enum rig_rc load_masked_plan(const char *path, struct rig_plan **plan, struct rig_err *err)
{
    static const size_t mask = sizeof RIG_SECRET_MASK - 1;
    struct rig_buf stored, text;
    rig_buf_init(&stored, 0);
    rig_buf_init(&text, 0);
    enum rig_rc rc = rig_buf_read_file(&stored, path, err);
    for (const char *at = rig_buf_text(&stored); rc == RIG_OK && *at != '\0';) {
        const bool is_mask = strncmp(at, RIG_SECRET_MASK, mask) == 0;
        rig_buf_add_text(&text, is_mask ? "secret-that-the-plan-lacks" : (char[]){*at, '\0'});
        at += is_mask ? mask : 1;
    }
    const struct rig_plan_text masked = {.name = path, .text = rig_buf_text(&text), .size = text.size};
    if (rc == RIG_OK)
        rc = rig_plan_parse(&masked, NULL, 0, NULL, plan, err);
    rig_buf_done(&stored);
    rig_buf_done(&text);
    return rc;
}

/* NULL, and the reason in `unplayed`, where the plan needs what this machine lacks. */
static enum rig_rc load_plan(struct bundle *bundle, struct rig_plan **plan, struct rig_err *err)
{
    struct rig_plan_override overrides[RIG_ARGUMENTS_MAX];
    struct rig_err why = {0}, second = {0};
    char path[PATH_BYTES];
    size_t given = 0;
    while ((overrides[given].text = rig_arguments_value_at(bundle->args, "set", given)) != NULL)
        given++;
    (void)snprintf(path, sizeof path, "%s/" RIG_RUN_PLAN, bundle->run);
    if (rig_plan_load(path, overrides, given, NULL, plan, &why) == RIG_OK)
        return RIG_OK;
    if (given > 0) /* it may be the setting that is wrong */
        return rig_fail(err, why.rc, "%s", why.text);
    if (load_masked_plan(path, plan, &second) == RIG_OK)
        return RIG_OK;
    const size_t folder = strlen(bundle->run) + 1; /* the place in the plan, wherever the folder is */
    const bool is_named = strncmp(why.text, path, strlen(path)) == 0;
    (void)snprintf(bundle->unplayed, sizeof bundle->unplayed, "%s", why.text + (is_named ? folder : 0));
    return RIG_OK;
}

/* The files of the part. The plan decides whether there are scripts. */
static enum rig_rc write_part(struct bundle *bundle, struct rig_err *err)
{
    const struct rig_headline headline = rig_headline_pick(bundle->verdict);
    struct rig_cli_reproduce_files files = {
        .folder = bundle->work, .part = &bundle->part, .interleaving = &bundle->interleaving};
    struct rig_plan *plan = NULL;
    const enum rig_rc loaded = load_plan(bundle, &plan, err);
    if (loaded != RIG_OK)
        return loaded;
    if (bundle->unshrunk[0] != '\0') {
        (void)snprintf(bundle->unplayed, sizeof bundle->unplayed, "the history is not shrunk");
        rig_plan_free(plan);
        return save_text(bundle, RIG_RUN_WITNESS, headline.witness != NULL ? headline.witness->text : headline.text,
                         err);
    }
    files.plan = plan;
    const enum rig_rc rc = rig_cli_reproduce_write(&files, err);
    if (plan != NULL)
        (void)snprintf(bundle->unplayed, sizeof bundle->unplayed, "%s", files.unplayed);
    rig_scenario_free(files.scenario);
    rig_plan_free(plan);
    return rc;
}

/* Lines around the witnesses of the anomaly that the cover names; `*first`: those of its shortest one. */
static void collect_logs(const struct bundle *bundle, struct rig_buf *all, struct rig_buf *first)
{
    const struct rig_headline headline = rig_headline_pick(bundle->verdict);
    struct rig_server_logs *logs = rig_server_logs_read(bundle->run, bundle->verdict);
    unsigned count;
    if (headline.witness != NULL && !headline.is_by_certificate) {
        const struct rig_finding *finding = &bundle->verdict->findings[headline.witness->anomaly];
        rig_buf_add_text(first, rig_server_logs_of(logs, headline.witness, &count));
        for (uint32_t i = 0; i < finding->witness_count; i++) {
            const char *lines = rig_server_logs_of(logs, &finding->witnesses[i], &count);
            if (count > 0)
                rig_buf_printf(all, "%s%s #%u\n%s", all->size == 0 ? "" : "\n",
                               rig_anomaly_info(headline.witness->anomaly)->name, (unsigned)i + 1, lines);
        }
    }
    rig_server_logs_free(logs);
}

/* -- packing ------------------------------------------------------------------------------------------------------- */

/* Masks the secrets that this process knows: also those that the plan takes from the environment. */
static void redact(struct rig_buf *text)
{
    if (text->size == 0 || memchr(text->data, '\0', text->size) != NULL)
        return;
    rig_secret_redact(text->data, text->size + 1);
    text->size = strlen(text->data);
}

static enum rig_rc pack(struct bundle *bundle, const char *name, bool is_script, struct rig_buf *text,
                        struct rig_err *err)
{
    unsigned char digest[RIG_SHA256_BYTES];
    char hex[RIG_SHA256_HEX], path[RIG_ARCHIVE_NAME_BYTES + 1];
    (void)rig_buf_text(text);
    redact(text);
    rig_sha256_of(text->data, text->size, digest);
    rig_sha256_hex(digest, hex);
    if (strcmp(name, "SHA256SUMS") != 0)
        rig_buf_printf(&bundle->sums, "%s  %s\n", hex, name);
    (void)snprintf(path, sizeof path, "%.80s/%.18s", bundle->name, name);
    return rig_archive_add(&bundle->archive, path, is_script, text->data, text->size, err);
}

static bool read_file(const char *folder, const char *name, struct rig_buf *text);

/* Copies a file of another folder, where there is one, for the archive. */
static enum rig_rc copy_file(const struct bundle *bundle, const char *folder, const char *name, const char *as,
                             struct rig_err *err)
{
    struct rig_buf text;
    rig_buf_init(&text, FILE_BYTES);
    const bool is_there = read_file(folder, name, &text);
    const enum rig_rc rc = is_there ? rig_cli_reproduce_save(bundle->work, as, false, &text, err) : RIG_OK;
    rig_buf_done(&text);
    return rc;
}

/* Copies the files of a bundle that its part cannot give: logs, and the cover page with the facts of the run. */
static enum rig_rc copy_previous(const struct bundle *bundle, struct rig_err *err)
{
    enum rig_rc rc = copy_file(bundle, bundle->run, COVER, PREVIOUS, err);
    if (rc == RIG_OK)
        rc = copy_file(bundle, bundle->run, PREVIOUS, PREVIOUS, err); /* of the first bundle */
    if (rc == RIG_OK)
        rc = copy_file(bundle, bundle->run, LOGS, LOGS, err);
    return rc;
}

/* How often the anomaly came back, and the smallest plan. */
static enum rig_rc find_repeats(struct bundle *bundle, struct rig_err *err)
{
    const struct rig_headline headline = rig_headline_pick(bundle->verdict);
    const enum rig_anomaly anomaly = bundle->unshrunk[0] == '\0' ? bundle->part.anomaly
                                     : headline.witness != NULL  ? headline.witness->anomaly
                                                                 : RIG_ANOMALY_COUNT;
    char folder[RIG_CLI_PATH_BYTES];
    if (anomaly == RIG_ANOMALY_COUNT)
        return RIG_OK;
    enum rig_rc rc = rig_cli_repeats_find(bundle->run, &bundle->saved, anomaly, &bundle->repeats, err);
    if (rc != RIG_OK || bundle->repeats.smallest[0] == '\0')
        return rc;
    (void)snprintf(folder, sizeof folder, "%s", bundle->repeats.smallest);
    *strrchr(folder, '/') = '\0';
    rc = copy_file(bundle, folder, RIG_RUN_SMALLEST_PLAN, RIG_RUN_SMALLEST_PLAN, err);
    return rc == RIG_OK ? copy_file(bundle, folder, RIG_RUN_SHRUNK, RIG_RUN_SHRUNK, err) : rc;
}

/* A regular file of the folder, and no link; false: there is none. */
static bool read_file(const char *folder, const char *name, struct rig_buf *text)
{
    char path[PATH_BYTES];
    struct stat status;
    struct rig_err why = {0};
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    const int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    const bool fits = fd >= 0 && fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_size < FILE_BYTES;
    const bool read = fits && rig_buf_read_up_to(text, fd, (size_t)status.st_size, path, &why) == RIG_OK;
    if (fd >= 0)
        (void)close(fd);
    return read && text->size > 0;
}

/* A plan of the driver that sets nothing, resolved; none where the driver needs keys. */
static void write_defaults(const struct bundle *bundle, struct rig_buf *out)
{
    const char *driver = bundle->saved.run.driver;
    struct rig_plan *plan = NULL;
    struct rig_buf text;
    struct rig_err why = {0};
    rig_buf_init(&text, 0);
    rig_buf_printf(&text, "name: defaults\nworkload: {type: list-append, transactions: 1}\ndatabase: {driver: %s}\n",
                   driver == NULL ? "" : driver);
    const struct rig_plan_text plain = {.name = "defaults", .text = rig_buf_text(&text), .size = text.size};
    if (driver != NULL && rig_plan_parse(&plain, NULL, 0, NULL, &plan, &why) == RIG_OK)
        rig_plan_write(plan, false, out);
    rig_plan_free(plan);
    rig_buf_done(&text);
}

static enum rig_rc pack_all(struct bundle *bundle, const char *logs, struct rig_err *err)
{
    enum { COUNT = sizeof contents / sizeof contents[0] };
    struct rig_buf texts[COUNT], cover, witness, repeats, defaults;
    enum rig_rc rc = RIG_OK;
    rig_buf_init(&cover, 0);
    rig_buf_init(&witness, 0);
    rig_buf_init(&repeats, 0);
    rig_buf_init(&defaults, 0);
    rig_cli_repeats_write(&bundle->repeats, &repeats);
    write_defaults(bundle, &defaults);
    for (size_t i = 0; i < COUNT; i++) {
        rig_buf_init(&texts[i], FILE_BYTES);
        if (read_file(contents[i].from == OF_RUN ? bundle->run : bundle->work, contents[i].name, &texts[i]))
            bundle->files[bundle->file_count++] = (struct rig_cover_file){contents[i].name, contents[i].text};
    }
    rig_buf_add(&witness, rig_buf_text(&texts[0]), texts[0].size);
    const struct rig_cover about = {.verdict = bundle->verdict,
                                    .run = bundle->saved.found ? &bundle->facts : NULL,
                                    .witness = bundle->unshrunk[0] == '\0' ? rig_buf_text(&witness) : NULL,
                                    .unshrunk = bundle->unshrunk[0] == '\0' ? NULL : bundle->unshrunk,
                                    .unplayed = bundle->unplayed[0] == '\0' ? NULL : bundle->unplayed,
                                    .of_part = bundle->has_part_alone,
                                    .repeats = rig_buf_text(&repeats),
                                    .defaults = rig_buf_text(&defaults),
                                    .logs = logs,
                                    .files = bundle->files,
                                    .file_count = bundle->file_count};
    rig_report_cover(&about, &cover);
    rc = pack(bundle, COVER, false, &cover, err);
    for (size_t i = 0; i < COUNT && rc == RIG_OK; i++)
        if (texts[i].size > 0)
            rc = pack(bundle, contents[i].name, contents[i].is_script, &texts[i], err);
    if (rc == RIG_OK)
        rc = pack(bundle, "SHA256SUMS", false, &bundle->sums, err);
    for (size_t i = 0; i < COUNT; i++)
        rig_buf_done(&texts[i]);
    rig_buf_done(&cover);
    rig_buf_done(&witness);
    rig_buf_done(&repeats);
    rig_buf_done(&defaults);
    return rc;
}

static enum rig_rc write_archive(struct bundle *bundle, struct rig_err *err)
{
    struct rig_buf all, first, bytes;
    rig_buf_init(&all, 0);
    rig_buf_init(&first, 0);
    rig_buf_init(&bytes, 0);
    collect_logs(bundle, &all, &first);
    enum rig_rc rc = save_text(bundle, LOGS, rig_buf_text(&all), err);
    if (rc == RIG_OK)
        rc = pack_all(bundle, rig_buf_text(&first), err);
    if (rc == RIG_OK)
        rc = rig_archive_finish(&bundle->archive, &bytes, err);
    if (rc == RIG_OK)
        rc = rig_output_save(&bytes, bundle->output, err);
    rig_buf_done(&bytes);
    rig_buf_done(&first);
    rig_buf_done(&all);
    return rc;
}

/* -- the command --------------------------------------------------------------------------------------------------- */

/* "rig-bundle-NAME-TIME", of characters that every file system takes. */
static void name_bundle(struct bundle *bundle)
{
    const struct rig_report_run *run = &bundle->saved.run;
    char real[PATH_MAX];
    const char *last = realpath(bundle->run, real) == NULL ? NULL : strrchr(real, '/');
    const bool is_known = run->name != NULL && run->name[0] != '\0';
    const bool is_named = !is_known && last != NULL && strncmp(last, "/rig-bundle-", 12) == 0;
    const int length = is_named
                           ? snprintf(bundle->name, NAME_BYTES, "%.68s", last + 1)
                           : snprintf(bundle->name, NAME_BYTES, "rig-bundle-%.32s-%.24s", is_known ? run->name : "run",
                                      run->started_utc == NULL ? "" : run->started_utc);
    for (int i = 0; i < length && bundle->name[i] != '\0'; i++)
        if (strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789.-", bundle->name[i]) == NULL)
            bundle->name[i] = '_';
    const char *given = rig_arguments_value(bundle->args, "output");
    (void)snprintf(bundle->output, sizeof bundle->output, given == NULL ? "%.4000s.tar.gz" : "%.4000s",
                   given == NULL ? bundle->name : given);
}

static enum rig_rc make_work(struct bundle *bundle, struct rig_err *err)
{
    const char *folder = getenv("TMPDIR");
    (void)snprintf(bundle->work, sizeof bundle->work, "%.4000s/rig-bundle-XXXXXX",
                   folder == NULL || folder[0] != '/' ? "/tmp" : folder);
    if (mkdtemp(bundle->work) != NULL)
        return RIG_OK;
    bundle->work[0] = '\0';
    return rig_fail(err, RIG_E_IO, "cannot create a folder for the files: %s", strerror(errno));
}

static enum rig_rc make(struct bundle *bundle, struct rig_err *err)
{
    enum rig_rc rc = judge(bundle, err);
    if (rc == RIG_OK)
        rc = make_work(bundle, err);
    if (rc == RIG_OK)
        shrink(bundle);
    if (rc == RIG_OK)
        rc = write_part(bundle, err);
    if (rc == RIG_OK)
        rc = find_repeats(bundle, err);
    if (rc == RIG_OK && bundle->has_part_alone)
        rc = copy_previous(bundle, err);
    if (rc == RIG_OK)
        rc = write_archive(bundle, err);
    if (bundle->work[0] != '\0')
        rig_folder_remove(bundle->work);
    return rc;
}

/* The files of the run are read, so none of them may be the archive; a link among them could lead to any file. */
static enum rig_rc guard(const struct bundle *bundle, struct rig_err *err)
{
    static const char *const inputs[] = {RIG_RUN_RECORD, RIG_RUN_PART, RIG_RUN_PLAN, RIG_RUN_RESULTS};
    char path[PATH_BYTES];
    struct stat status;
    for (size_t i = 0; i < sizeof inputs / sizeof inputs[0]; i++) {
        (void)snprintf(path, sizeof path, "%s/%s", bundle->run, inputs[i]);
        if (lstat(path, &status) == 0 && S_ISLNK(status.st_mode))
            return rig_fail(err, RIG_E_INPUT, "%s: is a link, and a bundle holds only files of the run's folder", path);
        rig_output_guard(path);
    }
    return RIG_OK;
}

/* The folder of a run; else one that has a part of a history. */
static enum rig_rc find_folder(struct bundle *bundle, struct rig_err *err)
{
    const char *given = bundle->args->positionals[0];
    char part[PATH_BYTES];
    const enum rig_rc rc = rig_cli_find_run(given, bundle->run, err);
    (void)snprintf(part, sizeof part, "%.4000s/" RIG_RUN_PART, given);
    if (rc == RIG_OK || access(part, R_OK) != 0)
        return rc;
    *err = (struct rig_err){.rc = RIG_OK};
    bundle->has_part_alone = true;
    (void)snprintf(bundle->run, sizeof bundle->run, "%.4000s", given);
    return RIG_OK;
}

static int run_bundle(struct bundle *bundle)
{
    struct rig_err err = {0};
    if (!rig_cli_read_requests(bundle->args, &bundle->check) || !rig_cli_read_decision(bundle->args, &bundle->check))
        return RIG_EXIT_USAGE;
    enum rig_rc rc = find_folder(bundle, &err);
    if (rc == RIG_OK)
        rc = guard(bundle, &err);
    if (rc == RIG_OK)
        rc = rig_cli_saved_run_load(bundle->run, &bundle->saved, &err);
    if (rc != RIG_OK)
        return rig_cli_fail(&err);
    rig_cli_saved_run_ask(&bundle->saved, bundle->args, &bundle->check, NULL);
    bundle->facts = bundle->saved.run;
    name_bundle(bundle);
    if (!rig_cli_may_write(bundle->args, bundle->output))
        return RIG_EXIT_USAGE;
    rc = make(bundle, &err);
    if (rc != RIG_OK)
        return rig_cli_fail(&err);
    printf("%s\n", bundle->output);
    return RIG_EXIT_OK;
}

int rig_cli_bundle(int argc, char **argv)
{
    static struct rig_arguments args;
    const int status = rig_arguments_parse(&bundle_table, argc, argv, &args);
    if (status != RIG_ARGUMENTS_GO_ON)
        return status;
    struct bundle *bundle = calloc(1, sizeof *bundle);
    if (bundle == NULL)
        return RIG_EXIT_FAILED;
    bundle->args = &args;
    rig_archive_init(&bundle->archive);
    rig_buf_init(&bundle->sums, 0);
    const int result = run_bundle(bundle);
    rig_interleaving_done(&bundle->interleaving);
    rig_smallest_part_done(&bundle->part);
    rig_verdict_free(bundle->verdict);
    rig_history_free(bundle->history);
    rig_cli_saved_run_done(&bundle->saved);
    rig_archive_done(&bundle->archive);
    rig_buf_done(&bundle->sums);
    free(bundle);
    return result;
}
