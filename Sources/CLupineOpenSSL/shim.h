// OpenSSL 3 for LupineTLS, the only target that calls it. Its macros come as inline functions.
#pragma once
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>

static inline void lupine_ctx_forbid_compression_and_renegotiation(SSL_CTX *context) {
  SSL_CTX_set_options(context, SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION);
}

static inline void lupine_ctx_release_idle_buffers(SSL_CTX *context) {
  SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS);
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

/// New client sessions go to the context's callback alone; OpenSSL's own cache is for servers.
static inline void lupine_ctx_hand_over_client_sessions(SSL_CTX *context) {
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
}

static inline int lupine_ssl_set_server_name(SSL *session, const char *name) {
  return (int)SSL_set_tlsext_host_name(session, name);
}

/// What an empty memory BIO answers: 0 for the end, -1 for "more may come".
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

// Whether a queued error is a system call's, whose reason is errno. ERR_SYSTEM_FLAG is a macro that Swift can't read.
static inline int lupine_err_is_system(unsigned long packed) { return ERR_SYSTEM_ERROR(packed) ? 1 : 0; }
