/* files.h - certificates and keys as they lie on disk
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SMTPSERVER_TLS_FILES_H
#define ZM_SMTPSERVER_TLS_FILES_H

#include "conf/conf.h"
#include "tls/pair.h"

struct keys_files;

/* No files yet (keys_files_configure). */
struct keys_files *keys_files_new(void);

/* Load what conf names.  A pair that stays but cannot be loaded again keeps
 * what was loaded before; each refusal is an event. */
void keys_files_configure(struct keys_files *files, const struct conf *conf);

/* Look whether files have changed; take over those that have and have come
 * to rest (unchanged for one look).  true: something was taken over. */
bool keys_files_look(struct keys_files *files);

/* Append the lines "pair KEY NAME CHAIN" and "ca PEM". */
void keys_files_add_lines(const struct keys_files *files, struct str *out);

/* The key with this number; also the one that was replaced last, and for a
 * minute those whose rows are gone, for handshakes that are under way.  NULL:
 * none. */
struct evp_pkey_st *keys_files_key(const struct keys_files *files,
    unsigned number);

#endif
