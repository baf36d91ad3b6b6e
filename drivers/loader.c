#include "drivers/loader.h"

#include <dirent.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/bug.h"
#include "base/vec.h"
#include "drivers/built_in.h"

enum { NAME_BYTES_MAX = 32, PATH_BYTES = 4096 };

static const char file_prefix[] = "rig-driver-";
static const char file_suffix[] = ".so";

static const struct rig_driver *const built_in[] = {&rig_driver_null, &rig_driver_sim};
enum { BUILT_IN_COUNT = sizeof built_in / sizeof built_in[0] };

/* Letters, digits, '-' and '_': a name is part of a file's name and must not lead out of its folder. */
static bool name_is_valid(const char *name, size_t length)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";
    return length > 0 && length <= NAME_BYTES_MAX && strspn(name, allowed) >= length;
}

/* ---- the folders ---- */

RIG_VEC(char *, folder_list)

static void folders_done(struct folder_list *folders)
{
    for (size_t i = 0; i < folders->count; i++)
        free(folders->at[i]);
    folder_list_done(folders);
}

/* Adds a copy of the path, unless it is empty or already there. */
static void folders_add(struct folder_list *folders, const char *path, size_t length)
{
    if (length == 0)
        return;
    char *copy = strndup(path, length);
    if (copy == NULL)
        return;
    for (size_t i = 0; i < folders->count; i++) {
        if (strcmp(folders->at[i], copy) == 0) {
            free(copy);
            return;
        }
    }
    if (!folder_list_add(folders, copy))
        free(copy);
}

/* The folder of the running binary, without a slash behind it; false when the system does not give it. */
static bool binary_folder(char *folder, size_t size)
{
    ssize_t length = readlink("/proc/self/exe", folder, size - 1);
    if (length <= 0)
        return false;
    folder[length] = '\0';
    char *slash = strrchr(folder, '/');
    if (slash == NULL)
        return false;
    *(slash == folder ? slash + 1 : slash) = '\0';
    return true;
}

/* Every folder that is searched for drivers; the first match wins. */
static void folders_collect(struct folder_list *folders)
{
    char binary[PATH_BYTES];
    bool has_binary = binary_folder(binary, sizeof binary);
    if (has_binary)
        folders_add(folders, binary, strlen(binary));
    const char *path = getenv("RIG_DRIVER_PATH");
    while (path != NULL && *path != '\0') {
        size_t length = strcspn(path, ":");
        folders_add(folders, path, length);
        path += length + (path[length] == ':');
    }
    if (has_binary) {
        char relative[PATH_BYTES + sizeof RIG_LIBDIR_FROM_BINDIR + 1];
        (void)snprintf(relative, sizeof relative, "%s/%s", binary, RIG_LIBDIR_FROM_BINDIR);
        char *resolved = realpath(relative, NULL);
        if (resolved != NULL)
            folders_add(folders, resolved, strlen(resolved));
        free(resolved);
    }
    folders_add(folders, RIG_LIBDIR, strlen(RIG_LIBDIR));
}

/* ---- one driver ---- */

enum rig_rc rig_driver_validate(const struct rig_driver *driver, const char *where, struct rig_err *err)
{
    RIG_REQUIRE(driver != NULL && where != NULL);
    if (driver->abi != RIG_DRIVER_ABI)
        return rig_fail(err, RIG_E_DRIVER,
                        "%s: built for driver ABI %u, this rig has ABI %u; build the driver again with the headers of "
                        "this rig",
                        where, driver->abi, RIG_DRIVER_ABI);
    if (driver->struct_size != sizeof(struct rig_driver))
        return rig_fail(err, RIG_E_DRIVER,
                        "%s: its struct rig_driver has %u bytes, this rig's has %zu; build the driver again with the "
                        "headers of this rig",
                        where, driver->struct_size, sizeof(struct rig_driver));
    if (driver->name == NULL || !name_is_valid(driver->name, strlen(driver->name)))
        return rig_fail(err, RIG_E_DRIVER, "%s: has no valid name", where);
    if (driver->workloads == 0)
        return rig_fail(err, RIG_E_DRIVER, "%s: supports no workload", where);
    if (driver->options != NULL && driver->options_size == 0)
        return rig_fail(err, RIG_E_DRIVER, "%s: has options and an options_size of 0", where);
    const struct {
        const char *name;
        bool present;
    } required[] = {
        {"init", driver->init != NULL},
        {"done", driver->done != NULL},
        {"open", driver->open != NULL},
        {"transact", driver->transact != NULL},
        {"interrupt", driver->interrupt != NULL},
        {"close", driver->close != NULL},
        {"cluster.wanted", driver->cluster == NULL || driver->cluster->wanted != NULL},
        {"cluster.start", driver->cluster == NULL || driver->cluster->start != NULL},
        {"cluster.stop", driver->cluster == NULL || driver->cluster->stop != NULL},
        {"cluster.kill_now", driver->cluster == NULL || driver->cluster->kill_now != NULL},
    };
    for (size_t i = 0; i < sizeof required / sizeof required[0]; i++)
        if (!required[i].present)
            return rig_fail(err, RIG_E_DRIVER, "%s: the required hook `%s` is missing", where, required[i].name);
    return RIG_OK;
}

/* Loads the shared object at `path`, which must hold the driver `name`. */
static enum rig_rc load_file(const char *path, const char *name, const struct rig_driver **driver, struct rig_err *err)
{
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (handle == NULL)
        return rig_fail(err, RIG_E_DRIVER, "cannot load driver `%s`: %s", name, dlerror());
    const struct rig_driver *found = dlsym(handle, RIG_DRIVER_SYMBOL);
    enum rig_rc rc = RIG_OK;
    if (found == NULL)
        rc = rig_fail(err, RIG_E_DRIVER, "%s: exports no `%s`, so it is not a driver of rig", path, RIG_DRIVER_SYMBOL);
    else
        rc = rig_driver_validate(found, path, err);
    if (rc == RIG_OK && strcmp(found->name, name) != 0)
        rc = rig_fail(err, RIG_E_DRIVER, "%s: holds the driver `%s`; name the file rig-driver-%s.so", path, found->name,
                      found->name);
    if (rc != RIG_OK) {
        (void)dlclose(handle);
        return rc;
    }
    *driver = found;
    return RIG_OK;
}

static enum rig_rc fail_not_found(const char *name, const struct folder_list *folders, struct rig_err *err)
{
    struct rig_buf text;
    rig_buf_init(&text, RIG_ERR_TEXT_BYTES);
    rig_buf_printf(&text, "no driver `%s`: it is not built in (", name);
    for (size_t i = 0; i < BUILT_IN_COUNT; i++)
        rig_buf_printf(&text, "%s%s", i == 0 ? "" : ", ", built_in[i]->name);
    rig_buf_printf(&text, "), and there is no %s%s%s in ", file_prefix, name, file_suffix);
    for (size_t i = 0; i < folders->count; i++)
        rig_buf_printf(&text, "%s%s", i == 0 ? "" : ", ", folders->at[i]);
    rig_buf_add_text(&text, "; RIG_DRIVER_PATH names further folders");
    enum rig_rc rc = rig_fail(err, RIG_E_DRIVER, "%s", rig_buf_text(&text));
    rig_buf_done(&text);
    return rc;
}

/* Other names of databases whose driver has one name. */
static const char *usual_name(const char *name)
{
    static const char *const aliases[][2] = {
        {"mariadb", "mysql"}, {"postgresql", "postgres"}, {"pg", "postgres"}, {"sqlite3", "sqlite"}};
    for (size_t i = 0; i < sizeof aliases / sizeof aliases[0]; i++) {
        if (strcmp(name, aliases[i][0]) == 0)
            return aliases[i][1];
    }
    return name;
}

enum rig_rc rig_driver_load(const char *name, const struct rig_driver **driver, struct rig_err *err)
{
    RIG_REQUIRE(name != NULL && driver != NULL);
    name = usual_name(name);
    if (!name_is_valid(name, strlen(name)))
        return rig_fail(err, RIG_E_DRIVER,
                        "`%.64s` is not a driver's name: expected 1 to %d letters, digits, `-` "
                        "and `_`",
                        name, NAME_BYTES_MAX);
    for (size_t i = 0; i < BUILT_IN_COUNT; i++) {
        if (strcmp(built_in[i]->name, name) == 0) {
            *driver = built_in[i];
            return rig_driver_validate(built_in[i], name, err);
        }
    }
    struct folder_list folders = {0};
    folders_collect(&folders);
    enum rig_rc rc = RIG_E_DRIVER;
    bool found = false;
    for (size_t i = 0; i < folders.count && !found; i++) {
        char path[PATH_BYTES];
        int length = snprintf(path, sizeof path, "%s/%s%s%s", folders.at[i], file_prefix, name, file_suffix);
        /* An existing file that cannot be used is an error; no other version of it is searched. */
        if (length < 0 || (size_t)length >= sizeof path || access(path, F_OK) != 0)
            continue;
        found = true;
        rc = load_file(path, name, driver, err);
    }
    if (!found)
        rc = fail_not_found(name, &folders, err);
    folders_done(&folders);
    return rc;
}

/* ---- all drivers ---- */

struct listed {
    char name[NAME_BYTES_MAX + 1];
};

RIG_VEC(struct listed, listed_names)

static int compare_listed(const void *a, const void *b)
{
    return strcmp(((const struct listed *)a)->name, ((const struct listed *)b)->name);
}

static void list_name(struct listed_names *names, const char *name, size_t length)
{
    struct listed entry = {0};
    if (!name_is_valid(name, length))
        return;
    memcpy(entry.name, name, length);
    for (size_t i = 0; i < names->count; i++)
        if (strcmp(names->at[i].name, entry.name) == 0)
            return;
    (void)listed_names_add(names, entry);
}

static void list_folder(struct listed_names *names, const char *path)
{
    DIR *folder = opendir(path);
    if (folder == NULL)
        return;
    const size_t prefix_length = sizeof file_prefix - 1, suffix_length = sizeof file_suffix - 1;
    for (const struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        size_t length = strlen(entry->d_name);
        if (length > prefix_length + suffix_length && strncmp(entry->d_name, file_prefix, prefix_length) == 0 &&
            strcmp(entry->d_name + length - suffix_length, file_suffix) == 0)
            list_name(names, entry->d_name + prefix_length, length - prefix_length - suffix_length);
    }
    (void)closedir(folder);
}

void rig_driver_each(void (*visit)(void *context, const char *name, const struct rig_driver *driver,
                                   const char *problem),
                     void *context)
{
    RIG_REQUIRE(visit != NULL);
    struct folder_list folders = {0};
    struct listed_names names = {0};
    folders_collect(&folders);
    for (size_t i = 0; i < BUILT_IN_COUNT; i++)
        list_name(&names, built_in[i]->name, strlen(built_in[i]->name));
    for (size_t i = 0; i < folders.count; i++)
        list_folder(&names, folders.at[i]);
    if (names.count > 0)
        qsort(names.at, names.count, sizeof names.at[0], compare_listed);
    for (size_t i = 0; i < names.count; i++) {
        struct rig_err err = {0};
        const struct rig_driver *driver = NULL;
        if (rig_driver_load(names.at[i].name, &driver, &err) == RIG_OK)
            visit(context, names.at[i].name, driver, NULL);
        else
            visit(context, names.at[i].name, NULL, err.text);
    }
    listed_names_done(&names);
    folders_done(&folders);
}

bool rig_driver_has_package(const char *name)
{
    char wanted[64];
    const int length = snprintf(wanted, sizeof wanted, ",%s,", name);
    return length > 2 && (size_t)length < sizeof wanted && strchr(name, ',') == NULL &&
           strstr(RIG_PACKAGED_DRIVERS, wanted) != NULL;
}
