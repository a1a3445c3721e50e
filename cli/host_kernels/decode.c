/*
 * decode.c: a transformer's decode loop. Weights and the embedding are uniform in [0, 1); the kernels
 * centre them. Sums run in the same order as in the .comp and .cl files.
 */
#include <math.h>
#include <stddef.h>

#include "host_kernels/kernels.h"

void decode_embed(const struct vyre_host_group *group)
{
    const struct {
        uint32_t position, dim;
    } *c = group->constants;
    const uint32_t *tokens = host_input(group, 0);
    const float *row = (const float *)host_input(group, 1) + (size_t)tokens[c->position] * c->dim;
    float *x = host_output(group, 2);
    uint32_t first = host_first(group);
    for (uint32_t i = first; i < first + group->local_size[0] && i < c->dim; i++)
        x[i] = (row[i] - 0.5f) * 2.0f;
}

void decode_rmsnorm(const struct vyre_host_group *group)
{
    uint32_t dim = *(const uint32_t *)group->constants;
    const float *x = host_input(group, 0);
    const float *gain = host_input(group, 1);
    float *restrict normed = host_output(group, 2);
    float sum = 0.0f;
    for (uint32_t j = 0; j < dim; j++)
        sum = sum + x[j] * x[j];
    float inverse = 1.0f / sqrtf(sum / (float)dim + 1e-5f);
    uint32_t first = host_first(group);
    for (uint32_t i = first; i < first + group->local_size[0] && i < dim; i++)
        normed[i] = x[i] * inverse * gain[i];
}

void decode_matvec(const struct vyre_host_group *group)
{
    const struct {
        uint32_t columns, first;
        float scale;
    } *c = group->constants;
    uint32_t columns = c->columns;
    const float *x = host_input(group, 1);
    float *restrict y = (float *)host_output(group, 2) + c->first;
    uint32_t first = host_first(group);
    for (uint32_t row = first; row < first + group->local_size[0]; row++) {
        const float *weights = (const float *)host_input(group, 0) + (size_t)row * columns;
        float sum[4] = {0.0f, 0.0f, 0.0f, 0.0f};
        for (uint32_t j = 0; j < columns; j += 4) {
            for (uint32_t lane = 0; lane < 4; lane++)
                sum[lane] += (weights[j + lane] - 0.5f) * x[j + lane];
        }
        y[row] = ((sum[0] + sum[1]) + (sum[2] + sum[3])) * c->scale;
    }
}

static float sine_of_turns(float turns)
{
    float r = turns - floorf(turns + 0.5f);
    if (r > 0.25f)
        r = 0.5f - r;
    if (r < -0.25f)
        r = -0.5f - r;
    float a = r * 6.2831853f;
    float q = a * a;
    float p = q * -2.5052108e-8f + 2.7557319e-6f;
    p = q * p - 1.9841270e-4f;
    p = q * p + 8.3333333e-3f;
    p = q * p - 1.6666667e-1f;
    p = q * p + 1.0f;
    return a * p;
}

void decode_rope(const struct vyre_host_group *group)
{
    const struct {
        uint32_t position, first;
    } *c = group->constants;
    uint32_t half = group->local_size[0];
    const float *source = (const float *)host_input(group, 0) + (size_t)host_first(group) * 2;
    float *rotated = (float *)host_output(group, 1) + c->first + (size_t)host_first(group) * 2;
    for (uint32_t i = 0; i < half; i++) {
        float turns = (float)c->position / (float)(1u << i) * 0.15915494f;
        float cosine = sine_of_turns(turns + 0.25f);
        float sine = sine_of_turns(turns);
        rotated[i] = source[i] * cosine - source[half + i] * sine;
        rotated[half + i] = source[i] * sine + source[half + i] * cosine;
    }
}

void decode_scores(const struct vyre_host_group *group)
{
    const struct {
        uint32_t position, dim, head_dim;
        float scale;
    } *c = group->constants;
    size_t head = (size_t)group->group_id[0] * c->head_dim;
    const float *q = (const float *)host_input(group, 0) + head;
    const float *keys = (const float *)host_input(group, 1) + head;
    float *scores = (float *)host_output(group, 2) + host_first(group);
    for (uint32_t t = 0; t < group->local_size[0]; t++) {
        float sum = 0.0f;
        for (uint32_t j = 0; t <= c->position && j < c->head_dim; j++)
            sum = sum + q[j] * keys[(size_t)t * c->dim + j];
        scores[t] = sum * c->scale;
    }
}

void decode_softmax(const struct vyre_host_group *group)
{
    uint32_t position = *(const uint32_t *)group->constants;
    const float *scores = (const float *)host_input(group, 0) + host_first(group);
    float *restrict weights = (float *)host_output(group, 1) + host_first(group);
    float largest = scores[0];
    for (uint32_t t = 1; t <= position; t++)
        largest = fmaxf(largest, scores[t]);
    float sum = 0.0f;
    for (uint32_t t = 0; t <= position; t++) {
        weights[t] = expf(scores[t] - largest);
        sum = sum + weights[t];
    }
    for (uint32_t t = 0; t < group->local_size[0]; t++)
        weights[t] = t <= position ? weights[t] / sum : 0.0f;
}

void decode_attend(const struct vyre_host_group *group)
{
    const struct {
        uint32_t position, dim, context;
    } *c = group->constants;
    uint32_t width = group->local_size[0];
    const float *weights =
        (const float *)host_input(group, 0) + (size_t)group->group_id[0] * c->context;
    const float *values = (const float *)host_input(group, 1) + host_first(group);
    float *restrict attended = (float *)host_output(group, 2) + host_first(group);
    for (uint32_t i = 0; i < width; i++)
        attended[i] = 0.0f;
    for (uint32_t t = 0; t <= c->position; t++) {
        const float *row = values + (size_t)t * c->dim;
        for (uint32_t i = 0; i < width; i++)
            attended[i] = attended[i] + weights[t] * row[i];
    }
}

void decode_residual(const struct vyre_host_group *group)
{
    float *restrict x = (float *)host_output(group, 0) + host_first(group);
    const float *restrict y = (const float *)host_input(group, 1) + host_first(group);
    for (uint32_t i = 0; i < group->local_size[0]; i++)
        x[i] = x[i] + y[i];
}

void decode_silu_gate(const struct vyre_host_group *group)
{
    const float *gate = (const float *)host_input(group, 0) + host_first(group);
    const float *up = (const float *)host_input(group, 1) + host_first(group);
    float *activated = (float *)host_output(group, 2) + host_first(group);
    for (uint32_t i = 0; i < group->local_size[0]; i++)
        activated[i] = gate[i] / (1.0f + expf(-gate[i])) * up[i];
}

void decode_argmax(const struct vyre_host_group *group)
{
    const struct {
        uint32_t position, count;
    } *c = group->constants;
    const float *logits = host_input(group, 0);
    uint32_t *tokens = host_output(group, 1);
    uint32_t best = 0;
    for (uint32_t i = 1; i < c->count; i++) {
        if (logits[i] > logits[best])
            best = i;
    }
    tokens[c->position + 1] = best;
}
