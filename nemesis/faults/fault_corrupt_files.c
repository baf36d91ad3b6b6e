/*
 * corrupt-files: changes bytes of a node's files behind the database's back: flips bits, cuts a file off, or puts an
 * older copy of files back, as a disk, a controller or a wrong restore does.
 *
 * With `node: down` the node is shut down cleanly, its files are changed, and it is started; with `node: running` they
 * are changed under the running server, in the kernel's cache, so that its next read of the file sees it. An older copy
 * is taken when the fault begins and put back, over the node that is down, when it ends.
 *
 * Evidence: the files, with the places and the number of the changed bytes; rig.log has all of them.
 *
 * Healing does not undo the change: a database that runs may have built on it. It only starts a node that ended. A node
 * that refuses to start on the changed files is right to do so: that goes into the evidence, its files get their old
 * content back, and it is started.
 */
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <fts.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/folder.h"
#include "base/plural.h"
#include "nemesis/fault_context.h"

enum { FILES_MOST = 8, PATH_BYTES = 512, FULL_BYTES = 4096, FOUND_MOST = 4096, COPY_BYTES = 1 << 16, SHOWN_PLACES = 4 };

static const off_t largest_file = (off_t)1 << 30;

enum how { HOW_FLIP, HOW_TRUNCATE, HOW_OLDER };
static const char *const hows[] = {"flip", "truncate", "older", NULL};
enum { NODE_DOWN, NODE_RUNNING };
static const char *const nodes[] = {"down", "running", NULL};

struct options {
    struct rig_text_list files;
    int64_t how;
    int64_t node;
    int64_t flips;
    int64_t most_files;
    int64_t skip_bytes;
};

static const struct rig_option table[] = {
    {.name = "files",
     .type = RIG_OPTION_TEXT_LIST,
     .offset = offsetof(struct options, files),
     .default_text = "*",
     .help = "patterns, as of a shell, for names of files, or for paths below the node's data folder"},
    {.name = "how",
     .type = RIG_OPTION_CHOICE,
     .offset = offsetof(struct options, how),
     .default_text = "flip",
     .choices = hows,
     .help =
         "flip: flips bits at random places; truncate: cuts a file off at a random place; older: puts the files back "
         "to what they were when the fault began"},
    {.name = "node",
     .type = RIG_OPTION_CHOICE,
     .offset = offsetof(struct options, node),
     .default_text = "down",
     .choices = nodes,
     .help = "down: the node is shut down for the change and started after it; running: the server does not notice; "
             "`how: older` needs a node that is down"},
    {.name = "flips",
     .type = RIG_OPTION_INT,
     .offset = offsetof(struct options, flips),
     .default_text = "8",
     .least = 1,
     .most = 1e6,
     .help = "bits that are flipped in each file"},
    {.name = "most-files",
     .type = RIG_OPTION_INT,
     .offset = offsetof(struct options, most_files),
     .default_text = "1",
     .least = 1,
     .most = FILES_MOST,
     .help = "files of each node that are changed, at random among those that match"},
    {.name = "skip",
     .type = RIG_OPTION_SIZE,
     .offset = offsetof(struct options, skip_bytes),
     .default_text = "0B",
     .least = 0,
     .most = 1e12,
     .help = "bytes at the beginning of each file that stay as they are; shorter files do not match"},
    {.name = NULL},
};

struct target {
    char folder[FULL_BYTES / 2]; /* of the copies, beside the data folder; empty: none */
    char files[FILES_MOST][PATH_BYTES];
    uint32_t count;
    bool down;   /* the node has to be started */
    bool turned; /* an older copy was put back; the copies are now what it replaced */
};

struct state {
    struct target targets[RIG_NODES_MOST];
};

static const char *data_of(const struct rig_fault_site *site, uint32_t node)
{
    return site->cluster->data_dir == NULL ? NULL : site->cluster->data_dir(site->run, node);
}

/* ---- finding files ---- */

static bool matches(const struct rig_text_list *patterns, const char *path)
{
    const char *slash = strrchr(path, '/');
    for (size_t i = 0; i < patterns->count; i++) {
        if (fnmatch(patterns->at[i], path, 0) == 0 ||
            fnmatch(patterns->at[i], slash == NULL ? path : slash + 1, 0) == 0)
            return true;
    }
    return false;
}

/* Takes the file into a random sample of `most` (reservoir sampling); `*seen`: the matching files so far. */
static void sample(struct target *target, const char *path, uint32_t most, uint64_t *seen, struct rig_rng *rng)
{
    const uint64_t number = (*seen)++;
    const uint64_t place = number < most ? number : rig_rng_below(rng, number + 1);
    if (place >= most)
        return;
    (void)snprintf(target->files[place], sizeof target->files[place], "%s", path);
    target->count = number < most ? (uint32_t)number + 1 : target->count;
}

static int by_name(const FTSENT **a, const FTSENT **b)
{
    return strcmp((*a)->fts_name, (*b)->fts_name);
}

/* Chooses files that match; the same seed and folder give the same ones. RIG_E_CLUSTER when there is none. */
static enum rig_rc choose(const struct options *options, const char *data, struct target *target, struct rig_rng *rng,
                          struct rig_err *err)
{
    char *const roots[] = {(char *)(uintptr_t)data, NULL};
    const size_t skipped = strlen(data) + 1;
    uint64_t seen = 0;
    target->count = 0;
    FTS *walk = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR | FTS_XDEV, by_name);
    for (FTSENT *entry = walk == NULL ? NULL : fts_read(walk); entry != NULL; entry = fts_read(walk)) {
        if (entry->fts_info != FTS_F || entry->fts_statp->st_size <= options->skip_bytes ||
            entry->fts_statp->st_size > largest_file || strlen(entry->fts_path) >= skipped + PATH_BYTES ||
            !matches(&options->files, entry->fts_path + skipped))
            continue;
        sample(target, entry->fts_path + skipped, (uint32_t)options->most_files, &seen, rng);
    }
    if (walk != NULL)
        (void)fts_close(walk);
    return target->count > 0 ? RIG_OK
                             : rig_fail(err, RIG_E_CLUSTER, "no file of more than %lld bytes in %s matches `files`",
                                        (long long)options->skip_bytes, data);
}

/* ---- copies ---- */

/* Gives `to` the content of `from`; `to` keeps its owner. */
static bool copy_content(const char *from, const char *to, int flags)
{
    char bytes[COPY_BYTES];
    ssize_t got = -1;
    const int in = open(from, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    const int out = in < 0 ? -1 : open(to, O_WRONLY | O_TRUNC | O_CLOEXEC | O_NOFOLLOW | flags, 0600);
    while (out >= 0 && (got = read(in, bytes, sizeof bytes)) > 0 && write(out, bytes, (size_t)got) == got)
        ;
    const int error = errno;
    if (in >= 0)
        (void)close(in);
    if (out >= 0)
        (void)close(out);
    errno = error;
    return out >= 0 && got == 0;
}

static void paths_of(const struct target *target, const char *data, uint32_t file, char path[static FULL_BYTES],
                     char copy[static FULL_BYTES])
{
    (void)snprintf(path, FULL_BYTES, "%s/%s", data, target->files[file]);
    (void)snprintf(copy, FULL_BYTES, "%s/%u", target->folder, file);
}

/* Keeps the present content of the chosen files. */
static enum rig_rc keep_copies(const char *data, struct target *target, struct rig_err *err)
{
    char path[FULL_BYTES], copy[FULL_BYTES];
    (void)snprintf(target->folder, sizeof target->folder, "%s.rig-before", data);
    if (mkdir(target->folder, 0700) != 0)
        return rig_fail(err, RIG_E_IO, "%s cannot be made: %s", target->folder, strerror(errno));
    for (uint32_t i = 0; i < target->count;) {
        paths_of(target, data, i, path, copy);
        if (copy_content(path, copy, O_CREAT | O_EXCL)) {
            i++;
            continue;
        }
        if (errno != ENOENT)
            return rig_fail(err, RIG_E_IO, "%.900s cannot be copied: %s", path, strerror(errno));
        /* A database that runs removes files: the last one takes its place. */
        memmove(target->files[i], target->files[--target->count], sizeof target->files[i]);
    }
    return target->count > 0
               ? RIG_OK
               : rig_fail(err, RIG_E_CLUSTER, "the files that match were removed before they could be copied");
}

/* ---- the changes ---- */

/* The places of changed bytes, as the evidence shows them. */
struct places {
    char text[96];
    uint64_t count;
};

static void add_place(struct places *places, off_t at)
{
    const size_t used = strlen(places->text);
    if (places->count++ < SHOWN_PLACES)
        (void)snprintf(places->text + used, sizeof places->text - used, "%s%lld", used == 0 ? "" : ", ", (long long)at);
    else if (places->count == SHOWN_PLACES + 1)
        (void)snprintf(places->text + used, sizeof places->text - used, ", ...");
}

static bool flip(const struct rig_fault_site *site, int fd, off_t size, const char *name, struct places *places,
                 struct rig_rng *rng)
{
    const struct options *options = site->options;
    for (int64_t i = 0; i < options->flips; i++) {
        unsigned char byte = 0;
        const uint64_t among = (uint64_t)(size - options->skip_bytes);
        const off_t at = (off_t)options->skip_bytes + (off_t)rig_rng_below(rng, among);
        const unsigned bit = (unsigned)rig_rng_below(rng, 8);
        if (pread(fd, &byte, 1, at) != 1)
            return false;
        const unsigned char before = byte;
        byte ^= (unsigned char)(1u << bit);
        if (pwrite(fd, &byte, 1, at) != 1)
            return false;
        add_place(places, at);
        site->core->log(2, "nemesis", "%s: byte %lld: 0x%02x became 0x%02x", name, (long long)at, before, byte);
    }
    return true;
}

static bool cut(const struct rig_fault_site *site, int fd, off_t size, const char *name, struct places *places,
                struct rig_rng *rng)
{
    const struct options *options = site->options;
    const off_t at = (off_t)options->skip_bytes + (off_t)rig_rng_below(rng, (uint64_t)(size - options->skip_bytes));
    if (ftruncate(fd, at) != 0)
        return false;
    add_place(places, at);
    places->count = (uint64_t)(size - at);
    site->core->log(2, "nemesis", "%s: cut off at byte %lld of %lld", name, (long long)at, (long long)size);
    return true;
}

static enum rig_rc change_one(const struct rig_fault_site *site, uint32_t i, const struct target *target, uint32_t file,
                              struct rig_rng *rng, struct rig_evidence *evidence, struct rig_err *err)
{
    const struct options *options = site->options;
    char path[FULL_BYTES], copy[FULL_BYTES];
    struct places places = {.count = 0};
    struct stat status;
    paths_of(target, data_of(site, site->nodes[i]), file, path, copy);
    const int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    bool done = fd >= 0 && fstat(fd, &status) == 0 && status.st_size > options->skip_bytes;
    if (done)
        done = options->how == HOW_FLIP ? flip(site, fd, status.st_size, target->files[file], &places, rng)
                                        : cut(site, fd, status.st_size, target->files[file], &places, rng);
    const int error = errno;
    if (fd >= 0)
        (void)close(fd);
    if (!done)
        return rig_fail(err, RIG_E_IO, "%s: %.900s cannot be changed: %s", rig_target_name(site, i), path,
                        strerror(error));
    if (options->how == HOW_FLIP)
        rig_evidence_add(evidence, "%s: %llu bit%s of %s flipped, at byte %s", rig_target_name(site, i),
                         (unsigned long long)places.count, rig_plural(places.count), target->files[file], places.text);
    else
        rig_evidence_add(evidence, "%s: %s cut off at byte %s, %llu byte%s lost", rig_target_name(site, i),
                         target->files[file], places.text, (unsigned long long)places.count, rig_plural(places.count));
    return RIG_OK;
}

/* Counts the bytes in which the file differs from its copy, and what one has beyond the other. */
static bool compare(const char *path, const char *copy, struct places *places)
{
    char a[COPY_BYTES], b[COPY_BYTES];
    FILE *now = fopen(path, "re"), *then = fopen(copy, "re");
    size_t got_a = 1, got_b = 1;
    for (off_t at = 0; now != NULL && then != NULL && (got_a > 0 || got_b > 0); at += (off_t)sizeof a) {
        got_a = fread(a, 1, sizeof a, now);
        got_b = fread(b, 1, sizeof b, then);
        for (size_t i = 0; i < got_a || i < got_b; i++) {
            if (i >= got_a || i >= got_b || a[i] != b[i])
                add_place(places, at + (off_t)i);
        }
    }
    const bool compared = now != NULL && then != NULL;
    if (now != NULL)
        (void)fclose(now);
    if (then != NULL)
        (void)fclose(then);
    return compared;
}

/* Exchanges the content of a file and of its copy; the file keeps its owner. */
static bool exchange(const char *path, const char *copy)
{
    char other[FULL_BYTES];
    (void)snprintf(other, sizeof other, "%.*s+", FULL_BYTES - 2, copy);
    return rename(copy, other) == 0 && copy_content(path, copy, O_CREAT | O_EXCL) && copy_content(other, path, 0);
}

/* Exchanges the files that still exist with their copies. With `evidence`: it says what differed, and something must.
 * */
static enum rig_rc put_back(const struct rig_fault_site *site, uint32_t i, const char *data,
                            const struct target *target, struct rig_evidence *evidence, struct rig_err *err)
{
    uint64_t changed = 0;
    for (uint32_t file = 0; file < target->count; file++) {
        char path[FULL_BYTES], copy[FULL_BYTES];
        struct places places = {.count = 0};
        paths_of(target, data, file, path, copy);
        if (!compare(path, copy, &places) || places.count == 0)
            continue; /* the database has removed it, or has not changed it */
        if (!exchange(path, copy))
            return rig_fail(err, RIG_E_IO, "%.900s cannot be written: %s", path, strerror(errno));
        changed += places.count;
        if (evidence != NULL)
            rig_evidence_add(evidence, "%s: an older %s, with %llu other byte%s, at byte %s", rig_target_name(site, i),
                             target->files[file], (unsigned long long)places.count, rig_plural(places.count),
                             places.text);
    }
    return evidence == NULL || changed > 0 ? RIG_OK
                                           : rig_fail(err, RIG_E_CLUSTER,
                                                      "%s: no file that matches changed meanwhile, so that an older "
                                                      "copy is the same: make `for` longer, or `files` other patterns",
                                                      rig_target_name(site, i));
}

/* ---- the node ---- */

/* Starts the node on the changed files; one that refuses them gets their old content back. */
static enum rig_rc start(const struct rig_fault_site *site, uint32_t i, struct target *target,
                         struct rig_evidence *evidence, struct rig_err *err)
{
    struct rig_fleet *fleet = rig_fleet_of(site);
    const uint32_t node = site->nodes[i];
    struct rig_err refused = {0};
    enum rig_rc rc = rig_fleet_start_node(fleet, node, &refused);
    if (rc != RIG_OK && target->count > 0) {
        site->core->log(1, "nemesis", "%s does not start on the changed files: %s", rig_target_name(site, i),
                        refused.text);
        rig_evidence_add(evidence, "%s refuses to start on them; they got their old content back",
                         rig_target_name(site, i));
        rc = rig_fleet_stop_node(fleet, node, RIG_NODE_KILL, err);
        if (rc == RIG_OK)
            rc = put_back(site, i, data_of(site, node), target, NULL, err);
        if (rc == RIG_OK)
            rc = rig_fleet_start_node(fleet, node, err);
    } else if (rc != RIG_OK) {
        rc = rig_fail(err, rc, "%s", refused.text);
    }
    target->down = rc != RIG_OK;
    return rc;
}

static enum rig_rc inject_node(const struct rig_fault_site *site, uint32_t i, void *private_state,
                               struct rig_evidence *evidence, struct rig_err *err)
{
    const struct options *options = site->options;
    struct target *target = &((struct state *)private_state)->targets[i];
    const uint32_t node = site->nodes[i];
    const char *data = data_of(site, node);
    struct rig_rng rng;
    enum rig_rc rc = RIG_OK;
    if (data == NULL)
        return rig_fail(err, RIG_E_CLUSTER, "%s: this driver does not give its data folder", rig_target_name(site, i));
    rig_rng_init(&rng, site->random, i);
    if (options->how != HOW_OLDER && options->node == NODE_DOWN) {
        target->down = true;
        rc = rig_fleet_stop_node(rig_fleet_of(site), node, RIG_NODE_FAST, err);
    }
    if (rc == RIG_OK)
        rc = choose(options, data, target, &rng, err);
    if (rc == RIG_OK)
        rc = keep_copies(data, target, err);
    for (uint32_t file = 0; rc == RIG_OK && options->how != HOW_OLDER && file < target->count; file++)
        rc = change_one(site, i, target, file, &rng, evidence, err);
    if (rc == RIG_OK && options->how == HOW_OLDER)
        rig_evidence_add(evidence, "%s: %u file%s copied, first %s", rig_target_name(site, i), target->count,
                         rig_plural(target->count), target->files[0]);
    return rc == RIG_OK && target->down ? start(site, i, target, evidence, err) : rc;
}

/* The time of an older copy has come. */
static enum rig_rc turn_back(const struct rig_fault_site *site, uint32_t i, struct target *target,
                             struct rig_evidence *evidence, struct rig_err *err)
{
    target->down = true;
    enum rig_rc rc = rig_fleet_stop_node(rig_fleet_of(site), site->nodes[i], RIG_NODE_FAST, err);
    target->turned = true;
    if (rc == RIG_OK)
        rc = put_back(site, i, data_of(site, site->nodes[i]), target, evidence, err);
    return rc;
}

static enum rig_rc heal_node(const struct rig_fault_site *site, uint32_t i, void *private_state,
                             struct rig_evidence *evidence, struct rig_err *err)
{
    const struct options *options = site->options;
    struct target *target = &((struct state *)private_state)->targets[i];
    enum rig_rc rc = RIG_OK;
    if (options->how == HOW_OLDER && target->folder[0] != '\0' && !target->turned)
        rc = turn_back(site, i, target, evidence, err);
    struct rig_node_status status = {.reachable = true};
    if (!target->down)
        rig_fleet_status(rig_fleet_of(site), site->nodes[i], &status);
    if (target->down || !status.reachable) {
        struct rig_err own = {0};
        enum rig_rc up = rig_fleet_stop_node(rig_fleet_of(site), site->nodes[i], RIG_NODE_KILL, &own);
        if (up == RIG_OK)
            up = start(site, i, target, evidence, &own);
        if (up != RIG_OK && rc == RIG_OK)
            rc = rig_fail(err, up, "%s", own.text);
    }
    if (!target->down && target->folder[0] != '\0') {
        rig_folder_remove(target->folder);
        target->folder[0] = '\0';
    }
    return rc;
}

static bool available(const void *object, char *why, size_t size)
{
    const struct options *options = object;
    if (options == NULL || options->how != HOW_OLDER || options->node == NODE_DOWN)
        return true;
    (void)snprintf(why, size, "`how: older` puts files back while the node is down: leave out `node: running`");
    return false;
}

const struct rig_fault rig_fault_corrupt_files = {
    .name = "corrupt-files",
    .summary = "changes bytes of nodes' files: flips bits, cuts files off, or puts an older copy back",
    .needs = RIG_NEED_PROCESSES | RIG_NEED_RESTART | RIG_FAULT_ENDS | RIG_FAULT_LASTS,
    .options = table,
    .options_size = sizeof(struct options),
    .state_size = sizeof(struct state),
    .available = available,
    .inject_node = inject_node,
    .heal_node = heal_node,
};
