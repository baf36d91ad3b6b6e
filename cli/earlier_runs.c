#include "cli/earlier_runs.h"

#include <dirent.h>
#include <fcntl.h>
#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/run_files.h"
#include "cli/rerun.h"
#include "jobs/store/stored_run.h"

enum { PLAN_BYTES = 1 << 20, RESULT_BYTES = 16 << 20, STORES_MOST = 2 };

struct earlier {
    char *folder, *plan;
    bool is_given;
};

struct rig_earlier_runs {
    struct earlier *at;
    uint32_t count;
    char but[PATH_MAX];
};

/* "folder/name"; false where that is too long. */
static bool join(char path[PATH_MAX], const char *folder, const char *name)
{
    const size_t before = strlen(folder), behind = strlen(name);
    if (before + behind + 2 > PATH_MAX)
        return false;
    memcpy(path, folder, before);
    path[before] = '/';
    memcpy(path + before + 1, name, behind + 1);
    return true;
}

/* ---- plans ---- */

/* Whether a section says nothing of what the database gets. */
static bool is_aside(const char *line)
{
    static const char *const sections[] = {"name:", "seed:", "report:", "store:", "check:"};
    for (size_t i = 0; i < sizeof sections / sizeof sections[0]; i++) {
        if (strncmp(line, sections[i], strlen(sections[i])) == 0)
            return true;
    }
    return *line == '#';
}

/* Takes the lines out that say nothing of what the database gets. */
static void strip(char *plan)
{
    char *to = plan;
    bool aside = false;
    for (const char *line = plan; *line != '\0';) {
        const size_t length = strcspn(line, "\n"), whole = length + (line[length] == '\n');
        if (*line != ' ')
            aside = is_aside(line);
        if (!aside) {
            memmove(to, line, whole);
            to += whole;
        }
        line += whole;
    }
    *to = '\0';
}

/* A small regular file; NULL: there is none. The caller frees it. */
static char *read_text(const char *folder, const char *name, size_t most)
{
    char path[PATH_MAX];
    struct stat status;
    struct rig_buf text;
    char *copy = NULL;
    const int fd = join(path, folder, name) ? open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC) : -1;
    rig_buf_init(&text, 0);
    if (fd >= 0 && fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && (uint64_t)status.st_size <= most &&
        rig_buf_read_up_to(&text, fd, most, path, NULL) == RIG_OK)
        copy = strdup(rig_buf_text(&text));
    if (fd >= 0)
        (void)close(fd);
    rig_buf_done(&text);
    return copy;
}

/* ---- folders ---- */

static enum rig_rc take(struct rig_earlier_runs *runs, const char *folder, struct rig_err *err)
{
    char results[PATH_MAX], real[PATH_MAX];
    if (runs->count == RIG_EARLIER_RUNS_MOST || !join(results, folder, RIG_RUN_RESULTS) || access(results, R_OK) != 0 ||
        realpath(folder, real) == NULL || strcmp(real, runs->but) == 0)
        return RIG_OK;
    char *plan = read_text(folder, RIG_RUN_PLAN, PLAN_BYTES), *kept = plan == NULL ? NULL : strdup(folder);
    if (plan == NULL)
        return RIG_OK;
    if (kept == NULL) {
        free(plan);
        return rig_no_memory(err, "the runs of a store");
    }
    strip(plan);
    runs->at[runs->count++] = (struct earlier){.folder = kept, .plan = plan};
    return RIG_OK;
}

typedef enum rig_rc visit(struct rig_earlier_runs *runs, const char *folder, struct rig_err *err);

/* Each folder in `parent`, by name. */
static enum rig_rc visit_all(struct rig_earlier_runs *runs, const char *parent, visit *one, struct rig_err *err)
{
    struct dirent **entries = NULL;
    char folder[PATH_MAX];
    struct stat status;
    enum rig_rc rc = RIG_OK;
    const int count = scandir(parent, &entries, NULL, alphasort);
    for (int i = 0; i < count; i++) {
        if (rc == RIG_OK && entries[i]->d_name[0] != '.' && join(folder, parent, entries[i]->d_name) &&
            lstat(folder, &status) == 0 && S_ISDIR(status.st_mode))
            rc = one(runs, folder, err);
        free(entries[i]);
    }
    free(entries);
    return rc;
}

enum rig_rc rig_cli_earlier_runs_add(struct rig_earlier_runs *runs, const char *folder, struct rig_err *err)
{
    return visit_all(runs, folder, take, err);
}

/* The runs in the folder of a reproduction or of a shrunk plan. */
static enum rig_rc take_repeated(struct rig_earlier_runs *runs, const char *folder, struct rig_err *err)
{
    static const char *const places[] = {RIG_RUN_RUNS, RIG_RUN_SMALLEST "/" RIG_RUN_RUNS};
    char inner[PATH_MAX];
    enum rig_rc rc = RIG_OK;
    for (size_t i = 0; rc == RIG_OK && i < sizeof places / sizeof places[0]; i++) {
        if (join(inner, folder, places[i]))
            rc = rig_cli_earlier_runs_add(runs, inner, err);
    }
    return rc;
}

static bool join_named(char path[PATH_MAX], const char *store, const char *name, const char *suffix)
{
    if (!join(path, store, name) || strlen(path) + strlen(suffix) >= PATH_MAX)
        return false;
    memcpy(path + strlen(path), suffix, strlen(suffix) + 1);
    return true;
}

/* Visits the folders below a name of a store, with a suffix. */
static enum rig_rc visit_named(struct rig_earlier_runs *runs, const char *store, const char *name, const char *suffix,
                               visit *one, struct rig_err *err)
{
    char parent[PATH_MAX];
    return join_named(parent, store, name, suffix) ? visit_all(runs, parent, one, err) : RIG_OK;
}

/* The store that the run lies in, where it is named as in a store, and the one that its plan names; "": none. */
struct stores {
    char at[STORES_MOST][PATH_MAX];
    const char *name; /* of the run; NULL: not known */
};

static void find_stores(const char *folder, const struct rig_cli_saved_run *saved, struct stores *stores)
{
    char real[PATH_MAX];
    *stores = (struct stores){.name = saved->found ? saved->run.name : NULL};
    if (stores->name != NULL && (stores->name[0] == '\0' || strchr(stores->name, '/') != NULL))
        stores->name = NULL;
    char *time = realpath(folder, real) == NULL ? NULL : strrchr(real, '/');
    if (time != NULL && rig_stored_run_is_time(time + 1)) {
        *time = '\0';
        char *name = strrchr(real, '/');
        if (name != NULL && name > real) {
            *name = '\0';
            memcpy(stores->at[0], real, sizeof real);
        }
    }
    const char *line = strstr(saved->run.plan_yaml, "\nstore: ");
    if (line == NULL)
        return;
    line += strlen("\nstore: ");
    (void)snprintf(stores->at[1], PATH_MAX, "%.*s", (int)strcspn(line, "\n"), line);
    if (realpath(stores->at[1], real) == NULL || strcmp(real, stores->at[0]) == 0)
        stores->at[1][0] = '\0';
}

static enum rig_rc take_named(struct rig_earlier_runs *runs, const char *store, const char *name, struct rig_err *err)
{
    enum rig_rc rc = visit_named(runs, store, name, "", take, err);
    if (rc == RIG_OK)
        rc = visit_named(runs, store, name, "-reproduce", take_repeated, err);
    if (rc == RIG_OK)
        rc = visit_named(runs, store, name, "-shrink", take_repeated, err);
    return rc;
}

enum rig_rc rig_cli_earlier_runs_find(const char *folder, const struct rig_cli_saved_run *saved,
                                      struct rig_earlier_runs **out, struct rig_err *err)
{
    struct rig_earlier_runs *runs = calloc(1, sizeof *runs);
    struct stores *stores = calloc(1, sizeof *stores);
    enum rig_rc rc = runs == NULL || stores == NULL ? rig_no_memory(err, "the runs of a store") : RIG_OK;
    if (rc == RIG_OK && (runs->at = calloc(RIG_EARLIER_RUNS_MOST, sizeof *runs->at)) == NULL)
        rc = rig_no_memory(err, "the runs of a store");
    if (rc == RIG_OK && realpath(folder, runs->but) == NULL)
        runs->but[0] = '\0';
    if (rc == RIG_OK)
        find_stores(folder, saved, stores);
    for (size_t i = 0; rc == RIG_OK && stores->name != NULL && i < STORES_MOST; i++) {
        if (stores->at[i][0] != '\0')
            rc = take_named(runs, stores->at[i], stores->name, err);
    }
    free(stores);
    if (rc == RIG_OK)
        *out = runs;
    else
        rig_cli_earlier_runs_free(runs);
    return rc;
}

void rig_cli_earlier_runs_free(struct rig_earlier_runs *runs)
{
    if (runs == NULL)
        return;
    for (uint32_t i = 0; i < runs->count; i++) {
        free(runs->at[i].folder);
        free(runs->at[i].plan);
    }
    free(runs->at);
    free(runs);
}

const char *rig_cli_earlier_runs_next(struct rig_earlier_runs *runs, const char *plan)
{
    char *wanted = strdup(plan);
    const char *found = NULL;
    if (wanted == NULL)
        return NULL;
    strip(wanted);
    for (uint32_t i = 0; found == NULL && i < runs->count; i++) {
        if (runs->at[i].is_given || strcmp(runs->at[i].plan, wanted) != 0)
            continue;
        runs->at[i].is_given = true;
        found = runs->at[i].folder;
    }
    free(wanted);
    return found;
}

void rig_cli_run_name(const struct rig_cli_saved_run *saved, char name[RIG_CLI_RUN_NAME_BYTES])
{
    const struct rig_report_run *run = &saved->run;
    const bool is_known = saved->found && run->name != NULL && run->started_utc != NULL;
    (void)snprintf(name, RIG_CLI_RUN_NAME_BYTES, "%.255s/%.63s", is_known ? run->name : "",
                   is_known ? run->started_utc : "");
}

/* ---- how often it came back ---- */

struct counting {
    struct rig_cli_repeats *repeats;
    const char *plan, *anomaly, *run;
};

/* The object in a file of a folder; NULL: none. */
static json_t *read_object(const char *folder, const char *name)
{
    char *text = read_text(folder, name, RESULT_BYTES);
    json_t *root = text == NULL ? NULL : json_loads(text, 0, NULL);
    free(text);
    return root;
}

static uint64_t number_of(const json_t *root, const char *object, const char *key)
{
    const json_int_t number = json_integer_value(json_object_get(json_object_get(root, object), key));
    return number < 0 ? 0 : (uint64_t)number;
}

static bool says(const json_t *root, const char *key, const char *text)
{
    const char *value = json_string_value(json_object_get(root, key));
    return value != NULL && strcmp(value, text) == 0;
}

/* Whether the first run that a folder keeps is of this plan. A bundle keeps no runs. */
static bool is_of_plan(const struct counting *counting, const char *folder)
{
    char first[PATH_MAX];
    char *plan = join(first, folder, RIG_RUN_RUNS "/0001") ? read_text(first, RIG_RUN_PLAN, PLAN_BYTES) : NULL;
    if (plan != NULL)
        strip(plan);
    const bool is_same = plan == NULL || strcmp(plan, counting->plan) == 0;
    free(plan);
    return is_same;
}

/* A folder with shrunk.json. A later one takes the place of an earlier one. */
static void count_smallest(struct counting *counting, const char *folder)
{
    struct rig_cli_repeats *repeats = counting->repeats;
    char path[PATH_MAX];
    json_t *root = read_object(folder, RIG_RUN_SHRUNK);
    const bool fits =
        join(path, folder, RIG_RUN_SMALLEST_PLAN) && strlen(path) < sizeof repeats->smallest && access(path, R_OK) == 0;
    if (root != NULL && fits && says(root, "anomaly", counting->anomaly) && is_of_plan(counting, folder)) {
        memcpy(repeats->smallest, path, strlen(path) + 1);
        repeats->smallest_runs = number_of(root, "confirmation", "of");
        repeats->smallest_shown = number_of(root, "confirmation", "shown");
    }
    json_decref(root);
}

/* The folder of a reproduction of this run. */
static void count_reproduction(struct counting *counting, const char *folder)
{
    char inner[PATH_MAX];
    json_t *root = read_object(folder, RIG_RUN_REPRODUCTION);
    if (root != NULL && says(root, "anomaly", counting->anomaly) && says(root, "run", counting->run)) {
        counting->repeats->plays += number_of(root, "plays", "of");
        counting->repeats->plays_shown += number_of(root, "plays", "shown");
    }
    json_decref(root);
    if (join(inner, folder, RIG_RUN_SMALLEST))
        count_smallest(counting, inner);
}

static void count_in(struct counting *counting, const char *store, const char *name, const char *suffix,
                     void (*one)(struct counting *counting, const char *folder))
{
    struct dirent **entries = NULL;
    char parent[PATH_MAX], folder[PATH_MAX];
    const int count = join_named(parent, store, name, suffix) ? scandir(parent, &entries, NULL, alphasort) : 0;
    for (int i = 0; i < count; i++) {
        if (rig_stored_run_is_time(entries[i]->d_name) && join(folder, parent, entries[i]->d_name))
            one(counting, folder);
        free(entries[i]);
    }
    free(entries);
}

static const char *server_of(const struct rig_cli_saved_run *saved)
{
    return saved->run.server == NULL ? "" : saved->run.server;
}

static void count_runs(struct rig_earlier_runs *runs, const struct rig_cli_saved_run *of, enum rig_anomaly anomaly,
                       struct rig_cli_repeats *repeats)
{
    const char *folder;
    char own[RIG_CLI_RUN_NAME_BYTES];
    rig_cli_run_name(of, own);
    while ((folder = rig_cli_earlier_runs_next(runs, of->run.plan_yaml)) != NULL) {
        struct rig_cli_saved_run saved = {.storage = NULL};
        char name[RIG_CLI_RUN_NAME_BYTES];
        const bool is_read = rig_cli_saved_run_load(folder, &saved, NULL) == RIG_OK && saved.found;
        rig_cli_run_name(&saved, name);
        /* The run itself has this name, also where its bundle or its reproduction is given. */
        if (is_read && saved.run.load_s > 0 && strcmp(name, own) != 0 &&
            strcmp(server_of(&saved), server_of(of)) == 0) {
            repeats->runs++;
            repeats->runs_shown += rig_cli_saved_run_count(&saved, anomaly) > 0;
        }
        rig_cli_saved_run_done(&saved);
    }
}

static void count_all(struct counting *counting, const struct stores *stores)
{
    for (size_t i = 0; stores->name != NULL && i < STORES_MOST; i++) {
        if (stores->at[i][0] == '\0')
            continue;
        count_in(counting, stores->at[i], stores->name, "-shrink", count_smallest);
        count_in(counting, stores->at[i], stores->name, "-reproduce", count_reproduction);
    }
}

enum rig_rc rig_cli_repeats_find(const char *folder, const struct rig_cli_saved_run *saved, enum rig_anomaly anomaly,
                                 struct rig_cli_repeats *repeats, struct rig_err *err)
{
    struct rig_earlier_runs *runs = NULL;
    struct stores *stores = malloc(sizeof *stores);
    char *plan = strdup(saved->run.plan_yaml), run[RIG_CLI_RUN_NAME_BYTES];
    enum rig_rc rc = stores == NULL || plan == NULL ? rig_no_memory(err, "the runs of a store") : RIG_OK;
    *repeats = (struct rig_cli_repeats){.plays = 0};
    if (rc == RIG_OK)
        rc = rig_cli_earlier_runs_find(folder, saved, &runs, err);
    if (rc == RIG_OK) {
        find_stores(folder, saved, stores);
        strip(plan);
        rig_cli_run_name(saved, run);
        struct counting counting = {
            .repeats = repeats, .plan = plan, .anomaly = rig_anomaly_info(anomaly)->name, .run = run};
        count_runs(runs, saved, anomaly, repeats);
        count_all(&counting, stores);
        count_smallest(&counting, folder); /* a bundle has it beside its plan */
    }
    rig_cli_earlier_runs_free(runs);
    free(stores);
    free(plan);
    return rc;
}

static void write_share(const char *what, uint64_t shown, uint64_t of, const char *noun, struct rig_buf *out)
{
    if (of == 0)
        return;
    rig_buf_printf(out, "- %s: it came back in ", what);
    rig_cli_write_share(shown, of, noun, out);
    rig_buf_add_text(out, ".\n");
}

void rig_cli_repeats_write(const struct rig_cli_repeats *repeats, struct rig_buf *out)
{
    if (repeats->plays + repeats->runs + repeats->smallest_runs == 0) {
        rig_buf_add_text(out, "It was not repeated, as far as the store knows: `rig reproduce` says how often it comes "
                              "back.\n");
        return;
    }
    write_share("By its statements in the order above", repeats->plays_shown, repeats->plays, "play", out);
    write_share("In other runs of the same plan", repeats->runs_shown, repeats->runs, "run", out);
    write_share("In runs of the smallest plan, `" RIG_RUN_SMALLEST_PLAN "`", repeats->smallest_shown,
                repeats->smallest_runs, "run", out);
}
