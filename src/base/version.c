/*
 * version.c: the version of the loaded library.
 */
#include <vyre/version.h>

#define TEXT(x)         #x
#define DOTTED(a, b, c) TEXT(a) "." TEXT(b) "." TEXT(c)

const char *vyre_version_string(void)
{
    return DOTTED(VYRE_VERSION_MAJOR, VYRE_VERSION_MINOR, VYRE_VERSION_PATCH);
}
