/*
 * json_check.h: whether a text is exactly one JSON document (RFC 8259), white space round it
 * allowed.
 */
#ifndef VYRE_TESTS_SUPPORT_JSON_CHECK_H
#define VYRE_TESTS_SUPPORT_JSON_CHECK_H

#include <stdbool.h>
#include <string.h>

static inline const char *json_space(const char *at)
{
    return at + strspn(at, " \t\r\n");
}

static inline const char *json_digits(const char *at)
{
    size_t count = at ? strspn(at, "0123456789") : 0;
    return count ? at + count : NULL;
}

static inline const char *json_string(const char *at)
{
    if (*at++ != '"')
        return NULL;
    for (; *at != '"'; at++) {
        if ((unsigned char)*at < 0x20)
            return NULL;
        if (*at != '\\')
            continue;
        at++;
        if (*at == 'u' && strspn(at + 1, "0123456789abcdefABCDEF") >= 4)
            at += 4;
        else if (*at == '\0' || !strchr("\"\\/bfnrt", *at))
            return NULL;
    }
    return at + 1;
}

static inline const char *json_number(const char *at)
{
    at += *at == '-';
    at = *at == '0' ? at + 1 : json_digits(at);
    if (at && *at == '.')
        at = json_digits(at + 1);
    if (at && (*at == 'e' || *at == 'E')) {
        at++;
        at = json_digits(at + (*at == '+' || *at == '-'));
    }
    return at;
}

/* The end of the value at `at`, or NULL. */
static inline const char *json_value(const char *at, unsigned depth);

/* Members of an object or an array, up to and with `close`. */
static inline const char *json_members(const char *at, char close, unsigned depth)
{
    at = json_space(at);
    if (*at == close)
        return at + 1;
    for (;;) {
        if (close == '}') {
            at = json_string(json_space(at));
            if (!at)
                return NULL;
            at = json_space(at);
            if (*at++ != ':')
                return NULL;
        }
        at = json_value(at, depth);
        if (!at)
            return NULL;
        at = json_space(at);
        if (*at == close)
            return at + 1;
        if (*at++ != ',')
            return NULL;
    }
}

static inline const char *json_value(const char *at, unsigned depth)
{
    static const char *const words[] = {"true", "false", "null"};
    at = json_space(at);
    if (depth == 0)
        return NULL;
    if (*at == '{' || *at == '[')
        return json_members(at + 1, *at == '{' ? '}' : ']', depth - 1);
    if (*at == '"')
        return json_string(at);
    for (unsigned i = 0; i < 3; i++) {
        if (strncmp(at, words[i], strlen(words[i])) == 0)
            return at + strlen(words[i]);
    }
    return json_number(at);
}

static inline bool json_is_valid(const char *text)
{
    const char *end = json_value(text, 64);
    return end && *json_space(end) == '\0';
}

#endif
