/* control_file.h - the control file: what is to be done, and what came of it
 *
 * Reference: doc/man/zmailer-control.5.  The router writes the head once, with
 * its length and checksum in its first line.  Records are appended after it,
 * each by one write(2) on an O_APPEND descriptor: a record begins with a
 * newline, has a checksum, and does not cross a 4096-byte boundary (newlines
 * pad it).  Torn bytes and NULs are not records and hide none.  The last
 * record of a recipient is its state.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_MAIL_CONTROL_FILE_H
#define ZM_MAIL_CONTROL_FILE_H

#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/str.h"
#include "grammar/smtp/dsn.h"
#include "mail/spool/spool.h"
#include "mail/terms.h"
#include "mail/verdict.h"

enum {
	/* a longer text is cut to fit */
	CONTROL_RECORD_BYTES_MAX = 1024,
	CONTROL_BYTES_MAX = 512 << 20,	/* a million recipients and more */
	CONTROL_PAGE_BYTES = 4096,
	CONTROL_FIRST_LINE_BYTES = 22	/* "@ 1 00001234 9f8e7d6c\n" */
};

enum control_record_kind {
	RECORD_OUTCOME,		/* a verdict of an attempt */
	/* the report about the outcome is durable */
	RECORD_REPORTED,
	RECORD_DELAY_NOTICE,	/* a notice of delay is durable */
	/* what an operator (or on-exhaust) ordered about a recipient; the
	 * verdict's who and text say who ordered it and why */
	RECORD_HELD,		/* until next_s; 0: until released */
	RECORD_RELEASED,
	RECORD_FROZEN,
	RECORD_THAWED,		/* tries and life start anew */
	RECORD_CANCELLED,		/* deleted: final, never reported */
	RECORD_RESTORED,
	RECORD_RETRY_AT,		/* next_s: the next try */
	RECORD_EXPIRE_AT,		/* next_s: when it is given up */
	RECORD_REOPENED,	/* failed, not yet reported: open again; tries
				 * and life start anew */
	RECORD_STEP,		/* a step of the recipient's own is done:
				 * control_steps */
	RECORD_KINDS
};

struct control_record {
	enum control_record_kind	kind;
	uint32_t		rcpt_offset;	/* of its r line in the file */
	int64_t			time_s;		/* wall */
	unsigned		tries;		/* attempts so far */
	int64_t			next_s;		/* deferred: next try; failed:
						 * when it is reported, 0: as
						 * `keep failed` says; orders:
						 * as above; else 0 */
	struct verdict		verdict;	/* orders: only who and text */
};

/* Another way to a recipient, taken when the one before it has failed: an X
 * line after the recipient's. */
struct control_way {
	uint32_t	offset;		/* of the X line */
	struct slice	channel, host, user;
	int64_t		uid;
	int64_t		after_s;	/* how long the way before it is
					 * tried; 0: until it has failed */
};
enum {
	CONTROL_WAYS_MAX = 8,		/* of a recipient, r line included */
	CONTROL_UID_NOBODY = -2		/* in no user's name */
};

struct control_rcpt {
	uint32_t	offset;		/* of the r line, which identifies it;
					 * or of the X line in force */
	struct slice	channel, host, user;
	int64_t		uid;		/* privilege; -2 is nobody */
	unsigned	notify;
	struct slice	orcpt;		/* as given, or empty */
	struct slice	given;		/* xtext of the address that became it,
					 * if ORCPT does not say it */
	const struct control_way *ways;	/* those left, in order */
	size_t		way_count;
	int64_t		way_since_s;	/* wall, when an earlier way had
					 * failed; 0: it is the first */
	uint32_t	first_offset;	/* of the r line */
	struct slice	zone;		/* named by its route, or empty */
	/* from the records, by control_file_parse: */
	bool		is_final;	/* outcome (all but deferred), or
					 * cancelled */
	bool		is_cancelled;	/* last may be NULL or deferred */
	bool		is_held, is_frozen;
	bool		is_reopened;	/* after its last outcome, a failure,
					 * which is shown as deferred */
	bool		is_scheduled;	/* next_s is an operator's */
	int64_t		hold_until_s;	/* 0: until released */
	int64_t		held_since_s;	/* is_held: its last hold began */
	int64_t		held_s;		/* seconds of holds that are over */
	int64_t		thawed_s;	/* its life counts from then; 0: not */
	int64_t		expire_s;	/* wall; 0: by the clause */
	struct slice	ordered_by, order_reason;	/* of the last order:
					 * held, frozen, cancelled or next_s */
	bool		is_order_of_next;	/* that is next_s */
	bool		is_reported;
	unsigned	delay_notices;
	unsigned	tries;
	int64_t		first_try_s, last_try_s, next_s;
	const struct control_record *last;	/* last outcome, or NULL; of
					 * several, where they had the same
					 * one: its offset is of the first */
};

struct control_group {		/* recipients that share sender and header */
	struct slice	sender;		/* envelope sender as written on the
					 * wire; empty: null sender */
	struct slice	errors_to;	/* an e line of its own, or empty:
					 * see control_group_errors */
	uint32_t	sender_offset;	/* of the s line */
	uint32_t	header_offset;	/* first header byte; the block ends in
					 * a blank line */
	struct slice	header;		/* without that blank line */
	struct control_rcpt *rcpts;
	size_t		rcpt_count;
};

struct control_file {
	char		id[SPOOL_ID_BYTES];
	ino_t		inode;		/* of the body file when planned */
	uint64_t	body_offset;	/* of the text after the header */
	uint64_t	size_bytes;	/* of the message, header and body */
	struct slice	msgid;		/* for the log */
	struct slice	errors_to;	/* the sender as it came: reports go
					 * there if a group names nobody;
					 * empty: nowhere */
	struct slice	envid;
	enum dsn_ret	ret;
	struct slice	bodytype;
	struct slice	user;		/* who submitted */
	struct slice	source;		/* those who take turns: user, else
					 * client address, else domain */
	struct terms	terms;
	struct control_group *groups;
	size_t		group_count;
	/* when parsed */
	size_t		head_bytes;
	size_t		rcpt_total, final_total;
	size_t		cancelled_total;	/* of the final ones */
	size_t		report_records;	/* reported and delay-notice records,
					 * for spool_dsn_name */
};

/* Append the head to out; fills in all offsets of the control file's groups and
 * recipients.  returns 0; -1 when a value cannot be written in a line. */
int control_file_format(struct control_file *control, struct str *out,
    struct err *err);

/* The same piece by piece, for a head that is too large for memory: begin,
 * common, then for each group sender, recipients and header (consecutive groups
 * may share one header after the last), end.  Between any two calls the bytes
 * in out can be written to a file and taken. */
struct control_writer {
	struct str	*out;
	uint64_t	 taken;		/* bytes that were in out before */
	uint32_t	 crc;		/* of these, without the first line */
};
/* out is emptied. */
void control_writer_begin(struct control_writer *writer, struct str *out);
/* The lines before the first s line; groups are ignored.
 * As control_file_format. */
int control_writer_common(struct control_writer *writer,
    const struct control_file *control,
    struct err *err);
/* An s line, and an e line if errors_to is not empty.
 * As control_file_format. */
int control_writer_sender(struct control_writer *writer, struct slice sender,
    struct slice errors_to, uint32_t *out_offset, struct err *err);
/* A recipient's r and N lines, and the X and N lines of its ways; fills in its
 * offset.  As control_file_format. */
int control_writer_rcpt(struct control_writer *writer,
    struct control_rcpt *rcpt,
    struct err *err);
/* An m block.  As control_file_format. */
int control_writer_header(struct control_writer *writer, struct slice header,
    uint32_t *out_offset, struct err *err);
/* Instead of a header: use the one that was written at offset.
 * As control_file_format. */
int control_writer_header_again(struct control_writer *writer, uint32_t offset,
    struct err *err);
/* The checksum up to the first n bytes of out. */
uint32_t control_writer_crc(const struct control_writer *writer, size_t n);
/* The bytes in out have been written to the file: out is emptied. */
void control_writer_take(struct control_writer *writer);
/* The head is complete: make its first line, with a NUL.  It is put into out if
 * nothing was taken; else the caller writes it over the first bytes of the
 * file. */
void control_writer_end(struct control_writer *writer,
    char out_first[CONTROL_FIRST_LINE_BYTES + 1]);
/* Append a record, after the head. */
void control_writer_record(struct control_writer *writer, const char *id,
    const struct control_record *record);

/* Read a whole control file: head and records.  Everything borrows from
 * file or lives in the arena.
 * returns 0; -1: not a control file, or its head is damaged. */
int control_file_parse(struct arena *arena, struct slice file,
    struct control_file *out,
    struct err *err);

/* The offset by which a failure record is final, whatever ways are left. */
uint32_t control_rcpt_end_offset(const struct control_rcpt *rcpt);

/* Where reports about a group's recipients go: as its e line says, else to its
 * sender; nowhere (empty) if the message came without a sender. */
struct slice control_group_errors(const struct control_file *control,
    const struct control_group *group);

/* The group that a recipient with this offset is of; NULL: it is before all. */
const struct control_group *control_group_at(
    const struct control_file *control, uint32_t offset);
/* The recipient with this offset, or NULL. */
const struct control_rcpt *control_rcpt_at(const struct control_file *control,
    uint32_t offset);

/* Has it failed, and is that not yet reported?  Then an operator may reopen
 * it. */
bool control_rcpt_is_failed(const struct control_rcpt *rcpt);
/* Until when a failed recipient is kept before it is reported (`keep failed`,
 * keep_s; wall).  0: it is not kept, or no longer at now_s. */
int64_t control_rcpt_kept_until_s(const struct control_rcpt *rcpt,
    int64_t keep_s, int64_t now_s);

/* Do operators let it be tried?  It is neither frozen nor held at now_s. */
bool control_rcpt_is_free(const struct control_rcpt *rcpt, int64_t now_s);
/* For how many seconds its life has stood still or will: the time of its holds,
 * up to the end of the present one; a present hold without an end does not
 * count yet. */
int64_t control_rcpt_held_s(const struct control_rcpt *rcpt);

/* Read only the first line: returns the head's length; 0: it is not one. */
size_t control_file_head_bytes(struct slice file);

/* Check that the head is as the router wrote it, for a caller that reads only
 * some lines of it.  0; -1: it is damaged, or cannot be read. */
int control_file_check(int fd, struct err *err);

/* Read the n bytes (0: there are none) at a place of fd into *out: are they a
 * whole control file of message id, whose body of so many bytes it fits?  For
 * who has one from an archive or another node; the arena is reset. */
bool control_file_read_of(struct arena *arena, int fd, uint64_t at, size_t n,
    const char *id, uint64_t body_bytes, struct str *out);

/* Write a whole control file again with other recipients.  change is called
 * once with group and rcpt NULL, for what belongs to all, then for each
 * recipient, as the head has it: it may change channel, host, user, uid and
 * way_count (to 0), and says whether it did.  Records follow their recipients;
 * those of ways that are left out become the recipient's.  The arena has what
 * was read.
 * returns 0: out has it, or is empty, because nothing was changed; -1: err */
typedef bool control_change_fn(void *context, struct control_file *control,
    struct control_group *group, struct control_rcpt *rcpt);
int control_file_rewrite(struct arena *arena, struct slice file,
    control_change_fn *change, void *context, struct str *out,
    struct err *err);

/* Read all of fd (at most max_bytes) into *out from offset 0. 0 or -1. */
int control_file_read(int fd, size_t max_bytes, struct str *out,
    struct err *err);
/* The same of the first 16 KiB.  *out_is_all: there is no more. */
int control_file_read_front(int fd, struct str *out, bool *out_is_all,
    struct err *err);

/* Append records in one write (more only when they exceed a page), each padded
 * as said above.  They are not synced.  After a short write the rest of the
 * group is written again on a new line.  returns 0 or -1. */
int control_file_append(int control_fd, const char *id,
    const struct control_record *records, size_t count, struct err *err);

/* Steps that an agent did for a recipient and that must not be done again:
 * fn is called for each such record from *inout_offset on (0: the first), which
 * is moved past the last whole one.  0 or -1. */
typedef void control_step_fn(void *context, uint32_t rcpt_offset,
    struct slice step);
int control_steps(int control_fd, const char *id, uint64_t *inout_offset,
    control_step_fn *fn, void *context, struct err *err);
/* Append such a record; step: a word.  0 or -1. */
int control_step_note(int control_fd, const char *id, uint32_t rcpt_offset,
    const char *step, struct err *err);

/* ---- a job as an agent sees it (doc/protocol/agent.md) -------------- */

struct control_job {
	char		id[SPOOL_ID_BYTES];
	struct slice	host;
	struct slice	sender;
	struct slice	header;		/* CR-less, without the blank line */
	struct slice	bodytype, envid;
	struct terms	terms;
	enum dsn_ret	ret;
	uint64_t	body_offset;
	uint64_t	size_bytes;
	int		control_fd;	/* borrowed; for control_steps */
	struct control_rcpt *rcpts;	/* with channel, host, user, uid,
					 * notify, orcpt, offset and tries */
	size_t		rcpt_count;
	bool		is_checked;	/* as by control_file_check: all of the
					 * head was read on the way */
};

/* Append the line that the scheduler sends:
 * "<inode>/<id>\t<host>\t<sender-off>,<header-off>,<tries>\t<off>,<off>..."
 * tries: attempts made before this one. */
void control_job_add(struct str *out, const char *name, const char *id,
    struct slice host, uint32_t sender_offset, uint32_t header_offset,
    unsigned tries, const uint32_t *rcpt_offsets, size_t count);

/* Read the job's lines of the control file into the arena.
 * returns 0; -1: the file does not fit the job (answer "#resync"). */
int control_job_load(struct arena *arena, struct slice job_line, int control_fd,
    struct control_job *out, struct err *err);

#endif
