/*
 * replay_main.c: runs a fuzz target over files, without libFuzzer.
 *
 *   target FILE_OR_DIRECTORY...
 *
 * Fails when a path cannot be read or when there was nothing to run.
 */
#include <dirent.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static size_t replayed;

/* Reads the file into memory of exactly its size, so that the address sanitizer sees its end. */
static bool replay_file(const char *path, size_t size)
{
    FILE *file = fopen(path, "rb");
    uint8_t *data = malloc(size > 0 ? size : 1);
    bool read = file && data && fread(data, 1, size, file) == size;
    if (read) {
        LLVMFuzzerTestOneInput(data, size);
        replayed++;
    } else {
        fprintf(stderr, "replay: cannot read %s\n", path);
    }
    free(data);
    if (file)
        fclose(file);
    return read;
}

static bool replay_path(const char *path)
{
    struct stat facts;
    if (stat(path, &facts) != 0) {
        fprintf(stderr, "replay: cannot find %s\n", path);
        return false;
    }
    if (!S_ISDIR(facts.st_mode))
        return replay_file(path, (size_t)facts.st_size);

    struct dirent **names;
    int count = scandir(path, &names, NULL, alphasort);
    bool all = count >= 0;
    for (int i = 0; i < count; i++) {
        char child[4096];
        int length = snprintf(child, sizeof child, "%s/%s", path, names[i]->d_name);
        if (names[i]->d_name[0] != '.')
            all &= length > 0 && (size_t)length < sizeof child && replay_path(child);
        free(names[i]);
    }
    if (count >= 0)
        free(names);
    return all;
}

int main(int argument_count, char **arguments)
{
    bool all = true;
    for (int i = 1; i < argument_count; i++)
        all &= replay_path(arguments[i]);
    printf("replayed %zu inputs\n", replayed);
    return all && replayed > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
