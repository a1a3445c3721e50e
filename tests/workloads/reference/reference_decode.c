/*
 * reference_decode.c: a transformer that decodes greedily, in double.
 *
 * 48 tokens of prompt are in the caches already; 16 tokens follow, at positions 48 to 63. Each round
 * of the schedule writes the same again, so one is computed.
 */
#include <math.h>
#include <stdlib.h>

#include "internal.h"

#define LAYERS    6
#define DIM       64
#define HEADS     4
#define HEAD_DIM  16
#define HIDDEN    192
#define VOCAB     256
#define CONTEXT   64
#define PROMPT    48
#define TOKENS    128
#define TOLERANCE 1e-4
/* The two most likely tokens must differ by this much, so that rounding cannot swap them. */
#define GAP_MIN 1e-2

struct layer {
    double wq[DIM * DIM], wk[DIM * DIM], wv[DIM * DIM], wo[DIM * DIM];
    double wgate[HIDDEN * DIM], wup[HIDDEN * DIM], wdown[DIM * HIDDEN];
    double keys[CONTEXT][DIM], values[CONTEXT][DIM];
};

struct model {
    struct layer layers[LAYERS];
    double embedding[VOCAB * DIM], unembedding[VOCAB * DIM];
    double x[DIM], logits[VOCAB];
    uint32_t tokens[TOKENS];
};

static void load(struct model *m)
{
    reference_random_floats(313, m->embedding, VOCAB * DIM);
    reference_random_floats(314, m->unembedding, VOCAB * DIM);
    for (uint32_t i = 0; i < TOKENS; i++)
        m->tokens[i] = i;
    for (uint64_t n = 0; n < LAYERS; n++) {
        struct layer *layer = &m->layers[n];
        uint64_t seed = 100 * (n + 1);
        reference_random_floats(seed, layer->wq, DIM * DIM);
        reference_random_floats(seed + 1, layer->wk, DIM * DIM);
        reference_random_floats(seed + 2, layer->wv, DIM * DIM);
        reference_random_floats(seed + 3, layer->wo, DIM * DIM);
        reference_random_floats(seed + 4, layer->wgate, HIDDEN * DIM);
        reference_random_floats(seed + 5, layer->wup, HIDDEN * DIM);
        reference_random_floats(seed + 6, layer->wdown, DIM * HIDDEN);
        reference_random_floats(seed + 7, layer->keys[0], CONTEXT * DIM);
        reference_random_floats(seed + 8, layer->values[0], CONTEXT * DIM);
    }
}

static void multiply(const double *weights, const double *x, size_t rows, size_t columns,
                     double *out_y)
{
    double scale = columns == DIM ? 0.4375 : 0.25;
    for (size_t row = 0; row < rows; row++) {
        double sum = 0;
        for (size_t j = 0; j < columns; j++)
            sum += (weights[row * columns + j] - 0.5) * x[j];
        out_y[row] = sum * scale;
    }
}

/* All gains are the same ramp. */
static void normalize(const double *x, double *out_normed)
{
    double squares = 0;
    for (size_t i = 0; i < DIM; i++)
        squares += x[i] * x[i];
    double root = sqrt(squares / DIM + 1e-5);
    for (size_t i = 0; i < DIM; i++)
        out_normed[i] = x[i] / root * (0.5 + 0.0078125 * (double)i);
}

static void rotate(double *vector, size_t position)
{
    for (size_t h = 0; h < DIM; h += HEAD_DIM) {
        for (size_t i = 0; i < HEAD_DIM / 2; i++) {
            double angle = ldexp((double)position, -(int)i);
            double a = vector[h + i], b = vector[h + HEAD_DIM / 2 + i];
            vector[h + i] = a * cos(angle) - b * sin(angle);
            vector[h + HEAD_DIM / 2 + i] = a * sin(angle) + b * cos(angle);
        }
    }
}

static void attend(const struct layer *layer, const double *q, size_t position, double *out_y)
{
    for (size_t h = 0; h < DIM; h += HEAD_DIM) {
        double weights[CONTEXT];
        double total = 0;
        for (size_t t = 0; t <= position; t++) {
            double score = 0;
            for (size_t j = 0; j < HEAD_DIM; j++)
                score += q[h + j] * layer->keys[t][h + j];
            weights[t] = exp(score / sqrt(HEAD_DIM));
            total += weights[t];
        }
        for (size_t j = 0; j < HEAD_DIM; j++) {
            out_y[h + j] = 0;
            for (size_t t = 0; t <= position; t++)
                out_y[h + j] += weights[t] / total * layer->values[t][h + j];
        }
    }
}

static void run_layer(struct layer *layer, double *x, size_t position)
{
    double normed[DIM], q[DIM], attended[DIM], added[DIM];
    normalize(x, normed);
    multiply(layer->wq, normed, DIM, DIM, q);
    multiply(layer->wk, normed, DIM, DIM, layer->keys[position]);
    multiply(layer->wv, normed, DIM, DIM, layer->values[position]);
    rotate(q, position);
    rotate(layer->keys[position], position);
    attend(layer, q, position, attended);
    multiply(layer->wo, attended, DIM, DIM, added);
    for (size_t i = 0; i < DIM; i++)
        x[i] += added[i];

    double gate[HIDDEN], up[HIDDEN];
    normalize(x, normed);
    multiply(layer->wgate, normed, HIDDEN, DIM, gate);
    multiply(layer->wup, normed, HIDDEN, DIM, up);
    for (size_t i = 0; i < HIDDEN; i++)
        up[i] *= gate[i] / (1 + exp(-gate[i]));
    multiply(layer->wdown, up, DIM, HIDDEN, added);
    for (size_t i = 0; i < DIM; i++)
        x[i] += added[i];
}

/* Decodes one token; how far ahead of all others it is. */
static double decode(struct model *m, size_t position)
{
    for (size_t i = 0; i < DIM; i++)
        m->x[i] = m->embedding[m->tokens[position] * DIM + i] * 2 - 1;
    for (size_t n = 0; n < LAYERS; n++)
        run_layer(&m->layers[n], m->x, position);
    double normed[DIM];
    normalize(m->x, normed);
    multiply(m->unembedding, normed, VOCAB, DIM, m->logits);
    uint32_t best = 0;
    for (uint32_t i = 0; i < VOCAB; i++)
        best = m->logits[i] > m->logits[best] ? i : best;
    m->tokens[position + 1] = best;
    double gap = INFINITY;
    for (uint32_t i = 0; i < VOCAB; i++)
        gap = i == best ? gap : fmin(gap, m->logits[best] - m->logits[i]);
    return gap;
}

void reference_decode(struct check *check)
{
    struct model *m = reference_memory(1, sizeof *m);
    load(m);
    double gap = INFINITY;
    for (size_t position = PROMPT; position < CONTEXT; position++)
        gap = fmin(gap, decode(m, position));
    if (gap < GAP_MIN)
        reference_fail(check, "the likelihoods of two tokens differ by %g only: choose other seeds",
                       gap);
    const struct layer *last = &m->layers[LAYERS - 1];
    reference_compare_u32(check, "tokens", m->tokens, TOKENS);
    reference_compare_f32(check, "logits", m->logits, VOCAB, TOLERANCE);
    reference_compare_f32(check, "x", m->x, DIM, TOLERANCE);
    reference_compare_f32(check, "keys-5", last->keys[0], CONTEXT * DIM, TOLERANCE);
    reference_compare_f32(check, "values-5", last->values[0], CONTEXT * DIM, TOLERANCE);
    free(m);
}
