// CLupineOpenSSL: OpenSSL 3 for LupineTLS, the only target of the libraries that calls it, and for LupineLoopback, with
// OpenSSL's macros as inline functions.
#pragma once
#ifndef __linux__
#error "Lupine is an HTTP client for Linux. On other systems, use URLSession and Alamofire, whose APIs it provides."
#else
#include <openssl/bio.h>
#include <openssl/buffer.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/ocsp.h>
#include <openssl/pem.h>
#include <openssl/pkcs12.h>
#include <openssl/provider.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>
#include <stdbool.h>
#if defined(__x86_64__)
#include <cpuid.h>
#elif defined(__aarch64__)
#include <sys/auxv.h>
#endif

/// Returns whether the processor has instructions for AES, and for the carry-less multiplication that GCM uses.
static inline bool lupine_has_aes_instructions(void) {
#if defined(__x86_64__)
  unsigned eax, ebx, ecx, edx;
  return __get_cpuid(1, &eax, &ebx, &ecx, &edx) && (ecx & bit_AES) && (ecx & bit_PCLMUL);
#elif defined(__aarch64__)
  const unsigned long aes = 1 << 3, pmull = 1 << 4;  // HWCAP_AES and HWCAP_PMULL
  return (getauxval(AT_HWCAP) & (aes | pmull)) == (aes | pmull);
#else
  return false;
#endif
}

static inline void lupine_ctx_forbid_compression_and_renegotiation(SSL_CTX *context) {
  SSL_CTX_set_options(context, SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION);
}

/// Configures the sessions of a context. Idle connections free their record buffers, which take 34 KB. Certificate chains are sent
/// as given, without completing them from the trust roots.
static inline void lupine_ctx_set_modes(SSL_CTX *context) {
  SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_NO_AUTO_CHAIN);
}

static inline int lupine_ctx_set_minimum_version(SSL_CTX *context, int version) {
  return SSL_CTX_set_min_proto_version(context, version);
}

static inline int lupine_ctx_set_maximum_version(SSL_CTX *context, int version) {
  return SSL_CTX_set_max_proto_version(context, version);
}

static inline int lupine_ctx_add_chain_certificate(SSL_CTX *context, X509 *certificate) {
  return (int)SSL_CTX_add1_chain_cert(context, certificate);
}

/// Makes OpenSSL pass new client sessions only to the context's callback, without storing them in its internal cache.
static inline void lupine_ctx_hand_over_client_sessions(SSL_CTX *context) {
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
}

static inline void lupine_ssl_allow_renegotiation(SSL *session) {
  SSL_clear_options(session, SSL_OP_NO_RENEGOTIATION);
}

static inline int lupine_ssl_set_server_name(SSL *session, const char *name) {
  return (int)SSL_set_tlsext_host_name(session, name);
}

static inline int lupine_ctx_set_groups(SSL_CTX *context, const char *names) {
  return (int)SSL_CTX_set1_groups_list(context, names);
}

static inline void lupine_free_certificates(STACK_OF(X509) *certificates) {
  sk_X509_pop_free(certificates, X509_free);
}

static inline void lupine_ctx_limit_certificate_bytes(SSL_CTX *context, long bytes) {
  SSL_CTX_set_max_cert_list(context, bytes);
}

typedef int (*lupine_staple_callback)(SSL *session, void *argument);

/// Makes the clients of a context request a stapled OCSP response. `callback` checks the response.
static inline void lupine_ctx_ask_for_staple(SSL_CTX *context, lupine_staple_callback callback) {
  SSL_CTX_set_tlsext_status_type(context, TLSEXT_STATUSTYPE_ocsp);
  SSL_CTX_set_tlsext_status_cb(context, callback);
}

/// Makes the servers of a context call `callback` when a client requests an OCSP response. `callback` sets the response to staple.
static inline void lupine_ctx_serve_staple(SSL_CTX *context, lupine_staple_callback callback, void *argument) {
  SSL_CTX_set_tlsext_status_cb(context, callback);
  SSL_CTX_set_tlsext_status_arg(context, argument);
}

/// Returns the length of the OCSP response that the server stapled, or -1 if there is none. Sets `bytes` to the response, which
/// belongs to the session.
static inline long lupine_ssl_staple(SSL *session, const unsigned char **bytes) {
  return SSL_get_tlsext_status_ocsp_resp(session, bytes);
}

/// Makes the current handshake call return to its caller. The next handshake call calls the verification callback again.
static inline void lupine_ssl_retry_verify(SSL *session) { SSL_set_retry_verify(session); }

static inline int lupine_ssl_set_staple(SSL *session, const unsigned char *bytes, size_t count) {
  void *copy = OPENSSL_memdup(bytes, count);
  if (copy == NULL) return 0;
  return (int)SSL_set_tlsext_status_ocsp_resp(session, copy, (long)count);
}

/// Returns the URIs in the certificate's CRL distribution points, limited to lists that are complete and signed by the
/// certificate's issuer itself. The caller frees the list with X509_email_free.
static inline STACK_OF(OPENSSL_STRING) *lupine_crl_addresses(X509 *certificate) {
  STACK_OF(OPENSSL_STRING) *addresses = sk_OPENSSL_STRING_new_null();
  CRL_DIST_POINTS *points = X509_get_ext_d2i(certificate, NID_crl_distribution_points, NULL, NULL);
  for (int i = 0; addresses != NULL && i < sk_DIST_POINT_num(points); i++) {
    DIST_POINT *point = sk_DIST_POINT_value(points, i);
    if (point->distpoint == NULL || point->distpoint->type != 0 || point->reasons != NULL || point->CRLissuer != NULL)
      continue;
    GENERAL_NAMES *names = point->distpoint->name.fullname;
    for (int j = 0; j < sk_GENERAL_NAME_num(names); j++) {
      int type = 0;
      ASN1_STRING *uri = (ASN1_STRING *)GENERAL_NAME_get0_value(sk_GENERAL_NAME_value(names, j), &type);
      if (type != GEN_URI) continue;
      size_t count = (size_t)ASN1_STRING_length(uri);
      const char *bytes = (const char *)ASN1_STRING_get0_data(uri);
      if (OPENSSL_strnlen(bytes, count) != count) continue;
      char *copy = OPENSSL_strndup(bytes, count);
      if (copy != NULL && sk_OPENSSL_STRING_push(addresses, copy) <= 0) OPENSSL_free(copy);
    }
  }
  CRL_DIST_POINTS_free(points);
  return addresses;
}

/// Returns OpenSSL's name for the group of the session's key exchange, such as "x25519", or NULL if there was none.
static inline const char *lupine_ssl_group_name(SSL *session) {
  long group = SSL_get_negotiated_group(session);
  return group == NID_undef ? NULL : SSL_group_to_name(session, (int)group);
}

/// Returns the number of bytes that a memory BIO has allocated for its buffer.
static inline size_t lupine_bio_capacity(BIO *bio) {
  BUF_MEM *memory = NULL;
  return BIO_get_mem_ptr(bio, &memory) > 0 && memory != NULL ? memory->max : 0;
}

/// Replaces the buffer of a memory BIO by a new one if it is empty and has more than `kept` bytes. OpenSSL itself never shrinks the
/// buffer.
static inline void lupine_bio_shrink(BIO *bio, size_t kept) {
  if (BIO_ctrl_pending(bio) > 0 || lupine_bio_capacity(bio) <= kept) return;
  BUF_MEM *fresh = BUF_MEM_new();
  if (fresh != NULL) BIO_set_mem_buf(bio, fresh, BIO_CLOSE);
}

/// Sets the result of a read from a memory BIO that is empty: 0 for the end of the data, or -1 if more data may arrive.
static inline void lupine_bio_set_empty_answer(BIO *bio, int answer) {
  BIO_set_mem_eof_return(bio, answer);
}

static inline void lupine_name_print(BIO *bio, const X509_NAME *name) {
  X509_NAME_print_ex(bio, name, 0, XN_FLAG_RFC2253);
}

static inline EVP_PKEY *lupine_generate_p256_key(void) { return EVP_EC_gen("P-256"); }

static inline X509_EXTENSION *lupine_make_extension(X509 *issuer, X509 *subject, int nid, const char *value) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, issuer, subject, NULL, NULL, 0);
  X509V3_set_ctx_nodb(&context);
  return X509V3_EXT_conf_nid(NULL, &context, nid, value);
}

/// Returns whether an error of OpenSSL's error queue is that of a system call. Its reason is then errno. Swift can't import
/// ERR_SYSTEM_FLAG, because it is a macro.
static inline int lupine_err_is_system(unsigned long packed) { return ERR_SYSTEM_ERROR(packed) ? 1 : 0; }
#endif
