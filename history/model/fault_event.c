#include "history/model/fault_event.h"

#include <string.h>

static const char *const step_names[] = {
#define STEP_NAME(name, text) text,
    RIG_FAULT_STEP_TABLE(STEP_NAME)
#undef STEP_NAME
};

static bool keep_text(struct rig_arena *arena, const char **text)
{
    *text = rig_arena_text(arena, *text, strlen(*text));
    return *text != NULL;
}

static bool keep_texts(struct rig_arena *arena, struct rig_fault_event *event)
{
    return keep_text(arena, &event->fault) && keep_text(arena, &event->targets) && keep_text(arena, &event->text);
}

bool rig_fault_event_is_phase(const struct rig_fault_event *event)
{
    return strcmp(event->fault, RIG_PHASE_FAULT) == 0;
}

bool rig_fault_event_keep_all(struct rig_fault_event_vec *events, struct rig_arena *arena,
                              const struct rig_fault_event *from, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct rig_fault_event copy = from[i];
        if (!keep_texts(arena, &copy) || !rig_fault_event_vec_add(events, copy))
            return false;
    }
    return true;
}

const struct rig_fault_event *rig_fault_events_copy(struct rig_arena *arena, const struct rig_fault_event *from,
                                                    size_t count)
{
    struct rig_fault_event *copies = rig_arena_array(arena, count + 1, sizeof *copies);
    for (size_t i = 0; copies != NULL && i < count; i++) {
        copies[i] = from[i];
        if (!keep_texts(arena, &copies[i]))
            return NULL;
    }
    return copies;
}

const char *rig_fault_step_name(enum rig_fault_step step)
{
    return step_names[step];
}

bool rig_fault_step_find(const char *name, size_t length, enum rig_fault_step *step)
{
    for (int i = 0; i < RIG_FAULT_STEP_COUNT; i++) {
        if (strlen(step_names[i]) == length && memcmp(step_names[i], name, length) == 0) {
            *step = (enum rig_fault_step)i;
            return true;
        }
    }
    return false;
}
