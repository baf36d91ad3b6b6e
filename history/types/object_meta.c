/* The model in the metadata of a record, and its values as JSON (object_specification.h). */
#include "history/types/object_specification.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "history/model/value_texts.h"
#include "history/text/value_reader.h"

static const char title[] = "# model: ", margin[] = "#| ";

/* A specification of which some record had the text. */
struct kept {
    struct kept *next;
    struct rig_specification *specification;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct kept *all;

void rig_specification_write(const struct rig_specification *specification, struct rig_buf *meta)
{
    const char *line = specification->text;
    rig_buf_printf(meta, "%s%s\n", title, specification->file);
    while (*line != '\0') {
        const size_t length = strcspn(line, "\n");
        rig_buf_add_text(meta, margin);
        rig_buf_add(meta, line, length);
        rig_buf_add_char(meta, '\n');
        line += length + (line[length] != '\0');
    }
}

/* The name of the file and its text. False: there is none. */
static bool extract(const char *meta, struct rig_buf *file, struct rig_buf *text)
{
    const char *line = meta;
    while (line != NULL && strncmp(line, title, strlen(title)) != 0) {
        line = strchr(line, '\n');
        line += line != NULL;
    }
    if (line == NULL)
        return false;
    rig_buf_add(file, line + strlen(title), strcspn(line, "\n") - strlen(title));
    for (line += strcspn(line, "\n"); strncmp(line + (*line != '\0'), margin, strlen(margin)) == 0;) {
        line += 1 + strlen(margin);
        const size_t length = strcspn(line, "\n");
        rig_buf_add(text, line, length);
        rig_buf_add_char(text, '\n');
        line += length;
    }
    return !file->failed && !text->failed;
}

/* Keeps the specification, or frees it and gives the one of the same text. NULL when memory runs out. */
static const struct rig_specification *keep(struct rig_specification *made)
{
    const struct rig_specification *found = NULL;
    pthread_mutex_lock(&lock);
    for (const struct kept *one = all; one != NULL && found == NULL; one = one->next)
        found = strcmp(one->specification->text, made->text) == 0 ? one->specification : NULL;
    struct kept *fresh = found != NULL ? NULL : malloc(sizeof *fresh);
    if (fresh != NULL) {
        *fresh = (struct kept){all, made};
        all = fresh;
        found = made;
    }
    pthread_mutex_unlock(&lock);
    if (found != made)
        rig_specification_free(made);
    return found;
}

enum rig_rc rig_specification_open(const char *path, const struct rig_specification **specification,
                                   struct rig_err *err)
{
    struct rig_specification *made = NULL;
    const enum rig_rc rc = rig_specification_load(path, &made, err);
    if (rc != RIG_OK)
        return rc;
    *specification = keep(made);
    return *specification != NULL ? RIG_OK : rig_fail(err, RIG_E_LIMIT, "%s: there is no memory for the model", path);
}

const struct rig_specification *rig_specification_of(const char *meta)
{
    struct rig_buf file, text;
    const struct rig_specification *specification = NULL;
    if (meta == NULL)
        return NULL;
    rig_buf_init(&file, 0);
    rig_buf_init(&text, 0);
    struct rig_specification *made = NULL;
    if (extract(meta, &file, &text) &&
        rig_specification_read(rig_buf_text(&file), rig_buf_text(&text), text.size, &made, NULL) == RIG_OK)
        specification = keep(made);
    rig_buf_done(&file);
    rig_buf_done(&text);
    return specification;
}

/* ---- values ---- */

void rig_model_value_write(int64_t value, struct rig_buf *json)
{
    rig_value_add_json(json, value);
}

/* JSON is EDN, apart from null. */
bool rig_model_value_read(const char *json, size_t length, int64_t *value)
{
    const bool is_null = length == 4 && memcmp(json, "null", length) == 0;
    return is_null ? rig_value_number("nil", 3, value) : rig_value_parse(json, length, value, NULL) == RIG_OK;
}
