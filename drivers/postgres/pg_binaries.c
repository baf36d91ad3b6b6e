#include "drivers/postgres/pg_binaries.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/local/local_machine.h"

#define PACKAGED_ROOT "/usr/lib/postgresql"

static const char *const programs[] = {"initdb", "postgres", NULL};

static bool given(const char *text)
{
    return text != NULL && text[0] != '\0';
}

/* ---- versions ---- */

bool rig_pg_version_read(const char *text, struct rig_pg_version *version)
{
    char *end = NULL;
    text += strcspn(text, "0123456789");
    if (*text == '\0')
        return false;
    *version = (struct rig_pg_version){.major = strtol(text, &end, 10), .minor = -1};
    if (end[0] == '.' && end[1] >= '0' && end[1] <= '9')
        version->minor = strtol(end + 1, NULL, 10);
    return true;
}

bool rig_pg_version_fits(const struct rig_pg_version *asked, const struct rig_pg_version *found)
{
    return asked->major == found->major && (asked->minor < 0 || asked->minor == found->minor);
}

/* ---- folders of servers ---- */

struct search {
    const struct rig_pg_version *asked; /* NULL: any */
    struct rig_pg_version best;
    bool found;
    char *folder;
    size_t size;
};

/* Whether the candidate is better than the best one so far. One that is named after a major version alone may be of any
 * minor one: it comes last, and the server itself is asked for its version. */
static bool is_better(const struct search *search, const struct rig_pg_version *candidate)
{
    const bool unsure = candidate->minor < 0;
    if (search->asked != NULL && !rig_pg_version_fits(search->asked, candidate) &&
        !(unsure && search->asked->major == candidate->major))
        return false;
    return !search->found || candidate->major > search->best.major ||
           (candidate->major == search->best.major && candidate->minor > search->best.minor);
}

static void look_at(struct search *search, const char *root, const char *name)
{
    static const char *const places[] = {"bin", "native/bin", "package/native/bin"};
    struct rig_pg_version version;
    char candidate[RIG_PG_PATH_BYTES];
    if (!rig_pg_version_read(name, &version) || !is_better(search, &version))
        return;
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        const int length = snprintf(candidate, sizeof candidate, "%s/%s/%s", root, name, places[i]);
        if (length < 0 || (size_t)length >= search->size || (size_t)length >= sizeof candidate ||
            !rig_local_has_programs(candidate, programs))
            continue;
        search->found = true;
        search->best = version;
        (void)snprintf(search->folder, search->size, "%s", candidate);
        return;
    }
}

static void look_into(struct search *search, const char *root)
{
    DIR *entries = given(root) && root[0] == '/' ? opendir(root) : NULL;
    const struct dirent *entry;
    while (entries != NULL && (entry = readdir(entries)) != NULL) {
        if (entry->d_name[0] != '.')
            look_at(search, root, entry->d_name);
    }
    if (entries != NULL)
        (void)closedir(entries);
}

/* The caches of scripts/servers. */
static void look_into_caches(struct search *search)
{
    const char *cache = getenv("XDG_CACHE_HOME");
    const char *home = getenv("HOME");
    char path[RIG_PG_PATH_BYTES] = "";
    if (given(cache))
        (void)snprintf(path, sizeof path, "%s/rig/servers", cache);
    else if (given(home))
        (void)snprintf(path, sizeof path, "%s/.cache/rig/servers", home);
    look_into(search, path);
    look_into(search, "/var/cache/rig/servers");
}

/* The first of the places that has the version. */
static bool find_version(const struct rig_pg_wish *wish, const struct rig_pg_version *asked, char *folder, size_t size)
{
    const char *const named[] = {wish->servers, getenv("RIG_SERVERS")};
    struct search search = {.asked = asked, .folder = folder, .size = size};
    for (size_t i = 0; i < sizeof named / sizeof named[0]; i++) {
        look_into(&search, named[i]);
        if (search.found)
            return true;
    }
    look_into_caches(&search);
    look_into(&search, PACKAGED_ROOT);
    return search.found;
}

/* ---- the choice ---- */

static enum rig_rc find_asked(const struct rig_pg_wish *wish, char *folder, size_t size, struct rig_err *err)
{
    struct rig_pg_version asked;
    if (!rig_pg_version_read(wish->version, &asked) || !find_version(wish, &asked, folder, size))
        return rig_fail(err, RIG_E_CLUSTER,
                        "database.cluster.local.version: there is no PostgreSQL %s in %s%s%s, in the caches of "
                        "scripts/servers or below " PACKAGED_ROOT
                        ": `scripts/servers %s` installs it, or name the folder of its programs as "
                        "database.cluster.local.bin-dir",
                        wish->version, given(wish->servers) ? wish->servers : "database.cluster.local.servers",
                        given(getenv("RIG_SERVERS")) ? ", " : ", $RIG_SERVERS",
                        given(getenv("RIG_SERVERS")) ? getenv("RIG_SERVERS") : "", wish->version);
    return RIG_OK;
}

enum rig_rc rig_pg_binaries_find(const struct rig_pg_wish *wish, char *folder, size_t size, struct rig_err *err)
{
    const char *asked = wish->bin_dir;
    struct search search = {.folder = folder, .size = size};
    if (given(asked)) {
        if (asked[0] != '/' || strlen(asked) >= size || !rig_local_has_programs(asked, programs))
            return rig_fail(err, RIG_E_CLUSTER,
                            "database.cluster.local.bin-dir: `%s` is not the absolute path of a folder with "
                            "executable initdb and postgres",
                            asked);
        (void)snprintf(folder, size, "%s", asked);
        return RIG_OK;
    }
    if (given(wish->version))
        return find_asked(wish, folder, size, err);
    look_into(&search, PACKAGED_ROOT);
    if (search.found || rig_local_find_programs(programs, folder, size))
        return RIG_OK;
    return rig_fail(err, RIG_E_CLUSTER,
                    "PostgreSQL's initdb and postgres were not found below " PACKAGED_ROOT
                    " nor in PATH: install the package postgresql, or name their folder as "
                    "database.cluster.local.bin-dir");
}
