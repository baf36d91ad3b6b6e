/*
 * The instructions of expressions of models (object_expression.h): written by object_grammar.c, executed by
 * object_expression.c. Each takes its operands from a stack, and puts its value there.
 */
#ifndef RIG_HISTORY_TYPES_OBJECT_CODE_H
#define RIG_HISTORY_TYPES_OBJECT_CODE_H

enum { RIG_CODE_MOST_DEPTH = 32 }; /* of the stack */

enum rig_code {
    RIG_CODE_CONSTANT,
    RIG_CODE_VALUE,
    RIG_CODE_ARGUMENT,
    RIG_CODE_ELEMENT, /* of a container: takes the key or the place */
    RIG_CODE_MEMBER,  /* takes a value, gives whether the container has it */
    RIG_CODE_COUNT,
    RIG_CODE_LEAST,
    RIG_CODE_GREATEST,
    RIG_CODE_SUM,
    RIG_CODE_FIRST,
    RIG_CODE_LAST,
    RIG_CODE_KEYS,
    RIG_CODE_VALUES,
    RIG_CODE_ENTRIES,
    RIG_CODE_RANGE, /* takes two bounds */
    RIG_CODE_LIST,  /* takes `count` values */
    RIG_CODE_ADD,
    RIG_CODE_SUBTRACT,
    RIG_CODE_MULTIPLY,
    RIG_CODE_DIVIDE,
    RIG_CODE_REMAINDER,
    RIG_CODE_NEGATE,
    RIG_CODE_SMALLER,
    RIG_CODE_LARGER,
    RIG_CODE_EQUAL,
    RIG_CODE_DIFFERENT,
    RIG_CODE_BELOW,
    RIG_CODE_AT_MOST,
    RIG_CODE_ABOVE,
    RIG_CODE_AT_LEAST,
    RIG_CODE_NOT,
    RIG_CODE_KEEP_IF_FALSE, /* goes on at `place` with the value that is there, or drops it */
    RIG_CODE_KEEP_IF_TRUE,
    RIG_CODE_GO_IF_FALSE, /* drops the value */
    RIG_CODE_GO,
};

#endif
