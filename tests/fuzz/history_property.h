/*
 * One input for the parsers of histories, in whatever form its first bytes tell: parsed under a limit of memory, which
 * what is allocated must keep, walked, and written in every form. A binary record gets its checksums mended first, so
 * that inputs reach what lies behind them.
 *
 * A program with it counts its allocations: link it as tests/fuzz/CMakeLists.txt does.
 */
#ifndef RIG_TESTS_FUZZ_HISTORY_PROPERTY_H
#define RIG_TESTS_FUZZ_HISTORY_PROPERTY_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/* Gives how parsing went; a history that breaks its own rules ends the process. */
enum rig_rc history_property(const uint8_t *data, size_t size);

#endif
