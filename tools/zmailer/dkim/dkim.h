/* dkim.h - the keys that sign our mail
 *
 * Each key is a file in DIR/dkim beside the main file; a table there lists them
 * (OpenDKIM's KeyTable).  Keys that a sign statement names sign; if opendkim(8)
 * signs as a milter, those of its SigningTable in DIR/dkim do.  These files are
 * the truth: a person may have written a line.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TOOLS_DKIM_H
#define ZM_TOOLS_DKIM_H

#include <stdio.h>

#include "tls/dkim.h"
#include "tools/change/change.h"

#define DKIM_KEYS "keys"		/* KeyTable */
#define DKIM_SIGNERS "signers"		/* SigningTable, refile */
#define DKIM_CONF "opendkim.conf"
#define DKIM_ACCOUNT "opendkim"		/* of Debian's package */

struct dkim_own_key {
	struct slice	 name;		/* S._domainkey.D */
	const char	*selector, *domain, *path;
	bool		 signs;		/* a sign statement, or a line of
					 * signers, names it */
	bool		 is_stated;	/* the statement does */
	const char	*table;		/* it is a row of this table; NULL: of
					 * none */
	int64_t		 retired_s;	/* wall: when another replaced it; 0:
					 * none did */
	struct dkim_own_key	*next;
};

/* DIR/dkim/NAME. */
const char *dkim_path(struct change *change, const char *name);
/* The keys of KeyTable, in its order; NULL: none, or after words on stderr. */
struct dkim_own_key *dkim_keys(struct change *change);
/* The same, with those that a table has for this domain. */
struct dkim_own_key *dkim_keys_of(struct change *change, const char *domain);
/* Append a key's whole file.  0 or -1 (err). */
int dkim_key_read(const struct dkim_own_key *key, struct str *out,
    struct err *err);

/* edit.c: a new key in the texts of a change. */
struct dkim_wish {
	const char	*domain, *selector;
	const char	*socket;	/* of opendkim, as milter has it; NULL:
					 * a sign statement */
	enum verify_kind kind;
	unsigned	 bits;		/* of an RSA key */
};
/* Make the key; a domain's first one signs.  EX_OK or an exit status. */
int dkim_edit_new(struct change *change, const struct dkim_wish *wish);
/* Sign with this key from now on.  EX_OK or an exit status. */
int dkim_edit_use(struct change *change, const struct dkim_own_key *key);
/* Does the domain have a key that signs? */
bool dkim_domain_signs(struct change *change, const char *domain);
/* Stop signing with it; the key's file stays.  EX_OK or an exit status. */
int dkim_edit_remove(struct change *change, const struct dkim_own_key *key);

/* rotate.c: replace an old key by a new one, without a gap. */

/* The key that a word of the command line means: that of this selector, or the
 * only one that waits to sign (is_retired: that no longer signs).  NULL after
 * words. */
struct dkim_own_key *dkim_rotating(struct change *change, const char *domain,
    const char *selector, bool is_retired);
/* Sign with this key, which the DNS must have, and retire those of its kind.
 * EX_OK or an exit status: 1 the DNS does not have it, after words. */
int dkim_edit_rotate(struct change *change, const struct dkim_own_key *key);
/* Forget a key that was retired, if no mail that it signed can still wait.
 * EX_OK or an exit status: 1 it is too early, after words. */
int dkim_edit_retire(struct change *change, const struct dkim_own_key *key);
/* Print after a rotation until when the old records must stay. */
void dkim_rotated_say(struct change *change, const char *domain);
/* "2026-12-01T10:00:00.000Z": when its record may be removed. */
const char *dkim_record_goes(struct change *change,
    const struct dkim_own_key *key);

/* in_table.c: tables of sign statements. */

/* Note which of the keys are in a table, or add those of one domain.  Tables
 * that cannot be asked are reported on stderr. */
void dkim_keys_mark_tables(struct change *change, struct dkim_own_key **all);
void dkim_keys_add_tables(struct change *change, struct dkim_own_key **all,
    const char *domain);
/* The table that has, or would have, the keys of a domain; NULL: a statement
 * has them, or a milter signs, or there is no table. */
const struct conf_sign_table *dkim_table_for(struct change *change,
    const char *domain);
/* Print the row that makes this selector sign. */
void dkim_table_row_say(FILE *out, const struct change *change,
    const struct conf_sign_table *row, const char *domain,
    const char *selector);
/* Say that a person must change the row of the table, so that the key signs
 * (is_use), or no longer does.  Returns 1. */
int dkim_table_refuse(const struct change *change,
    const struct dkim_own_key *key, bool is_use);

/* edit.c: note in the table that the key was retired now. */
void dkim_edit_note_retired(struct change *change, struct str *keys,
    const struct dkim_own_key *key);

/* look.c: does the DNS have the public key of this one?  If not, *why is a
 * sentence, in the arena. */
bool dkim_is_seen(struct change *change, const struct dkim_own_key *key,
    const char **why);
/* look.c: append the record to be published, for people who edit zones. */
void dkim_record_add(struct str *out, const struct dkim_own_key *key,
    enum verify_kind kind, struct slice public_key);
/* Print for each key of the list (of the domain, if that is not NULL) whether
 * its file, the DNS and the milter are as they must be.  An exit status: 0
 * all is good, 1 something is not. */
int dkim_check(struct change *change, const struct dkim_own_key *keys,
    const char *domain);

#endif
