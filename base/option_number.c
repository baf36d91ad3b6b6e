#include "base/option_number.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bug.h"

const struct rig_unit rig_duration_units[] = {
    {"ns", INT64_C(1)},
    {"us", INT64_C(1000)},
    {"ms", INT64_C(1000000)},
    {"s", INT64_C(1000000000)},
    {"m", INT64_C(60000000000)},
    {"h", INT64_C(3600000000000)},
    {NULL, 0},
};

const struct rig_unit rig_size_units[] = {
    {"B", INT64_C(1)},         {"KiB", INT64_C(1) << 10}, {"MiB", INT64_C(1) << 20},
    {"GiB", INT64_C(1) << 30}, {"TiB", INT64_C(1) << 40}, {NULL, 0},
};

__extension__ typedef __int128 wide;

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Reads digits into `*value` (which continues from what it holds); false on overflow. */
static bool read_digits(const char **at, int64_t *value, unsigned *count)
{
    for (*count = 0; is_digit(**at); (*at)++, (*count)++) {
        if (__builtin_mul_overflow(*value, INT64_C(10), value) || __builtin_add_overflow(*value, **at - '0', value))
            return false;
    }
    return true;
}

static const struct rig_unit *find_unit(const char *name, const struct rig_unit *units)
{
    for (; units->name != NULL; units++) {
        if (strcmp(units->name, name) == 0)
            return units;
    }
    return NULL;
}

/* `fraction` tenths, hundredths, ... (`digits` of them) of `unit`, exactly; false when that is no whole number. */
static bool scale_fraction(int64_t fraction, unsigned digits, int64_t unit, int64_t *scaled)
{
    int64_t divisor = 1;
    for (; digits > 0 && fraction % 10 == 0; digits--)
        fraction /= 10; /* 1.50 is 1.5 */
    for (; digits > 0; digits--) {
        if (__builtin_mul_overflow(divisor, INT64_C(10), &divisor))
            return false;
    }
    /* fraction < divisor, so the quotient is below the unit; the product needs more than 64 bits. */
    const wide product = (wide)fraction * unit;
    if (product % divisor != 0)
        return false;
    *scaled = (int64_t)(product / divisor);
    return true;
}

enum rig_number_fault rig_number_with_unit(const char *text, const struct rig_unit *units, int64_t *value,
                                           const char **rest)
{
    const char *at = text;
    int64_t whole = 0;
    int64_t fraction = 0;
    unsigned whole_digits = 0;
    unsigned fraction_digits = 0;
    *rest = text;
    if (!is_digit(*at))
        return RIG_NUMBER_NONE;
    if (!read_digits(&at, &whole, &whole_digits))
        return RIG_NUMBER_TOO_LARGE;
    if (*at == '.' && is_digit(at[1])) {
        at++;
        if (!read_digits(&at, &fraction, &fraction_digits))
            return RIG_NUMBER_NOT_EXACT;
    }
    *rest = at;
    if (*at == '\0')
        return RIG_NUMBER_NO_UNIT;
    const struct rig_unit *unit = find_unit(at, units);
    if (unit == NULL)
        return RIG_NUMBER_WRONG_UNIT;
    int64_t scaled = 0;
    if (!scale_fraction(fraction, fraction_digits, unit->size, &scaled))
        return RIG_NUMBER_NOT_EXACT;
    if (__builtin_mul_overflow(whole, unit->size, &whole) || __builtin_add_overflow(whole, scaled, &whole))
        return RIG_NUMBER_TOO_LARGE;
    *value = whole;
    return RIG_NUMBER_FINE;
}

enum rig_number_fault rig_number_whole(const char *text, int64_t *value)
{
    const char *digits = text[0] == '-' ? text + 1 : text;
    const size_t length = strlen(digits);
    if (length == 0 || strspn(digits, "0123456789") != length || (digits[0] == '0' && length > 1))
        return RIG_NUMBER_NONE;
    errno = 0;
    const long long number = strtoll(text, NULL, 10);
    if (errno != 0)
        return RIG_NUMBER_TOO_LARGE;
    *value = number;
    return RIG_NUMBER_FINE;
}

/* The end of the decimal that starts at `at`, or NULL. */
static const char *skip_decimal(const char *at)
{
    if (*at == '-')
        at++;
    if (!is_digit(*at))
        return NULL;
    while (is_digit(*at))
        at++;
    if (*at == '.') {
        if (!is_digit(*++at))
            return NULL;
        while (is_digit(*at))
            at++;
    }
    if (*at == 'e' || *at == 'E') {
        at++;
        if (*at == '+' || *at == '-')
            at++;
        if (!is_digit(*at))
            return NULL;
        while (is_digit(*at))
            at++;
    }
    return at;
}

enum rig_number_fault rig_number_decimal(const char *text, const char *end, double *value)
{
    if (end == NULL)
        end = text + strlen(text);
    if (skip_decimal(text) != end)
        return RIG_NUMBER_NONE;
    const double number = strtod(text, NULL);
    if (!isfinite(number))
        return RIG_NUMBER_TOO_LARGE;
    *value = number;
    return RIG_NUMBER_FINE;
}

const struct rig_unit *rig_number_unit_of(int64_t value, const struct rig_unit *units)
{
    const struct rig_unit *best = units;
    for (const struct rig_unit *unit = units; unit->name != NULL; unit++) {
        if (value != 0 && value % unit->size == 0)
            best = unit;
    }
    return best;
}

void rig_number_shortest(double value, char text[RIG_NUMBER_TEXT_BYTES])
{
    RIG_REQUIRE(isfinite(value));
    if (fabs(value) < 1e15 && value == trunc(value)) {
        (void)snprintf(text, RIG_NUMBER_TEXT_BYTES, "%.0f", value); /* not 1e+08 */
        return;
    }
    for (int digits = 6; digits <= 17; digits++) {
        (void)snprintf(text, RIG_NUMBER_TEXT_BYTES, "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            return;
    }
}
