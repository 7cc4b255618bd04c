/* secure.h - certificates, and who may log in
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_CONF_SETTINGS_SECURE_H
#define ZM_CONF_SETTINGS_SECURE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/str.h"
#include "conf/settings/at.h"

struct conf;

struct conf_certificate {	/* tls certificate FILE key FILE [for NAME] */
	const char	*file, *key;	/* PEM; the first row is the default */
	const char	*name;		/* NULL: the names in it; several have
					 * blanks between them */
	struct conf_at	 at;
};

enum {
	CONF_NAMED_PAIRS_MAX = 1000,	/* of a table of certificates */
	CONF_NAMED_NAMES_MAX = 20000	/* all names in it */
};

/* The rows of `tls certificates <table>`, whose spec this is: one for each
 * pair of files, in file order, with all names that it is for.  Reads the
 * table now; *out_rows lives in the arena.
 * 0; -1: it cannot be read, or a line is wrong (err: "FILE:LINE: ..."). */
int conf_named_certificates(const char *name, const char *spec,
    struct arena *arena, struct conf_certificate **out_rows,
    size_t *out_count, struct err *err);

/* Is there a certificate at all, or a table of them? */
bool conf_has_certificate(const struct conf *conf);
/* All of them, the configuration's own rows first.  A table that cannot be
 * read: -1 with err, and those rows alone. */
int conf_all_certificates(const struct conf *conf, struct arena *arena,
    struct conf_certificate **out_rows, size_t *out_count, struct err *err);

struct conf_sign {		/* sign DOMAIN selector S key FILE */
	const char	*domain;	/* lower case */
	const char	*selector;
	const char	*key;		/* a file, PEM */
	const char	*table;		/* a table has the domain; NULL: the
					 * statement has it */
	bool		 is_dkim2;	/* the key signs chains, too */
	bool		 is_7bit;	/* 8-bit bytes are encoded before */
	bool		 else_send;	/* unsigned, when it cannot be signed */
	struct conf_at	 at;
};

struct conf_sign_table {	/* sign <table> keys DIR */
	const char	*table;		/* its name: domain -> selectors */
	const char	*dir;		/* has SELECTOR._domainkey.DOMAIN
					 * .private of each */
	bool		 is_7bit, else_send;
	struct conf_at	 at;
};

enum {
	CONF_SIGN_KEYS_MAX = 4,		/* of a domain: each is a signature a
					 * message */
	CONF_SIGN_NAME_MAX = 253	/* bytes of a domain, of a selector */
};

/* Does any statement sign, by a row or by a table? */
bool conf_signs(const struct conf *conf);
/* Has this domain a row of its own?  Then no table is asked for it. */
bool conf_sign_is_stated(const struct conf *conf, struct slice domain);
/* Is it a name that may stand in the name of a key's file: letters, digits,
 * - _ and single dots between them, CONF_SIGN_NAME_MAX bytes at most? */
bool conf_sign_name_is_good(struct slice name);
/* "SELECTOR._domainkey.DOMAIN.private", as zmailer dkim new writes it. */
const char *conf_sign_file(struct arena *arena, struct slice selector,
    struct slice domain);
/* The keys of a domain by the value that its row of a table has: selectors
 * with blanks between.  out: CONF_SIGN_KEYS_MAX rows, which live in the
 * arena.  0; -1: err says which word is none. */
int conf_sign_of_value(const struct conf_sign_table *row, struct slice domain,
    struct slice value, struct arena *arena, struct conf_sign *out,
    size_t *out_count, struct err *err);
/* The keys that sign for a domain, for tools: of its rows, or of the first
 * table that has it, which is asked now.  *out lives in the arena.
 * 0; -1: a table cannot be asked or is wrong (err). */
int conf_sign_keys(const struct conf *conf, struct slice domain,
    struct arena *arena, struct conf_sign **out, size_t *out_count,
    struct err *err);

struct conf_auth {		/* auth ...: who checks passwords */
	enum conf_auth_kind {
		AUTH_NONE, AUTH_USERS, AUTH_DOVECOT, AUTH_PAM, AUTH_SASLAUTHD
	} kind;
	const char	*table;		/* AUTH_USERS: its name */
	const char	*path;		/* a socket: dovecot, saslauthd */
	const char	*socket;	/* as people see it: unix:/PATH */
	const char	*service;	/* pam, saslauthd: "smtp" */
	const char	*mechanisms;	/* that are offered, blanks between;
					 * without those of SCRAM's that
					 * need TLS */
	bool		 clear_loopback;	/* without TLS from loopback */
	const char	*senders;	/* "own", "any", "<owners>"; NULL: not
					 * said */
	struct conf_at	 at;
};

#endif
