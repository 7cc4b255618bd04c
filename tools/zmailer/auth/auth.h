/* auth.h - a message that `zmailer auth` authenticates
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TOOLS_ZMAILER_AUTH_AUTH_H
#define ZM_TOOLS_ZMAILER_AUTH_AUTH_H

#include "base/mem.h"
#include "conf/conf.h"
#include "origin/authres/authres.h"

struct auth_case {
	struct arena	*arena;
	struct answers	*answers;
	struct slice	 message;	/* header and body */
	bool		 has_client;	/* SPF can be judged */
	struct spf_ask	 ask;
	int64_t		 received_s;
	const char	*host;		/* ours, in the field */
	struct spf	 spf;
	struct dkim	 dkims[DKIM_SIGNATURES_MAX];
	size_t		 dkim_count, dkim_found;
	struct slice	 author;	/* empty: none can be read */
	struct dmarc	 dmarc;
	struct arc	 arc;
	bool		 has_dkim2;	/* DKIM2 is judged, too */
	struct dkim2_mail mail;
	struct dkim2	 dkim2;
	struct slice	 sealer;	/* a trusted one that saw DMARC pass;
					 * empty: none */
};

/* Append the message file of an id, or of a name in the spool: at most max
 * bytes.  0; -1: there is none, or it cannot be read. */
int auth_read_spool(const struct conf *conf, const char *what, size_t max,
    struct str *out, struct err *err);

/* Ask the DNS the open questions of answers.  auth_look_new returns NULL with
 * err if no server can be asked. */
struct auth_look;
struct auth_look *auth_look_new(struct arena *arena, const struct conf *conf,
    struct err *err);
void auth_look_round(struct auth_look *look, struct answers *answers);

/* Append the results, for people and for programs. */
void auth_show(const struct auth_case *one, struct str *out);
void auth_show_json(const struct auth_case *one, struct str *out);

#endif
