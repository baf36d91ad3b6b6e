/*
 * The interface between a fuzzer and its replay: libFuzzer's entry point.
 */
#ifndef RIG_TESTS_FUZZ_FUZZ_TARGET_H
#define RIG_TESTS_FUZZ_FUZZ_TARGET_H

#include <stddef.h>
#include <stdint.h>

/* Ends the process when the bytes break a property; returns 0. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

#endif
