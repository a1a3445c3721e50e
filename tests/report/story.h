/*
 * story.h: made-up events of two devices, the same for the same seed, for any observer.
 *
 * Four kinds of batches repeat. Each is tried in several modes, settles, drifts and is decided anew,
 * by a small governor of the story's own; measured times scatter round true costs that it does not
 * know. Nothing here is a measurement.
 */
#ifndef VYRE_TESTS_REPORT_STORY_H
#define VYRE_TESTS_REPORT_STORY_H

#include <stdbool.h>
#include <stdint.h>

#include <vyre/vyre.h>

struct story_options {
    uint64_t batch_count;
    uint64_t seed;
    uint64_t start_ns;    /* of its first event */
    uint64_t device_base; /* added to the identities of the devices */
    bool hostile;         /* labels that are markup, control characters, right to left, very long */
    bool no_device_times;
};

void story_tell(const struct story_options *options, struct vyre_observer observer);

/* The labels of a hostile story. */
extern const char *const story_hostile_labels[];
#define STORY_HOSTILE_LABELS 8

#endif
