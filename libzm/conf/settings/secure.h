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
	const char	*name;		/* names, separated by blanks; NULL:
					 * those in the certificate */
	struct conf_at	 at;
};

enum {
	CONF_NAMED_PAIRS_MAX = 1000,	/* in a table of certificates */
	CONF_NAMED_NAMES_MAX = 20000	/* in it, altogether */
};

/* The rows of `tls certificates <table>`, which has this spec: one for each
 * pair of files, in file order, with all names that it is for.  Reads the
 * table now; *out_rows is in the arena.
 * 0; -1: it cannot be read, or a line is wrong (err: "FILE:LINE: ..."). */
int conf_named_certificates(const char *name, const char *spec,
    struct arena *arena, struct conf_certificate **out_rows,
    size_t *out_count, struct err *err);

/* Is there a certificate at all, or a table of them? */
bool conf_has_certificate(const struct conf *conf);
/* All certificates, the configuration's own rows first.  0; -1: the table
 * cannot be read (err), and only those rows are in *out_rows. */
int conf_all_certificates(const struct conf *conf, struct arena *arena,
    struct conf_certificate **out_rows, size_t *out_count, struct err *err);

struct conf_sign {		/* sign DOMAIN selector S key FILE */
	const char	*domain;	/* lower case */
	const char	*selector;
	const char	*key;		/* a file, PEM */
	const char	*table;		/* the table that has the domain; NULL:
					 * the statement has it */
	bool		 is_dkim2;	/* the key also signs chains */
	bool		 is_7bit;	/* 8-bit bytes are encoded first */
	bool		 else_send;	/* unsigned, if it cannot be signed */
	struct conf_at	 at;
};

struct conf_sign_table {	/* sign <table> keys DIR */
	const char	*table;		/* its name: domain -> selectors */
	const char	*dir;		/* has SELECTOR._domainkey.DOMAIN
					 * .private for each */
	bool		 is_7bit, else_send;
	struct conf_at	 at;
};

enum {
	CONF_SIGN_KEYS_MAX = 4,		/* of a domain: each adds a signature
					 * to each message */
	CONF_SIGN_NAME_MAX = 253	/* bytes of a domain, of a selector */
};

/* Does any statement sign, by a row or by a table? */
bool conf_signs(const struct conf *conf);
/* Does this domain have a row of its own?  Then tables are not asked for it. */
bool conf_sign_is_stated(const struct conf *conf, struct slice domain);
/* May the name be used in the name of a key's file?  It has only letters,
 * digits, - _ and single dots inside, and at most CONF_SIGN_NAME_MAX bytes. */
bool conf_sign_name_is_good(struct slice name);
/* "SELECTOR._domainkey.DOMAIN.private", as zmailer dkim new writes it. */
const char *conf_sign_file(struct arena *arena, struct slice selector,
    struct slice domain);
/* The keys of a domain, by its value in a table: selectors separated by blanks.
 * out: CONF_SIGN_KEYS_MAX rows, whose texts are in the arena.
 * 0; -1: err says which word is not a selector. */
int conf_sign_of_value(const struct conf_sign_table *row, struct slice domain,
    struct slice value, struct arena *arena, struct conf_sign *out,
    size_t *out_count, struct err *err);
/* The keys that sign for a domain, for tools: of its rows, or of the first
 * table that has it, which is asked now.  *out is in the arena.
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
	const char	*mechanisms;	/* offered, separated by blanks; without
					 * those of SCRAM that need TLS */
	bool		 clear_loopback;	/* without TLS from loopback */
	const char	*senders;	/* "own", "any", "<owners>"; NULL: not
					 * set */
	struct conf_at	 at;
};

#endif
