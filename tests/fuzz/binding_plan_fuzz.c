/*
 * binding_plan_fuzz.c: bytes become declarations; plans built from them keep every promise.
 *
 *   [memory] then, until the bytes end, declarations of
 *   [flags][slot, 1 or 4 bytes][access, role][element size][element count]
 *
 *   memory   how many bindings less than declared the caller's memory takes (0: enough)
 *   flags    bit 0: the slot has 4 bytes; bit 1: it has a label; bits 2, 3: lengths given later are
 *            wrong by one; bit 4: they are huge
 *   access   high half of the byte; the role is the low half
 *   sizes    one byte each: below 200 itself, above it an entry of `edges`
 *
 * Bytes that are missing count as 0. A broken promise aborts. binding_plan_seeds.py writes the
 * corpus.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <vyre/binding_plan.h>
#include <vyre/graph_capture.h>

enum { DECLARATIONS_MAX = 700 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds, const char *promise)
{
    if (!holds) {
        fprintf(stderr, "binding_plan_fuzz: %s\n", promise);
        abort();
    }
}

struct bytes {
    const uint8_t *next;
    size_t left;
};

static uint8_t take(struct bytes *bytes)
{
    if (bytes->left == 0)
        return 0;
    bytes->left--;
    return *bytes->next++;
}

static size_t take_size(struct bytes *bytes)
{
    static const size_t edges[] = {200,
                                   255,
                                   256,
                                   65535,
                                   65536,
                                   UINT32_MAX,
                                   (size_t)1 << 32,
                                   SIZE_MAX / 3,
                                   SIZE_MAX / 2,
                                   SIZE_MAX / 2 + 1,
                                   SIZE_MAX - 1,
                                   SIZE_MAX};
    uint8_t byte = take(bytes);
    return byte < 200 ? byte : edges[(byte - 200u) % (sizeof edges / sizeof edges[0])];
}

struct declaration {
    struct vyre_binding_desc desc;
    uint8_t flags;
};

static void take_declaration(struct bytes *bytes, struct declaration *out)
{
    out->flags = take(bytes);
    uint32_t slot = take(bytes);
    for (int i = 0; i < 3 && (out->flags & 1); i++)
        slot = slot << 8 | take(bytes);
    uint8_t kinds = take(bytes);
    out->desc = (struct vyre_binding_desc){
        .slot = slot,
        .role = (enum vyre_role)(kinds % 16 < 14 ? kinds % 16 % 7 : kinds % 16),
        .access = (enum vyre_access)(kinds / 16 % 8 < 5 ? kinds / 16 % 8 : 0),
        .element_size_bytes = take_size(bytes),
        .element_count = take_size(bytes),
        .label = out->flags & 2 ? "fuzzed" : NULL,
    };
}

static bool has_input(enum vyre_role role)
{
    return role == VYRE_ROLE_INPUT || role == VYRE_ROLE_INPUT_OUTPUT || role == VYRE_ROLE_UNIFORM;
}

static bool has_output(enum vyre_role role)
{
    return role == VYRE_ROLE_OUTPUT || role == VYRE_ROLE_INPUT_OUTPUT;
}

/* The header's table of roles and accesses, read a second time. */
static bool access_goes_with(enum vyre_role role, enum vyre_access access)
{
    static const char *const allowed[] = {"", "01", "023", "03", "01", "03", "0123"};
    return (unsigned)access <= 3 && strchr(allowed[role], '0' + (int)access) != NULL;
}

/* What building must say: the id of a failure that is due, or NONE. */
static bool is_due(const struct declaration *declarations, size_t count, size_t memory_count,
                   enum vyre_diag_id id)
{
    if (count > memory_count)
        return id == VYRE_DIAG_CAPACITY;
    for (size_t i = 0; i < count; i++) {
        const struct vyre_binding_desc *desc = &declarations[i].desc;
        size_t element = desc->element_size_bytes ? desc->element_size_bytes : 1;
        if ((unsigned)desc->role < 1 || (unsigned)desc->role > 6)
            return id == VYRE_DIAG_BINDING_ROLE_UNKNOWN;
        if (!access_goes_with(desc->role, desc->access))
            return id == VYRE_DIAG_BINDING_ROLE_ACCESS;
        if (desc->element_count > SIZE_MAX / element)
            return id == VYRE_DIAG_BINDING_SIZE_OVERFLOW;
    }
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < i; j++) {
            if (declarations[i].desc.slot == declarations[j].desc.slot)
                return id == VYRE_DIAG_BINDING_SLOT_DUPLICATE;
        }
    }
    return id == VYRE_DIAG_NONE;
}

static void check_diag(enum vyre_status status, const struct vyre_diag *diag)
{
    require(status == diag->status, "the diagnostic has the returned status");
    require(status == vyre_diag_id_status(diag->id), "the status is the id's");
    if (status == VYRE_OK)
        return;
    require(diag->message[0] != '\0' && diag->fix[0] != '\0', "a failure says what to do");
    char text[sizeof *diag + 128];
    require(vyre_diag_format(diag, text, sizeof text) == strlen(text), "a diagnostic formats");
}

/* Ascending slots; every declaration is found; indices count in the order of declaration. */
static void check_plan(const struct vyre_binding_plan *plan, const struct declaration *declarations,
                       size_t count)
{
    require(plan->binding_count == count, "a plan has every declaration");
    for (size_t i = 1; i < count; i++)
        require(plan->bindings[i - 1].slot < plan->bindings[i].slot, "slots ascend");
    size_t inputs = 0, outputs = 0;
    for (size_t i = 0; i < count; i++) {
        const struct vyre_binding_desc *desc = &declarations[i].desc;
        const struct vyre_binding *binding = vyre_binding_plan_find(plan, desc->slot);
        require(binding && binding >= plan->bindings && binding < plan->bindings + count,
                "a declared slot is found");
        require(binding->role == desc->role && binding->label == desc->label, "roles are kept");
        require(binding->access != VYRE_ACCESS_DEFAULT &&
                    access_goes_with(binding->role, binding->access) &&
                    (desc->access == VYRE_ACCESS_DEFAULT || desc->access == binding->access),
                "the access is resolved");
        require(binding->element_size_bytes != 0 &&
                    binding->size_bytes == binding->element_size_bytes * desc->element_count,
                "sizes are products");
        require(binding->input_index == (has_input(desc->role) ? inputs++ : VYRE_NO_INDEX),
                "input indices count in the order of declaration");
        require(binding->output_index == (has_output(desc->role) ? outputs++ : VYRE_NO_INDEX),
                "output indices count in the order of declaration");
        if (desc->slot != UINT32_MAX) {
            const struct vyre_binding *next = vyre_binding_plan_find(plan, desc->slot + 1);
            require(!next || next->slot == desc->slot + 1, "another slot's binding is not given");
        }
    }
    require(plan->input_count == inputs && plan->output_count == outputs, "counts add up");
}

/* Lengths by input index: right ones, unless the flags ask for others. */
static bool make_lengths(const struct declaration *declarations, size_t count, size_t *lengths)
{
    bool right = true;
    size_t index = 0;
    for (size_t i = 0; i < count; i++) {
        const struct vyre_binding_desc *desc = &declarations[i].desc;
        if (!has_input(desc->role))
            continue;
        size_t element = desc->element_size_bytes ? desc->element_size_bytes : 1;
        size_t whole = element * desc->element_count;
        size_t length = whole ? whole : element;
        if (declarations[i].flags & 16)
            length = SIZE_MAX - SIZE_MAX % element;
        length += (declarations[i].flags >> 2 & 1u) - (size_t)(declarations[i].flags >> 3 & 1u);
        right &= whole ? length == whole : length != 0 && length % element == 0;
        lengths[index++] = length;
    }
    return right;
}

static void check_inputs(const struct vyre_binding_plan *plan, const size_t *lengths, bool right)
{
    struct vyre_diag diag = {0};
    enum vyre_status status =
        vyre_binding_plan_check_inputs(plan, lengths, plan->input_count, &diag);
    check_diag(status, &diag);
    require(diag.id == (right ? VYRE_DIAG_NONE : VYRE_DIAG_BINDING_INPUT_LENGTH),
            "lengths are accepted exactly when they match");
    vyre_diag_reset(&diag);
    status = vyre_binding_plan_check_inputs(plan, lengths, plan->input_count + 1, &diag);
    check_diag(status, &diag);
    require(diag.id == VYRE_DIAG_BINDING_INPUT_COUNT, "a wrong number of inputs is refused");
}

static void add(size_t *sum, size_t amount, bool *fits)
{
    *fits &= amount <= SIZE_MAX - *sum;
    *sum += amount;
}

static void check_account(const struct vyre_binding_plan *plan, const size_t *lengths)
{
    struct vyre_transfer_account expected = {0}, account, zeroed = {0};
    bool fits = true, open = false;
    for (size_t i = 0; i < plan->binding_count; i++) {
        const struct vyre_binding *binding = &plan->bindings[i];
        bool input = binding->input_index != VYRE_NO_INDEX;
        bool output = binding->output_index != VYRE_NO_INDEX;
        size_t bytes = binding->size_bytes;
        open |= bytes == 0 && input;
        if (bytes == 0 && input)
            bytes = lengths[binding->input_index];
        bool shared = binding->role == VYRE_ROLE_SHARED;
        add(shared ? &expected.shared_bytes : &expected.device_bytes, bytes, &fits);
        expected.upload_count += input;
        expected.readback_count += output;
        add(&expected.upload_bytes, input ? bytes : 0, &fits);
        add(&expected.readback_bytes, output ? bytes : 0, &fits);
    }
    struct vyre_diag diag = {0};
    memset(&account, 0x5a, sizeof account);
    enum vyre_status status = vyre_binding_plan_account(plan, lengths, &account, &diag);
    check_diag(status, &diag);
    require(diag.id == (fits ? VYRE_DIAG_NONE : VYRE_DIAG_PLAN_OVERFLOW),
            "a sum fails exactly when it does not fit");
    require(memcmp(&account, fits ? &expected : &zeroed, sizeof account) == 0,
            "an account adds up, or is zeroed");

    vyre_diag_reset(&diag);
    status = vyre_binding_plan_account(plan, NULL, &account, &diag);
    check_diag(status, &diag);
    require(diag.id == VYRE_DIAG_PLAN_OVERFLOW || (diag.id == VYRE_DIAG_ARGUMENT_NULL) == open,
            "lengths may be left out exactly when no input is open");
}

static void check_capture(const struct vyre_binding_plan *plan)
{
    struct vyre_graph_capture_plan capture;
    struct vyre_diag diag = {0};
    memset(&capture, 0x5a, sizeof capture);
    enum vyre_status status = vyre_graph_capture_plan_build(plan, &capture, &diag);
    check_diag(status, &diag);
    require(status == VYRE_OK, "so few bindings fit in a capture");
    size_t shared = 0, both = 0;
    for (size_t i = 0; i < plan->binding_count; i++) {
        shared += plan->bindings[i].role == VYRE_ROLE_SHARED;
        both += plan->bindings[i].role == VYRE_ROLE_INPUT_OUTPUT;
    }
    require(capture.kernel_pointer_capacity == plan->binding_count - shared, "pointers add up");
    require(capture.kernel_argument_capacity == capture.kernel_pointer_capacity + 1,
            "arguments are the pointers and one more");
    require(capture.input_device_capacity == plan->input_count, "inputs add up");
    require(capture.input_device_capacity + capture.output_device_capacity ==
                capture.kernel_pointer_capacity,
            "every pointer has its storage");
    require(capture.output_readback_capacity == plan->output_count, "readbacks add up");
    require(capture.resident_input_replay_safe == (both == 0), "safe without input-outputs");

    struct vyre_graph_capture_plan twice = capture;
    require(vyre_graph_capture_plan_extend(&twice, plan, NULL) == VYRE_OK, "a capture extends");
    require(twice.kernel_pointer_capacity == 2 * capture.kernel_pointer_capacity &&
                twice.kernel_argument_capacity == twice.kernel_pointer_capacity + 1 &&
                twice.output_readback_capacity == 2 * capture.output_readback_capacity,
            "an extended capture adds up");

    struct vyre_graph_capture_plan full = capture;
    full.kernel_pointer_capacity = SIZE_MAX;
    full.kernel_argument_capacity = SIZE_MAX;
    status = vyre_graph_capture_plan_extend(&full, plan, &diag);
    check_diag(status, &diag);
    require(diag.id == VYRE_DIAG_PLAN_OVERFLOW && full.kernel_pointer_capacity == SIZE_MAX &&
                full.input_device_capacity == capture.input_device_capacity,
            "a full capture is refused and stays as it was");
}

/* Zeroed memory of exactly so many elements, so that the address sanitizer sees its end. */
static void *exactly(size_t count, size_t size)
{
    void *memory = calloc(count > 0 ? count : 1, size);
    require(memory != NULL, "the fuzzer has memory");
    return memory;
}

/* Builds a plan from the declarations and holds it to all its promises. */
static void check_declarations(const struct declaration *declarations, size_t count,
                               size_t memory_count)
{
    struct vyre_binding_desc *descs = exactly(count, sizeof *descs);
    struct vyre_binding *memory = exactly(memory_count, sizeof *memory);
    size_t *lengths = exactly(count, sizeof *lengths);
    for (size_t i = 0; i < count; i++)
        descs[i] = declarations[i].desc;

    struct vyre_binding_plan plan, zeroed = {0};
    struct vyre_diag diag = {0};
    memset(&plan, 0x5a, sizeof plan);
    enum vyre_status status =
        vyre_binding_plan_build(descs, count, memory, memory_count, &plan, &diag);
    check_diag(status, &diag);
    require(is_due(declarations, count, memory_count, diag.id), "the due failure, or none");
    if (status == VYRE_OK) {
        check_plan(&plan, declarations, count);
        bool right = make_lengths(declarations, count, lengths);
        check_inputs(&plan, lengths, right);
        check_account(&plan, lengths);
        check_capture(&plan);
    } else {
        require(memcmp(&plan, &zeroed, sizeof plan) == 0, "a failed plan is zeroed");
    }
    free(lengths);
    free(memory);
    free(descs);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct bytes bytes = {data, size};
    size_t shortage = take(&bytes);
    struct declaration *declarations = exactly(DECLARATIONS_MAX, sizeof *declarations);
    size_t count = 0;
    while (bytes.left > 0 && count < DECLARATIONS_MAX)
        take_declaration(&bytes, &declarations[count++]);
    check_declarations(declarations, count, count > shortage ? count - shortage : 0);
    free(declarations);
    return 0;
}
