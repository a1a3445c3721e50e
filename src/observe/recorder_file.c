/*
 * recorder_file.c: the file of a recorder.
 */
#include "observe/recorder_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static enum vyre_status fail_open(const char *path, int error, struct vyre_diag *diag)
{
    return vyre_diag_set(diag, VYRE_DIAG_RECORDER_OPEN, path, error, "cannot create the record: %s",
                         strerror(error));
}

enum vyre_status vyre_record_file_open(struct vyre_record_file *file, const char *path,
                                       uint64_t limit, struct vyre_diag *diag)
{
    file->limit = limit;
    /*
     * Emptied only once it is known to be a regular file. A pipe without a reader must not block.
     */
    file->descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0666);
    if (file->descriptor < 0)
        return fail_open(path, errno, diag);
    struct stat facts;
    int error = fstat(file->descriptor, &facts) != 0 ? errno : 0;
    if (error == 0 && !S_ISREG(facts.st_mode))
        error = ESPIPE;
    if (error == 0 && ftruncate(file->descriptor, 0) != 0)
        error = errno;
    if (error == 0)
        return VYRE_OK;
    close(file->descriptor);
    return fail_open(path, error, diag);
}

bool vyre_record_file_commit(struct vyre_record_file *file, const struct vyre_record_text *line)
{
    size_t size = (size_t)(line->at - line->begin);
    if (file->error != 0 || vyre_record_file_size(file) + size + RECORD_END_BYTES > file->limit)
        return false;
    file->used += size;
    return true;
}

/* 0, or errno. */
static int write_at(int descriptor, const char *bytes, size_t size, uint64_t offset)
{
    while (size > 0) {
        ssize_t written = pwrite(descriptor, bytes, size, (off_t)offset);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return written < 0 ? errno : ENOSPC;
        bytes += written;
        size -= (size_t)written;
        offset += (uint64_t)written;
    }
    return 0;
}

bool vyre_record_file_flush(struct vyre_record_file *file, const char *end, size_t end_size)
{
    if (file->error == 0) {
        memcpy(file->buffer + file->used, end, end_size);
        file->error = write_at(file->descriptor, file->buffer, file->used + end_size, file->offset);
    }
    if (file->error == 0)
        file->offset += file->used;
    file->used = 0;
    return file->error == 0;
}

void vyre_record_file_end(struct vyre_record_file *file, const char *end, size_t end_size)
{
    /* The disk has room where an end was before. With a new end the document is complete again. */
    if (write_at(file->descriptor, end, end_size, file->offset) == 0)
        (void)!ftruncate(file->descriptor, (off_t)(file->offset + end_size));
}

void vyre_record_file_close(struct vyre_record_file *file, size_t end_size)
{
    if (ftruncate(file->descriptor, (off_t)(file->offset + end_size)) != 0 && file->error == 0)
        file->error = errno;
    if (close(file->descriptor) != 0 && file->error == 0)
        file->error = errno;
}
