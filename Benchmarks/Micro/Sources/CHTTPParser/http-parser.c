// Parses response heads with Debian's http-parser.

#include "peer_parse.h"

#include <http_parser.h>

// The position of each field name and value: the minimum that a client must know about a response head.
typedef struct {
  const char *start;
  size_t lines;
  struct {
    unsigned name, name_length, value, value_length;
  } line[256];
} Head;

static int on_field(http_parser *parser, const char *at, size_t length) {
  Head *head = parser->data;
  if (head->lines == sizeof head->line / sizeof head->line[0]) return 1;
  head->line[head->lines].name = (unsigned)(at - head->start);
  head->line[head->lines].name_length = (unsigned)length;
  return 0;
}

static int on_value(http_parser *parser, const char *at, size_t length) {
  Head *head = parser->data;
  head->line[head->lines].value = (unsigned)(at - head->start);
  head->line[head->lines].value_length = (unsigned)length;
  head->lines += 1;
  return 0;
}

static int on_complete(http_parser *parser) {
  http_parser_pause(parser, 1);
  return 0;
}

long peer_parse(const char *bytes, size_t count) {
  http_parser_settings settings;
  http_parser_settings_init(&settings);
  settings.on_header_field = on_field;
  settings.on_header_value = on_value;
  settings.on_headers_complete = on_complete;
  // http-parser limits heads to 80 KiB by default.
  static Head head;
  head.start = bytes;
  head.lines = 0;
  http_parser parser;
  http_parser_init(&parser, HTTP_RESPONSE);
  parser.data = &head;
  http_parser_execute(&parser, &settings, bytes, count);
  return HTTP_PARSER_ERRNO(&parser) == HPE_PAUSED ? (long)head.lines : -1;
}
