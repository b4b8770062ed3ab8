// Debian's http-parser, for a comparison with Lupine's parser.

#pragma once

#include <stddef.h>

// Parses one head. Returns the number of its field lines, or -1 if it is malformed.
long peer_parse(const char *bytes, size_t count);
