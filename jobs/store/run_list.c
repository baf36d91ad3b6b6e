#include "jobs/store/run_list.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_self_or_parent(const char *name)
{
    return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

/* The arena leaves the earlier arrays behind, half of what it holds at most. */
static enum rig_rc append(void *context, const struct rig_stored_run *run, struct rig_err *err)
{
    struct rig_run_list *list = context;
    if (list->count == list->capacity) {
        const size_t capacity = list->capacity == 0 ? 64 : list->capacity * 2;
        struct rig_stored_run *runs = rig_arena_array(&list->arena, capacity, sizeof *runs);
        if (runs == NULL)
            return rig_no_memory(err, "the list of runs");
        if (list->count > 0)
            memcpy(runs, list->runs, list->count * sizeof *runs);
        list->runs = runs;
        list->capacity = capacity;
    }
    list->runs[list->count++] = *run;
    return RIG_OK;
}

static enum rig_rc add(struct rig_run_list *list, int parent, const char *name, const char *time, struct rig_err *err)
{
    struct rig_stored_run run;
    enum rig_rc rc = rig_stored_run_read(parent, name, time, &list->arena, &run, err);
    if (rc == RIG_OK)
        rc = append(list, &run, err);
    if (rc == RIG_OK && run.is_matrix)
        rc = rig_stored_run_cells(parent, &run, &list->arena, append, list, err);
    return rc;
}

/* Whether it is the link that rig makes. */
static bool is_latest(int folder, const char *name)
{
    struct stat status;
    return strcmp(name, "latest") == 0 && fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
           S_ISLNK(status.st_mode);
}

/* The folder of a name; one that cannot be opened is an entry itself. */
static enum rig_rc add_name(struct rig_run_list *list, const char *name, struct rig_err *err)
{
    const int folder = openat(list->store, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *entries = folder < 0 ? NULL : fdopendir(folder);
    enum rig_rc rc = RIG_OK;
    if (entries == NULL) {
        if (folder >= 0)
            (void)close(folder);
        return add(list, list->store, "", name, err);
    }
    for (const struct dirent *entry; rc == RIG_OK && (entry = readdir(entries)) != NULL;) {
        if (!is_self_or_parent(entry->d_name) && !is_latest(dirfd(entries), entry->d_name))
            rc = add(list, dirfd(entries), name, entry->d_name, err);
    }
    (void)closedir(entries);
    return rc;
}

/* A run is a folder two levels below the store, so a file at its top (index.html, keep.yaml, a note) is none. */
static bool is_file(int store, const char *name)
{
    struct stat status;
    return fstatat(store, name, &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(status.st_mode);
}

static int compare(const void *a, const void *b)
{
    const struct rig_stored_run *left = a, *right = b;
    const int by_name = strcmp(left->name, right->name);
    return by_name != 0 ? by_name : strcmp(right->time, left->time);
}

enum rig_rc rig_run_list_read(const char *store, struct rig_run_list *list, struct rig_err *err)
{
    enum rig_rc rc = RIG_OK;
    rig_arena_init(&list->arena, 0);
    list->store = open(store, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const int again = list->store < 0 ? -1 : openat(list->store, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *entries = again < 0 ? NULL : fdopendir(again);
    if (entries == NULL) {
        rc = rig_fail(err, RIG_E_INPUT, "%s: cannot open the store: %s; --store names another", store, strerror(errno));
        if (again >= 0)
            (void)close(again);
        return rc;
    }
    for (const struct dirent *entry; rc == RIG_OK && (entry = readdir(entries)) != NULL;) {
        if (!is_self_or_parent(entry->d_name) && !is_file(list->store, entry->d_name))
            rc = add_name(list, entry->d_name, err);
    }
    (void)closedir(entries);
    if (list->count > 0)
        qsort(list->runs, list->count, sizeof *list->runs, compare);
    return rc;
}

void rig_run_list_done(struct rig_run_list *list)
{
    rig_arena_done(&list->arena);
    if (list->store >= 0)
        (void)close(list->store);
    *list = (struct rig_run_list){.store = -1};
}

/* A part of a time: `count` digits, from `least` to `most`. Moves `text` past them. */
static bool take_part(const char **text, size_t count, int least, int most, int *value)
{
    *value = 0;
    for (size_t i = 0; i < count; i++, (*text)++) {
        if (**text < '0' || **text > '9')
            return false;
        *value = *value * 10 + (**text - '0');
    }
    return *value >= least && *value <= most;
}

static int days_of(int year, int month)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    const bool is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    return days[month - 1] + (month == 2 && is_leap);
}

bool rig_run_list_since(const char *text, char since[RIG_RUN_LIST_SINCE_BYTES])
{
    static const struct {
        const char *before; /* what may stand before the part; the first of these has to in the name of a run */
        size_t digits;
        int least, most;
        bool is_written; /* in the name of a run */
    } parts[] = {{"", 4, 0, 9999, false}, {"-", 2, 1, 12, false}, {"-", 2, 1, 31, false}, {"T", 2, 0, 23, true},
                 {":", 2, 0, 59, false},  {":", 2, 0, 60, false}, {".", 3, 0, 999, true}};
    enum { YEAR, MONTH, DAY, HOUR, PART_COUNT = sizeof parts / sizeof parts[0] };
    int values[PART_COUNT] = {0};
    size_t length = 0;
    for (size_t i = 0; i < PART_COUNT && *text != '\0' && strcmp(text, "Z") != 0; i++) {
        const bool has_mark = i > 0 && *text == parts[i].before[0];
        if (!has_mark && parts[i].is_written)
            return false;
        text += has_mark;
        if (!take_part(&text, parts[i].digits, parts[i].least, parts[i].most, &values[i]))
            return false;
        if (i == DAY && values[DAY] > days_of(values[YEAR], values[MONTH]))
            return false;
        length += (size_t)snprintf(since + length, RIG_RUN_LIST_SINCE_BYTES - length, "%s%0*d",
                                   parts[i].is_written ? parts[i].before : "", (int)parts[i].digits, values[i]);
    }
    return length > 0 && (*text == '\0' || (strcmp(text, "Z") == 0 && strchr(since, 'T') != NULL));
}

static bool matches(const struct rig_stored_run *run, const struct rig_run_filter *filter)
{
    bool shows = filter->anomalies == 0;
    for (unsigned one = 0; one < RIG_ANOMALY_COUNT; one++)
        shows = shows || ((filter->anomalies & RIG_ANOMALY_BIT(one)) != 0 && run->found[one] > 0);
    return shows && (filter->name == NULL || fnmatch(filter->name, run->name, 0) == 0) &&
           (filter->driver == NULL || fnmatch(filter->driver, run->driver, 0) == 0) &&
           (filter->states == 0 || (filter->states & 1U << run->state) != 0) &&
           (filter->since == NULL || strcmp(run->time, filter->since) >= 0);
}

void rig_run_list_filter(struct rig_run_list *list, const struct rig_run_filter *filter)
{
    size_t kept = 0;
    for (size_t i = 0; i < list->count; i++) {
        if (matches(&list->runs[i], filter))
            list->runs[kept++] = list->runs[i];
    }
    list->count = kept;
}

void rig_run_list_drop_cells(struct rig_run_list *list)
{
    size_t kept = 0;
    for (size_t i = 0; i < list->count; i++) {
        if (!list->runs[i].is_cell)
            list->runs[kept++] = list->runs[i];
    }
    list->count = kept;
}

const struct rig_stored_run *rig_run_list_find(const struct rig_run_list *list, const char *name, const char *time)
{
    for (size_t i = 0; i < list->count; i++) {
        if (strcmp(list->runs[i].name, name) == 0 && strcmp(list->runs[i].time, time) == 0)
            return &list->runs[i];
    }
    return NULL;
}
