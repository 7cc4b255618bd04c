/* postfix.c - a queue file of Postfix
 *
 * In     records: a type, a length in groups of 7 bits, the lowest first, and
 *        its bytes; the envelope up to M, the text up to X, what was taken
 *        out of the header up to E; p continues elsewhere in the file
 * Out    the envelope of the recipients that wait; the text
 * Trusts no length, no pointer and no type: a pointer that leads in circles
 *        ends when there were more records than the file can have
 * Spec   zmailer-import(8)
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "base/mem.h"
#include "tools/zmailer/import/queue/old.h"

#include "base/banned.h"

enum segment { SEGMENT_ENVELOPE, SEGMENT_TEXT, SEGMENT_EXTRACTED,
	SEGMENT_OVER };

struct record {
	char		type;
	size_t		at;		/* of its type in the file */
	struct slice	data;
};
struct records {
	struct slice	file;
	size_t		next, left;	/* records that there may be */
	enum segment	segment;
};

static void
records_begin(struct records *records, struct slice file)
{
	*records = (struct records){ .file = file, .left = file.n / 2 + 1 };
}

/* The length after a type. */
static int
record_length(struct records *records, struct record *out, struct err *err)
{
	uint64_t length = 0;
	unsigned shift = 0;
	unsigned char c;

	do {
		if (records->next == records->file.n || shift > 28)
			return err_set(err, "the record at %zu has no length",
			    out->at);
		c = (unsigned char)records->file.p[records->next++];
		length |= (uint64_t)(c & 127) << shift;
		shift += 7;
	} while (c > 127);
	if (length > records->file.n - records->next)
		return err_set(err, "the record at %zu has %ju bytes, the file "
		    "%zu after it", out->at, (uintmax_t)length,
		    records->file.n - records->next);
	out->data = slice_first(slice_from(records->file, records->next),
	    (size_t)length);
	records->next += (size_t)length;
	return 0;
}

static int
record_go_on(struct records *records, const struct record *record,
    struct err *err)
{
	uint64_t at;

	if (!slice_number(slice_trim(record->data), 0, records->file.n, &at))
		return err_set(err, "the pointer at %zu leads nowhere",
		    record->at);
	if (at > 0)
		records->next = (size_t)at;
	return 0;
}

/* The next record that is not a pointer.  0; -1: the file ends before E. */
static int
record_next(struct records *records, struct record *out, struct err *err)
{
	for (;;) {
		if (records->next == records->file.n)
			return err_set(err, "it ends without its end record");
		if (records->left-- == 0)
			return err_set(err, "its pointers lead in circles");
		out->at = records->next;
		out->type = records->file.p[records->next++];
		if (record_length(records, out, err) != 0)
			return -1;
		if (out->type != 'p')
			return 0;
		if (record_go_on(records, out, err) != 0)
			return -1;
	}
}

/* Does it end a segment?  Types of another segment are an error. */
static int
record_place(struct records *records, const struct record *record,
    struct err *err)
{
	static const char *const known[] = {
		[SEGMENT_ENVELOPE] = "MCTcFILSDRO/WVA>K<ionPrefmd",
		[SEGMENT_TEXT] = "XLNw",
		[SEGMENT_EXTRACTED] = "EDRO/PreAFIL>KonVimd<Ww",
	};

	if (record->type == '\0' || strchr(known[records->segment],
	    record->type) == NULL)
		return err_set(err, "the record at %zu has the type \\x%02x, "
		    "which is not known there", record->at,
		    (unsigned char)record->type);
	if (record->type == 'M')
		records->segment = SEGMENT_TEXT;
	else if (record->type == 'X')
		records->segment = SEGMENT_EXTRACTED;
	else if (record->type == 'E')
		records->segment = SEGMENT_OVER;
	return 0;
}

/* ---- the envelope ------------------------------------------------------ */

struct postfix {
	struct arena		*arena;
	const struct old_files	*files;
	struct old_message	*out;
	struct old_rcpts	 rcpts;
	struct slice		 orcpt;		/* of the next recipient */
	unsigned		 notify;
	struct slice		 redirect;
	struct slice		 client, address;
	bool			 has_sender, has_local;
};

static int
postfix_take_time(struct postfix *it, struct slice data, struct err *err)
{
	struct slice word;
	uint64_t s = 0, us = 0;

	if (!slice_word(&data, &word) ||
	    !slice_number(word, 1, UINT32_MAX, &s) ||
	    (slice_word(&data, &word) && !slice_number(word, 0, 999999, &us)))
		return err_set(err, "the time of its arrival is none");
	it->out->arrived_us = (int64_t)(s * 1000000 + us);
	return 0;
}

/* "size offset recipients flags length", since 3.0 a sixth word. */
static int
postfix_take_sizes(struct postfix *it, struct slice data, struct err *err)
{
	struct slice word;
	uint64_t value;

	for (int i = 0; i < 6 && slice_word(&data, &word); i++) {
		if (!slice_number(word, 0, INT64_MAX, &value))
			return err_set(err, "its first record has no sizes");
		if (i == 5 && value > 0)
			it->out->envelope.terms.is_utf8 = (value & 15) != 0;
		if (i == 5 && value > 15)
			old_lost_add(it->out, "options beyond SMTPUTF8");
	}
	return 0;
}

static int
postfix_take_notify(struct postfix *it, struct slice data, struct err *err)
{
	uint64_t flags;

	if (!slice_number(slice_trim(data), 0, 15, &flags))
		return err_set(err, "NOTIFY is none");
	it->notify = (unsigned)flags;	/* the bits are the same */
	if ((flags & DSN_NOTIFY_NEVER) != 0)
		it->notify = DSN_NOTIFY_NEVER;
	return 0;
}

static int
postfix_take_ret(struct postfix *it, struct slice data, struct err *err)
{
	uint64_t flags;

	if (!slice_number(slice_trim(data), 0, 3, &flags))
		return err_set(err, "RET is none");
	it->out->envelope.ret = flags == 1 ? DSN_RET_FULL :
	    flags == 2 ? DSN_RET_HDRS : DSN_RET_DEFAULT;
	return 0;
}

/* NAME=VALUE: few of them are the message's and not the session's. */
static int
postfix_take_attribute(struct postfix *it, struct slice data, struct err *err)
{
	size_t at = slice_find(data, '=');
	struct slice name = slice_first(data, at);
	struct slice value = slice_from(data, at + 1);

	if (slice_is(name, "sasl_username"))
		old_user(it->arena, value, it->out);
	else if (slice_is(name, "client_name") && !slice_is(value, "unknown"))
		it->client = value;
	else if (slice_is(name, "client_address") &&
	    !slice_is(value, "unknown"))
		it->address = value;
	else if (slice_is(name, "dsn_orig_rcpt"))
		it->orcpt = value;
	else if (slice_is(name, "notify_flags"))
		return postfix_take_notify(it, value, err);
	else if (slice_is(name, "envelope_id"))
		old_envid(it->arena, value, false, it->out);
	else if (slice_is(name, "ret_flags"))
		return postfix_take_ret(it, value, err);
	return 0;
}

static int
postfix_take_rcpt(struct postfix *it, const struct record *record,
    struct err *err)
{
	struct envelope_rcpt *rcpt;

	if (record->type != 'R') {
		it->out->done++;
	} else {
		rcpt = old_rcpt_add(&it->rcpts);
		if (rcpt == NULL)
			return err_set(err, "more than %d recipients",
			    OLD_RCPTS_MAX);
		if (old_address_plain(it->arena, record->data, &rcpt->path,
		    err) != 0)
			return err_prefix(err, "recipient");
		rcpt->notify = it->notify;
		old_orcpt(it->arena, it->orcpt, false, it->out, &rcpt->orcpt);
	}
	it->orcpt = slice_first(it->orcpt, 0);
	it->notify = 0;
	return 0;
}

static int
postfix_take_sender(struct postfix *it, struct slice data, struct err *err)
{
	if (it->has_sender)
		return err_set(err, "it has two senders");
	it->has_sender = true;
	return old_sender(it->arena, data, true, &it->out->envelope, err);
}

static int
postfix_take_record(struct postfix *it, const struct record *record,
    struct err *err)
{
	switch (record->type) {
	case 'C':
		return postfix_take_sizes(it, record->data, err);
	case 'T':
		return postfix_take_time(it, record->data, err);
	case 'S':
		return postfix_take_sender(it, record->data, err);
	case 'A':
		return postfix_take_attribute(it, record->data, err);
	case 'R':
	case 'D':
	case '/':
		return postfix_take_rcpt(it, record, err);
	case 'o':
		it->orcpt = record->data;
		return 0;
	case 'n':
		return postfix_take_notify(it, record->data, err);
	case 'i':
		old_envid(it->arena, record->data, false, it->out);
		return 0;
	case '<':
		return postfix_take_ret(it, record->data, err);
	case 'V':
		it->out->envelope.terms.is_verp = true;
		return 0;
	case '>':
		it->redirect = record->data;
		return 0;
	case 'L':
		old_lost_add(it->out, "the content filter that it was to pass");
		return 0;
	default:
		return 0;
	}
}

/* By one of their rules, all recipients that wait count as one. */
static int
redirect_take(struct postfix *it, struct err *err)
{
	struct envelope *envelope = &it->out->envelope;

	if (it->redirect.n == 0 || envelope->rcpt_count == 0)
		return 0;
	envelope->rcpt_count = 1;
	memset(&envelope->rcpts[0], 0, sizeof(envelope->rcpts[0]));
	if (old_address_plain(it->arena, it->redirect,
	    &envelope->rcpts[0].path, err) != 0)
		return err_prefix(err, "redirected");
	return 0;
}

static int
postfix_records(struct postfix *it, struct err *err)
{
	struct records records;
	struct record record;
	enum segment before;

	records_begin(&records, it->files->main);
	while (records.segment != SEGMENT_OVER) {
		before = records.segment;
		if (record_next(&records, &record, err) != 0 ||
		    record_place(&records, &record, err) != 0)
			return -1;
		/* what is left of a text that was replaced is w, too */
		if (before == records.segment && before != SEGMENT_TEXT &&
		    postfix_take_record(it, &record, err) != 0)
			return -1;
	}
	return it->has_sender ? 0 : err_set(err, "it has no sender");
}

/* What a program left in maildrop/ was not seen by Postfix's cleanup: it is
 * ours to complete, as sendmail(1) is. */
static void
postfix_origin(struct postfix *it)
{
	struct envelope *envelope = &it->out->envelope;
	struct slice file = it->files->main;

	it->has_local = file.n > 0 && file.p[0] != 'C';
	envelope->is_external = !it->has_local;
	if (it->has_local)
		envelope->with = SLICE(ENVELOPE_LOCAL);
	old_came_from(it->arena, "postfix", it->files->id, it->client,
	    it->address, envelope);
}

static int
postfix_read(struct arena *arena, const struct old_files *files,
    struct old_message *out, struct err *err)
{
	struct postfix it = { .arena = arena, .files = files, .out = out };

	out->arrived_us = files->mtime_s * 1000000;
	if (postfix_records(&it, err) != 0) {
		mem_free(&it.rcpts.rows);
		return -1;
	}
	old_rcpts_take(arena, &it.rcpts, &out->envelope);
	postfix_origin(&it);
	return redirect_take(&it, err);
}

/* ---- the text ---------------------------------------------------------- */

static int
postfix_copy(const struct old_files *files, const struct old_message *message,
    struct old_sink *sink, struct err *err)
{
	struct records records;
	struct record record;
	enum segment before;

	(void)message;
	records_begin(&records, files->main);
	while (records.segment != SEGMENT_OVER) {
		before = records.segment;
		if (record_next(&records, &record, err) != 0 ||
		    record_place(&records, &record, err) != 0)
			return -1;
		if (before != SEGMENT_TEXT ||
		    (record.type != 'N' && record.type != 'L'))
			continue;
		if (old_sink_add(sink, record.data, err) != 0 ||
		    (record.type == 'N' && old_sink_add(sink, SLICE("\n"),
		    err) != 0))
			return -1;
	}
	return old_sink_end(sink, err);
}

const struct old_kind old_postfix = {
	.name = "postfix",
	.stop = "postfix stop",
	.empty = "postsuper -d ALL",
	.read = postfix_read,
	.copy = postfix_copy,
};
