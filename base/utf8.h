/*
 * UTF-8, strictly (RFC 3629): no overlong forms, no surrogates, nothing past U+10FFFF.
 */
#ifndef RIG_BASE_UTF8_H
#define RIG_BASE_UTF8_H

#include <stddef.h>
#include <stdint.h>

/* The length in bytes of the character at `text`, of which `left` > 0 bytes may be read; 0 when it is not UTF-8.
 * `*code` is the character; NULL when it is not wanted. */
size_t rig_utf8_decode(const char *text, size_t left, uint32_t *code);

#endif
