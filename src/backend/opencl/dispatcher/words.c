/*
 * words.c: identifiers that mean something to the dispatcher.
 *
 * A word that ends in '*' stands for all words with that prefix.
 */
#include "backend/opencl/dispatcher/words.h"

#include <string.h>

struct reason {
    const char *word;
    const char *text;
};

static const struct reason BANNED[] = {
    {"vyre_*", "identifier with the prefix vyre_"},
    {"VYRE_*", "identifier with the prefix vyre_"},
};

/* Their values would reveal whether the source is the dispatcher's or the user's. */
static const struct reason PLACE[] = {
    {"__LINE__", "the source asks where it stands"},
    {"__FILE__", "the source asks where it stands"},
    {"__func__", "the source asks where it stands"},
    {"__FUNCTION__", "the source asks where it stands"},
    {"__PRETTY_FUNCTION__", "the source asks where it stands"},
    {"__COUNTER__", "the source asks where it stands"},
    {"__INCLUDE_LEVEL__", "the source asks where it stands"},
    {"__BASE_FILE__", "the source asks where it stands"},
    {"__DATE__", "the source asks for the time of its build"},
    {"__TIME__", "the source asks for the time of its build"},
    {"__TIMESTAMP__", "the source asks for the time of its build"},
};

static const struct reason OPAQUE[] = {
    {"asm", "inline assembly"},
    {"__asm", "inline assembly"},
    {"__asm__", "inline assembly"},
    {"overloadable", "overloaded functions"},
    {"_Pragma", "pragma that is not known"},
    {"__typeof__", "typeof"},
    {"typeof", "typeof"},
};

static const struct reason REFUSED[] = {
    {"printf", "printf in a kernel"},
    {"enqueue_kernel", "kernel that enqueues kernels"},
    {"enqueue_marker", "kernel that enqueues kernels"},
    {"get_default_queue", "kernel that enqueues kernels"},
    {"get_kernel_*", "kernel that enqueues kernels"},
    {"ndrange_*", "kernel that enqueues kernels"},
    {"create_user_event", "kernel that enqueues kernels"},
    {"queue_t", "kernel that enqueues kernels"},
    {"clk_event_t", "kernel that enqueues kernels"},
    {"image1d_*", "images"},
    {"image2d_*", "images"},
    {"image3d_*", "images"},
    {"read_image*", "images"},
    {"write_image*", "images"},
    {"get_image_*", "images"},
    {"sampler_t", "samplers"},
    {"pipe", "pipes"},
    {"__pipe", "pipes"},
    {"reserve_id_t", "pipes"},
    {"read_pipe*", "pipes"},
    {"write_pipe*", "pipes"},
    {"sub_group_*", "sub-groups"},
    {"intel_sub_group_*", "sub-groups"},
    {"get_sub_group_*", "sub-groups"},
    {"get_max_sub_group_size", "sub-groups"},
    {"get_num_sub_groups", "sub-groups"},
    {"get_enqueued_num_sub_groups", "sub-groups"},
    {"work_group_named_barrier*", "named barriers"},
    {"named_barrier_init", "named barriers"},
};

static const char *const GROUPWISE[] = {
    "barrier",
    "work_group_barrier",
    "async_work_group_copy",
    "async_work_group_strided_copy",
    "async_work_group_copy_2D2D",
    "async_work_group_copy_3D3D",
    "wait_group_events",
    "work_group_all",
    "work_group_any",
    "work_group_broadcast",
    "work_group_reduce_add",
    "work_group_reduce_min",
    "work_group_reduce_max",
    "work_group_reduce_mul",
    "work_group_reduce_and",
    "work_group_reduce_or",
    "work_group_reduce_xor",
    "work_group_reduce_logical_and",
    "work_group_reduce_logical_or",
    "work_group_reduce_logical_xor",
    "work_group_scan_exclusive_add",
    "work_group_scan_exclusive_min",
    "work_group_scan_exclusive_max",
    "work_group_scan_exclusive_mul",
    "work_group_scan_exclusive_and",
    "work_group_scan_exclusive_or",
    "work_group_scan_exclusive_xor",
    "work_group_scan_exclusive_logical_and",
    "work_group_scan_exclusive_logical_or",
    "work_group_scan_exclusive_logical_xor",
    "work_group_scan_inclusive_add",
    "work_group_scan_inclusive_min",
    "work_group_scan_inclusive_max",
    "work_group_scan_inclusive_mul",
    "work_group_scan_inclusive_and",
    "work_group_scan_inclusive_or",
    "work_group_scan_inclusive_xor",
    "work_group_scan_inclusive_logical_and",
    "work_group_scan_inclusive_logical_or",
    "work_group_scan_inclusive_logical_xor",
    "intel_work_group_barrier_arrive",
    "intel_work_group_barrier_wait",
};

static const char *const KEPT[] = {
    "get_global_*", "get_local_*",
    "get_group_id", "get_num_groups",
    "get_work_dim", "get_enqueued_local_size",
    "atomic_*",     "memory_*",
    "auto",         "break",
    "case",         "char",
    "const",        "continue",
    "default",      "do",
    "double",       "else",
    "enum",         "extern",
    "float",        "for",
    "goto",         "if",
    "inline",       "int",
    "long",         "register",
    "restrict",     "return",
    "short",        "signed",
    "sizeof",       "static",
    "struct",       "switch",
    "typedef",      "union",
    "unsigned",     "void",
    "volatile",     "while",
    "uchar",        "ushort",
    "uint",         "ulong",
    "size_t",       "kernel",
    "__kernel",     "global",
    "__global",     "local",
    "__local",      "constant",
    "__constant",   "private",
    "__private",    "__attribute__",
    "__attribute",  "__builtin_*",
    "CLK_*",        "cl_*",
    "defined",
};

static bool matches(const char *pattern, const char *word, size_t size)
{
    size_t length = strlen(pattern);
    if (pattern[length - 1] == '*')
        return size >= length - 1 && memcmp(pattern, word, length - 1) == 0;
    return size == length && memcmp(pattern, word, size) == 0;
}

static const char *look_up(const struct reason *list, size_t count, const char *word, size_t size)
{
    for (size_t i = 0; i < count; i++) {
        if (matches(list[i].word, word, size))
            return list[i].text;
    }
    return NULL;
}

static bool has_word(const char *const *list, size_t count, const char *word, size_t size)
{
    for (size_t i = 0; i < count; i++) {
        if (matches(list[i], word, size))
            return true;
    }
    return false;
}

const char *vyre_cl_word_banned(const char *word, size_t size)
{
    /* macros of specialization values belong to the user */
    static const char spec[] = "VYRE_SPEC_";
    if (size > sizeof spec - 1 && memcmp(word, spec, sizeof spec - 1) == 0)
        return NULL;
    return look_up(BANNED, sizeof BANNED / sizeof *BANNED, word, size);
}

const char *vyre_cl_word_unkept(const char *word, size_t size)
{
    const char *reason = look_up(PLACE, sizeof PLACE / sizeof *PLACE, word, size);
    return reason ? reason : look_up(OPAQUE, sizeof OPAQUE / sizeof *OPAQUE, word, size);
}

const char *vyre_cl_word_place(size_t index)
{
    return index < sizeof PLACE / sizeof *PLACE ? PLACE[index].word : NULL;
}

const char *vyre_cl_word_refused(const char *word, size_t size)
{
    return look_up(REFUSED, sizeof REFUSED / sizeof *REFUSED, word, size);
}

bool vyre_cl_word_is_groupwise(const char *word, size_t size)
{
    return has_word(GROUPWISE, sizeof GROUPWISE / sizeof *GROUPWISE, word, size);
}

bool vyre_cl_word_is_unknown(const char *word, size_t size)
{
    static const char *const families[] = {"work_group_*", "intel_work_group_*",
                                           "async_work_group_*"};
    static const char attribute[] = "work_group_size_hint";
    return has_word(families, sizeof families / sizeof *families, word, size) &&
           !matches(attribute, word, size) && !vyre_cl_word_is_groupwise(word, size);
}

bool vyre_cl_word_is_kept(const char *word, size_t size)
{
    return has_word(KEPT, sizeof KEPT / sizeof *KEPT, word, size) ||
           vyre_cl_word_is_groupwise(word, size) || vyre_cl_word_refused(word, size) != NULL ||
           vyre_cl_word_unkept(word, size) != NULL;
}

const char *vyre_cl_word_groupwise(size_t index)
{
    return index < sizeof GROUPWISE / sizeof *GROUPWISE ? GROUPWISE[index] : NULL;
}
