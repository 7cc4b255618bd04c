/* sendmail.h - convert a sendmail.mc to a zmailer.conf
 *
 * All calls are read first; then host, listeners and our domains are written,
 * and all other calls are visited in their order.  Each has a row that says
 * what becomes of it (options.c, features.c, calls.c); one without a row is
 * unknown.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TOOLS_IMPORT_SENDMAIL_H
#define ZM_TOOLS_IMPORT_SENDMAIL_H

#include "tools/zmailer/import/import.h"
#include "tools/zmailer/import/sendmail/read.h"

struct sendmail_row {			/* a call */
	struct import_item	 item;
	struct slice		*arguments;
	size_t			 count;
	bool			 is_text;
};
struct sendmail {
	struct import		*import;
	struct sendmail_row	*rows;
	size_t			 count;
	struct str		 domains;	/* ours, " a b " */
	struct str		 read;		/* files, " a b " */
	struct str		 passwords;	/* rows of auth-to */
	const char		*host, *hub;
	bool			 has_certificate;
};
/* What becomes of a name: a function says it, or a finding. */
typedef void sendmail_fn(struct sendmail *mail, struct sendmail_row *row);
struct sendmail_rule {
	const char	*name;
	sendmail_fn	*run;		/* or NULL */
	enum import_kind kind;
	const char	*text;
};
#define NEEDLESS(name, text)	{ name, NULL, IMPORT_NOT_NEEDED, text }
#define DIFFERS(name, text)	{ name, NULL, IMPORT_DIFFERS, text }
#define LACKS(name, text)	{ name, NULL, IMPORT_MISSING, text }

/* ---- rows (rows.c) ------------------------------------------------------ */

/* The n-th argument, "" when there is none. */
struct slice sendmail_argument(const struct sendmail_row *row, size_t n);
/* The last call NAME(`FIRST', ...); NULL: none. */
struct sendmail_row *sendmail_row_of(struct sendmail *mail, const char *name,
    const char *first);
/* The value that define gives a name; "" when it is not defined. */
struct slice sendmail_define(struct sendmail *mail, const char *name);
/* Expand names that are defined, at most five deep: CERT_DIR/x.pem. */
struct slice sendmail_filled(struct sendmail *mail, struct slice text);
bool sendmail_has(struct sendmail *mail, const char *feature);
/* Note that the row became this statement of ours. */
void sendmail_say(struct sendmail *mail, struct sendmail_row *row,
    enum import_part part, const char *format, ...)
	__attribute__((format(printf, 4, 5)));
void sendmail_note(struct sendmail *mail, struct sendmail_row *row,
    enum import_kind kind, const char *format, ...)
	__attribute__((format(printf, 4, 5)));
/* Apply the rule of that name.  returns false: there is none */
bool sendmail_apply(struct sendmail *mail, struct sendmail_row *row,
    const struct sendmail_rule *rules, struct slice name);

/* ---- files (files.c) ---------------------------------------------------- */

/* The text file of a map: the last path of a definition ("hash -o /PATH.db"),
 * or preset if that is "".  returns NULL: it is not a file, which was noted */
const char *sendmail_path(struct sendmail *mail, struct sendmail_row *row,
    struct slice definition, const char *preset);
/* Does a file exist that need not be named?  Files of this machine count only
 * if its configuration is the one that is read. */
bool sendmail_preset_is_there(struct sendmail *mail, const char *path);
/* Rows of a map.
 * returns false: it cannot be read, which was noted */
bool sendmail_entries(struct sendmail *mail, struct sendmail_row *row,
    const char *path, struct import_entries *out);
/* Lines of a file of names: they have no values; what looks like one was noted.
 * returns as sendmail_entries */
bool sendmail_names(struct sendmail *mail, struct sendmail_row *row,
    const char *path, struct import_entries *out);
/* A finding about an entry. */
void sendmail_entry_note(struct sendmail *mail, const char *path,
    const struct import_entry *entry, enum import_kind kind,
    const char *format, ...) __attribute__((format(printf, 5, 6)));
/* Files beside it that nothing names. */
void sendmail_files_end(struct sendmail *mail);

/* ---- where mail goes (hops.c) ------------------------------------------- */

/* MAILER:HOST as the value of a table of routes: "[HOST]:25", "smtp!HOST",
 * "error!..."; NULL: *out_why says what to do. */
const char *sendmail_hop(struct sendmail *mail, struct slice text,
    const char **out_why);
/* What follows "error:", or "550 5.7.1 WORDS": an enhanced code, and its
 * words, which may be quoted. */
void sendmail_error(struct sendmail *mail, struct slice text,
    const char **out_code, const char **out_words);

/* ---- rules (rules.c) ---------------------------------------------------- */

enum { SENDMAIL_GROUPS_MAX = 60 };
struct sendmail_group {			/* VERB CONDITION <table>TEXT */
	enum import_part part;
	const char	*verb, *condition, *text;
	struct str	 rows;
};
struct sendmail_groups {		/* zeroed: none */
	struct sendmail_group	rows[SENDMAIL_GROUPS_MAX];
	size_t			count;
};
/* Add a key to such a rule.  returns false: there are too many rules */
bool sendmail_group_add(struct sendmail_groups *groups,
    const struct sendmail_group *like, const char *key);
/* Write tables and rules, those that accept before those that refuse; all is
 * released. */
void sendmail_groups_say(struct sendmail *mail, struct sendmail_row *row,
    struct sendmail_groups *groups);
/* "10.1", "[192.0.2.1]", "IPv6:2001:db8" as a network; NULL: it is not one. */
const char *sendmail_net(struct sendmail *mail, struct slice text);

/* ---- what is done ------------------------------------------------------- */

/* host; our domains, with their aliases (domains.c). */
void sendmail_host(struct sendmail *mail);
void sendmail_domains(struct sendmail *mail);
/* One name for all senders (masquerade.c). */
void sendmail_masquerade(struct sendmail *mail);
/* Listeners and certificates (listen.c). */
void sendmail_listen(struct sendmail *mail);
/* auth-to, when there are passwords (passwords.c). */
void sendmail_passwords_end(struct sendmail *mail);
/* AuthInfo:HOST of the access map. */
void sendmail_password(struct sendmail *mail, const char *path,
    struct import_entry *entry);
/* A row each: define(`NAME', ...), FEATURE(`NAME', ...), all others. */
sendmail_fn sendmail_option, sendmail_feature, sendmail_call_visit;
sendmail_fn sendmail_relay_domain, sendmail_relay_file;	/* domains.c */
sendmail_fn sendmail_smart_host, sendmail_mailertable,
    sendmail_nullclient;				/* hops.c */
sendmail_fn sendmail_virtusertable, sendmail_genericstable,
    sendmail_domaintable;				/* maps.c */
sendmail_fn sendmail_access;				/* access.c */
sendmail_fn sendmail_authinfo;				/* passwords.c */

#endif
