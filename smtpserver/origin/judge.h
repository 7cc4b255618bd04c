/* judge.h - the helper that authenticates mail (SPF, DKIM, DMARC, ARC)
 *
 * A session asks when a message is complete (verify-origin), before it is
 * stored:
 *
 * 	question	{"id":ID,"client":"192.0.2.1:4711","helo":NAME,
 * 			"sender":ADDRESS,"host":NAME,"file":DRAFT,
 * 			"edit":"yes"}
 * 	answer		"spf=WORD dkim=WORD dmarc=WORD policy=WORD arc=WORD
 * 			dkim2=WORD sealer=DOMAIN|- signers=DOMAIN,...|-
 * 			spf-at=NAME|- dkim-at=NAME|- dmarc-at=NAME|-
 * 			dkim2-why=BASE64|- report=NOTE|- file=NAME bytes=N
 * 			crc=N"
 * 		or "... report=NOTE|- field=BASE64"
 *
 * It reads the draft (row S0 of doc/INTERNALS) and asks the DNS what
 * libzm/origin needs.  The message is to have one Authentication-Results of
 * ours at its top, and none that claims to be ours (RFC 8601 section 5).  A
 * session that has all of a small message in memory says "edit" and gets that
 * field alone: it writes its own draft anew.  Of others another draft is left
 * beside it, and the session replaces its own by that.  If the DNS does not
 * answer in time, the result is temperror.
 *
 * At RCPT a rule may ask for SPF alone (policy/late.h).  That needs no message:
 * no draft is read, and none is left.
 *
 * 	question	{"id":ID,"ask":"spf","client":"[192.0.2.1]",
 * 			"helo":NAME,"sender":ADDRESS}	ID: of the session
 * 	answer		"spf=WORD at=NAME|-"
 *
 * Its sandbox (daemon/sandbox.h) has drafts, the journal and DNS servers, and
 * nothing else.  Answers are kept while they count, a minute at most
 * (io/dns/kept.h).  It works on many messages at a time, each with at most
 * JUDGE_ASKS_MAX questions in JUDGE_ASK_MS, those about the author's domain
 * first.  A large message is mapped, never
 * read as a whole.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SMTPSERVER_ORIGIN_JUDGE_H
#define ZM_SMTPSERVER_ORIGIN_JUDGE_H

#include "daemon/skeleton.h"
#include "grammar/net.h"
#include "mail/spool/spool.h"
#include "origin/dmarc/note.h"
#include "origin/origin.h"

enum {
	JUDGE_ASKS_MAX = 200,		/* questions to the DNS a message, */
	JUDGE_OUT_MAX = 8,		/* so many at a time: all messages that
					 * a process has in hand (helper_kinds)
					 * have room in DNS_FLIGHTS_MAX */
	JUDGE_KEPT_MAX = 16,		/* answers kept for others; a message
					 * that asks for more is rare, or
					 * wants them pushed out */
	JUDGE_ROUNDS_MAX = 60,		/* of them; then no more are asked */
	JUDGE_ASK_MS = 20000,		/* then no more are asked */
	JUDGE_SIGNERS_BYTES = 512,	/* what does not fit is left out */
	JUDGE_FIELD_BYTES = 1024,	/* for "edit"; a longer field is in a
					 * draft that is left */
	JUDGE_NAME_BYTES = 256,		/* a name of the DNS */
	JUDGE_WHY_BYTES = 256,		/* what is longer is cut */
	JUDGE_FOR_MS = 120000,		/* a session waits at most; longer than
					 * questions on their way, and sums of
					 * large messages before this one */
	JUDGE_SPF_FOR_MS = 60000	/* at RCPT; a client waits 5 minutes,
					 * RFC 5321 section 4.5.3.2.3 */
};

/* The kind of its questions: its row of helper_kinds. */
extern const char judge_kind[];

/* That row's. */
void judge_serve(struct process *process, int socket);

struct judge_question {
	bool		is_spf_alone;	/* no host, no file */
	struct slice	id;		/* of the message, or the session */
	struct slice	client_text;	/* "192.0.2.1:4711", "[192.0.2.1]" */
	struct net	client;		/* the same, read */
	struct slice	helo, sender;	/* may be empty */
	struct slice	host;		/* ours, in the field */
	struct slice	file;		/* below public/ */
	bool		is_edit;	/* the field alone will do */
};

/* Append the question; client is not looked at. */
void judge_question_add(struct str *out, const struct judge_question *question);
/* Read one; slices are in the arena.  0; -1: it is none. */
int judge_question_parse(struct arena *arena, struct slice line,
    struct judge_question *out, struct err *err);

struct judge_names {		/* where what decided is published; "": not
				 * known, or nowhere */
	char	spf[JUDGE_NAME_BYTES];		/* the record, or the domain */
	char	dkim[JUDGE_NAME_BYTES];		/* the key of a signature that
						 * has the result */
	char	dmarc[JUDGE_NAME_BYTES];
	char	dkim2[JUDGE_WHY_BYTES];		/* why it did not pass: the
						 * draft's words, in printable
						 * ASCII */
};

struct judge_answer {
	enum origin	  spf, dkim, dmarc;
	enum dmarc_policy policy;	/* of dmarc's record; none: no record */
	enum origin	  arc, dkim2;	/* none where it is not asked for */
	struct judge_names names;
	char		  sealer[JUDGE_NAME_BYTES];	/* "": nobody; who is
					 * trusted to say that DMARC passed
					 * before it failed here */
	char		  signers[JUDGE_SIGNERS_BYTES];	/* "a.example,b.test",
					 * whose signatures are good for the
					 * whole body */
	char		  report[DMARC_NOTE_BYTES + 1];	/* origin/dmarc/
					 * note.h; "": nothing is noted */
	char		  field[JUDGE_FIELD_BYTES];	/* or a file */
	char		  file[SPOOL_NAME_BYTES];
	uint64_t	  bytes;
	uint32_t	  crc;
};

/* Set the trusted sealer that saw it pass. */
void judge_answer_set_sealer(struct judge_answer *answer,
    struct slice domain);
/* Add a signer, if there is room for it. */
void judge_answer_add_signer(struct judge_answer *answer,
    struct slice domain);
/* Set what reports to the author's domain need. */
void judge_answer_set_report(struct judge_answer *answer,
    const struct dmarc_note *note);
/* Set a name; one that is too long, or none, is left out. */
void judge_name_set(struct slice name, char out[JUDGE_NAME_BYTES]);
/* Set why a chain did not pass, whatever bytes that has. */
void judge_why_set(struct slice why, char out[JUDGE_WHY_BYTES]);
/* Set the field, which has no LF at its end; 0; -1: it is too long. */
int judge_answer_set_field(struct judge_answer *answer, struct slice field);
/* Append the answer. */
void judge_answer_add(struct str *out, const struct judge_answer *answer);
/* Read one.  0; -1: it is none. */
int judge_answer_parse(struct slice line, struct judge_answer *out);

/* Append, read the answer to a question about SPF alone: at is the name of the
 * record, which borrows from the line, or empty.  0; -1: malformed. */
void judge_spf_add(struct str *out, enum origin spf, struct slice at);
int judge_spf_parse(struct slice line, enum origin *out, struct slice *out_at);

#endif
