// CL1.2
// decode.cl: the kernels of a transformer's decode loop. Sums have one order, and nothing is contracted.
#pragma OPENCL FP_CONTRACT OFF

// The table is uniform in [0, 1).
__kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void embed(__global const uint *tokens, __global const float *embedding, __global float *x,
           uint position, uint dim)
{
    uint i = get_global_id(0);
    if (i < dim)
        x[i] = (embedding[tokens[position] * dim + i] - 0.5f) * 2.0f;
}

// Every work-item adds up all squares: at this size cheaper than a barrier.
__kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void rmsnorm(__global const float *x, __global const float *gain, __global float *normed, uint dim)
{
    uint i = get_global_id(0);
    if (i >= dim)
        return;
    float sum = 0.0f;
    for (uint j = 0; j < dim; j++)
        sum = sum + x[j] * x[j];
    float inverse = 1.0f / sqrt(sum / (float)dim + 1e-5f);
    normed[i] = x[i] * inverse * gain[i];
}

// One row to a work-item, in four running sums. Weights are uniform in [0, 1).
__kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void matvec(__global const float4 *weights, __global const float4 *x, __global float *y,
            uint columns, uint first, float scale)
{
    uint row = get_global_id(0);
    uint quads = columns / 4;
    float4 sum = (float4)(0.0f);
    for (uint j = 0; j < quads; j++)
        sum = sum + (weights[row * quads + j] - 0.5f) * x[j];
    y[first + row] = ((sum.x + sum.y) + (sum.z + sum.w)) * scale;
}

// Written out so that every device gives the same to the last bits.
static float sine_of_turns(float turns)
{
    float r = turns - floor(turns + 0.5f);
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

// Turns the pairs (i, i + half) of each head by position / 2^i radians.
__kernel __attribute__((reqd_work_group_size(8, 1, 1)))
void rope(__global const float *source, __global float *rotated, uint position, uint first)
{
    uint half_dim = get_local_size(0);
    uint i = get_local_id(0);
    uint low = get_group_id(0) * 2 * half_dim + i;
    uint high = low + half_dim;
    float turns = (float)position / (float)(1u << i) * 0.15915494f;
    float c = sine_of_turns(turns + 0.25f);
    float s = sine_of_turns(turns);
    rotated[first + low] = source[low] * c - source[high] * s;
    rotated[first + high] = source[low] * s + source[high] * c;
}

// One head to a group, one position of the cache to a work-item.
__kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void scores(__global const float *q, __global const float *keys, __global float *scores,
            uint position, uint dim, uint head_dim, float scale)
{
    uint head = get_group_id(0);
    uint t = get_local_id(0);
    float sum = 0.0f;
    if (t <= position) {
        for (uint j = 0; j < head_dim; j++)
            sum = sum + q[head * head_dim + j] * keys[t * dim + head * head_dim + j];
    }
    scores[get_global_id(0)] = sum * scale;
}

// Over the positions seen so far; 0 for those to come. One head to a group.
__kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void softmax(__global const float *scores, __global float *weights, uint position)
{
    uint base = get_group_id(0) * get_local_size(0);
    uint t = get_local_id(0);
    float largest = scores[base];
    for (uint j = 1; j <= position; j++)
        largest = fmax(largest, scores[base + j]);
    float sum = 0.0f;
    for (uint j = 0; j <= position; j++)
        sum = sum + exp(scores[base + j] - largest);
    weights[base + t] = t <= position ? exp(scores[base + t] - largest) / sum : 0.0f;
}

// The weighted sum of the cached values; one head to a group.
__kernel __attribute__((reqd_work_group_size(16, 1, 1)))
void attend(__global const float *weights, __global const float *values, __global float *attended,
            uint position, uint dim, uint context)
{
    uint head = get_group_id(0);
    uint i = get_global_id(0);
    float sum = 0.0f;
    for (uint t = 0; t <= position; t++)
        sum = sum + weights[head * context + t] * values[t * dim + i];
    attended[i] = sum;
}

__kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void residual(__global float *x, __global const float *y)
{
    uint i = get_global_id(0);
    x[i] = x[i] + y[i];
}

__kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void silu_gate(__global const float *gate, __global const float *up, __global float *activated)
{
    uint i = get_global_id(0);
    activated[i] = gate[i] / (1.0f + exp(-gate[i])) * up[i];
}

// The next token is the most likely one, the first of equals.
__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void argmax(__global const float *logits, __global uint *tokens, uint position, uint count)
{
    uint best = 0;
    for (uint i = 1; i < count; i++) {
        if (logits[i] > logits[best])
            best = i;
    }
    tokens[position + 1] = best;
}
