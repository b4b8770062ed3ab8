// Debian's http-parser, as the peer of our own parser.

#pragma once

#include <stddef.h>

// Parses one head; returns the number of its field lines, or -1 if it isn't well-formed.
long peer_parse(const char *bytes, size_t count);
