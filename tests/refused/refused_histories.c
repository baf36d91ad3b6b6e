/*
 * Files that are not histories, one fault each, with the exact message: expected/EXTENSION.txt has a line for each file
 * with that extension, `name: message`.
 *
 *   refused_histories FOLDER            compares
 *   refused_histories FOLDER --update   writes expected/ from the actual messages: review the difference
 */
#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/output_file.h"
#include "history/source/load.h"

static int not_hidden(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

static const char *extension(const char *name)
{
    const char *dot = strrchr(name, '.');
    return dot != NULL ? dot + 1 : "none";
}

static int by_extension(const struct dirent **a, const struct dirent **b)
{
    int order = strcmp(extension((*a)->d_name), extension((*b)->d_name));
    return order != 0 ? order : strcmp((*a)->d_name, (*b)->d_name);
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

/* The expectations of all extensions, in the order of by_extension(). */
static enum rig_rc read_expected(struct rig_buf *wanted, struct rig_err *err)
{
    struct dirent **entries;
    int count = scandir("../expected", &entries, not_hidden, alphasort);
    enum rig_rc rc = RIG_OK;
    for (int i = 0; i < count; i++) {
        char path[320];
        struct rig_buf one;
        rig_buf_init(&one, 0);
        (void)snprintf(path, sizeof path, "../expected/%s", entries[i]->d_name);
        rc = rc == RIG_OK ? rig_buf_read_file(&one, path, err) : rc;
        rig_buf_add_text(wanted, rig_buf_text(&one));
        rig_buf_done(&one);
        free(entries[i]);
    }
    free(entries);
    return rc;
}

/* Replaces the expectations of one extension. */
static enum rig_rc write_expected(const char *of, const char *came, struct rig_err *err)
{
    char path[320];
    struct rig_buf one;
    rig_buf_init(&one, 0);
    rig_buf_add_text(&one, came);
    (void)snprintf(path, sizeof path, "../expected/%s.txt", of);
    enum rig_rc rc = rig_output_save(&one, path, err);
    rig_buf_done(&one);
    return rc;
}

int main(int argc, char **argv)
{
    if (argc < 2 || chdir(argv[1]) != 0 || chdir("files") != 0) {
        (void)fprintf(stderr, "usage: refused_histories FOLDER [--update]\n");
        return 2;
    }
    bool update = argc > 2 && strcmp(argv[2], "--update") == 0;
    struct dirent **entries;
    int count = scandir(".", &entries, not_hidden, by_extension);
    struct rig_buf came, wanted;
    rig_buf_init(&came, 0);
    rig_buf_init(&wanted, 0);
    struct rig_err err = {0};
    enum rig_rc rc = RIG_OK;
    size_t start = 0; /* of the lines of this extension */
    for (int i = 0; i < count; i++) {
        const char *of = extension(entries[i]->d_name);
        try_file(entries[i]->d_name, &came);
        if (i + 1 == count || strcmp(of, extension(entries[i + 1]->d_name)) != 0) {
            if (update && rc == RIG_OK)
                rc = write_expected(of, rig_buf_text(&came) + start, &err);
            start = came.size;
        }
    }
    for (int i = 0; i < count; i++)
        free(entries[i]);
    free(entries);
    rc = rc == RIG_OK ? read_expected(&wanted, &err) : rc;
    int differing = rc == RIG_OK ? compare(rig_buf_text(&wanted), rig_buf_text(&came)) : 0;
    if (rc != RIG_OK)
        printf("%s\n", err.text);
    rig_buf_done(&came);
    rig_buf_done(&wanted);
    printf("%d passed, %d failed\n", count - differing, differing);
    return rc == RIG_OK && differing == 0 && count > 0 ? 0 : 1;
}
