/*
 * rig gen OUT: a synthetic history, written as it is made, in one record or in one for each rank.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/json_members.h"
#include "base/plural.h"
#include "cli/arguments.h"
#include "cli/check_progress.h"
#include "cli/cli.h"
#include "cli/interruption.h"
#include "cli/outputs.h"
#include "cli/requests.h"
#include "generator/synthetic/synthetic.h"
#include "history/source/load.h"
#include "history/types/types.h"
#include "jobs/smallest/smallest.h"
#include "run/load/run_progress.h"

/* Progress is shown only after this time. */
#define SLOW_NS       (2 * RIG_NS_PER_S)
#define SHOW_EVERY_NS (RIG_NS_PER_S / 4)
#define SET_BYTES     256
#define PATH_BYTES    4096

static const char *const shape_names[] = {
#define SHAPE_NAME(id, name, help) name,
    RIG_SYNTHETIC_SHAPE_TABLE(SHAPE_NAME) RIG_LOAD_SHAPE_TABLE(SHAPE_NAME)
#undef SHAPE_NAME
        NULL};

static const struct rig_argument gen_arguments[] = {
    {.name = "transactions",
     .value = "N",
     .help = "transactions of the load; 100000 when not given. With --allowed: at most 4; 4 when not given"},
    {.name = "clients", .value = "N", .help = "concurrent clients; 20 when not given"},
    {.name = "seed", .value = "N", .help = "seed of every random choice; 1 when not given"},
    {.name = "set",
     .value = "A.B=C",
     .repeatable = true,
     .help = "set a key of `workload` or `database`, named as in a plan with the driver `sim`, or `ranks.clock-error`"},
    {.name = "ranks",
     .value = "N",
     .help = "write the records of a run of N ranks: OUT with the number of the rank before its suffix `.rig`"},
    {.name = "allowed",
     .value = "LEVEL",
     .help = "with --forbidden: write the smallest history that this level allows and the other one forbids"},
    {.name = "forbidden", .value = "LEVEL", .help = "the level that forbids it"},
    {.name = "operations",
     .value = "N",
     .help = "with --allowed: operations of that history, at most 8; 6 when not given"},
    {.name = "shape", .value = "SHAPE", .choices = shape_names, .help = "shape of the history; see below"},
    {.name = "form",
     .value = RIG_CLI_FORM_VALUE,
     .choices = rig_cli_form_names,
     .help = "form to write; found from the suffix of OUT when not given (.rig, .json, .jsonl, .edn)"},
    {.name = "compress", .help = "compress with zstd; rig's own form only"},
    {.name = "force", .help = "replace OUT if it exists"},
    {.name = "no-progress", .help = "no progress line, on a terminal either"},
    RIG_ARGUMENT_FORMAT,
    {.name = NULL},
};

static void print_shapes(void)
{
    rig_cli_say("\nshapes:\n");
#define PRINT_SHAPE(id, name, help) rig_cli_say("  %-12s%s\n", name, help);
    RIG_SYNTHETIC_SHAPE_TABLE(PRINT_SHAPE)
    rig_cli_say("shapes of the load (`workload.shape`) of clients of the simulated database:\n");
    RIG_LOAD_SHAPE_TABLE(PRINT_SHAPE)
#undef PRINT_SHAPE
    rig_cli_say("\nexamples:\n"
                "  rig gen big.rig --transactions 10000000 --set workload.keys.active=100 \\\n"
                "      --set workload.keys.distribution=uniform \\\n"
                "      --set workload.keys.appends-per-key=100\n"
                "  rig gen history.rig --ranks 4 --set ranks.clock-error=1ms && \\\n"
                "      rig check history.*.rig\n"
                "  rig gen tpcc.rig --shape tpcc --set workload.type=rw-register \\\n"
                "      --set workload.warehouses=4\n"
                "  rig gen - --set database.isolation=snapshot-isolation \\\n"
                "      --set database.bug=stale-read --set database.bug-rate=0.1%% | rig check -\n"
                "  rig gen fork.jsonl --allowed parallel-snapshot-isolation \\\n"
                "      --forbidden snapshot-isolation\n");
}

static const struct rig_argument_elsewhere elsewhere[] = {
    {"workload", "a setting has it: --set workload.type=WORKLOAD"},
    {"type", "a setting has it: --set workload.type=WORKLOAD"},
    {"isolation", "a setting has it: --set database.isolation=LEVEL"},
    {"level", "a setting has it: --set database.isolation=LEVEL"},
    {"bug", "a setting has it: --set database.bug=BUG"},
    {NULL, NULL},
};

static const struct rig_arguments_table gen_table = {
    .command = "gen",
    .positionals = "OUT",
    .least_positionals = 1,
    .most_positionals = 1,
    .description =
        "Writes a synthetic history of clients of the simulated database (the driver `sim`, right or\n"
        "deliberately wrong), at full speed, in bounded memory, without client threads. The same\n"
        "arguments give the same bytes. With `-` the history goes to standard output, and the summary to standard\n"
        "error; the form is rig's own unless --form gives another.\n"
        "\n"
        "Keys leave the load after `workload.keys.appends-per-key` appends and are then read once more\n"
        "(`workload.final-reads`); these reads do not count as --transactions. With thousands of clients\n"
        "`database.workers` (such as 20) prevents most conflicts: the other transactions wait.\n"
        "docs/plan-reference.md lists all keys, `rig list` their values.\n"
        "\n"
        "With --ranks the same transactions are in several records, whose clocks differ by up to 5 s and are known\n"
        "up to `ranks.clock-error` (35us when not set; 0s: the time of all ranks is simulated, as is that of objects\n"
        "when it is not set).\n"
        "\n"
        "With --allowed and --forbidden all small histories of lists (with `--set workload.type=rw-register` of\n"
        "registers) are checked, until the one level is held and the other one refuted. The exit status is 2 when\n"
        "there is none within the limits; OUT is then not written.\n",
    .arguments = gen_arguments,
    .elsewhere = elsewhere,
    .print_more = print_shapes,
};

/* ---- arguments ---- */

/* RIG_FORM_AUTO after a complaint. */
static enum rig_form choose_form(const struct rig_arguments *args)
{
    const char *out = args->positionals[0];
    bool is_free = strcmp(out, "-") == 0 && !rig_arguments_has(args, "form");
    return is_free ? RIG_FORM_RIG : rig_cli_output_form(args, "form", &rig_cli_forms, out);
}

/* Whether the record of every rank may be written. */
static bool may_write_ranks(const struct rig_arguments *args, enum rig_form form, const struct rig_synthetic *synthetic)
{
    const char *out = args->positionals[0];
    char path[PATH_BYTES];
    if (form != RIG_FORM_RIG || strcmp(out, "-") == 0) {
        rig_cli_complain("--ranks writes several files in rig's own form; name one that ends in .rig");
        return false;
    }
    for (uint32_t rank = 0; rank < synthetic->ranks; rank++) {
        if (rig_synthetic_record_path(synthetic, out, rank, path, sizeof path) != RIG_OK) {
            rig_cli_complain("%s: the path is too long", out);
            return false;
        }
        if (!rig_cli_may_write(args, path))
            return false;
    }
    return true;
}

static bool may_write(const struct rig_arguments *args, enum rig_form form, const struct rig_synthetic *synthetic)
{
    const char *out = args->positionals[0];
    if (synthetic->ranks > 1)
        return may_write_ranks(args, form, synthetic);
    if (strcmp(out, "-") == 0) {
        if (form != RIG_FORM_RIG || isatty(STDOUT_FILENO) == 0)
            return true;
        rig_cli_complain("standard output is a terminal; name a file, or give --form jsonl");
        return false;
    }
    return rig_cli_may_write(args, out);
}

/* An option of its own is short for a setting; both at a time could contradict each other. */
static bool take_option(const struct rig_arguments *args, const char *option, const char *name,
                        struct rig_synthetic *synthetic, struct rig_err *err)
{
    const char *value = rig_arguments_value(args, option);
    const char *set;
    if (value == NULL)
        return true;
    for (size_t i = 0; (set = rig_arguments_value_at(args, "set", i)) != NULL; i++) {
        if (strncmp(set, name, strlen(name)) == 0 && set[strlen(name)] == '=') {
            (void)rig_fail(err, RIG_E_USAGE, "--%s and --set %s set the same value; leave one out", option, set);
            return false;
        }
    }
    char assignment[SET_BYTES];
    (void)snprintf(assignment, sizeof assignment, "%s=%s", name, value);
    struct rig_err inner = {0};
    if (rig_synthetic_set(synthetic, assignment, &inner) == RIG_OK)
        return true;
    const char *reason = strstr(inner.text, ": "); /* after the setting's name */
    (void)rig_fail(err, RIG_E_USAGE, "--%s%s", option, reason == NULL ? ": expected another value" : reason);
    return false;
}

/* A setting that is given twice is refused as a mistake. */
static bool is_given_before(const struct rig_arguments *args, size_t i, struct rig_err *err)
{
    const char *set = rig_arguments_value_at(args, "set", i);
    size_t length = strcspn(set, "=");
    for (size_t j = 0; j < i; j++) {
        const char *before = rig_arguments_value_at(args, "set", j);
        if (strncmp(before, set, length + 1) != 0 || set[length] == '\0')
            continue;
        (void)rig_fail(err, RIG_E_USAGE, "--set %.*s was given twice", (int)length, set);
        return true;
    }
    return false;
}

/* Whether --shape gives the shape of the load. */
static bool names_load(const struct rig_arguments *args)
{
    const char *shape = rig_arguments_value(args, "shape");
    for (size_t i = 0; shape != NULL && rig_load_shape_names[i] != NULL; i++) {
        if (strcmp(shape, rig_load_shape_names[i]) == 0)
            return true;
    }
    return false;
}

static bool read_settings(const struct rig_arguments *args, struct rig_synthetic *synthetic, struct rig_err *err)
{
    const char *set;
    if (rig_synthetic_defaults(synthetic, err) != RIG_OK)
        return false;
    for (size_t i = 0; (set = rig_arguments_value_at(args, "set", i)) != NULL; i++) {
        struct rig_err inner = {0};
        if (is_given_before(args, i, err))
            return false;
        if (rig_synthetic_set(synthetic, set, &inner) != RIG_OK) {
            (void)rig_fail(err, inner.rc, "--set %s", inner.text);
            return false;
        }
    }
    return take_option(args, "transactions", "workload.transactions", synthetic, err) &&
           take_option(args, "clients", "clients.count", synthetic, err) &&
           take_option(args, "seed", "seed", synthetic, err) &&
           take_option(args, "ranks", "ranks.count", synthetic, err) &&
           take_option(args, "shape", names_load(args) ? "workload.shape" : "shape", synthetic, err) &&
           rig_synthetic_check(synthetic, err) == RIG_OK;
}

/* ---- what is told ---- */

struct watcher {
    uint64_t total;
    int64_t start_ns;
    int64_t shown_ns; /* 0: never */
    uint64_t shown_count;
};

static void show_progress(void *context, const struct rig_synthetic_counts *counts)
{
    struct watcher *watcher = context;
    int64_t now_ns = rig_clock_now_ns();
    int64_t last_ns = watcher->shown_ns == 0 ? watcher->start_ns : watcher->shown_ns;
    if (now_ns - watcher->start_ns < SLOW_NS || now_ns - last_ns < SHOW_EVERY_NS)
        return;
    const struct rig_progress progress = {.phase = "gen",
                                          .elapsed_ns = now_ns - watcher->start_ns,
                                          .done = counts->transactions,
                                          .ok = counts->ok,
                                          .fail = counts->fail,
                                          .info = counts->info,
                                          .rate = (double)(counts->transactions - watcher->shown_count) *
                                                  (double)RIG_NS_PER_S / (double)(now_ns - last_ns),
                                          .total = watcher->total};
    char text[256];
    rig_progress_text(&progress, rig_terminal_columns(stderr), text, sizeof text);
    (void)fprintf(stderr, "\r%s\033[K", text);
    watcher->shown_ns = now_ns;
    watcher->shown_count = counts->transactions;
}

static void print_json(FILE *stream, const char *out, enum rig_form form, const struct rig_synthetic *synthetic,
                       const struct rig_synthetic_counts *counts, double seconds)
{
    struct rig_buf buf;
    struct rig_json_writer json;
    rig_buf_init(&buf, 0);
    rig_json_init(&json, &buf);
    rig_json_object(&json, NULL,
                    "file: %s, ranks: %d, form: %s, transactions: %d, operations: %d, ok: %d, fail: %d, info: %d, "
                    "keys: %d, bytes: %d, seed: %d, rate: %d",
                    out, synthetic->ranks, rig_cli_form_name(form), counts->transactions, counts->operations,
                    counts->ok, counts->fail, counts->info, counts->keys, counts->bytes, synthetic->seed,
                    (int64_t)((double)counts->transactions / seconds));
    (void)fprintf(stream, "%s\n", rig_buf_text(&buf));
    rig_buf_done(&buf);
}

static void print_result(const struct rig_arguments *args, enum rig_form form, const struct rig_synthetic *synthetic,
                         const struct rig_synthetic_counts *counts, int64_t took_ns)
{
    bool to_stdout = strcmp(args->positionals[0], "-") != 0;
    FILE *stream = to_stdout ? stdout : stderr;
    char out[PATH_BYTES] = "standard output";
    if (to_stdout)
        (void)rig_synthetic_record_path(synthetic, args->positionals[0], 0, out, sizeof out);
    double seconds = (double)(took_ns > 0 ? took_ns : 1) / (double)RIG_NS_PER_S;
    if (rig_arguments_json(args)) {
        print_json(stream, out, form, synthetic, counts, seconds);
        return;
    }
    char rate[32];
    rig_progress_count((uint64_t)((double)counts->transactions / seconds), rate, sizeof rate);
    char more[64] = "";
    if (synthetic->ranks > 1)
        (void)snprintf(more, sizeof more, " and %" PRId64 " more record%s", synthetic->ranks - 1,
                       rig_plural((uint64_t)synthetic->ranks - 1));
    struct rig_buf text;
    rig_buf_init(&text, 0);
    rig_buf_printf(&text,
                   "%s%s: %" PRIu64 " transaction%s (%" PRIu64 " ok, %" PRIu64 " fail, %" PRIu64 " unknown), %" PRIu64
                   " operation%s, %" PRIu64 " key%s, %" PRIu64 " bytes, seed %" PRId64 ", %s/s\n",
                   out, more, counts->transactions, rig_plural(counts->transactions), counts->ok, counts->fail,
                   counts->info, counts->operations, rig_plural(counts->operations), counts->keys,
                   rig_plural(counts->keys), counts->bytes, synthetic->seed, rate);
    rig_cli_wrap(&text, stream);
    (void)fputs(rig_buf_text(&text), stream);
    rig_buf_done(&text);
}

static void describe(void *context, char *text, unsigned long size)
{
    const struct rig_arguments *args = context;
    (void)snprintf(text, size, "interrupted; %s is as it was", args->positionals[0]);
}

/* ---- the smallest history between two levels ---- */

/* Whether no other option is given, after a complaint. */
static bool are_for_question(const struct rig_arguments *args)
{
    static const char *const others[] = {"clients", "seed", "ranks", "shape", "compress"};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        if (rig_arguments_has(args, others[i])) {
            rig_cli_complain("--%s is for a load, not for --allowed and --forbidden; leave it out", others[i]);
            return false;
        }
    }
    if (rig_arguments_has(args, "allowed") && rig_arguments_has(args, "forbidden"))
        return true;
    rig_cli_complain("--allowed and --forbidden need each other; give both");
    return false;
}

static bool read_question(const struct rig_arguments *args, struct rig_smallest_question *question)
{
    uint64_t txns = RIG_SMALL_TXNS, ops = RIG_SMALL_OPS - 2;
    const char *set;
    *question = (struct rig_smallest_question){.workload = (enum rig_workload)RIG_WORKLOAD_DEFAULT};
    if (!are_for_question(args))
        return false;
    for (size_t i = 0; (set = rig_arguments_value_at(args, "set", i)) != NULL; i++) {
        const size_t length = strlen("workload.type=");
        unsigned type = 0;
        while (type < RIG_WORKLOAD_COUNT &&
               (strncmp(set, "workload.type=", length) != 0 || strcmp(set + length, rig_data_types[type].name) != 0))
            type++;
        if (type == RIG_WORKLOAD_COUNT ||
            (type != (unsigned)RIG_WORKLOAD_DEFAULT && strcmp(rig_data_types[type].name, "rw-register") != 0)) {
            rig_cli_complain("--set %s: with --allowed give workload.type=list-append or workload.type=rw-register",
                             set);
            return false;
        }
        question->workload = (enum rig_workload)type;
    }
    if (!rig_cli_read_level(args, "allowed", &question->allowed) ||
        !rig_cli_read_level(args, "forbidden", &question->forbidden) ||
        !rig_arguments_number(args, "transactions", 1, RIG_SMALL_TXNS, &txns) ||
        !rig_arguments_number(args, "operations", 1, RIG_SMALL_OPS, &ops))
        return false;
    question->txn_most = (uint32_t)txns;
    question->op_most = (uint32_t)ops;
    return true;
}

static void print_smallest(const struct rig_arguments *args, enum rig_form form,
                           const struct rig_smallest_question *question, const struct rig_smallest *found)
{
    const bool to_stdout = strcmp(args->positionals[0], "-") != 0 || found->history == NULL;
    FILE *stream = to_stdout ? stdout : stderr;
    const char *allowed = rig_level_info(question->allowed)->name,
               *forbidden = rig_level_info(question->forbidden)->name;
    const bool implied = (rig_level_info(question->allowed)->below & RIG_LEVEL_BIT(question->forbidden)) != 0;
    const char *out = strcmp(args->positionals[0], "-") == 0 ? "standard output" : args->positionals[0];
    if (rig_arguments_json(args)) {
        struct rig_buf buf;
        struct rig_json_writer json;
        rig_buf_init(&buf, 0);
        rig_json_init(&json, &buf);
        rig_json_object(
            &json, NULL,
            "file: %s, form: %s, transactions: %d, operations: %d, allowed: %s, forbidden: %s, implied: %b, "
            "checked: %d, most_transactions: %d, most_operations: %d",
            found->history == NULL ? NULL : out, rig_cli_form_name(form),
            found->history == NULL ? 0 : found->history->txn_count,
            found->history == NULL ? 0 : found->history->op_count, allowed, forbidden, implied, found->checked,
            question->txn_most, question->op_most);
        (void)fprintf(stream, "%s\n", rig_buf_text(&buf));
        rig_buf_done(&buf);
    } else if (found->history == NULL) {
        (void)fprintf(stream,
                      "none: %s allows no history of up to %" PRIu32 " transaction%s and %" PRIu32
                      " operation%s that %s forbids%s\n",
                      allowed, question->txn_most, rig_plural(question->txn_most), question->op_most,
                      rig_plural(question->op_most), forbidden, implied ? "; the one implies the other" : "");
    } else {
        (void)fprintf(stream, "%s: %" PRIu32 " transaction%s, %" PRIu32 " operation%s: %s holds, %s does not\n", out,
                      found->history->txn_count, rig_plural(found->history->txn_count), found->history->op_count,
                      rig_plural(found->history->op_count), allowed, forbidden);
    }
}

static int write_smallest(const struct rig_arguments *args)
{
    struct rig_err err = {0};
    struct rig_smallest_question question;
    struct rig_smallest found;
    if (!read_question(args, &question))
        return RIG_EXIT_USAGE;
    const enum rig_form form = choose_form(args);
    const bool to_stdout = strcmp(args->positionals[0], "-") == 0;
    if (form == RIG_FORM_AUTO || (!to_stdout && !rig_cli_may_write(args, args->positionals[0])))
        return RIG_EXIT_USAGE;
    const struct rig_save_options save = {.form = form};
    enum rig_rc rc = rig_smallest_find(&question, &found, &err);
    if (rc == RIG_OK && found.history != NULL)
        rc = rig_history_save(found.history, args->positionals[0], &save, &err);
    if (rc == RIG_OK)
        print_smallest(args, form, &question, &found);
    const bool none = found.history == NULL;
    rig_history_free(found.history);
    return rc != RIG_OK ? rig_cli_fail(&err) : none ? RIG_EXIT_UNDECIDED : RIG_EXIT_OK;
}

int rig_cli_gen(int argc, char **argv)
{
    struct rig_arguments args;
    int status = rig_arguments_parse(&gen_table, argc, argv, &args);
    if (status != RIG_ARGUMENTS_GO_ON)
        return status;
    if (rig_arguments_has(&args, "allowed") || rig_arguments_has(&args, "forbidden"))
        return write_smallest(&args);
    struct rig_err err = {0};
    struct rig_synthetic synthetic;
    if (!read_settings(&args, &synthetic, &err))
        return rig_cli_fail(&err);
    enum rig_form form = choose_form(&args);
    if (form == RIG_FORM_AUTO || !may_write(&args, form, &synthetic))
        return RIG_EXIT_USAGE;
    const struct rig_save_options save = {.form = form, .pack = rig_arguments_has(&args, "compress")};
    if (save.pack && form != RIG_FORM_RIG) {
        rig_cli_complain("--compress is for rig's own form; leave it out, or give --form rig");
        return RIG_EXIT_USAGE;
    }
    bool shows = rig_terminal_is_live(stderr) && !rig_arguments_has(&args, "no-progress");
    struct watcher watcher = {.total = (uint64_t)synthetic.workload.transactions, .start_ns = rig_clock_now_ns()};
    const struct rig_synthetic_watch watch = {.progress = show_progress, .context = &watcher};
    struct rig_synthetic_counts counts;
    rig_cli_interruption_begin(describe, &args);
    enum rig_rc rc = rig_synthetic_write(&synthetic, args.positionals[0], &save, shows ? &watch : NULL, &counts, &err);
    rig_cli_interruption_end();
    if (watcher.shown_ns != 0)
        (void)fprintf(stderr, "\r\033[K");
    if (rc != RIG_OK)
        return rig_cli_fail(&err);
    print_result(&args, form, &synthetic, &counts, rig_clock_now_ns() - watcher.start_ns);
    return RIG_EXIT_OK;
}
