/* signer_keys.h - the keys of all sign statements, and the answers by them
 *
 * The signer process without its sockets: a line in, a line out (signer.h).
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_ROUTER_SIGN_SIGNER_KEYS_H
#define ZM_ROUTER_SIGN_SIGNER_KEYS_H

#include "conf/conf.h"

struct signer_keys;

/* There are no keys yet.  tells: say in the journal what is wrong with the key
 * of a row, which only one of several processes should do. */
struct signer_keys *signer_keys_new(bool tells);
/* For tests: a process ends with its keys. */
void signer_keys_free(struct signer_keys **keys);

/* Use the keys of a configuration from now on, which need not stay; keys of its
 * tables are read when they are asked for.  If a key cannot be read, the old
 * one of the same selector stays. */
void signer_keys_configure(struct signer_keys *keys, const struct conf *conf);

/* Append the answer to a line of a worker.  now_ms: clock_steady_ms.  False:
 * the line is nonsense, and nothing was appended. */
bool signer_keys_answer(struct signer_keys *keys, struct slice line,
    int64_t now_ms, struct str *out);

#endif
