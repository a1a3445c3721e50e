/*
 * recorder_file.h: the file of a recorder: whole lines, and after each write a complete document.
 *
 *     offset                        offset + used
 *       v                              v
 *   ----+------------------------------+---------+
 *  file |  lines in the buffer         |  end    |    one write; the next one begins where this
 *   ----+------------------------------+---------+    one's end was, and overwrites it
 *
 * Invariants: offset + used + RECORD_END_BYTES <= limit; lines in the buffer are whole.
 */
#ifndef VYRE_OBSERVE_RECORDER_FILE_H
#define VYRE_OBSERVE_RECORDER_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <vyre/diag.h>

#include "observe/recorder_text.h"

/* Room reserved for the end of the document. */
#define RECORD_END_BYTES 2048

/* Lines are written in pieces of this size. */
#define RECORD_BUFFER_BYTES 262144

struct vyre_record_file {
    int descriptor;
    int error; /* errno of the first write that failed; nothing is written after it */
    uint64_t limit;
    uint64_t offset;
    size_t used;
    char buffer[RECORD_BUFFER_BYTES + RECORD_END_BYTES];
};

VYRE_NODISCARD enum vyre_status vyre_record_file_open(struct vyre_record_file *file,
                                                      const char *path, uint64_t limit,
                                                      struct vyre_diag *diag);

static inline uint64_t vyre_record_file_size(const struct vyre_record_file *file)
{
    return file->offset + file->used;
}

/* Whether the buffer must be written before the next line begins. */
static inline bool vyre_record_file_is_full(const struct vyre_record_file *file)
{
    return RECORD_BUFFER_BYTES - file->used < RECORD_LINE_BYTES;
}

/* Memory for a line; the buffer must not be full. */
static inline struct vyre_record_text vyre_record_file_begin(struct vyre_record_file *file)
{
    char *begin = file->buffer + file->used;
    return (struct vyre_record_text){begin, begin};
}

/* Keeps the line, unless that would exceed the limit or a write has failed. */
bool vyre_record_file_commit(struct vyre_record_file *file, const struct vyre_record_text *line);

/* Writes the buffer and then the end of the document. False: the buffer's lines are lost. */
VYRE_NODISCARD bool vyre_record_file_flush(struct vyre_record_file *file, const char *end,
                                           size_t end_size);

/* Writes an end after what was written, after a failed flush. */
void vyre_record_file_end(struct vyre_record_file *file, const char *end, size_t end_size);

/* Cuts off what follows the end, and closes. */
void vyre_record_file_close(struct vyre_record_file *file, size_t end_size);

#endif
