/* https.h - a pair of certificate and key for a library that speaks TLS
 *
 * The desk's server, and its client of a listener, are libevent's: they want
 * OpenSSL's own objects.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TLS_HTTPS_H
#define ZM_TLS_HTTPS_H

#include <stdbool.h>

#include "base/err.h"
#include "base/str.h"

struct ssl_ctx_st;
struct ssl_st;

/* TLS 1.2 and later, as a server, with this pair of files; https_release ends
 * it.  NULL with err. */
struct ssl_ctx_st *https_context(const char *certificate_file,
    const char *key_file, struct err *err);
/* The same with the texts of these files, for who may not open them. */
struct ssl_ctx_st *https_context_of(struct slice certificate,
    const char *certificate_file, struct slice key, const char *key_file,
    struct err *err);
/* For one connection; its owner is who frees it.  NULL: no memory. */
struct ssl_st *https_link(struct ssl_ctx_st *context);

/* TLS 1.2 and later, as a client; verifies: with the system's roots, which are
 * read now (a system without them verifies nobody: such links fail).  NULL
 * with err. */
struct ssl_ctx_st *https_client_context(bool verifies, struct err *err);
/* For one connection to a server whose certificate must lead to a root and
 * have this name; NULL: a server on this machine, any will do.  NULL: no
 * memory. */
struct ssl_st *https_client_link(struct ssl_ctx_st *context,
    const char *name);

/* The end of a context; its links keep what they need.  NULL: nothing. */
void https_release(struct ssl_ctx_st *context);

#endif
