#include "checker/model/durability.h"

#define PROMISE_NAME(id, name, choice, meaning)    name,
#define PROMISE_MEANING(id, name, choice, meaning) meaning,
#define PROMISE_CHOICE(id, name, choice, meaning)  choice,

const char *const rig_promise_names[RIG_PROMISE_COUNT] = {RIG_PROMISE_TABLE(PROMISE_NAME)};
const char *const rig_promise_meanings[RIG_PROMISE_COUNT] = {RIG_PROMISE_TABLE(PROMISE_MEANING)};
const char *const rig_promise_choices[] = {RIG_PROMISE_TABLE(PROMISE_CHOICE) "none", NULL};
