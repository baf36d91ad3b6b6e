/*
 * rig-verify HISTORY... PROOF: replays a proof of `rig check --proof` from the raw history. It shares nothing with the
 * checker, only how histories are read.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/option_parse.h"
#include "base/version.h"
#include "history/model/fingerprint.h"
#include "history/source/load.h"
#include "history/types/object_kinds.h"
#include "history/types/types.h"
#include "checker/prove/proof_claims.h"
#include "checker/prove/contradiction.h"
#include "checker/prove/proved_levels.h"
#include "history/model/value_texts.h"
#include "history/types/object_specification.h"

enum { EXIT_PROVED = 0, EXIT_FALSE = 1, EXIT_UNDECIDED = 2, PATHS_MOST = 257 };

static const char help[] =
    "Usage: rig-verify [--quiet] [--workload W] [OPTION]... HISTORY... PROOF\n"
    "\n"
    "Replays a proof that `rig check --proof PROOF HISTORY` wrote: the order of the transactions for levels that are\n"
    "held, the witness for levels that are refuted. It uses the raw history alone and nothing of the checker.\n"
    "HISTORY is a file in any form that rig check reads, or the records of the ranks of one run;\n"
    "docs/proof-format.md gives the form of PROOF.\n"
    "\n"
    "Prints the levels that were proved, and those that follow from them.\n"
    "\n"
    "Options:\n"
    "  --quiet        print failures only\n"
    "  --workload W   the type of the history, where it does not show it (as for rig check)\n"
    "  --permits N    locks of Jepsen's form: semaphores of N permits; with --workload lock\n"
    "  --reentrant N  such locks: their owner may hold them N times\n"
    "  --lease TIME   such locks: they may be taken away this long after they were asked for\n"
    "  --model FILE   the model whose operations the history has (docs/models.md)\n"
    "  --fingerprint  print the fingerprint of HISTORY, by which a proof names it; without PROOF\n"
    "  --help         print this\n"
    "  --version      print the version\n"
    "\n"
    "Exit status: 0 each claim is proved; 1 a claim is not, or the file is not a proof of this history; 2 undecided: "
    "a\n"
    "proof or history that this program does not support, or one without claims; 64 usage; 3 reading failed.\n";

static int complain(const char *text)
{
    (void)fprintf(stderr, "rig-verify: %s\n", text);
    return rig_rc_exit_status(RIG_E_USAGE);
}

static enum rig_rc read_file(const char *path, struct rig_buf *text, struct rig_err *err)
{
    FILE *file = fopen(path, "rb");
    char part[1 << 16];
    size_t size;
    if (file == NULL)
        return rig_fail(err, RIG_E_IO, "%s: cannot be opened", path);
    while ((size = fread(part, 1, sizeof part, file)) > 0)
        rig_buf_add(text, part, size);
    const bool failed = ferror(file) != 0 || text->failed;
    (void)fclose(file);
    return failed ? rig_fail(err, RIG_E_IO, "%s: cannot be read, or is larger than 4 GiB", path) : RIG_OK;
}

static void print(const struct rig_facts *facts, const struct rig_proved *claims)
{
    if (facts->prefilled)
        (void)printf("assuming that each key had its row from the start\n");
    if (facts->assumes_initial)
        (void)printf("assuming that registers begin with %s\n", RIG_VALUE_SHOWN(facts->initial));
    if (facts->assumes_total)
        (void)printf("assuming a total of %lld\n", (long long)facts->total);
    if (facts->assumes_balances)
        (void)printf("assuming non-negative balances\n");
    if ((claims->assumed & RIG_ASSUMES(RIG_REASON_UPDATE)) != 0)
        (void)printf("assuming wfr-keys\n");
    if ((claims->assumed & RIG_ASSUMES(RIG_REASON_SEQUENTIAL)) != 0)
        (void)printf("assuming sequential-keys\n");
    if ((claims->assumed & RIG_ASSUMES(RIG_REASON_LINEARIZABLE)) != 0)
        (void)printf("assuming linearizable-keys\n");
    for (int level = RIG_PROVED_LEVELS - 1; level >= 0; level--)
        (void)printf("%-34s %s\n", rig_proved_levels[level].name,
                     (claims->held >> level & 1) != 0      ? "held"
                     : (claims->refuted >> level & 1) != 0 ? "refuted"
                                                           : "not claimed");
}

static enum rig_rc verify(const struct rig_history *history, const char *path, bool quiet, struct rig_err *err)
{
    struct rig_facts facts = {0};
    struct rig_proved claims = {0};
    struct rig_buf text;
    rig_buf_init(&text, (size_t)4 << 30);
    enum rig_rc rc = read_file(path, &text, err);
    if (rc == RIG_OK)
        rc = rig_facts_init(&facts, history, err);
    if (rc == RIG_OK)
        rc = rig_claims_prove(&facts, text.data, text.size, &claims, err);
    if (rc == RIG_OK && claims.count == 0)
        rc = rig_fail(err, RIG_E_LIMIT, "%s claims nothing", path);
    if (rc == RIG_OK && !quiet)
        print(&facts, &claims);
    rig_facts_done(&facts);
    rig_buf_done(&text);
    return rc;
}

/* Why the history could not be read is no statement about a claim. */
static int status_of(enum rig_rc rc, bool loaded)
{
    if (rc == RIG_OK)
        return EXIT_PROVED;
    if (rc == RIG_E_BUG || rc == RIG_E_IO || !loaded)
        return rig_rc_exit_status(rc);
    return rc == RIG_E_INPUT ? EXIT_FALSE : EXIT_UNDECIDED;
}

static bool find_workload(const char *name, struct rig_load_options *load)
{
    for (int i = 0; rig_data_type_names[i] != NULL; i++) {
        if (strcmp(rig_data_type_names[i], name) != 0)
            continue;
        load->workload = (enum rig_workload)i;
        load->workload_given = true;
        return true;
    }
    return false;
}

/* The command line. */
struct request {
    const char *paths[PATHS_MOST];
    int count;
    bool quiet, fingerprint;
    const char *model;
    struct rig_load_options load;
    int64_t permits, reentrant, lease_ns; /* 0: not given */
};

/* The options of locks, which say what a file in Jepsen's form does not. False: it is none of them, or its value. */
static bool take_rule(struct request *request, const char *name, const char *value)
{
    static const struct rig_option count = {.name = "the number", .type = RIG_OPTION_INT, .least = 1, .most = 1e6};
    static const struct rig_option lease = {
        .name = "the lease", .type = RIG_OPTION_DURATION, .least = 1e6, .most = 1e15};
    struct rig_err err = {0};
    if (strcmp(name, "--permits") == 0)
        return rig_option_parse(&count, value, &request->permits, &err) == RIG_OK;
    if (strcmp(name, "--reentrant") == 0)
        return rig_option_parse(&count, value, &request->reentrant, &err) == RIG_OK;
    return strcmp(name, "--lease") == 0 && rig_option_parse(&lease, value, &request->lease_ns, &err) == RIG_OK;
}

/* NULL, or what is wrong with the rules of locks. */
static const char *find_lock(struct request *request)
{
    const int given = (request->permits > 0) + (request->reentrant > 0) + (request->lease_ns > 0);
    if (given > 0 && (!request->load.workload_given || !rig_object_has_owners(request->load.workload)))
        return "--permits, --reentrant and --lease are for locks with owners: add --workload lock";
    if (given > 1)
        return "--permits, --reentrant and --lease are for different kinds of locks: give one of them";
    request->load.lock.lease_ns = request->lease_ns;
    request->load.lock.limit = request->reentrant > 0  ? -request->reentrant
                               : request->lease_ns > 0 ? 1
                                                       : request->permits;
    return NULL;
}

/* NULL, or what is wrong with the arguments. */
static const char *read_arguments(int argc, char **argv, struct request *request)
{
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--quiet") == 0)
            request->quiet = true;
        else if (strcmp(argv[i], "--fingerprint") == 0)
            request->fingerprint = true;
        else if (strcmp(argv[i], "--workload") == 0 && i + 1 < argc && find_workload(argv[i + 1], &request->load))
            i++;
        else if (strcmp(argv[i], "--model") == 0 && i + 1 < argc)
            request->model = argv[++i];
        else if (argv[i][0] == '-' && i + 1 < argc && take_rule(request, argv[i], argv[i + 1]))
            i++;
        else if (argv[i][0] == '-' && argv[i][1] != '\0')
            return "unknown option or workload, or a value that it cannot have; see --help";
        else if (request->count == PATHS_MOST)
            return "more than 257 files; see --help";
        else
            request->paths[request->count++] = argv[i];
    }
    return find_lock(request);
}

int main(int argc, char **argv)
{
    struct request request = {.load = {.form = RIG_FORM_AUTO}};
    uint64_t number = 0;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0)
            return printf("%s", help) < 0 ? EXIT_FALSE : EXIT_PROVED;
        if (strcmp(argv[i], "--version") == 0)
            return printf("rig-verify %s\n", rig_version()) < 0 ? EXIT_FALSE : EXIT_PROVED;
    }
    const char *wrong = read_arguments(argc, argv, &request);
    const int records = request.fingerprint ? request.count : request.count - 1;
    if (wrong != NULL || records < 1)
        return complain(wrong != NULL ? wrong : "expected HISTORY and PROOF; see --help");
    struct rig_err err = {0};
    struct rig_history *history = NULL;
    enum rig_rc rc =
        request.model == NULL ? RIG_OK : rig_specification_open(request.model, &request.load.specification, &err);
    if (request.load.specification != NULL) {
        request.load.workload = (enum rig_workload)RIG_WORKLOAD_OF_SPECIFICATIONS;
        request.load.workload_given = true;
    }
    if (rc == RIG_OK)
        rc = rig_history_load_ranks(request.paths, (size_t)records, &request.load, &history, &err);
    if (rc == RIG_OK && request.fingerprint) {
        rc = rig_history_fingerprint(history, &number, &err);
        (void)printf("%016llx\n", (unsigned long long)number);
    } else if (rc == RIG_OK) {
        rc = verify(history, request.paths[records], request.quiet, &err);
    }
    if (rc != RIG_OK)
        (void)fprintf(stderr, "rig-verify: %s\n", err.text);
    const int status = status_of(rc, history != NULL);
    rig_history_free(history);
    return status;
}
