#include "drivers/local/local_versions.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/local/local_machine.h"

enum { PATH_BYTES = 1024 };

static bool given(const char *text)
{
    return text != NULL && text[0] != '\0';
}

/* ---- versions ---- */

bool rig_local_version_read(const char *text, struct rig_local_version *version)
{
    char *end = NULL;
    text += strcspn(text, "0123456789");
    if (*text == '\0')
        return false;
    *version = (struct rig_local_version){.major = strtol(text, &end, 10), .minor = -1};
    if (end[0] == '.' && end[1] >= '0' && end[1] <= '9')
        version->minor = strtol(end + 1, NULL, 10);
    return true;
}

bool rig_local_version_fits(const struct rig_local_version *asked, const struct rig_local_version *found)
{
    return asked->major == found->major && (asked->minor < 0 || asked->minor == found->minor);
}

/* ---- folders of servers ---- */

struct search {
    const char *const *programs;
    const struct rig_local_version *asked; /* NULL: any */
    struct rig_local_version best;
    bool found;
    char *folder;
    size_t size;
};

/* Whether the candidate is better than the best one so far. One that is named after a major version alone may be of any
 * minor one: it comes last, and the server itself is asked for its version. */
static bool is_better(const struct search *search, const struct rig_local_version *candidate)
{
    const bool unsure = candidate->minor < 0;
    if (search->asked != NULL && !rig_local_version_fits(search->asked, candidate) &&
        !(unsure && search->asked->major == candidate->major))
        return false;
    return !search->found || candidate->major > search->best.major ||
           (candidate->major == search->best.major && candidate->minor > search->best.minor);
}

static void look_at(struct search *search, const char *root, const char *name)
{
    static const char *const places[] = {"bin", "native/bin", "package/native/bin"};
    struct rig_local_version version;
    char candidate[PATH_BYTES];
    if (!rig_local_version_read(name, &version) || !is_better(search, &version))
        return;
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        const int length = snprintf(candidate, sizeof candidate, "%s/%s/%s", root, name, places[i]);
        if (length < 0 || (size_t)length >= search->size || (size_t)length >= sizeof candidate ||
            !rig_local_has_programs(candidate, search->programs))
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
    char path[PATH_BYTES] = "";
    if (given(cache))
        (void)snprintf(path, sizeof path, "%s/rig/servers", cache);
    else if (given(home))
        (void)snprintf(path, sizeof path, "%s/.cache/rig/servers", home);
    look_into(search, path);
    look_into(search, "/var/cache/rig/servers");
}

bool rig_local_version_newest(const char *root, const char *const *programs, const struct rig_local_version *asked,
                              char *folder, size_t size)
{
    struct search search = {.programs = programs, .asked = asked, .folder = folder, .size = size};
    look_into(&search, root);
    return search.found;
}

bool rig_local_version_find(const char *servers, const char *packaged, const char *const *programs,
                            const struct rig_local_version *asked, char *folder, size_t size)
{
    struct search search = {.programs = programs, .asked = asked, .folder = folder, .size = size};
    if (rig_local_version_newest(servers, programs, asked, folder, size) ||
        rig_local_version_newest(getenv("RIG_SERVERS"), programs, asked, folder, size))
        return true;
    look_into_caches(&search);
    look_into(&search, packaged);
    return search.found;
}
