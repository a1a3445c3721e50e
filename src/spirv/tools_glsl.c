/*
 * tools_glsl.c: GLSL to SPIR-V by shaderc.
 *
 * Nothing is optimised: the optimiser may reorder float arithmetic, and drivers optimise anyway.
 * The decorations that forbid contraction are added after compilation, because the compiler has no
 * option for them.
 */
#include <stdlib.h>
#include <string.h>

#include <shaderc/shaderc.h>

#include "spirv/contraction.h"
#include "spirv/tools_module.h"

/* The compiler's name for the source: short, known, and easy to find in its messages. */
#define SOURCE_NAME "glsl"

#define SHOWN_MAX 120

static bool is_identifier(const char *name)
{
    if (!name || name[0] == '\0' || (name[0] >= '0' && name[0] <= '9'))
        return false;
    for (; *name; name++) {
        char c = *name;
        if (!(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z') && !(c >= '0' && c <= '9') &&
            c != '_')
            return false;
    }
    return true;
}

/* ---- The version ------------------------------------------------------------------------------ */

/* Where the text continues after blanks, line ends and comments. */
static const char *skip_blank(const char *text, const char *end)
{
    while (text < end) {
        if (strchr(" \t\r\n\v\f", *text) && *text != '\0') {
            text++;
        } else if (end - text >= 2 && text[0] == '/' && text[1] == '/') {
            text = memchr(text, '\n', (size_t)(end - text));
            if (!text)
                return end;
        } else if (end - text >= 2 && text[0] == '/' && text[1] == '*') {
            text = memmem(text + 2, (size_t)(end - text - 2), "*/", 2);
            if (!text)
                return end;
            text += 2;
        } else {
            break;
        }
    }
    return text;
}

static const char *skip_spaces(const char *text, const char *end)
{
    while (text < end && (*text == ' ' || *text == '\t'))
        text++;
    return text;
}

/* Moves past `word` if it is next in the text and not the start of a longer one. */
static bool take_word(const char **text, const char *end, const char *word)
{
    size_t length = strlen(word);
    if ((size_t)(end - *text) < length || memcmp(*text, word, length) != 0)
        return false;
    const char *after = *text + length;
    if (after < end && !strchr(" \t\r\n", *after))
        return false;
    *text = skip_spaces(after, end);
    return true;
}

/*
 * Whether the text starts with a version that has compute shaders. With other versions the compiler
 * fails in its own built-in functions and prints thousands of lines of them to standard output.
 */
static bool has_version(const struct vyre_glsl_source *source)
{
    static const struct {
        const char *number;
        const char *profile;
    } versions[] = {{"430", "core"}, {"440", "core"}, {"450", "core"},
                    {"460", "core"}, {"310", "es"},   {"320", "es"}};
    const char *end = source->text + source->size_bytes;
    const char *text = skip_blank(source->text, end);
    if (text == end || *text != '#')
        return false;
    text = skip_spaces(text + 1, end);
    if (!take_word(&text, end, "version"))
        return false;
    for (size_t i = 0; i < sizeof versions / sizeof versions[0]; i++) {
        if (!take_word(&text, end, versions[i].number))
            continue;
        bool named = take_word(&text, end, versions[i].profile);
        bool ended = text == end || strchr("\r\n/", *text) != NULL;
        return ended && (named || strcmp(versions[i].profile, "core") == 0);
    }
    return false;
}

/* ---- The source ------------------------------------------------------------------------------- */

static enum vyre_status check_source(const struct vyre_glsl_source *source, struct vyre_diag *diag)
{
    if (!source->text || source->size_bytes == 0 || source->size_bytes > VYRE_GLSL_BYTES_MAX)
        return vyre_diag_set(diag, VYRE_DIAG_GLSL_SIZE, source->label, 0,
                             "the source has %zu bytes, 1 to %u are taken",
                             source->text ? source->size_bytes : 0, VYRE_GLSL_BYTES_MAX);
    if (!has_version(source))
        return vyre_diag_set(diag, VYRE_DIAG_GLSL_VERSION, source->label, 0,
                             "the source does not start with #version 430, 440, 450, 460, 310 es "
                             "or 320 es");
    if (source->macro_count > VYRE_GLSL_MACROS_MAX)
        return vyre_diag_set(diag, VYRE_DIAG_GLSL_MACRO, source->label, 0,
                             "%zu macros are given, at most %d are taken", source->macro_count,
                             VYRE_GLSL_MACROS_MAX);
    for (size_t i = 0; i < source->macro_count; i++) {
        const struct vyre_glsl_macro *macro = &source->macros[i];
        if (!is_identifier(macro->name))
            return vyre_diag_set(diag, VYRE_DIAG_GLSL_MACRO, source->label, 0,
                                 "macro %zu has the name \"%.60s\"", i,
                                 macro->name ? macro->name : "");
        if (macro->value && strpbrk(macro->value, "\r\n"))
            return vyre_diag_set(diag, VYRE_DIAG_GLSL_MACRO, source->label, 0,
                                 "the value of the macro %.60s has more than one line",
                                 macro->name);
    }
    return VYRE_OK;
}

/* Up to a line of text with only printable characters, without leading blanks. */
static void copy_line(char *out, const char *text, size_t size)
{
    while (size > 0 && (*text == ' ' || *text == '\t')) {
        text++;
        size--;
    }
    size_t length = 0;
    for (; length < size && length < SHOWN_MAX; length++) {
        char c = text[length];
        if (c == '\n' || c == '\r' || c == '\0')
            break;
        out[length] = (char)(c < ' ' || c > '~' ? '?' : c);
    }
    out[length] = '\0';
}

/* Line `number`, counted from 1; "" if there is no such line. */
static void copy_source_line(char *out, const struct vyre_glsl_source *source, unsigned long number)
{
    const char *text = source->text;
    const char *end = source->text + source->size_bytes;
    for (unsigned long line = 1; text && text < end && line < number; line++) {
        text = memchr(text, '\n', (size_t)(end - text));
        if (text)
            text++;
    }
    out[0] = '\0';
    if (number > 0 && text && text < end)
        copy_line(out, text, (size_t)(end - text));
}

/* The first error of the log: `glsl:12: error: ...`, or else the start of the log. */
static enum vyre_status report(const struct vyre_glsl_source *source, const char *log,
                               struct vyre_diag *diag)
{
    static const char mark[] = ": error: ";
    char shown[SHOWN_MAX + 1], line[SHOWN_MAX + 1];
    unsigned long number = 0;
    const char *reason = log;
    for (const char *at = log; (at = strstr(at, SOURCE_NAME ":")) != NULL; at++) {
        char *after;
        unsigned long read = strtoul(at + sizeof SOURCE_NAME, &after, 10);
        if (strncmp(after, mark, sizeof mark - 1) != 0)
            continue;
        number = read;
        reason = after + sizeof mark - 1;
        break;
    }
    copy_line(shown, reason, strlen(reason));
    copy_source_line(line, source, number);
    if (number == 0)
        return vyre_diag_set(diag, VYRE_DIAG_GLSL_COMPILE, source->label, 0, "%s",
                             shown[0] ? shown : "the compiler gave no reason");
    return vyre_diag_set(diag, VYRE_DIAG_GLSL_COMPILE, source->label, (int64_t)number,
                         "line %lu: %s; the line reads: %s", number, shown, line);
}

/* The compiler's words, as the table promises them. */
static enum vyre_status take_words(const struct vyre_allocator *allocator,
                                   const struct vyre_glsl_source *source,
                                   shaderc_compilation_result_t result,
                                   struct vyre_spirv_words *out_words, struct vyre_diag *diag)
{
    struct vyre_spirv_words words;
    enum vyre_status status =
        vyre_spirv_words_copy(allocator, shaderc_result_get_bytes(result),
                              shaderc_result_get_length(result), source->label, &words, diag);
    if (status == VYRE_OK)
        status = vyre_spirv_forbid_contraction(allocator, words.words, words.count, source->label,
                                               out_words, diag);
    vyre_spirv_words_free(allocator, &words);
    if (status == VYRE_OK)
        status =
            vyre_spirv_module_validate(out_words->words, out_words->count, source->label, diag);
    if (status != VYRE_OK)
        vyre_spirv_words_free(allocator, out_words);
    return status;
}

static void set_options(shaderc_compile_options_t options, const struct vyre_glsl_source *source)
{
    shaderc_compile_options_set_source_language(options, shaderc_source_language_glsl);
    shaderc_compile_options_set_target_env(options, shaderc_target_env_vulkan,
                                           shaderc_env_version_vulkan_1_2);
    shaderc_compile_options_set_optimization_level(options, shaderc_optimization_level_zero);
    shaderc_compile_options_set_suppress_warnings(options);
    for (size_t i = 0; i < source->macro_count; i++) {
        const struct vyre_glsl_macro *macro = &source->macros[i];
        shaderc_compile_options_add_macro_definition(options, macro->name, strlen(macro->name),
                                                     macro->value,
                                                     macro->value ? strlen(macro->value) : 0);
    }
}

static enum vyre_status compile(const struct vyre_allocator *allocator, shaderc_compiler_t compiler,
                                shaderc_compile_options_t options,
                                const struct vyre_glsl_source *source,
                                struct vyre_spirv_words *out_words, struct vyre_diag *diag)
{
    shaderc_compilation_result_t result =
        shaderc_compile_into_spv(compiler, source->text, source->size_bytes,
                                 shaderc_glsl_compute_shader, SOURCE_NAME, "main", options);
    if (!result)
        return vyre_diag_set(diag, VYRE_DIAG_SPIRV_TOOLS_FAILED, source->label, 0,
                             "shaderc gave no result");
    enum vyre_status status;
    if (shaderc_result_get_compilation_status(result) == shaderc_compilation_status_success)
        status = take_words(allocator, source, result, out_words, diag);
    else
        status = report(source, shaderc_result_get_error_message(result), diag);
    shaderc_result_release(result);
    return status;
}

/*
 * glslang reads its built-in declarations again whenever the last compiler is destroyed, which
 * takes ten times as long as a small kernel. So one compiler stays as long as the module is in the
 * process.
 */
static shaderc_compiler_t keeper;

__attribute__((constructor)) static void keep_compiler(void)
{
    keeper = shaderc_compiler_initialize();
}

enum vyre_status vyre_spirv_module_compile_glsl(const struct vyre_allocator *allocator,
                                                const struct vyre_glsl_source *source,
                                                struct vyre_spirv_words *out_words,
                                                struct vyre_diag *diag)
{
    *out_words = (struct vyre_spirv_words){0};
    enum vyre_status status = check_source(source, diag);
    if (status != VYRE_OK)
        return status;
    shaderc_compiler_t compiler = shaderc_compiler_initialize();
    shaderc_compile_options_t options = shaderc_compile_options_initialize();
    if (compiler && options) {
        set_options(options, source);
        status = compile(allocator, compiler, options, source, out_words, diag);
    } else {
        status = vyre_diag_set(diag, VYRE_DIAG_SPIRV_TOOLS_FAILED, source->label, 0,
                               "shaderc gave no compiler");
    }
    shaderc_compile_options_release(options);
    shaderc_compiler_release(compiler);
    return status;
}
