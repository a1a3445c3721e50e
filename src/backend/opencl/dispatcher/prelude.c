/*
 * prelude.c: the parts of a dispatcher's source that do not depend on the user's program.
 *
 * All names begin with vyre_ or VYRE_, which the user's source may not use. Offsets come from ring.h.
 * The letters at the atomics are those of the pairs in ring.h.
 */
#include "backend/opencl/dispatcher/prelude.h"

#include "backend/opencl/dispatcher/ring.h"
#include "backend/opencl/dispatcher/words.h"

#define CONTROL(field) offsetof(struct vyre_cl_control, field)
#define SLOT(field)    offsetof(struct vyre_cl_slot, field)

static void define(struct vyre_text *out, const char *name, size_t value)
{
    vyre_text_appendf(out, "#define %s %zuu\n", name, value);
}

static void write_layout(struct vyre_text *out, const struct vyre_cl_dispatcher_input *input)
{
    define(out, "VYRE_HEAD", CONTROL(head));
    define(out, "VYRE_STOP", CONTROL(stop));
    define(out, "VYRE_SLOT_MASK", CONTROL(slot_mask));
    define(out, "VYRE_IDLE_POLLS", CONTROL(idle_polls));
    define(out, "VYRE_LEASE_TURNS", CONTROL(lease_turns));
    define(out, "VYRE_COMPLETION", CONTROL(completion));
    define(out, "VYRE_HEARTBEAT", CONTROL(heartbeat));
    define(out, "VYRE_STARTED", CONTROL(started));
    define(out, "VYRE_EXITED", CONTROL(exited));
    define(out, "VYRE_LEAVING", CONTROL(leaving));
    define(out, "VYRE_CURSOR", CONTROL(cursor));
    define(out, "VYRE_SLOTS", sizeof(struct vyre_cl_control));
    define(out, "VYRE_SLOT_BYTES", sizeof(struct vyre_cl_slot));
    define(out, "VYRE_KERNEL", SLOT(kernel));
    define(out, "VYRE_FLAGS", SLOT(flags));
    define(out, "VYRE_GROUPS", SLOT(groups));
    define(out, "VYRE_GROUP_TOTAL", SLOT(group_total));
    define(out, "VYRE_DONE", SLOT(done));
    define(out, "VYRE_FINISHED", SLOT(finished));
    define(out, "VYRE_PAYLOAD", SLOT(payload));
    define(out, "VYRE_AFTER_ALL", VYRE_CL_SLOT_AFTER_ALL);
    define(out, "VYRE_EXIT_IDLE", VYRE_CL_EXIT_IDLE);
    define(out, "VYRE_EXIT_LEASE", VYRE_CL_EXIT_LEASE);
    define(out, "VYRE_EXIT_STOP", VYRE_CL_EXIT_STOP);
    define(out, "VYRE_NO_KERNEL", UINT32_MAX);
    define(out, "VYRE_LX", input->local_size[0]);
    define(out, "VYRE_LY", input->local_size[1]);
    define(out, "VYRE_LZ", input->local_size[2]);
    define(out, "VYRE_WORK_DIM", input->work_dim ? input->work_dim : 3);
}

static const char MEMORY[] =
    "#define VYRE_INLINE static inline __attribute__((__always_inline__))\n"
    "typedef uint vyre_u32;\n"
    "typedef ulong vyre_u64;\n"
    "typedef size_t vyre_size;\n"
    "typedef __global uchar *vyre_bytes;\n"
    "#define VYRE_WORD(vyre_p, vyre_o) ((volatile __global atomic_uint *)((vyre_p) + (vyre_o)))\n"
    "VYRE_INLINE vyre_u32 vyre_plain(vyre_bytes vyre_p, vyre_u32 vyre_o)\n"
    "{ return *(__global const vyre_u32 *)(vyre_p + vyre_o); }\n"
    "VYRE_INLINE vyre_u32 vyre_peek(vyre_bytes vyre_p, vyre_u32 vyre_o)\n"
    "{ return atomic_load_explicit(VYRE_WORD(vyre_p, vyre_o), memory_order_relaxed,\n"
    "                              memory_scope_device); }\n"
    "VYRE_INLINE vyre_u32 vyre_acquire(vyre_bytes vyre_p, vyre_u32 vyre_o)\n"
    "{ return atomic_load_explicit(VYRE_WORD(vyre_p, vyre_o), memory_order_acquire,\n"
    "                              memory_scope_device); }\n"
    "VYRE_INLINE void vyre_poke(vyre_bytes vyre_p, vyre_u32 vyre_o, vyre_u32 vyre_v)\n"
    "{ atomic_store_explicit(VYRE_WORD(vyre_p, vyre_o), vyre_v, memory_order_relaxed,\n"
    "                        memory_scope_device); }\n"
    "VYRE_INLINE void vyre_release(vyre_bytes vyre_p, vyre_u32 vyre_o, vyre_u32 vyre_v)\n"
    "{ atomic_store_explicit(VYRE_WORD(vyre_p, vyre_o), vyre_v, memory_order_release,\n"
    "                        memory_scope_device); }\n"
    "VYRE_INLINE vyre_bytes vyre_slot_of(vyre_bytes vyre_c, vyre_u32 vyre_item)\n"
    "{ return vyre_c + VYRE_SLOTS\n"
    "         + (vyre_size)(vyre_item & vyre_plain(vyre_c, VYRE_SLOT_MASK)) * VYRE_SLOT_BYTES; }\n"
    /* A resident group's own state. It must leave if `vyre_exit` is not 0. */
    "struct vyre_turn { vyre_u32 vyre_item, vyre_group, vyre_idle, vyre_turns, vyre_beat,\n"
    "  vyre_holds, vyre_exit; };\n"
    "VYRE_INLINE vyre_u32 vyre_why_leave(vyre_bytes vyre_c, VYRE_TURN *vyre_w)\n"
    "{\n"
    "  if (vyre_peek(vyre_c, VYRE_STOP)) return VYRE_EXIT_STOP;\n"
    "  if (vyre_w->vyre_turns >= vyre_plain(vyre_c, VYRE_LEASE_TURNS)) return VYRE_EXIT_LEASE;\n"
    "  if (vyre_w->vyre_idle > vyre_plain(vyre_c, VYRE_IDLE_POLLS)) return VYRE_EXIT_IDLE;\n"
    "  return 0;\n"
    "}\n"
    "VYRE_INLINE vyre_size vyre_pick(vyre_u32 vyre_d, vyre_size vyre_x, vyre_size vyre_y,\n"
    "                                vyre_size vyre_z, vyre_size vyre_other)\n"
    "{ return vyre_d == 0 ? vyre_x : vyre_d == 1 ? vyre_y : vyre_d == 2 ? vyre_z : vyre_other; }\n";

/* One resident group: it shares no tickets, so it takes an item by counting (B, E). */
static const char ALONE[] =
    "VYRE_INLINE void vyre_begin(vyre_bytes vyre_c, VYRE_TURN *vyre_w)\n"
    "{\n"
    "  vyre_w->vyre_item = vyre_peek(vyre_c, VYRE_COMPLETION);\n"
    "  vyre_w->vyre_group = vyre_w->vyre_idle = vyre_w->vyre_turns = vyre_w->vyre_holds = "
    "vyre_w->vyre_exit = 0;\n"
    "  vyre_w->vyre_beat = vyre_peek(vyre_c, VYRE_HEARTBEAT);\n"
    "  vyre_release(vyre_c, VYRE_STARTED, 1);\n"
    "}\n"
    "VYRE_INLINE void vyre_end(vyre_bytes vyre_c, VYRE_TURN *vyre_w)\n"
    "{\n"
    "  vyre_poke(vyre_c, VYRE_LEAVING, vyre_w->vyre_exit);\n"
    "  vyre_release(vyre_c, VYRE_EXITED, 1);\n"
    "}\n"
    "VYRE_INLINE void vyre_complete(vyre_bytes vyre_c, VYRE_TURN *vyre_w)\n"
    "{ vyre_release(vyre_c, VYRE_COMPLETION, ++vyre_w->vyre_item); }\n"
    /* Waits for an item or a reason to leave. */
    "VYRE_INLINE void vyre_poll(vyre_bytes vyre_c, VYRE_TURN *vyre_w)\n"
    "{\n"
    "  for (;;) {\n"
    "    vyre_poke(vyre_c, VYRE_HEARTBEAT, ++vyre_w->vyre_beat);\n"
    "    vyre_w->vyre_exit = vyre_why_leave(vyre_c, vyre_w);\n"
    "    if (vyre_w->vyre_exit) return;\n"
    "    ++vyre_w->vyre_turns;\n"
    "    if (vyre_acquire(vyre_c, VYRE_HEAD) != vyre_w->vyre_item) { vyre_w->vyre_idle = 0; "
    "return; }\n"
    "    ++vyre_w->vyre_idle;\n"
    "  }\n"
    "}\n"
    /* For a work-group: one group after another of the current item, then the next item. */
    "VYRE_INLINE void vyre_take(vyre_bytes vyre_c, VYRE_TURN *vyre_w)\n"
    "{\n"
    "  if (vyre_w->vyre_holds) {\n"
    "    ++vyre_w->vyre_group;\n"
    "    vyre_poke(vyre_c, VYRE_HEARTBEAT, ++vyre_w->vyre_beat);\n"
    "  }\n"
    "  for (;;) {\n"
    "    if (vyre_w->vyre_holds) {\n"
    "      if (vyre_w->vyre_group < vyre_plain(vyre_slot_of(vyre_c, vyre_w->vyre_item), "
    "VYRE_GROUP_TOTAL))\n"
    "        return;\n"
    "      vyre_complete(vyre_c, vyre_w);\n"
    "      vyre_w->vyre_holds = 0;\n"
    "    }\n"
    "    vyre_poll(vyre_c, vyre_w);\n"
    "    if (vyre_w->vyre_exit) return;\n"
    "    vyre_w->vyre_group = 0;\n"
    "    vyre_w->vyre_holds = 1;\n"
    "  }\n"
    "}\n";

/*
 * Many: a ticket is a group, taken from the cursor. `holds` says that this group has taken a ticket
 * of the current item, so it may not leave before the item's last ticket is taken.
 */
static const char MANY[] =
    "#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable\n"
    "#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable\n"
    "#define VYRE_TICKET(vyre_c) ((volatile __global atomic_ulong *)((vyre_c) + VYRE_CURSOR))\n"
    "VYRE_INLINE void vyre_add(vyre_bytes vyre_c, vyre_u32 vyre_o)\n"
    "{ atomic_fetch_add_explicit(VYRE_WORD(vyre_c, vyre_o), 1u, memory_order_acq_rel,\n"
    "                            memory_scope_device); }\n"
    "VYRE_INLINE void vyre_begin(vyre_bytes vyre_c, VYRE_TURN *vyre_w)\n"
    "{\n"
    "  vyre_w->vyre_item = vyre_w->vyre_group = vyre_w->vyre_idle = vyre_w->vyre_turns = 0;\n"
    "  vyre_w->vyre_holds = vyre_w->vyre_exit = vyre_w->vyre_beat = 0;\n"
    "  vyre_add(vyre_c, VYRE_STARTED);\n"
    "}\n"
    "VYRE_INLINE void vyre_end(vyre_bytes vyre_c, VYRE_TURN *vyre_w)\n"
    "{\n"
    "  if (!vyre_peek(vyre_c, VYRE_LEAVING)) vyre_poke(vyre_c, VYRE_LEAVING, vyre_w->vyre_exit);\n"
    "  vyre_add(vyre_c, VYRE_EXITED);\n"
    "}\n"
    /* Counts an item as done once all before it are (D). */
    "VYRE_INLINE void vyre_complete(vyre_bytes vyre_c, vyre_u32 vyre_item)\n"
    "{\n"
    "  atomic_exchange_explicit(VYRE_WORD(vyre_slot_of(vyre_c, vyre_item), VYRE_FINISHED),\n"
    "                           vyre_item + 1, memory_order_seq_cst, memory_scope_device);\n"
    "  for (;;) {\n"
    "    uint vyre_at = atomic_load_explicit(VYRE_WORD(vyre_c, VYRE_COMPLETION),\n"
    "                                        memory_order_seq_cst, memory_scope_device);\n"
    "    if (atomic_load_explicit(VYRE_WORD(vyre_slot_of(vyre_c, vyre_at), VYRE_FINISHED),\n"
    "                             memory_order_seq_cst, memory_scope_device) != vyre_at + 1)\n"
    "      return;\n"
    "    atomic_compare_exchange_strong_explicit(VYRE_WORD(vyre_c, VYRE_COMPLETION), &vyre_at,\n"
    "                                            vyre_at + 1, memory_order_seq_cst,\n"
    "                                            memory_order_seq_cst, memory_scope_device);\n"
    "  }\n"
    "}\n"
    "VYRE_INLINE void vyre_finish(vyre_bytes vyre_c, VYRE_TURN *vyre_w)\n"
    "{\n"
    "  vyre_bytes vyre_s = vyre_slot_of(vyre_c, vyre_w->vyre_item);\n"
    "  vyre_u32 vyre_total = vyre_plain(vyre_s, VYRE_GROUP_TOTAL);\n"
    "  if (atomic_fetch_add_explicit(VYRE_WORD(vyre_s, VYRE_DONE), 1u, memory_order_acq_rel,\n"
    "                                memory_scope_device) + 1 == vyre_total)\n"
    "    vyre_complete(vyre_c, vyre_w->vyre_item);\n"
    "}\n";

/* Moves the cursor past the ticket that it names, and says whether this group got the ticket. */
static const char MANY_TAKE[] =
    "VYRE_INLINE int vyre_claim(vyre_bytes vyre_c, VYRE_TURN *vyre_w, vyre_u64 vyre_at)\n"
    "{\n"
    "  ulong vyre_seen = vyre_at;\n"
    "  vyre_u32 vyre_item = (vyre_u32)(vyre_at >> 32), vyre_group = (vyre_u32)vyre_at;\n"
    "  vyre_bytes vyre_s = vyre_slot_of(vyre_c, vyre_item);\n"
    "  vyre_u32 vyre_total = vyre_plain(vyre_s, VYRE_GROUP_TOTAL);\n"
    "  ulong vyre_next = vyre_group + 1 < vyre_total ? vyre_at + 1\n"
    "                                                : (vyre_u64)(vyre_item + 1) << 32;\n"
    "  if ((vyre_plain(vyre_s, VYRE_FLAGS) & VYRE_AFTER_ALL)\n"
    "      && vyre_acquire(vyre_c, VYRE_COMPLETION) != vyre_item)\n"
    "    return 0;\n"
    "  if (!atomic_compare_exchange_strong_explicit(VYRE_TICKET(vyre_c), &vyre_seen, vyre_next,\n"
    "                                               memory_order_acq_rel, memory_order_relaxed,\n"
    "                                               memory_scope_device))\n"
    "    return 0;\n"
    "  vyre_w->vyre_item = vyre_item;\n"
    "  vyre_w->vyre_group = vyre_group;\n"
    "  vyre_w->vyre_idle = 0;\n"
    "  vyre_w->vyre_holds = 1;\n"
    "  if (vyre_total == 0) { vyre_complete(vyre_c, vyre_item); vyre_w->vyre_holds = 0; return 0; "
    "}\n"
    "  return 1;\n"
    "}\n"
    "VYRE_INLINE void vyre_take(vyre_bytes vyre_c, VYRE_TURN *vyre_w)\n"
    "{\n"
    "  if (vyre_w->vyre_holds) vyre_finish(vyre_c, vyre_w);\n"
    "  for (;;) {\n"
    "    atomic_fetch_add_explicit(VYRE_WORD(vyre_c, VYRE_HEARTBEAT), 1u, memory_order_relaxed,\n"
    "                              memory_scope_device);\n"
    "    vyre_u64 vyre_at = atomic_load_explicit(VYRE_TICKET(vyre_c), memory_order_acquire,\n"
    "                                            memory_scope_device);\n"
    "    vyre_u32 vyre_item = (vyre_u32)(vyre_at >> 32);\n"
    "    int vyre_bound = vyre_w->vyre_holds && (vyre_u32)vyre_at != 0 && vyre_item == "
    "vyre_w->vyre_item;\n"
    "    if (!vyre_bound) {\n"
    "      vyre_w->vyre_holds = 0;\n"
    "      vyre_w->vyre_exit = vyre_why_leave(vyre_c, vyre_w);\n"
    "      if (!vyre_w->vyre_exit) vyre_w->vyre_exit = vyre_peek(vyre_c, VYRE_LEAVING);\n"
    "      if (vyre_w->vyre_exit) return;\n"
    "    }\n"
    "    ++vyre_w->vyre_turns;\n"
    "    if (vyre_acquire(vyre_c, VYRE_HEAD) == vyre_item) { ++vyre_w->vyre_idle; continue; }\n"
    "    if (vyre_claim(vyre_c, vyre_w, vyre_at)) return;\n"
    "  }\n"
    "}\n";

/* A looped dispatcher passes the ids as values with every call. */
static const char LOOPED_IDS[] =
    "#define VYRE_PARAMETERS const vyre_size vyre_lx, const vyre_size vyre_ly, \\\n"
    "  const vyre_size vyre_lz, const vyre_size vyre_bx, const vyre_size vyre_by, \\\n"
    "  const vyre_size vyre_bz, const vyre_size vyre_gx, const vyre_size vyre_gy, \\\n"
    "  const vyre_size vyre_gz\n"
    "#define VYRE_PASS vyre_lx, vyre_ly, vyre_lz, vyre_bx, vyre_by, vyre_bz, vyre_gx, vyre_gy, "
    "vyre_gz\n"
    "#define VYRE_ID_X (vyre_bx + vyre_lx)\n"
    "#define VYRE_ID_Y (vyre_by + vyre_ly)\n"
    "#define VYRE_ID_Z (vyre_bz + vyre_lz)\n"
    "#define VYRE_LOCAL_X vyre_lx\n"
    "#define VYRE_LOCAL_Y vyre_ly\n"
    "#define VYRE_LOCAL_Z vyre_lz\n"
    "#define VYRE_AT_X (vyre_bx / VYRE_LX)\n"
    "#define VYRE_AT_Y (vyre_by / VYRE_LY)\n"
    "#define VYRE_AT_Z (vyre_bz / VYRE_LZ)\n"
    "#define VYRE_COUNT_X vyre_gx\n"
    "#define VYRE_COUNT_Y vyre_gy\n"
    "#define VYRE_COUNT_Z vyre_gz\n"
    "#define get_local_id(vyre_d) \\\n"
    "  vyre_far_get_local_id((vyre_d), vyre_lx, vyre_ly, vyre_lz)\n";

/*
 * The end of a case. PoCL 3.1 splits a kernel at its barriers. It gets the end of a case wrong
 * unless all work-items of the case end at one barrier that no other case shares: hence the
 * barrier. No part of a case may be merged with another case: hence the assembler statement, which
 * no compiler merges. The reasons, with the intermediate code, are in
 * docs/design/opencl-dispatcher.md.
 */
static const char CASE_END[] =
    "#ifdef POCL_DEVICE_ADDRESS_BITS\n"
    "#define VYRE_CASE_END(vyre_n) \\\n"
    "  do { barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE); \\\n"
    "       __asm__ volatile(\"\" : : \"i\"(vyre_n)); } while (0)\n"
    /*
     * If a compiler knows that a switch has all cases, its default becomes an unreachable path, and
     * PoCL takes the arms of the switch for a condition on the next barrier. So the compiler must
     * not know.
     */
    "#define switch(...) switch (({ __typeof__((__VA_ARGS__) + 0) vyre_h = (__VA_ARGS__); \\\n"
    "                               __asm__(\"\" : \"+r\"(vyre_h)); vyre_h; }))\n"
    "#else\n"
    "#define VYRE_CASE_END(vyre_n)\n"
    "#endif\n";

/*
 * The ids of a grouped dispatcher are in local memory, so that a barrier need not save them per
 * work-item.
 */
static const char GROUPED_IDS[] =
    "struct vyre_ticket { vyre_size vyre_group[3], vyre_count[3], vyre_slot; vyre_u32 vyre_kernel; "
    "};\n"
    "VYRE_INLINE vyre_size vyre_own(vyre_u32 vyre_d) { return get_local_id(vyre_d); }\n"
    "#define VYRE_PARAMETERS __local const struct vyre_ticket *const vyre_t\n"
    "#define VYRE_PASS vyre_t\n"
    "#define VYRE_ID_X (vyre_t->vyre_group[0] * VYRE_LX + vyre_own(0))\n"
    "#define VYRE_ID_Y (vyre_t->vyre_group[1] * VYRE_LY + vyre_own(1))\n"
    "#define VYRE_ID_Z (vyre_t->vyre_group[2] * VYRE_LZ + vyre_own(2))\n"
    "#define VYRE_LOCAL_X vyre_own(0)\n"
    "#define VYRE_LOCAL_Y vyre_own(1)\n"
    "#define VYRE_LOCAL_Z vyre_own(2)\n"
    "#define VYRE_AT_X vyre_t->vyre_group[0]\n"
    "#define VYRE_AT_Y vyre_t->vyre_group[1]\n"
    "#define VYRE_AT_Z vyre_t->vyre_group[2]\n"
    "#define VYRE_COUNT_X vyre_t->vyre_count[0]\n"
    "#define VYRE_COUNT_Y vyre_t->vyre_count[1]\n"
    "#define VYRE_COUNT_Z vyre_t->vyre_count[2]\n";

/*
 * Beyond the third dimension devices disagree with the standard, and their answer is the one to
 * give. These are functions, so that the argument of the user's call is evaluated once.
 */
static const char FAR[] =
    "#define VYRE_FAR(vyre_name) \\\n"
    "  VYRE_INLINE vyre_size vyre_far_##vyre_name(vyre_u32 vyre_d, vyre_size vyre_x, \\\n"
    "                                             vyre_size vyre_y, vyre_size vyre_z) \\\n"
    "  { return vyre_pick(vyre_d, vyre_x, vyre_y, vyre_z, vyre_name(vyre_d)); }\n"
    "VYRE_FAR(get_global_id)\n"
    "VYRE_FAR(get_local_id)\n"
    "VYRE_FAR(get_group_id)\n"
    "VYRE_FAR(get_num_groups)\n"
    "VYRE_FAR(get_global_size)\n"
    "VYRE_FAR(get_local_size)\n"
    "VYRE_FAR(get_enqueued_local_size)\n"
    "VYRE_FAR(get_global_offset)\n";

static const char IDS[] =
    "#define get_global_id(vyre_d) \\\n"
    "  vyre_far_get_global_id((vyre_d), VYRE_ID_X, VYRE_ID_Y, VYRE_ID_Z)\n"
    "#define get_group_id(vyre_d) \\\n"
    "  vyre_far_get_group_id((vyre_d), VYRE_AT_X, VYRE_AT_Y, VYRE_AT_Z)\n"
    "#define get_num_groups(vyre_d) \\\n"
    "  vyre_far_get_num_groups((vyre_d), VYRE_COUNT_X, VYRE_COUNT_Y, VYRE_COUNT_Z)\n"
    "#define get_global_size(vyre_d) \\\n"
    "  vyre_far_get_global_size((vyre_d), VYRE_COUNT_X * VYRE_LX, VYRE_COUNT_Y * VYRE_LY, \\\n"
    "                           VYRE_COUNT_Z * VYRE_LZ)\n"
    "#define get_local_size(vyre_d) \\\n"
    "  vyre_far_get_local_size((vyre_d), VYRE_LX, VYRE_LY, VYRE_LZ)\n"
    "#define get_enqueued_local_size(vyre_d) \\\n"
    "  vyre_far_get_enqueued_local_size((vyre_d), VYRE_LX, VYRE_LY, VYRE_LZ)\n"
    "#define get_global_offset(vyre_d) vyre_far_get_global_offset((vyre_d), 0, 0, 0)\n"
    "#define get_work_dim() ((uint)VYRE_WORK_DIM)\n"
    "#define get_global_linear_id() \\\n"
    "  ((VYRE_ID_Z * (VYRE_COUNT_Y * VYRE_LY) + VYRE_ID_Y) * (VYRE_COUNT_X * VYRE_LX) + "
    "VYRE_ID_X)\n"
    "#define get_local_linear_id() \\\n"
    "  ((VYRE_LOCAL_Z * VYRE_LY + VYRE_LOCAL_Y) * VYRE_LX + VYRE_LOCAL_X)\n";

void vyre_cl_prelude_write(struct vyre_text *out, const struct vyre_cl_dispatcher_input *input,
                           enum vyre_cl_dispatcher_form form)
{
    bool looped = form == VYRE_CL_FORM_LOOPED;
    write_layout(out, input);
    vyre_text_append(out, "#define VYRE_TURN __private struct vyre_turn\n");
    vyre_text_append(out, MEMORY);
    vyre_text_append(out, input->resident_groups > 1 ? MANY : ALONE);
    vyre_text_append(out, input->resident_groups > 1 ? MANY_TAKE : "");
    vyre_text_append(out, FAR);
    vyre_text_append(out, looped ? LOOPED_IDS : GROUPED_IDS);
    vyre_text_append(out, looped ? "" : CASE_END);
    vyre_text_append(out, IDS);
    if (!looped)
        return;
    /* Warnings about loops that cannot be vectorized are of no use. */
    vyre_text_append(out, "#pragma clang diagnostic ignored \"-Wpass-failed\"\n");
    /* A barrier that "##" makes cannot be seen, so it must not compile into a loop. */
    for (size_t i = 0; vyre_cl_word_groupwise(i); i++)
        vyre_text_appendf(out, "#undef %s\n#define %s vyre_unseen_barrier\n",
                          vyre_cl_word_groupwise(i), vyre_cl_word_groupwise(i));
}

/* ---- The resident kernel ---- */

static const char RESIDENT_ALONE[] =
    "  __private struct vyre_turn vyre_w;\n"
    "  vyre_begin(vyre_c, &vyre_w);\n"
    "  for (;;) {\n"
    "    vyre_poll(vyre_c, &vyre_w);\n"
    "    if (vyre_w.vyre_exit) break;\n"
    "    vyre_bytes vyre_s = vyre_slot_of(vyre_c, vyre_w.vyre_item);\n"
    "    vyre_dispatch(vyre_s, vyre_plain(vyre_s, VYRE_KERNEL), 0,\n"
    "                  vyre_plain(vyre_s, VYRE_GROUP_TOTAL) VYRE_POOL_PASS);\n"
    "    vyre_complete(vyre_c, &vyre_w);\n"
    "  }\n"
    "  vyre_end(vyre_c, &vyre_w);\n"
    "}\n";

static const char RESIDENT_MANY[] =
    "  __private struct vyre_turn vyre_w;\n"
    "  vyre_begin(vyre_c, &vyre_w);\n"
    "  for (;;) {\n"
    "    vyre_take(vyre_c, &vyre_w);\n"
    "    if (vyre_w.vyre_exit) break;\n"
    "    vyre_bytes vyre_s = vyre_slot_of(vyre_c, vyre_w.vyre_item);\n"
    "    vyre_dispatch(vyre_s, vyre_plain(vyre_s, VYRE_KERNEL), vyre_w.vyre_group, "
    "vyre_w.vyre_group + 1\n"
    "                  VYRE_POOL_PASS);\n"
    "  }\n"
    "  vyre_end(vyre_c, &vyre_w);\n"
    "}\n";

/*
 * All control flow around the barriers depends on values read from local memory between two of
 * them, so it is the same for the whole group. Two faults of PoCL shape this. Its splitting at
 * barriers does not terminate on loops without barriers inside a loop that has them, so taking an
 * item is a call that is not inlined. And it moves local variables into arguments of the kernel
 * only, so that call must not receive their addresses, which the compiler would propagate into it;
 * its state is private to the first work-item.
 */
static const char RESIDENT_GROUPED[] =
    "  __private struct vyre_turn vyre_w;\n"
    "  __local struct vyre_ticket vyre_t;\n"
    "  const int vyre_first = vyre_own(0) + vyre_own(1) + vyre_own(2) == 0;\n"
    "  int vyre_leave;\n"
    "  if (vyre_first) vyre_begin(vyre_c, &vyre_w);\n"
    "  do {\n"
    "    if (vyre_first) {\n"
    "      vyre_next(vyre_c, &vyre_w);\n"
    "      vyre_aim(vyre_c, &vyre_w, &vyre_t);\n"
    "    }\n"
    "    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);\n"
    "    vyre_leave = vyre_t.vyre_kernel == VYRE_NO_KERNEL;\n"
    "    vyre_dispatch(vyre_c + vyre_t.vyre_slot, vyre_t.vyre_kernel, &vyre_t VYRE_POOL_PASS);\n"
    "    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);\n"
    "  } while (!vyre_leave);\n"
    "  if (vyre_first) vyre_end(vyre_c, &vyre_w);\n"
    "}\n";

static const char AIM[] =
    "static __attribute__((__noinline__)) void vyre_next(vyre_bytes vyre_c, VYRE_TURN *vyre_w)\n"
    "{ vyre_take(vyre_c, vyre_w); }\n"
    "VYRE_INLINE void vyre_aim(vyre_bytes vyre_c, VYRE_TURN *vyre_w,\n"
    "                          __local struct vyre_ticket *vyre_t)\n"
    "{\n"
    "  vyre_t->vyre_kernel = VYRE_NO_KERNEL;\n"
    "  if (vyre_w->vyre_exit) return;\n"
    "  vyre_bytes vyre_s = vyre_slot_of(vyre_c, vyre_w->vyre_item);\n"
    "  vyre_u32 vyre_x = vyre_plain(vyre_s, VYRE_GROUPS);\n"
    "  vyre_u32 vyre_y = vyre_plain(vyre_s, VYRE_GROUPS + 4);\n"
    "  vyre_t->vyre_kernel = vyre_plain(vyre_s, VYRE_KERNEL);\n"
    "  vyre_t->vyre_slot = vyre_s - vyre_c;\n"
    "  vyre_t->vyre_count[0] = vyre_x;\n"
    "  vyre_t->vyre_count[1] = vyre_y;\n"
    "  vyre_t->vyre_count[2] = vyre_plain(vyre_s, VYRE_GROUPS + 8);\n"
    "  vyre_t->vyre_group[0] = vyre_w->vyre_group % vyre_x;\n"
    "  vyre_t->vyre_group[1] = vyre_w->vyre_group / vyre_x % vyre_y;\n"
    "  vyre_t->vyre_group[2] = vyre_w->vyre_group / vyre_x / vyre_y;\n"
    "}\n";

void vyre_cl_resident_write(struct vyre_text *out, const struct vyre_cl_dispatcher_input *input,
                            enum vyre_cl_dispatcher_form form, bool pool)
{
    bool looped = form == VYRE_CL_FORM_LOOPED;
    if (!looped)
        vyre_text_append(out, AIM);
    vyre_text_appendf(out,
                      "__kernel __attribute__((__reqd_work_group_size__(%u, %u, %u)))\n"
                      "void vyre_resident(__global uchar *vyre_c)\n{\n",
                      looped ? 1 : input->local_size[0], looped ? 1 : input->local_size[1],
                      looped ? 1 : input->local_size[2]);
    if (pool)
        vyre_text_append(out, "  __local union vyre_pool vyre_p;\n");
    if (!looped)
        vyre_text_append(out, RESIDENT_GROUPED);
    else
        vyre_text_append(out, input->resident_groups > 1 ? RESIDENT_MANY : RESIDENT_ALONE);
}
