/* opensmtpd.h - convert an smtpd.conf to a zmailer.conf
 *
 * All statements are read first; then tables, pki, actions and filters are
 * known by their names, and listeners and matches are visited in their order.
 * A statement without a finding in the end is reported as used nowhere.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TOOLS_IMPORT_OPENSMTPD_H
#define ZM_TOOLS_IMPORT_OPENSMTPD_H

#include "tools/zmailer/import/import.h"
#include "tools/zmailer/import/opensmtpd/read.h"

struct opensmtpd_row {			/* a statement */
	struct import_item	 item;
	struct opensmtpd_word	*words;
	size_t			 count, at;	/* at: the word that is next */
	const char		*made;	/* of an action; NULL: not yet, or
					 * impossible */
	bool			 is_made;
};
enum { OPENSMTPD_ROLES = 8 };
enum opensmtpd_role {			/* what a table of theirs is for */
	OPENSMTPD_ALIASES, OPENSMTPD_USERS, OPENSMTPD_DOMAINS,
	OPENSMTPD_NETS, OPENSMTPD_ADDRESSES, OPENSMTPD_LOGINS,
	OPENSMTPD_PASSWORDS, OPENSMTPD_SENDERS
};
struct opensmtpd {
	struct import		*import;
	struct opensmtpd_row	*rows;
	size_t			 count;
	struct opensmtpd_reader	 reader;
	const char		*tables[OPENSMTPD_ROLES];  /* " NAME=OURS " */
	struct import_names	 named;	/* rows by "KEYWORD NAME" */
	struct import_names	 open;	/* domains that strangers may send
					 * to */
	struct import_names	 ours;	/* all of ours; in their order: */
	struct str		 ours_words;	/* " a b " */
	const char		*host, *auth_to;
	const char		*mailbox;	/* the statement, or NULL */
	int			 mailbox_at;
	bool			 has_strangers, has_pki, has_auth, has_warn;
};

/* ---- rows (rows.c) ------------------------------------------------------ */

/* All rows were read: from now on each is found by its name. */
void opensmtpd_rows_name(struct opensmtpd *smtpd);
/* The last row "KEYWORD NAME ..."; NULL: none. */
struct opensmtpd_row *opensmtpd_row_of(struct opensmtpd *smtpd,
    const char *keyword, struct slice name);
/* Take the next word; NULL: none is left. */
const struct opensmtpd_word *opensmtpd_word(struct opensmtpd_row *row);
/* Is the next word this one?  Then it is taken. */
bool opensmtpd_is(struct opensmtpd_row *row, const char *text);
/* The text of the next word, "" at the end. */
struct slice opensmtpd_text(struct opensmtpd_row *row);
/* Note that the row became this statement of ours. */
void opensmtpd_say(struct opensmtpd *smtpd, struct opensmtpd_row *row,
    enum import_part part, const char *format, ...)
	__attribute__((format(printf, 4, 5)));
/* The next word is one that nothing here knows. */
void opensmtpd_unknown(struct opensmtpd *smtpd, struct opensmtpd_row *row);

/* ---- tables (tables.c) -------------------------------------------------- */

/* The keys and values of a table, or a single value that replaces it.  returns
 * whether they could be read; if not, that was noted */
bool opensmtpd_entries(struct opensmtpd *smtpd, struct opensmtpd_row *user,
    const struct opensmtpd_word *word, struct import_entries *out);
/* "<ours>" for a table in that role, made when it is first needed; NULL: it
 * cannot be made, which was noted for user. */
const char *opensmtpd_table(struct opensmtpd *smtpd,
    struct opensmtpd_row *user, struct slice name, enum opensmtpd_role role);
/* A word or a table as a pattern: "x", "<ours>"; NULL: noted. */
const char *opensmtpd_pattern(struct opensmtpd *smtpd,
    struct opensmtpd_row *user, const struct opensmtpd_word *word,
    enum opensmtpd_role role);

/* Where its rows are: its source, or smtpd.conf. */
const char *opensmtpd_table_path(struct opensmtpd *smtpd,
    struct opensmtpd_row *table);
/* Is it in a database, or another program? */
bool opensmtpd_is_question(struct opensmtpd_row *table);
/* Of a table in a database (databases.c): its definition for that role.
 * returns 0, or -1: out_why says what to do */
int opensmtpd_question(struct opensmtpd *smtpd, struct opensmtpd_row *table,
    enum opensmtpd_role role, struct str *out, const char **out_why);

/* ---- what is done ------------------------------------------------------- */

/* The block of a domain for a row "action" (local.c); NULL: mail cannot be
 * delivered so, which was noted. */
const char *opensmtpd_block(struct opensmtpd *smtpd,
    struct opensmtpd_row *action);
/* Is it relay? */
bool opensmtpd_is_relay(const struct opensmtpd_row *action);
/* What follows `via` (relay.c); NULL: noted. */
const char *opensmtpd_via(struct opensmtpd *smtpd,
    struct opensmtpd_row *action);
/* "s", "4h": as a span of ours; NULL: it is not one. */
const char *opensmtpd_span(struct opensmtpd *smtpd, struct slice text);

/* A row each. */
void opensmtpd_listen(struct opensmtpd *smtpd, struct opensmtpd_row *row);
void opensmtpd_pki(struct opensmtpd *smtpd, struct opensmtpd_row *row);
void opensmtpd_filter(struct opensmtpd *smtpd, struct opensmtpd_row *row);
void opensmtpd_match(struct opensmtpd *smtpd, struct opensmtpd_row *row);
/* Domains that no match from elsewhere names. */
void opensmtpd_matches_end(struct opensmtpd *smtpd);

#endif
