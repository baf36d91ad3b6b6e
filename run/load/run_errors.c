#include "run/load/run_errors.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct rig_run_error *find_row(struct rig_run_errors *errors, enum rig_outcome outcome, const char *code)
{
    for (uint32_t i = 0; i < errors->count; i++) {
        struct rig_run_error *row = &errors->rows[i];
        const bool last = i + 1 == RIG_RUN_ERROR_ROWS;
        if (last || (row->outcome == outcome && strcmp(row->code, code) == 0))
            return row;
    }
    return NULL;
}

void rig_run_errors_add(struct rig_run_errors *errors, enum rig_outcome outcome, const char *code, const char *text)
{
    struct rig_run_error *row = find_row(errors, outcome, code);
    if (row != NULL) {
        row->count++;
        return;
    }
    row = &errors->rows[errors->count++];
    *row = (struct rig_run_error){.outcome = outcome, .count = 1};
    const bool last = errors->count == RIG_RUN_ERROR_ROWS;
    (void)snprintf(row->code, sizeof row->code, "%s", last ? "other" : code);
    (void)snprintf(row->text, sizeof row->text, "%s", last ? "other kinds of errors" : text);
}

void rig_run_errors_merge(struct rig_run_errors *errors, const struct rig_run_errors *more)
{
    for (uint32_t i = 0; i < more->count; i++) {
        struct rig_run_error *row = find_row(errors, more->rows[i].outcome, more->rows[i].code);
        if (row != NULL)
            row->count += more->rows[i].count;
        else
            errors->rows[errors->count++] = more->rows[i];
    }
}

static int by_count_down(const void *a, const void *b)
{
    const struct rig_run_error *x = a, *y = b;
    if (x->count != y->count)
        return x->count < y->count ? 1 : -1;
    const int order = strcmp(x->code, y->code);
    return order != 0 ? order : (x->outcome > y->outcome) - (x->outcome < y->outcome);
}

void rig_run_errors_sort(struct rig_run_errors *errors)
{
    qsort(errors->rows, errors->count, sizeof errors->rows[0], by_count_down);
}

uint64_t rig_run_errors_total(const struct rig_run_errors *errors)
{
    uint64_t total = 0;
    for (uint32_t i = 0; i < errors->count; i++)
        total += errors->rows[i].count;
    return total;
}
