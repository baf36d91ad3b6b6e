/*
 * The driver and the given servers of a plan, as one text (plan.h).
 */
#include <stdio.h>
#include <string.h>

#include "run/plan/plan.h"

/* The options by which drivers name given servers. */
static bool names_servers(const struct rig_option *option)
{
    static const char *const names[] = {"cluster.hosts", "cluster.read-only-hosts", "endpoints"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (option->type == RIG_OPTION_TEXT_LIST && strcmp(option->name, names[i]) == 0)
            return true;
    }
    return false;
}

void rig_plan_place(const struct rig_plan *plan, char place[RIG_PLAN_PLACE_BYTES])
{
    size_t length = (size_t)snprintf(place, RIG_PLAN_PLACE_BYTES, "%.64s", plan->driver->name);
    for (const struct rig_option *option = plan->driver->options; option != NULL && option->name != NULL; option++) {
        const char *at = (const char *)plan->driver_options + option->offset;
        const struct rig_text_list *list =
            names_servers(option) ? (const struct rig_text_list *)(const void *)at : NULL;
        for (size_t i = 0; list != NULL && i < list->count; i++) {
            const size_t size = strlen(list->at[i]);
            if (length + 1 + size < RIG_PLAN_PLACE_BYTES)
                length += (size_t)snprintf(place + length, RIG_PLAN_PLACE_BYTES - length, " %s", list->at[i]);
        }
    }
}
