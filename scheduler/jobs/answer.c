/* answer.c - one line of a transport agent, taken apart
 *
 * In     bytes from a process that may be taken over
 * Out    a struct answer whose fields fit their bounds, or an error
 * Holds  nothing
 * Trusts nothing
 * Spec   doc/protocol/agent.md
 *
 * SPDX-License-Identifier: ISC
 */
#include "mail/spool/spool.h"
#include "scheduler/jobs/answer.h"

#include "base/banned.h"

enum {
	NEXT_S_MAX = 366 * 86400,
	MX_BYTES_MAX = 256
};

/* "D/J/4711" -> 4711; the letters are checked against the real name when the
 * job is looked up. */
static int
answer_parse_name(struct slice name, ino_t *out_inode, struct err *err)
{
	struct slice last = name;
	uint64_t inode;

	while (slice_find(last, '/') < last.n)
		last = slice_from(last, slice_find(last, '/') + 1);
	if (name.n >= SPOOL_NAME_BYTES ||
	    !slice_number(last, 1, UINT64_MAX, &inode))
		return err_set(err, "the name of the job is none");
	*out_inode = (ino_t)inode;
	return 0;
}

static int
answer_parse_place(struct slice place, struct answer *out, struct err *err)
{
	size_t cut = place.n;
	uint64_t offset;

	while (cut > 0 && place.p[cut - 1] != '/')
		cut--;
	if (cut == 0)
		return err_set(err, "there is no slash before the offset");
	if (!slice_number(slice_from(place, cut), 1, UINT32_MAX, &offset))
		return err_set(err, "the offset is no number");
	out->name = slice_first(place, cut - 1);
	out->offset = (uint32_t)offset;
	return answer_parse_name(out->name, &out->inode, err);
}

static int
answer_parse_next(struct slice next, struct answer *out, struct err *err)
{
	uint64_t seconds;

	out->has_next = false;
	if (slice_is(next, "-"))
		return 0;
	if (!slice_starts(next, "+") ||
	    !slice_number(slice_from(next, 1), 0, NEXT_S_MAX, &seconds))
		return err_set(err, "NEXT is neither - nor +seconds");
	out->has_next = true;
	out->next_s = (int64_t)seconds;
	return 0;
}

/* RFC 3463 section 2: class "." subject "." detail, up to three digits each.
 * Whether the class fits the kind is not asked: a peer may say "550 4.7.1". */
static bool
answer_is_status(struct slice status)
{
	struct slice rest = status, piece;
	uint64_t number;
	size_t pieces = 0;

	if (status.n < 5 || status.n > 9 ||
	    (status.p[0] != '2' && status.p[0] != '4' && status.p[0] != '5') ||
	    status.p[1] != '.')
		return false;
	while (slice_cut(&rest, '.', &piece)) {
		if (piece.n > 3 || !slice_number(piece, 0, 999, &number))
			return false;
		pieces++;
	}
	return pieces == 3;
}

static int
answer_parse_outcome(struct slice words, struct answer *out, struct err *err)
{
	struct slice name;
	int kind;

	if (!slice_cut(&words, ' ', &name) || words.p == NULL)
		return err_set(err, "KIND and STATUS are missing");
	out->host_trouble = slice_is(name, "deferall");
	kind = out->host_trouble ? VERDICT_DEFERRED : verdict_kind_parse(name);
	if (kind < 0)
		return err_set(err, "the kind is none");
	out->verdict = (enum verdict_kind)kind;
	out->status = words;
	if (!answer_is_status(words))
		return err_set(err, "the status is none");
	return 0;
}

/* One line, printable as it is: UTF-8 passes, controls do not. */
static int
answer_check_words(struct slice words, size_t most, const char *field,
    struct err *err)
{
	if (words.n >= most)
		return err_set(err, "%s is too long", field);
	for (size_t i = 0; i < words.n; i++)
		if ((unsigned char)words.p[i] < ' ' || words.p[i] == 0x7f)
			return err_set(err, "%s has a control character",
			    field);
	return 0;
}

static int
answer_parse_verdict(struct slice line, struct answer *out, struct err *err)
{
	struct slice rest = line, place, next, outcome, who;

	if (!slice_cut(&rest, '\t', &place) ||
	    !slice_cut(&rest, '\t', &next) ||
	    !slice_cut(&rest, '\t', &outcome) ||
	    !slice_cut(&rest, '\t', &who) || rest.p == NULL)
		return err_set(err, "it has less than five fields");
	out->kind = ANSWER_VERDICT;
	out->who = who;
	out->text = rest;
	if (answer_parse_place(place, out, err) < 0 ||
	    answer_parse_next(next, out, err) < 0 ||
	    answer_parse_outcome(outcome, out, err) < 0 ||
	    answer_check_words(who, VERDICT_WHO_BYTES, "WHO", err) < 0)
		return -1;
	return answer_check_words(rest, VERDICT_TEXT_BYTES, "TEXT", err);
}

/* The name that stands for a set of MX hosts: a domain's bytes. */
static int
answer_check_host(struct slice name, struct err *err)
{
	if (name.n == 0 || name.n >= MX_BYTES_MAX)
		return err_set(err, "the MX has no name or a long one");
	for (size_t i = 0; i < name.n; i++)
		if (name.p[i] <= ' ' || name.p[i] == 0x7f ||
		    (unsigned char)name.p[i] >= 0x80)
			return err_set(err, "the name of the MX is none");
	return 0;
}

static int
answer_parse_connected(struct slice rest, struct answer *out, struct err *err)
{
	out->kind = ANSWER_CONNECTED;
	if (!slice_cut(&rest, '\t', &out->who) || rest.p == NULL)
		return err_set(err, "there is no TLS after the peer");
	out->text = rest;
	if (out->who.n == 0)
		return err_set(err, "the peer has no name");
	if (answer_check_words(out->who, VERDICT_WHO_BYTES, "PEER", err) < 0)
		return -1;
	return answer_check_words(out->text, VERDICT_TEXT_BYTES, "TLS", err);
}

static int
answer_parse_warm(struct slice rest, struct answer *out, struct err *err)
{
	out->kind = ANSWER_WARM;
	out->is_open = slice_is(rest, "yes");
	if (out->is_open)
		return 0;
	if (!slice_starts(rest, "no "))
		return err_set(err, "a warm connection is neither yes nor no");
	out->text = slice_from(rest, 3);
	return answer_check_words(out->text, VERDICT_TEXT_BYTES, "TEXT", err);
}

int
answer_parse(struct slice line, struct answer *out, struct err *err)
{
	*out = (struct answer){ .kind = ANSWER_REMARK };
	if (line.n > ANSWER_LINE_BYTES_MAX)
		return err_set(err, "it is longer than %d bytes",
		    ANSWER_LINE_BYTES_MAX);
	if (!slice_starts(line, "#"))
		return answer_parse_verdict(line, out, err);
	if (slice_is(line, "#hungry")) {
		out->kind = ANSWER_HUNGRY;
	} else if (slice_starts(line, "#resync ")) {
		out->kind = ANSWER_RESYNC;
		out->name = slice_from(line, 8);
		return answer_parse_name(out->name, &out->inode, err);
	} else if (slice_is(line, "#closed")) {
		out->kind = ANSWER_CLOSED;
	} else if (slice_starts(line, "#connected ")) {
		return answer_parse_connected(slice_from(line, 11), out, err);
	} else if (slice_starts(line, "#warm ")) {
		return answer_parse_warm(slice_from(line, 6), out, err);
	} else if (slice_starts(line, "#mx ")) {
		out->kind = ANSWER_MX;
		out->name = slice_from(line, 4);
		return answer_check_host(out->name, err);
	}
	return 0;
}
