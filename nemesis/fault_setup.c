#include "nemesis/fault_setup.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "nemesis/fault_context.h"

static const char object[] = "rig-shim.so";

/* -- the shared object --------------------------------------------------------------------------------------------- */

static bool is_readable(const char *path)
{
    return access(path, R_OK) == 0;
}

/* Beside the running program, or at `relative` to its folder. */
static bool beside_program(const char *relative, char path[PATH_MAX])
{
    char program[PATH_MAX];
    const ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    if (length <= 0)
        return false;
    program[length] = '\0';
    char *slash = strrchr(program, '/');
    if (slash == NULL)
        return false;
    *slash = '\0';
    const int used = snprintf(path, PATH_MAX, "%s/%s%s", program, relative, object);
    return used > 0 && used < PATH_MAX && is_readable(path);
}

static bool find_object(char path[PATH_MAX])
{
    const char *asked = getenv("RIG_SHIM");
    if (asked != NULL && asked[0] != '\0') {
        (void)snprintf(path, PATH_MAX, "%s", asked);
        return is_readable(path);
    }
    if (beside_program("", path) || beside_program(RIG_LIBDIR_FROM_BINDIR "/", path))
        return true;
    (void)snprintf(path, PATH_MAX, "%s/%s", RIG_LIBDIR, object);
    return is_readable(path);
}

bool rig_shims_are_there(const void *options, char *why, size_t size)
{
    (void)options;
    char path[PATH_MAX];
    if (find_object(path))
        return true;
    (void)snprintf(why, size, "%s is neither beside rig nor in %s: install it there, or name it as RIG_SHIM", object,
                   RIG_LIBDIR);
    return false;
}

static bool copy_bytes(int from, int to)
{
    char bytes[1 << 14];
    ssize_t got = 0;
    while ((got = read(from, bytes, sizeof bytes)) > 0) {
        if (write(to, bytes, (size_t)got) != got)
            return false;
    }
    return got == 0;
}

static enum rig_rc copy_object(const char *to, struct rig_err *err)
{
    char path[PATH_MAX], why[PATH_MAX];
    if (!find_object(path)) {
        (void)rig_shims_are_there(NULL, why, sizeof why);
        return rig_fail(err, RIG_E_CLUSTER, "%.900s", why);
    }
    const int in = open(path, O_RDONLY | O_CLOEXEC);
    const int out = in < 0 ? -1 : open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0755);
    const bool good = out >= 0 && copy_bytes(in, out) && fchmod(out, 0755) == 0;
    const int error = errno;
    if (in >= 0)
        (void)close(in);
    if (out >= 0)
        (void)close(out);
    return good ? RIG_OK : rig_fail(err, RIG_E_IO, "%.400s: cannot be copied to %.400s: %s", path, to, strerror(error));
}

/* -- files of orders ----------------------------------------------------------------------------------------------- */

static enum rig_rc create(const char *path, struct rig_shim_control **control, struct rig_err *err)
{
    const size_t size = sizeof(struct rig_shim_control);
    void *mapped = MAP_FAILED;
    const int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);
    /* The node's account, which is not rig's, writes its counters there. */
    if (fd >= 0 && fchmod(fd, 0666) == 0 && ftruncate(fd, (off_t)size) == 0)
        mapped = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    const int error = errno;
    if (fd >= 0)
        (void)close(fd);
    if (mapped == MAP_FAILED)
        return rig_fail(err, RIG_E_IO, "%s: cannot be made: %s", path, strerror(error));
    *control = mapped;
    atomic_store(&(*control)->magic, RIG_SHIM_MAGIC);
    return RIG_OK;
}

static enum rig_rc prepare_node(struct rig_shims *shims, const struct rig_cluster_ops *cluster, void *run,
                                uint32_t node, const char *folder, const char *preload, struct rig_err *err)
{
    char path[PATH_MAX];
    (void)snprintf(path, sizeof path, "%s/rig-shim-%u", folder, node + 1);
    enum rig_rc rc = create(path, &shims->at[node], err);
    if (rc != RIG_OK)
        return rc;
    shims->count = node + 1;
    rc = cluster->set_environment(run, node, RIG_SHIM_VARIABLE, path, err);
    return rc == RIG_OK ? cluster->set_environment(run, node, "LD_PRELOAD", preload, err) : rc;
}

/* Makes files of orders in `folder`, and sets the environment of each node of the cluster. RIG_E_CLUSTER, RIG_E_IO. */
static enum rig_rc shims_init(struct rig_shims *shims, const struct rig_cluster_ops *cluster, void *run,
                              const char *folder, struct rig_err *err)
{
    *shims = (struct rig_shims){.count = 0};
    if (cluster == NULL || cluster->set_environment == NULL || cluster->node_count == NULL)
        return rig_fail(err, RIG_E_CLUSTER, "this driver cannot preload a library into its nodes");
    const uint32_t count = cluster->node_count(run);
    if (count > RIG_NODES_MOST)
        return rig_fail(err, RIG_E_CLUSTER, "there are %u nodes; faults support at most %d", count, RIG_NODES_MOST);
    char preload[PATH_MAX];
    (void)snprintf(preload, sizeof preload, "%s/%s", folder, object);
    enum rig_rc rc = copy_object(preload, err);
    for (uint32_t node = 0; node < count && rc == RIG_OK; node++)
        rc = prepare_node(shims, cluster, run, node, folder, preload, err);
    return rc;
}

/* Go's linker writes this mark into each program. */
static bool is_made_in_go(pid_t pid)
{
    static const char mark[] = "\xff Go buildinf:";
    char path[64];
    struct stat status;
    (void)snprintf(path, sizeof path, "/proc/%d/exe", (int)pid);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    const size_t size = fstat(fd, &status) == 0 ? (size_t)status.st_size : 0;
    void *program = size == 0 ? MAP_FAILED : mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
    (void)close(fd);
    if (program == MAP_FAILED)
        return false;
    const bool found = memmem(program, size, mark, sizeof mark - 1) != NULL;
    (void)munmap(program, size);
    return found;
}

/*
 * Once the cluster has started: whether the shim can reach the programs of all nodes. RIG_E_CLUSTER when one runs
 * without it (linked statically), or is written in Go and makes its system calls itself.
 */
static enum rig_rc shims_check(const struct rig_shims *shims, const struct rig_cluster_ops *cluster, void *run,
                               struct rig_err *err)
{
    for (uint32_t node = 0; node < shims->count; node++) {
        pid_t pids[64];
        const uint32_t count = cluster->processes == NULL ? 0 : cluster->processes(run, node, pids, 64);
        if (atomic_load(&shims->at[node]->attached) == 0)
            return rig_fail(err, RIG_E_CLUSTER,
                            "nemesis: clock, disk-full, fsync and jitter cannot affect node %u: its program runs "
                            "without rig's shim, "
                            "perhaps because it is linked statically; leave out these faults",
                            node + 1);
        for (uint32_t i = 0; i < count && i < 64; i++) {
            if (is_made_in_go(pids[i]))
                return rig_fail(
                    err, RIG_E_CLUSTER,
                    "nemesis: clock, disk-full, fsync and jitter cannot strike node %u: process %d is a program in "
                    "Go, which makes its system calls itself; leave these faults out",
                    node + 1, (int)pids[i]);
        }
    }
    return RIG_OK;
}

static void shims_done(struct rig_shims *shims)
{
    for (uint32_t node = 0; node < shims->count; node++) {
        if (shims->at[node] != NULL)
            (void)munmap(shims->at[node], sizeof *shims->at[node]);
    }
    *shims = (struct rig_shims){.count = 0};
}

/* The orders of the node with files below `data_dir`; RIG_E_CLUSTER when its processes do not have the shim. */
static enum rig_rc shim_of(const struct rig_shims *shims, uint32_t node, const char *name, const char *data_dir,
                           struct rig_shim_control **control, struct rig_err *err)
{
    if (node >= shims->count || atomic_load(&shims->at[node]->attached) == 0)
        return rig_fail(err, RIG_E_CLUSTER,
                        "%s: its program runs without rig's shim; a statically linked program cannot load it", name);
    char resolved[PATH_MAX] = "";
    if (data_dir != NULL && (realpath(data_dir, resolved) == NULL || strlen(resolved) >= RIG_SHIM_FOLDER_BYTES))
        return rig_fail(err, RIG_E_CLUSTER, "%s: the shim cannot use the folder %s", name, data_dir);
    /* The folder stays the same for the node's life; processes read it without a lock. */
    if (shims->at[node]->folder[0] == '\0')
        (void)snprintf(shims->at[node]->folder, RIG_SHIM_FOLDER_BYTES, "%.1000s", resolved);
    *control = shims->at[node];
    return RIG_OK;
}

/* Jitter and loss have a stream of their own beside those of clients and injections. */
static const uint64_t proxy_stream = UINT64_C(0x70726f7879);

/* The union of the needs of all faults in the plan. */
static uint64_t needs_of(const struct rig_nemesis_plan *plan)
{
    uint64_t needs = 0;
    for (uint32_t i = 0; i < plan->entry_count; i++)
        needs |= plan->entries[i].fault->needs;
    return needs;
}

enum rig_rc rig_fault_setup_init(struct rig_fault_setup *setup, const struct rig_nemesis_plan *plan, uint64_t seed,
                                 struct rig_err *err)
{
    *setup = (struct rig_fault_setup){.proxy = NULL};
    if ((needs_of(plan) & RIG_NEED_ROUTES) != 0)
        return rig_proxy_start(seed ^ proxy_stream, &setup->proxy, err);
    return RIG_OK;
}

enum rig_rc rig_fault_setup_fit(struct rig_fault_setup *setup, const struct rig_nemesis_plan *plan, uint64_t more_needs,
                                const struct rig_cluster_ops *cluster, void *run, const char *folder,
                                struct rig_err *err)
{
    if (((needs_of(plan) | more_needs) & RIG_NEED_PRELOAD) == 0)
        return RIG_OK;
    return shims_init(&setup->shims, cluster, run, folder, err);
}

enum rig_rc rig_fault_setup_check(const struct rig_fault_setup *setup, const struct rig_cluster_ops *cluster, void *run,
                                  struct rig_err *err)
{
    return shims_check(&setup->shims, cluster, run, err);
}

enum rig_rc rig_fault_setup_shim(const struct rig_fault_site *site, uint32_t node, bool files,
                                 struct rig_shim_control **control, struct rig_err *err)
{
    const char *name = rig_fleet_of(site)->names[node];
    const struct rig_shims *shims = &rig_fault_context_of(site)->setup->shims;
    if (files && site->cluster->data_dir == NULL)
        return rig_fail(err, RIG_E_CLUSTER, "%s: this driver does not give its data folder", name);
    return shim_of(shims, node, name, files ? site->cluster->data_dir(site->run, node) : NULL, control, err);
}

void rig_fault_setup_done(struct rig_fault_setup *setup)
{
    shims_done(&setup->shims);
    rig_proxy_stop(setup->proxy);
    *setup = (struct rig_fault_setup){.proxy = NULL};
}
