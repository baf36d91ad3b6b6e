/*
 * One input for the parsers of histories, in the form that its first bytes select: parsed under a limit of memory,
 * which the allocations must keep, walked, and written in every form. The checksums of a binary record are corrected
 * first, so that inputs reach the code behind them.
 *
 * A program with it counts its allocations: link it as tests/fuzz/CMakeLists.txt does.
 */
#ifndef RIG_TESTS_FUZZ_HISTORY_PROPERTY_H
#define RIG_TESTS_FUZZ_HISTORY_PROPERTY_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/* Returns the result of parsing; a history that breaks a guarantee ends the process. */
enum rig_rc history_property(const uint8_t *data, size_t size);

#endif
