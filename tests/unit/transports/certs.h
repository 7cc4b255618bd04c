/* certs.h - certificates made for one run of a test
 *
 * A root and four server certificates below it or beside it, all for
 * mx.test and below.test's hosts: "good", "expired", "other" (for another
 * name), "unknown" (of a root nobody trusts), "asks" (good; wants a
 * certificate of ours that the root signed).
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TESTS_CERTS_H
#define ZM_TESTS_CERTS_H

struct ssl_ctx_st;

/* Make them, once. */
void certs_make(void);

/* The root, and a client's certificate with its key, as PEM files. */
const char *certs_roots_path(void);
const char *certs_client_path(void);

/* A server's context with the certificate of this name; the caller's. */
struct ssl_ctx_st *certs_server(const char *name);

/* Remove the files. */
void certs_remove(void);

#endif
