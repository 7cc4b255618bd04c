/* part.h - what each statement does to the settings
 *
 * The appliers of the rows (statements/rows.h), a file for each subject; what
 * they share; checks of a configuration that was read to its end; and functions
 * that write each subject as text, for show/.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_CONF_PART_H
#define ZM_CONF_PART_H

#include "conf/read/read.h"

/* ---- what appliers share ---------------------------------------------- */

/* The values of a statement, all of which are names of tables; in the
 * configuration's arena. */
const char **conf_tables_of(struct conf_loader *loader,
    const struct conf_statement *statement);
/* Fill in *listen_on from "192.0.2.1:25" or "unix:/path", which the value's
 * type has checked. */
void conf_listen_make(struct conf_listen *listen_on, const char *text,
    unsigned port);
/* Is it "unix:/PATH" or "inet:ADDRESS:PORT"? */
bool conf_is_socket(const char *text);
/* Complain that the token is not a socket, and hint at what was meant. */
void conf_complain_socket(struct conf_loader *loader,
    const struct conf_token *token);

/* ---- presets ---------------------------------------------------------- */

/* Set the presets that apply before the file is read. */
void conf_preset_before(struct conf_loader *loader);
/* Does the system have a file of aliases? */
bool conf_has_system_aliases(void);
/* After the file was read: set the presets for what it does not say. */
void conf_preset_after(struct conf_loader *loader);
/* Store a value of this type in a field of this width. */
void conf_field_store(void *field, size_t width, const char *type,
    const struct conf_value *value);

/* ---- schedule clauses ------------------------------------------------- */

struct conf_clause {		/* target of the items of a schedule */
	struct conf_schedule	schedule;	/* first: items know offsets */
	uint64_t		said;		/* a bit an item */
};
/* Note that the clause has the item. */
void conf_clause_note(struct conf_clause *clause, const char *item);
/* Note it; complain if the clause has it already. */
void conf_clause_say(struct conf_loader *loader,
    const struct conf_statement *statement, struct conf_clause *clause);

/* Does wide match everything that narrow matches? */
bool conf_schedule_covers(const struct conf_schedule *wide,
    const struct conf_schedule *narrow);
/* Does the clause have the item itself? */
bool conf_clause_said(const struct conf_loader *loader, size_t index,
    const char *item);
/* Fill in the items that clauses do not have. */
void conf_schedule_resolve(struct conf_loader *loader);
/* Add a clause at the end of those read so far. */
void conf_clause_push(struct conf_loader *loader,
    const struct conf_clause *clause);
/* Copy the items that below has and the clause does not. */
void conf_clause_inherit(struct conf_clause *clause,
    const struct conf_clause *below);
/* Add the rules of `below` that the schedule's own rules do not hide. */
void conf_retry_inherit(struct conf_schedule *schedule,
    const struct conf_schedule *below);

/* ---- checks at the end; each complains -------------------------------- */

/* A table that is named does not exist. */
void conf_check_references(struct conf_loader *loader);
/* A zone that a rule names does not exist. */
void conf_check_zones(struct conf_loader *loader);
/* A rule about mail authentication can never be tried, or not in time. */
void conf_check_origin_rules(struct conf_loader *loader);
/* A zone that overflow names does not exist, or a zone takes the mail that
 * another one is for. */
void conf_check_sending_zones(struct conf_loader *loader);
/* It is unknown which node this is, or limits are shared with nobody. */
void conf_check_cluster(struct conf_loader *loader);
/* resolver and dns are both set.  Sets dns_server to the resolver's address. */
void conf_check_resolver(struct conf_loader *loader);
/* Statements that can never match, open relays. */
void conf_check_reach(struct conf_loader *loader);
/* Statements that are valid and most likely not meant: mail that comes back,
 * waits after the end, listeners that nobody can use, names that nobody can
 * look up. */
void conf_check_doubts(struct conf_loader *loader);
/* Routes whose ways differ in the generic that covers them. */
void conf_check_ways(struct conf_loader *loader);
/* A list or srs has a domain that is not ours. */
void conf_check_expansion(struct conf_loader *loader);
/* A listener needs a certificate, and there is none. */
void conf_check_tls(struct conf_loader *loader);
/* Nobody can log in, or this build cannot check passwords so. */
void conf_check_auth(struct conf_loader *loader);

/* ---- as a person would write it --------------------------------------- */

/* Each appends what follows the word of its statement. */
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
void conf_show_learn(const struct conf_learn *learn, struct str *out);
void conf_objective_add(struct str *out,
    const struct conf_objective *objective);
void conf_show_zone(const struct conf_zone *zone, struct str *out);
/* The words of a trust or ehlo statement, with a blank before each. */
void conf_trust_add(struct str *out, unsigned words);
void conf_ehlo_add(struct str *out, unsigned words);
/* A network: ADDRESS or ADDRESS/BITS. */
void conf_add_net(struct str *out, const struct net *net);

#endif
