// Debian's http-parser, for a comparison with Lupine's parser.

#pragma once

#include <stddef.h>

// Parses one response head with http-parser. Returns the number of field lines, or -1 if the head is malformed.
long peer_parse(const char *bytes, size_t count);
