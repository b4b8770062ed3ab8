// CLupineGSSAPI: the types of GSSAPI's C binding (RFC 2744). The library is loaded at run time, so that a program can be built
// and started without its headers and the library itself. The types have the layout of MIT's and Heimdal's libraries.
#pragma once
#include <stddef.h>
#include <stdint.h>

typedef struct {
  uint32_t length;
  const void *elements;
} lupine_gss_oid;

typedef struct {
  size_t length;
  void *value;
} lupine_gss_buffer;

typedef struct {
  uint32_t initiator_address_type;
  lupine_gss_buffer initiator_address;
  uint32_t acceptor_address_type;
  lupine_gss_buffer acceptor_address;
  lupine_gss_buffer application_data;
} lupine_gss_channel_bindings;

typedef uint32_t (*lupine_gss_import_name)(
    uint32_t *minor, const lupine_gss_buffer *text, const lupine_gss_oid *type, void **name);
typedef uint32_t (*lupine_gss_release_name)(uint32_t *minor, void **name);
typedef uint32_t (*lupine_gss_init_sec_context)(
    uint32_t *minor, void *credential, void **context, void *target, const lupine_gss_oid *mechanism,
    uint32_t flags, uint32_t seconds, const lupine_gss_channel_bindings *bindings, const lupine_gss_buffer *input,
    const lupine_gss_oid **actual_mechanism, lupine_gss_buffer *output, uint32_t *actual_flags,
    uint32_t *actual_seconds);
typedef uint32_t (*lupine_gss_delete_sec_context)(uint32_t *minor, void **context, lupine_gss_buffer *output);
typedef uint32_t (*lupine_gss_release_buffer)(uint32_t *minor, lupine_gss_buffer *buffer);
typedef uint32_t (*lupine_gss_display_status)(
    uint32_t *minor, uint32_t status, int kind, const lupine_gss_oid *mechanism, uint32_t *position,
    lupine_gss_buffer *text);
