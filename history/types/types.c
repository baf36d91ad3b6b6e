#include "history/types/types.h"

#include <assert.h>
#include <string.h>

static_assert(RIG_OP_KIND_COUNT < 31, "sets of operation kinds are ints");

/* The fast paths through texts compare eight bytes: the name, quotes or a colon, and what separates it from the key. */
#define NAME_FITS(op, text, ...) static_assert(sizeof(text) <= 7, "a name of at most six letters");
RIG_OP_TABLE(NAME_FITS)
#undef NAME_FITS

const struct rig_op_info rig_op_infos[RIG_OP_KIND_COUNT] = {
#define OP_INFO(op, text, noun, shape, help) [op] = {text, noun, shape, help},
    RIG_OP_TABLE(OP_INFO)
#undef OP_INFO
};

#define SHAPE_OF(op, text, noun, shape, ...) op##_SHAPE = shape,
enum { RIG_OP_TABLE(SHAPE_OF) };
#undef SHAPE_OF

const struct rig_data_type rig_data_types[RIG_WORKLOAD_COUNT] = {
#define DATA_TYPE(workload, text, write, read, followed_by, help)                                                      \
    [workload] = {text, help, write, read, (enum rig_result_shape)read##_SHAPE, followed_by},
    RIG_WORKLOAD_TABLE(DATA_TYPE)
#undef DATA_TYPE
};

#define IS_SOUND(workload, text, write, read, ...)                                                                     \
    static_assert((write) % 2 == 0 && (int)(read) == (int)(write) + 1 && (int)write##_SHAPE == RIG_RESULT_NOTHING &&   \
                      (int)read##_SHAPE != RIG_RESULT_NOTHING,                                                         \
                  text);
RIG_WORKLOAD_TABLE(IS_SOUND)
#undef IS_SOUND

const char *const rig_data_type_names[RIG_WORKLOAD_COUNT + 1] = {
#define TYPE_NAME(workload, text, ...) [workload] = text,
    RIG_WORKLOAD_TABLE(TYPE_NAME)
#undef TYPE_NAME
};

enum rig_op_kind rig_object_further_op(enum rig_workload workload)
{
#define FURTHER_OP(object, further, ...)                                                                               \
    if (workload == (object))                                                                                          \
        return further;
    RIG_OBJECT_TABLE(FURTHER_OP)
#undef FURTHER_OP
    return RIG_OP_KIND_COUNT;
}

uint32_t rig_object_further_ops(enum rig_workload workload)
{
#define FURTHER_OPS(object, further, count)                                                                            \
    if (workload == (object))                                                                                          \
        return ((UINT32_C(1) << (count)) - 1) << ((count) == 0 ? 0 : (further));
    RIG_OBJECT_TABLE(FURTHER_OPS)
#undef FURTHER_OPS
    return 0;
}

bool rig_name_reads(const char *name, size_t length)
{
    if (length == 1)
        return name[0] == 'r';
    for (unsigned kind = 0; kind < RIG_OP_KIND_COUNT; kind++) {
        const char *known = rig_op_infos[kind].name;
        if (rig_op_reads(kind) && strlen(known) == length && memcmp(known, name, length) == 0)
            return true;
    }
    return false;
}
