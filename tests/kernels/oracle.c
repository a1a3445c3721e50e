/*
 * oracle.c: statements, calls and dispatches.
 */
#include "kernels/oracle.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/oracle_state.h"

static uint64_t run_statement(struct oracle *oracle, struct frame *frame, uint32_t number,
                              uint64_t mask);

void oracle_fail(struct oracle *oracle, const char *format, ...)
{
    if (oracle->failed)
        return;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(oracle->reason, ORACLE_REASON_BYTES, format, arguments);
    va_end(arguments);
    oracle->failed = true;
}

#define FOR_EACH_ITEM(item, mask)                           \
    for (uint32_t item = 0; item < GROUP_ITEMS_MAX; item++) \
        if (((mask) >> item & 1) != 0)

/* ---- Statements: each returns who goes on behind it ------------------------------------------- */

static uint64_t run_list(struct oracle *oracle, struct frame *frame, uint32_t number, uint64_t mask)
{
    for (; number != 0 && mask != 0 && !oracle->failed; number = oracle->tree->nodes[number].next)
        mask = run_statement(oracle, frame, number, mask);
    return mask;
}

static uint64_t who_holds(struct oracle *oracle, struct frame *frame, uint32_t condition,
                          uint64_t mask)
{
    uint64_t holds = 0;
    FOR_EACH_ITEM(item, mask)
    if (oracle_evaluate(oracle, frame, item, condition).cells[0] != 0)
        holds |= UINT64_C(1) << item;
    return holds;
}

static void run_declare(struct oracle *oracle, struct frame *frame, const struct node *node,
                        uint64_t mask)
{
    const struct variable *variable = &oracle->tree->variables[node->variable];
    struct home home = oracle_home(oracle, frame, node->variable);
    bool spread = variable->count == 0 && variable->type.base == BASE_STRUCT;
    uint32_t cells = type_cells(oracle->tree, variable->type);
    FOR_EACH_ITEM(item, mask)
    {
        uint64_t *first = home.cells + (size_t)item * home.stride;
        memset(first, 0, (size_t)cells * home.count * sizeof *first);
        uint32_t at = 0;
        for (uint32_t i = node->a; i != 0; i = oracle->tree->nodes[i].next) {
            struct value value = oracle_evaluate(oracle, frame, item, i);
            bool whole = !spread || oracle->tree->nodes[i].type.base == BASE_STRUCT;
            uint32_t count = whole ? cells : 1;
            if (at + count > cells * home.count) {
                oracle_fail(oracle, "too many initial values");
                break;
            }
            memcpy(first + at, value.cells, count * sizeof *first);
            at += count;
        }
    }
}

static void run_assign(struct oracle *oracle, struct frame *frame, const struct node *node,
                       uint64_t mask)
{
    struct type type = oracle->tree->nodes[node->a].type;
    FOR_EACH_ITEM(item, mask)
    {
        struct value value = oracle_evaluate(oracle, frame, item, node->b);
        if (node->op != OP_NONE)
            value =
                oracle_binary(node->op, type, oracle_evaluate(oracle, frame, item, node->a), value);
        oracle_assign(oracle, frame, item, node->a, value);
    }
}

static void set_counter(struct oracle *oracle, struct frame *frame, uint32_t variable,
                        uint64_t mask, uint64_t value)
{
    FOR_EACH_ITEM(item, mask)
    frame->cells[(size_t)item * frame->stride + oracle->offsets[variable]] = value;
}

static uint64_t *counter_of(struct oracle *oracle, struct frame *frame, uint32_t variable,
                            uint32_t item)
{
    return &frame->cells[(size_t)item * frame->stride + oracle->offsets[variable]];
}

static uint64_t who_loops(struct oracle *oracle, struct frame *frame, const struct node *node,
                          uint64_t mask)
{
    uint64_t loops = 0;
    FOR_EACH_ITEM(item, mask)
    {
        uint64_t counter = *counter_of(oracle, frame, node->variable, item);
        bool goes_on = node->kind == ST_FOR && node->op == STEP_HALVE
                           ? counter > 0
                           : counter < oracle_evaluate(oracle, frame, item, node->a).cells[0];
        loops |= goes_on ? UINT64_C(1) << item : 0;
    }
    return loops;
}

static void count_on(struct oracle *oracle, struct frame *frame, const struct node *node,
                     uint64_t mask)
{
    FOR_EACH_ITEM(item, mask)
    {
        uint64_t *counter = counter_of(oracle, frame, node->variable, item);
        if (node->kind == ST_FOR && node->op == STEP_HALVE)
            *counter >>= 1;
        else
            *counter = (*counter + (node->kind == ST_FOR ? node->c : 1)) & UINT32_MAX;
    }
}

static uint64_t run_loop(struct oracle *oracle, struct frame *frame, const struct node *node,
                         uint64_t mask)
{
    uint64_t broke = frame->broke;
    uint64_t continued = frame->continued;
    uint64_t done = 0;
    set_counter(oracle, frame, node->variable, mask, node->kind == ST_FOR ? node->value : 0);
    for (bool first = true; mask != 0 && !oracle->failed; first = false) {
        if (node->kind != ST_DO || !first) {
            uint64_t loops = who_loops(oracle, frame, node, mask);
            done |= mask & ~loops;
            mask = loops;
        }
        if (node->kind != ST_FOR)
            count_on(oracle, frame, node, mask);
        frame->broke = 0;
        frame->continued = 0;
        mask = run_list(oracle, frame, oracle->tree->nodes[node->b].a, mask);
        mask |= frame->continued;
        done |= frame->broke;
        if (node->kind == ST_FOR)
            count_on(oracle, frame, node, mask);
        if (++oracle->steps > ORACLE_STEPS_MAX)
            oracle_fail(oracle, "too many steps");
    }
    frame->broke = broke;
    frame->continued = continued;
    return done;
}

static uint64_t run_switch(struct oracle *oracle, struct frame *frame, const struct node *node,
                           uint64_t mask)
{
    uint64_t values[GROUP_ITEMS_MAX] = {0};
    uint64_t unmatched = mask;
    uint64_t broke = frame->broke;
    uint64_t done = 0;
    uint64_t running = 0;
    bool has_default = false;
    frame->broke = 0;
    FOR_EACH_ITEM(item, mask)
    {
        values[item] = oracle_evaluate(oracle, frame, item, node->a).cells[0];
        for (uint32_t i = node->b; i != 0; i = oracle->tree->nodes[i].next)
            if (!(oracle->tree->nodes[i].flag & CASE_DEFAULT) &&
                oracle->tree->nodes[i].value == values[item])
                unmatched &= ~(UINT64_C(1) << item);
    }
    for (uint32_t i = node->b; i != 0; i = oracle->tree->nodes[i].next) {
        const struct node *arm = &oracle->tree->nodes[i];
        bool is_default = arm->flag & CASE_DEFAULT;
        has_default |= is_default;
        FOR_EACH_ITEM(item, mask)
        if (is_default ? (unmatched >> item & 1) != 0 : values[item] == arm->value)
            running |= UINT64_C(1) << item;
        running = run_list(oracle, frame, oracle->tree->nodes[arm->a].a, running);
        if (!(arm->flag & CASE_FALLS)) {
            done |= running;
            running = 0;
        }
    }
    done |= running | frame->broke | (has_default ? 0 : unmatched);
    frame->broke = broke;
    return done;
}

static void run_invoke(struct oracle *oracle, struct frame *frame, const struct node *node,
                       uint64_t mask)
{
    struct frame callee;
    uint32_t used = oracle->stack_used;
    oracle_call(oracle, frame, node->b, mask, &callee);
    oracle->stack_used = used;
    if (node->a == 0)
        return;
    FOR_EACH_ITEM(item, mask)
    oracle_assign(oracle, frame, item, node->a, callee.results[item]);
}

static uint64_t run_return(struct oracle *oracle, struct frame *frame, const struct node *node,
                           uint64_t mask)
{
    FOR_EACH_ITEM(item, mask)
    if (node->a != 0)
        frame->results[item] = oracle_evaluate(oracle, frame, item, node->a);
    frame->returned |= mask;
    return 0;
}

static void run_barrier(struct oracle *oracle, uint64_t mask)
{
    if (mask != oracle->all_items)
        oracle_fail(oracle, "a barrier that not all work-items reach");
    oracle->epoch++;
}

static uint64_t run_if(struct oracle *oracle, struct frame *frame, const struct node *node,
                       uint64_t mask)
{
    uint64_t holds = who_holds(oracle, frame, node->a, mask);
    uint64_t then = run_statement(oracle, frame, node->b, holds);
    uint64_t other = mask & ~holds;
    return then | (node->c == 0 ? other : run_statement(oracle, frame, node->c, other));
}

static uint64_t run_statement(struct oracle *oracle, struct frame *frame, uint32_t number,
                              uint64_t mask)
{
    const struct node *node = &oracle->tree->nodes[number];
    if (mask == 0 || oracle->failed)
        return mask;
    switch (node->kind) {
    case ST_BLOCK:
        return run_list(oracle, frame, node->a, mask);
    case ST_DECLARE:
        run_declare(oracle, frame, node, mask);
        return mask;
    case ST_ASSIGN:
        run_assign(oracle, frame, node, mask);
        return mask;
    case ST_IF:
        return run_if(oracle, frame, node, mask);
    case ST_FOR:
    case ST_WHILE:
    case ST_DO:
        return run_loop(oracle, frame, node, mask);
    case ST_SWITCH:
        return run_switch(oracle, frame, node, mask);
    case ST_RETURN:
        return run_return(oracle, frame, node, mask);
    case ST_INVOKE:
        run_invoke(oracle, frame, node, mask);
        return mask;
    case ST_ATOMIC_ADD:
        FOR_EACH_ITEM(item, mask)
        oracle_atomic_add(oracle, frame, item, node->a,
                          oracle_evaluate(oracle, frame, item, node->b).cells[0]);
        return mask;
    case ST_BREAK:
        frame->broke |= mask;
        return 0;
    case ST_CONTINUE:
        frame->continued |= mask;
        return 0;
    case ST_BARRIER:
        run_barrier(oracle, mask);
        return mask;
    default:
        oracle_fail(oracle, "no statement");
        return mask;
    }
}

/* ---- Calls ------------------------------------------------------------------------------------ */

static bool take_frame(struct oracle *oracle, uint32_t function, struct frame *frame)
{
    uint32_t cells = oracle->frame_cells[function];
    if (oracle->stack_used + cells * GROUP_ITEMS_MAX > ORACLE_STACK_CELLS) {
        oracle_fail(oracle, "calls too deep");
        return false;
    }
    frame->function = &oracle->tree->functions[function];
    frame->cells = oracle->stack + oracle->stack_used;
    frame->stride = cells;
    frame->broke = 0;
    frame->continued = 0;
    frame->returned = 0;
    oracle->stack_used += cells * GROUP_ITEMS_MAX;
    return true;
}

static void set_parameter(struct oracle *oracle, struct frame *frame, uint32_t parameter,
                          uint32_t item, struct value value)
{
    uint32_t number = frame->function->parameters[parameter];
    uint32_t cells = type_cells(oracle->tree, oracle->tree->variables[number].type);
    memcpy(counter_of(oracle, frame, number, item), value.cells, cells * sizeof value.cells[0]);
}

void oracle_call(struct oracle *oracle, struct frame *caller, uint32_t call, uint64_t mask,
                 struct frame *frame)
{
    const struct node *node = &oracle->tree->nodes[call];
    if (!take_frame(oracle, node->callee, frame))
        return;
    FOR_EACH_ITEM(item, mask)
    memset(&frame->results[item], 0, sizeof frame->results[item]);
    uint32_t argument = node->a;
    for (uint32_t i = 0; i < frame->function->parameter_count; i++) {
        const struct variable *parameter = &oracle->tree->variables[frame->function->parameters[i]];
        if (argument == 0) {
            oracle_fail(oracle, "too few arguments");
            return;
        }
        if (parameter->is_pointer)
            frame->homes[i] = oracle_home(oracle, caller, oracle->tree->nodes[argument].variable);
        else
            FOR_EACH_ITEM(item, mask)
        set_parameter(oracle, frame, i, item, oracle_evaluate(oracle, caller, item, argument));
        argument = oracle->tree->nodes[argument].next;
    }
    uint64_t left = run_statement(oracle, frame, frame->function->body, mask);
    if ((frame->broke | frame->continued) != 0)
        oracle_fail(oracle, "no loop to leave");
    if (left != 0 && frame->function->result.base != BASE_NONE)
        oracle_fail(oracle, "a function ends without a result");
}

/* ---- Dispatches ------------------------------------------------------------------------------- */

static void run_group(struct oracle *oracle)
{
    static const struct touch untouched;
    struct frame *frame = oracle->kernel_frame;
    const struct dispatch *dispatch = oracle->dispatch;
    for (uint32_t i = 0; i < ORACLE_LOCAL_CELLS; i++)
        oracle->local_touches[i] = untouched;
    oracle->epoch = 1;
    oracle->stack_used = 0;
    if (!take_frame(oracle, dispatch->kernel, frame))
        return;
    uint32_t local = oracle->offsets[VARIABLES_MAX - 1];
    for (uint32_t i = 0; i < frame->function->parameter_count; i++) {
        const struct variable *parameter = &oracle->tree->variables[frame->function->parameters[i]];
        if (parameter->is_pointer) {
            uint32_t count =
                dispatch->areas[i].size_bytes / type_bytes(oracle->tree, parameter->type);
            frame->homes[i] = (struct home){.space = parameter->space,
                                            .count = count,
                                            .local = local,
                                            .area = &dispatch->areas[i]};
            if (parameter->space == SPACE_LOCAL)
                local += count * type_cells(oracle->tree, parameter->type);
            continue;
        }
        FOR_EACH_ITEM(item, oracle->all_items)
        set_parameter(oracle, frame, i, item, (struct value){{dispatch->scalars[i]}});
    }
    if (local > ORACLE_LOCAL_CELLS)
        oracle_fail(oracle, "too much local memory");
    run_statement(oracle, frame, frame->function->body, oracle->all_items);
    if ((frame->broke | frame->continued) != 0)
        oracle_fail(oracle, "no loop to leave");
}

static void run_dispatch(struct oracle *oracle, const struct dispatch *dispatch)
{
    const struct function *kernel = &oracle->tree->functions[dispatch->kernel];
    oracle->dispatch = dispatch;
    oracle->items = kernel->local_size[0] * kernel->local_size[1] * kernel->local_size[2];
    oracle->all_items = UINT64_MAX >> (64 - oracle->items);
    oracle->group_number = 0;
    memset(oracle->global_touches, 0,
           program_bytes(oracle->program) * sizeof *oracle->global_touches);
    for (uint32_t z = 0; z < dispatch->groups[2]; z++) {
        for (uint32_t y = 0; y < dispatch->groups[1]; y++) {
            for (uint32_t x = 0; x < dispatch->groups[0] && !oracle->failed; x++) {
                oracle->group_id[0] = x;
                oracle->group_id[1] = y;
                oracle->group_id[2] = z;
                run_group(oracle);
                oracle->group_number++;
            }
        }
    }
}

/* Where each variable lies; the last offset is the first free cell of local memory. */
static void lay_out(struct oracle *oracle)
{
    const struct tree *tree = oracle->tree;
    uint32_t local = 0;
    for (uint32_t f = 0; f < tree->function_count; f++) {
        const struct function *function = &tree->functions[f];
        uint32_t cells = 0;
        for (uint32_t i = 0; i < function->variable_count; i++) {
            uint32_t number = function->first_variable + i;
            const struct variable *variable = &tree->variables[number];
            uint32_t size =
                type_cells(tree, variable->type) * (variable->count == 0 ? 1 : variable->count);
            if (variable->is_pointer)
                continue;
            uint32_t *at = variable->space == SPACE_LOCAL ? &local : &cells;
            oracle->offsets[number] = *at;
            *at += size;
        }
        oracle->frame_cells[f] = cells;
    }
    oracle->offsets[VARIABLES_MAX - 1] = local;
    if (local > ORACLE_LOCAL_CELLS)
        oracle_fail(oracle, "too much local memory");
}

static bool all_local_sizes_fit(const struct tree *tree)
{
    for (uint32_t i = 0; i < tree->function_count; i++) {
        const uint32_t *size = tree->functions[i].local_size;
        uint32_t items = size[0] * size[1] * size[2];
        if (tree->functions[i].is_kernel && (items == 0 || items > GROUP_ITEMS_MAX))
            return false;
    }
    return true;
}

bool oracle_run(const struct program *program, unsigned char *bytes,
                char out_reason[ORACLE_REASON_BYTES])
{
    struct oracle *oracle = calloc(1, sizeof *oracle);
    struct frame *frame = calloc(1, sizeof *frame);
    if (!oracle || !frame)
        abort();
    out_reason[0] = '\0';
    oracle->program = program;
    oracle->tree = &program->tree;
    oracle->bytes = bytes;
    oracle->reason = out_reason;
    oracle->kernel_frame = frame;
    oracle->stack = malloc(ORACLE_STACK_CELLS * sizeof *oracle->stack);
    oracle->global_touches = malloc(program_bytes(program) * sizeof *oracle->global_touches);
    if (!oracle->stack || !oracle->global_touches)
        abort();
    program_fill(program, bytes);
    if (program->tree.node_count >= NODES_MAX || program->tree.variable_count >= VARIABLES_MAX - 1)
        oracle_fail(oracle, "the tree is full");
    else if (!tree_is_closed(&program->tree))
        oracle_fail(oracle, "a variable out of its scope");
    else if (!all_local_sizes_fit(&program->tree))
        oracle_fail(oracle, "a local size that is not ours");
    else
        lay_out(oracle);
    for (uint32_t b = 0; b < program->batch_count && !oracle->failed; b++)
        for (uint32_t r = 0; r < program->batches[b].repeats; r++)
            for (uint32_t i = 0; i < program->batches[b].dispatch_count; i++)
                if (!program->batches[b].dispatches[i].dropped && !oracle->failed)
                    run_dispatch(oracle, &program->batches[b].dispatches[i]);
    bool ran = !oracle->failed;
    free(oracle->global_touches);
    free(oracle->stack);
    free(frame);
    free(oracle);
    return ran;
}
