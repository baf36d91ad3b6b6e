/* cmocka.h and the four headers that it requires before it. */
#ifndef RIG_TESTS_UNIT_CMOCKA_FIRST_H
#define RIG_TESTS_UNIT_CMOCKA_FIRST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#endif
