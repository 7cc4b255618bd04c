/* part.h - what each statement does to the settings
 *
 * The appliers of the rows (statements/rows.h), a file a subject; what they
 * share; checks of a configuration that was read to its end; and how each
 * subject is written, for show/.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_CONF_PART_H
#define ZM_CONF_PART_H

#include "conf/read/read.h"

/* ---- what appliers share ---------------------------------------------- */

/* The names of the tables that all values of a statement are, in the
 * configuration's arena. */
const char **conf_tables_of(struct conf_loader *loader,
    const struct conf_statement *statement);
/* "192.0.2.1:25", "unix:/path", which the value's type has checked. */
void conf_listen_make(struct conf_listen *listen_on, const char *text,
    unsigned port);
/* "unix:/PATH" or "inet:ADDRESS:PORT"? */
bool conf_is_socket(const char *text);
/* The token is none: says what was meant. */
void conf_complain_socket(struct conf_loader *loader,
    const struct conf_token *token);

/* ---- presets ---------------------------------------------------------- */

/* What holds before the file is read. */
void conf_preset_before(struct conf_loader *loader);
/* Has the system a file of aliases? */
bool conf_has_system_aliases(void);
/* What holds where the file was silent; after it was read. */
void conf_preset_after(struct conf_loader *loader);
/* Store a value of this type in a field of this width. */
void conf_field_store(void *field, size_t width, const char *type,
    const struct conf_value *value);

/* ---- schedule clauses ------------------------------------------------- */

struct conf_clause {		/* target of the items of a schedule */
	struct conf_schedule	schedule;	/* first: items know offsets */
	uint64_t		said;		/* a bit an item */
};
/* Note that the item was said. */
void conf_clause_note(struct conf_clause *clause, const char *item);
/* Note it; complains when it was said before. */
void conf_clause_say(struct conf_loader *loader,
    const struct conf_statement *statement, struct conf_clause *clause);

/* Does the one match whatever the other matches? */
bool conf_schedule_covers(const struct conf_schedule *wide,
    const struct conf_schedule *narrow);
/* Did the clause say the item itself? */
bool conf_clause_said(const struct conf_loader *loader, size_t index,
    const char *item);
/* Fill in what clauses left unsaid. */
void conf_schedule_resolve(struct conf_loader *loader);
/* One more clause, at the end of those read so far. */
void conf_clause_push(struct conf_loader *loader,
    const struct conf_clause *clause);
/* What below says and the clause does not. */
void conf_clause_inherit(struct conf_clause *clause,
    const struct conf_clause *below);
/* The rules of `below` that this one's own do not hide. */
void conf_retry_inherit(struct conf_schedule *schedule,
    const struct conf_schedule *below);

/* ---- checks at the end; each complains -------------------------------- */

/* Tables that are not there. */
void conf_check_references(struct conf_loader *loader);
/* Zones that rules name are not there. */
void conf_check_zones(struct conf_loader *loader);
/* Rules about whose mail it is that can never be tried, or not in time. */
void conf_check_origin_rules(struct conf_loader *loader);
/* Zones that overflow names are not there, or one takes away what another
 * wants. */
void conf_check_sending_zones(struct conf_loader *loader);
/* Which node this is cannot be told; limits are shared with nobody. */
void conf_check_cluster(struct conf_loader *loader);
/* resolver and dns together; dns_server becomes the resolver's address. */
void conf_check_resolver(struct conf_loader *loader);
/* Statements that can never match, open relays. */
void conf_check_reach(struct conf_loader *loader);
/* Statements that are right and most likely not meant: mail that comes back,
 * waits beyond the end, listeners that nobody can use, names that nobody
 * finds. */
void conf_check_doubts(struct conf_loader *loader);
/* Routes whose ways differ in the generic that covers them. */
void conf_check_ways(struct conf_loader *loader);
/* Lists and srs of domains that are not ours. */
void conf_check_expansion(struct conf_loader *loader);
/* Listeners that need a certificate have none. */
void conf_check_tls(struct conf_loader *loader);
/* Nobody can log in, or this build cannot check who does. */
void conf_check_auth(struct conf_loader *loader);

/* ---- as somebody would write it --------------------------------------- */

/* Each adds what follows the word of its statement. */
void conf_canonical_add(struct str *out, const struct conf_canonical *one);
void conf_masquerade_add(struct str *out, const struct conf_masquerade *one);
void conf_generic_add(struct str *out, const struct conf_generic *one);
void conf_copy_add(struct str *out, const struct conf_copy *one);
void conf_sign_add(struct str *out, const struct conf_sign *one);
void conf_sign_table_add(struct str *out, const struct conf_sign_table *one);
void conf_mailbox_add(struct str *out, const struct conf *conf);
void conf_forward_add(struct str *out, const struct conf *conf);
void conf_quota_add(struct str *out, const struct conf *conf);
void conf_show_hooks(const struct conf_hooks *hooks, struct str *out);
void conf_objective_add(struct str *out,
    const struct conf_objective *objective);
void conf_show_zone(const struct conf_zone *zone, struct str *out);
/* The words of a trust or ehlo statement, with a blank before each. */
void conf_trust_add(struct str *out, unsigned words);
void conf_ehlo_add(struct str *out, unsigned words);
/* A network: ADDRESS or ADDRESS/BITS. */
void conf_add_net(struct str *out, const struct net *net);

#endif
