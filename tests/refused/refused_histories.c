/*
 * Files that are not histories, one fault each, with the exact message: expected.txt has a line a file, `name:
 * message`.
 *
 *   refused_histories FOLDER            compares
 *   refused_histories FOLDER --update   writes expected.txt from the actual messages: review the difference
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/output_file.h"
#include "history/load.h"

static int not_hidden(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

/* The line for one file. An accepted file is a line as well, which no expectation has. */
static void try_file(const char *name, struct rig_buf *came)
{
    struct rig_load_options options = {.form = RIG_FORM_AUTO};
    struct rig_history *history = NULL;
    struct rig_err err = {0};
    enum rig_rc rc = rig_history_load(name, &options, &history, &err);
    if (rc == RIG_OK)
        rig_buf_printf(came, "%s: accepted, %u transactions\n", name, (unsigned)history->txn_count);
    else if (rc != RIG_E_INPUT)
        rig_buf_printf(came, "%s: no fault of the input: %s\n", name, err.text);
    else
        rig_buf_printf(came, "%s\n", err.text);
    rig_history_free(history);
}

/* Prints the lines that differ; returns how many. */
static int compare(const char *wanted, const char *came)
{
    int differing = 0;
    while (*wanted != '\0' || *came != '\0') {
        size_t wanted_length = strcspn(wanted, "\n");
        size_t came_length = strcspn(came, "\n");
        if (wanted_length != came_length || memcmp(wanted, came, came_length) != 0) {
            printf("wanted: %.*s\ncame:   %.*s\n", (int)wanted_length, wanted, (int)came_length, came);
            differing++;
        }
        wanted += wanted_length + (wanted[wanted_length] == '\n');
        came += came_length + (came[came_length] == '\n');
    }
    return differing;
}

int main(int argc, char **argv)
{
    if (argc < 2 || chdir(argv[1]) != 0 || chdir("files") != 0) {
        (void)fprintf(stderr, "usage: refused_histories FOLDER [--update]\n");
        return 2;
    }
    struct dirent **entries;
    int count = scandir(".", &entries, not_hidden, alphasort);
    struct rig_buf came, wanted;
    rig_buf_init(&came, 0);
    rig_buf_init(&wanted, 0);
    for (int i = 0; i < count; i++) {
        try_file(entries[i]->d_name, &came);
        free(entries[i]);
    }
    free(entries);
    struct rig_err err = {0};
    enum rig_rc rc;
    int differing = 0;
    if (argc > 2 && strcmp(argv[2], "--update") == 0) {
        rc = rig_output_save(&came, "../expected.txt", &err);
    } else {
        rc = rig_buf_read_file(&wanted, "../expected.txt", &err);
        differing = rc == RIG_OK ? compare(rig_buf_text(&wanted), rig_buf_text(&came)) : 0;
    }
    if (rc != RIG_OK)
        printf("%s\n", err.text);
    rig_buf_done(&came);
    rig_buf_done(&wanted);
    printf("%d passed, %d failed\n", count - differing, differing);
    return rc == RIG_OK && differing == 0 && count > 0 ? 0 : 1;
}
