/*
 * words.h: identifiers that mean something to the dispatcher.
 */
#ifndef VYRE_BACKEND_OPENCL_DISPATCHER_WORDS_H
#define VYRE_BACKEND_OPENCL_DISPATCHER_WORDS_H

#include <stdbool.h>
#include <stddef.h>

/* Why no source may contain the word, or NULL. */
const char *vyre_cl_word_banned(const char *word, size_t size);

/*
 * Why the word may not be in any part of a source that is kept, or NULL: not in what kernels reach,
 * in conditionals or in declarations outside functions, directly or through macros.
 */
const char *vyre_cl_word_unkept(const char *word, size_t size);

/*
 * Those of them that ask for the place or the time of a source, one after another; NULL after the
 * last.
 */
const char *vyre_cl_word_place(size_t index);

/* Why no kernel may reach the word, directly or through functions and macros, or NULL. */
const char *vyre_cl_word_refused(const char *word, size_t size);

/* Whether the word is something that all work-items of a group do together. */
bool vyre_cl_word_is_groupwise(const char *word, size_t size);

/*
 * Whether the word looks like one of those but is not in their list: a later extension may have it.
 */
bool vyre_cl_word_is_unknown(const char *word, size_t size);

/* Whether the word has a meaning that a program may not change by macros or functions. */
bool vyre_cl_word_is_kept(const char *word, size_t size);

/* The words of vyre_cl_word_is_groupwise, one after another; NULL after the last. */
const char *vyre_cl_word_groupwise(size_t index);

#endif
