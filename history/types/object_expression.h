/*
 * Expressions of models (history/types/object_specification.h): compiled to instructions for a stack, and computed.
 *
 *   expression  = disjunction
 *   disjunction = conjunction {"or" conjunction}
 *   conjunction = negation {"and" negation}
 *   negation    = "not" negation | comparison
 *   comparison  = sum [("==" | "!=" | "<" | "<=" | ">" | ">=") sum | ["not"] "in" CONTAINER]
 *   sum         = product {("+" | "-") product}
 *   product     = factor {("*" | "/" | "%") factor}
 *   factor      = "-" factor | primary
 *   primary     = INTEGER | STRING | KEYWORD | "true" | "false" | "nil" | NAME | CONTAINER "[" expression "]"
 *               | FUNCTION "(" arguments ")" | "(" expression ")"
 *
 * A value is an integer, or anything else as its number (history/model/value_texts.h). Where an operand has the wrong
 * kind, an integer does not fit into 64 bits, or a division is by zero, an expression has no value. Nothing repeats, so
 * the time is linear in the expression and in the containers that it looks at. Threads: any.
 */
#ifndef RIG_HISTORY_TYPES_OBJECT_EXPRESSION_H
#define RIG_HISTORY_TYPES_OBJECT_EXPRESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"

enum { RIG_MODEL_VARIABLES = 16, RIG_MODEL_ARGUMENTS = 8 };

enum rig_variable_kind { RIG_VARIABLE_VALUE, RIG_VARIABLE_MAP, RIG_VARIABLE_SEQUENCE };

struct rig_variable {
    const char *name;
    enum rig_variable_kind kind;
    uint32_t place; /* among the values, or among the containers */
};

/* A part of a state: a map has pairs of a key and a value in ascending order of the keys, a sequence its elements. */
struct rig_container {
    const int64_t *at;
    size_t count; /* numbers */
};

/* Numbers of true, false and nil. */
struct rig_model_constants {
    int64_t yes, no, nil;
};

/* A state, and the arguments of an operation. */
struct rig_model_view {
    const int64_t *values;
    struct rig_container containers[RIG_MODEL_VARIABLES];
    const int64_t *arguments;
    const struct rig_model_constants *constants;
};

struct rig_instruction {
    uint8_t code;
    uint8_t count;  /* of an instruction that takes several values */
    uint16_t place; /* a variable, an argument, or where to go on */
    int64_t value;
};

RIG_VEC(struct rig_instruction, rig_instructions)

/* A part of the instructions; count 0: there is no expression. */
struct rig_expression {
    uint32_t first, count;
};

struct rig_expression_scope {
    const struct rig_variable *variables;
    uint32_t variable_count;
    const char *arguments[RIG_MODEL_ARGUMENTS];
    uint32_t argument_count;
};

/* The first error: where, in bytes, and what. */
struct rig_expression_fault {
    size_t at;
    char text[240];
};

/* The constants; false when memory runs out. */
bool rig_model_constants_find(struct rig_model_constants *constants);

/* Adds the instructions. False: the text is no expression, or memory ran out. `until` is not NULL: it ends at the first
 * character that cannot belong to it, whose place is given; else at the end of the text. */
bool rig_expression_compile(const char *text, const struct rig_expression_scope *scope, struct rig_instructions *code,
                            struct rig_expression *expression, size_t *until, struct rig_expression_fault *fault);

/* The value; false: it has none. *no_memory is set when memory runs out. */
bool rig_expression_value(const struct rig_instructions *code, const struct rig_expression *expression,
                          const struct rig_model_view *view, int64_t *value, bool *no_memory);

/* Whether it is one constant alone. */
bool rig_expression_is_constant(const struct rig_instructions *code, const struct rig_expression *expression);

/* Whether it makes a list. */
bool rig_expression_has_list(const struct rig_instructions *code, const struct rig_expression *expression);

/* The place of a key in a map: *found, or where it would be. */
size_t rig_container_place(const struct rig_container *map, int64_t key, bool *found);

/* The variable of this name, or NULL. */
const struct rig_variable *rig_variable_find(const struct rig_expression_scope *scope, const char *name, size_t length);

#endif
