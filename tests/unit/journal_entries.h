/* The open entries of the undo journal, read from its files in the folder that RIG_JOURNAL names. */
#ifndef RIG_TESTS_UNIT_JOURNAL_ENTRIES_H
#define RIG_TESTS_UNIT_JOURNAL_ENTRIES_H

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Entries without a line "done": each file has a head, a line an entry, and one more for each that was undone. */
static inline int journal_entries(void)
{
    int open_entries = 0;
    const char *folder = getenv("RIG_JOURNAL");
    DIR *names = folder == NULL ? NULL : opendir(folder);
    for (struct dirent *name; names != NULL && (name = readdir(names)) != NULL;) {
        char path[1024], line[4096];
        (void)snprintf(path, sizeof path, "%s/%s", folder, name->d_name);
        FILE *file = strstr(name->d_name, ".undo") == NULL ? NULL : fopen(path, "re");
        for (int at = 0; file != NULL && fgets(line, sizeof line, file) != NULL; at++)
            open_entries += at == 0 ? 0 : strncmp(line, "done", 4) == 0 ? -1 : 1;
        if (file != NULL)
            (void)fclose(file);
    }
    if (names != NULL)
        (void)closedir(names);
    return open_entries;
}

#endif
