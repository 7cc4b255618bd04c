/* rehearsal.h - what the policy would say, without a client or a message, for a
 * row of words
 *
 * A row of words says what is so and, after "=>", what is expected:
 *
 * 	from 203.0.113.9 name mx.src.test sender a@src.test
 * 	    to bob@example.org listed bl.test=127.0.0.2 => reject 5.7.1
 *
 * It is put to the same policy as in a session; what that needs to know it
 * gets from the row, or (is_live) from the helpers.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SMTPSERVER_REHEARSE_REHEARSAL_H
#define ZM_SMTPSERVER_REHEARSE_REHEARSAL_H

#include "base/err.h"
#include "smtpserver/policy/policy.h"

enum rehearsal_result {
	REHEARSAL_ACCEPT, REHEARSAL_REJECT, REHEARSAL_DEFER,
	REHEARSAL_FREEZE,	/* accepted and set aside */
	REHEARSAL_TROUBLE,	/* 451: something cannot be looked up */
	REHEARSAL_NEED,		/* the row does not say enough */
	REHEARSAL_COUNT
};
extern const char *const rehearsal_words[REHEARSAL_COUNT];

struct rehearsal_row {		/* slices into the line */
	struct slice	from, name, helo, listener, user, sender, to;
	struct slice	service;	/* what a policy service says */
	struct slice	cert, issuer;	/* of a verified certificate */
	struct slice	fingerprint;
	struct slice	spf, dkim, dmarc, policy;	/* whose mail it is
							 * judged to be */
	struct slice	dkim2;		/* and how it came */
	struct slice	sealer;		/* who is trusted saw DMARC pass */
	const struct judge_names *names;	/* or NULL */
	struct str	listed;		/* "ZONE=ANSWERS ..." */
	uint64_t	size_bytes;
	bool		is_submission, is_encrypted, sender_unknown;
	bool		is_over, is_greylisted;
	bool		has_expectation;
	enum rehearsal_result want;
	struct slice	want_code;	/* "5.7.1", or empty */
	uint64_t	want_rule;	/* its line; 0: any */
	struct slice	want_text;	/* part of the words */
};

enum rehearsal_line {
	REHEARSAL_LINE_ROW,
	REHEARSAL_LINE_EMPTY,	/* or a comment */
	REHEARSAL_LINE_BAD	/* err says why */
};

/* Parse a line; *out is to be released in each case. */
enum rehearsal_line rehearsal_parse(struct slice line,
    struct rehearsal_row *out,
    struct err *err);
void rehearsal_row_release(struct rehearsal_row *row);

/* Answers a question that the row does not answer: false: nobody can. */
typedef bool rehearsal_ask_fn(void *context, const char *kind,
    struct slice question, enum ask_state *out_state, struct str *out);

struct rehearsal {		/* what is the same for all rows */
	const struct conf	*conf;
	struct policy		*policy;
	policy_trace_fn		*trace;		/* or NULL */
	void			*trace_context;
	rehearsal_ask_fn	*ask;		/* or NULL */
	void			*ask_context;
	bool			 is_live;	/* DNS and counters, too */
};

struct rehearsal_outcome {
	enum rehearsal_result	 result;
	int			 code;
	struct str		 status, words;
	const struct conf_rule	*rule;		/* who decided; or NULL */
	const struct conf_milter *milter;	/* ... a filter, as again_run
						 * found; or NULL */
	bool			 is_discarded;	/* accepted by it, and nobody
						 * gets it */
	const struct conf_rule	*shadows[POLICY_SHADOWS_MAX];
	unsigned		 shadow_count;
	const char		*stage;	/* of a session, at which again_run
					 * decided; NULL: at none */
};

/* Run one row.  0; -1 when its addresses are none (err).  The outcome is to
 * be released, also then. */
int rehearsal_run(const struct rehearsal *rehearsal,
    const struct rehearsal_row *row, struct rehearsal_outcome *out,
    struct err *err);
void rehearsal_outcome_release(struct rehearsal_outcome *outcome);
/* Fill an outcome, which was zeroed, with what the policy says. */
void rehearsal_conclude(const struct policy_verdict *verdict,
    struct rehearsal_outcome *out);

/* Does the row say whose mail it is?  What it does not say of that is none;
 * when it says nothing, all rules about it wait. */
bool rehearsal_says_origin(const struct rehearsal_row *row);
/* The rules that wait for the message, by what the row says of it; without a
 * word of that they are counted only.  0, or -1: it says no such result. */
int rehearsal_late(const struct rehearsal_row *row,
    const struct policy_verdict *verdict, struct rehearsal_outcome *out,
    struct err *err);

/* Is that what the row expects?  out: what is not, when it is not. */
bool rehearsal_is_expected(const struct rehearsal_row *row,
    const struct rehearsal_outcome *outcome, struct str *out);

#endif
