/*
 * Numbers with units, exactly: decimal text times a unit to a 64-bit whole number, and back.
 *
 * Private to base/option_parse.c and its tests.
 */
#ifndef RIG_BASE_OPTION_NUMBER_H
#define RIG_BASE_OPTION_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rig_unit {
    const char *name; /* NULL ends a table; ascending sizes */
    int64_t size;
};

extern const struct rig_unit rig_duration_units[]; /* in ns */
extern const struct rig_unit rig_size_units[];     /* in bytes */

enum rig_number_fault {
    RIG_NUMBER_FINE,
    RIG_NUMBER_NONE,       /* does not start with a number */
    RIG_NUMBER_NO_UNIT,    /* a number without a unit */
    RIG_NUMBER_WRONG_UNIT, /* `*rest` points after the number */
    RIG_NUMBER_TOO_LARGE,  /* does not fit 63 bits */
    RIG_NUMBER_NOT_EXACT,  /* not a whole number of the smallest unit: 0.5B, 1.0000000001s */
};

/* `250`, `1.5`: digits, then optionally a point and digits, then a unit without a blank. */
enum rig_number_fault rig_number_with_unit(const char *text, const struct rig_unit *units, int64_t *value,
                                           const char **rest);
/* Digits with an optional minus, no leading zeros, to the end of the text. */
enum rig_number_fault rig_number_whole(const char *text, int64_t *value);
/* Decimal, optionally with a minus, a fraction and an exponent, to `end` (NULL: the end of the text); finite. */
enum rig_number_fault rig_number_decimal(const char *text, const char *end, double *value);

/* The largest unit that divides `value`. */
const struct rig_unit *rig_number_unit_of(int64_t value, const struct rig_unit *units);

enum { RIG_NUMBER_TEXT_BYTES = 32 };
/* The shortest decimal that reads back as `value`. */
void rig_number_shortest(double value, char text[RIG_NUMBER_TEXT_BYTES]);

#endif
