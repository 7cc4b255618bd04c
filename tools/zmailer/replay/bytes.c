/* bytes.c - messages that were kept, read by the router again
 *
 * In     ends of messages in the record; SPOOL/record; the router's own code
 *        under both configurations
 * Out    a row for each message whose header meets another fate
 * Holds  one line; two answers
 * Trusts nothing in a line
 * Spec   zmailer-replay(8); router/ask/bytes.h
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "base/json.h"
#include "past/names.h"
#include "tools/journal/record_bodies.h"
#include "tools/journal/record_files.h"
#include "tools/zmailer/replay/partner.h"
#include "tools/zmailer/replay/replay.h"

#include "base/banned.h"

enum { HEADER_SHOWN_BYTES = 200 };

struct seen_bytes {		/* an answer of the router */
	struct str	fate, why, words, wrongs, header, bad;
	bool		is_copied;
};

struct rereading {
	struct replay	*replay;
	struct partner	 old, fresh;
	uint64_t	 missing;	/* nobody kept their bytes */
};

static void
seen_init(struct seen_bytes *seen)
{
	str_init(&seen->fate);
	str_init(&seen->why);
	str_init(&seen->words);
	str_init(&seen->wrongs);
	str_init(&seen->header);
	str_init(&seen->bad);
	seen->is_copied = false;
}

static void
seen_release(struct seen_bytes *seen)
{
	str_release(&seen->fate);
	str_release(&seen->why);
	str_release(&seen->words);
	str_release(&seen->wrongs);
	str_release(&seen->header);
	str_release(&seen->bad);
}

static int
seen_ask(struct partner *partner, struct slice question,
    struct seen_bytes *out, struct err *err)
{
	struct slice said;

	if (partner_ask(partner, question, &said, err) < 0)
		return -1;
	(void)json_get(said, "fate", &out->fate);
	(void)json_get(said, "why", &out->why);
	(void)json_get(said, "words", &out->words);
	(void)json_get(said, "wrongs", &out->wrongs);
	(void)json_get(said, "header", &out->header);
	(void)json_get(said, "bad", &out->bad);
	out->is_copied = json_is(said, "copied", "true");
	return 0;
}

static bool
str_is_equal(const struct str *a, const struct str *b)
{
	return slice_equal(str_slice(a), str_slice(b));
}

/* The words of trouble name files and lines, which may have moved. */
static bool
seen_equal(const struct seen_bytes *a, const struct seen_bytes *b)
{
	return str_is_equal(&a->fate, &b->fate) &&
	    str_is_equal(&a->why, &b->why) &&
	    str_is_equal(&a->wrongs, &b->wrongs) &&
	    a->is_copied == b->is_copied &&
	    str_is_equal(&a->header, &b->header);
}

/* The first line of the header that the other one has not at this place. */
static struct slice
header_line_other(const struct seen_bytes *seen, const struct seen_bytes *than)
{
	struct slice rest = str_slice(&seen->header), other =
	    str_slice(&than->header), line = { "", 0 }, beside;

	while (rest.n > 0 && slice_cut(&rest, '\n', &line)) {
		if (!slice_cut(&other, '\n', &beside) ||
		    !slice_equal(line, beside))
			break;
		line = SLICE("");
	}
	return slice_first(line, HEADER_SHOWN_BYTES);
}

static void
seen_add(struct str *out, const struct seen_bytes *seen,
    const struct seen_bytes *than)
{
	struct slice line = header_line_other(seen, than);

	str_add_slice(out, str_slice(&seen->fate));
	if (seen->why.len > 0)
		str_addf(out, " (%s)", seen->why.buf);
	if (seen->words.len > 0)
		str_addf(out, ": %s", seen->words.buf);
	if (!str_is_equal(&seen->wrongs, &than->wrongs) ||
	    seen->is_copied != than->is_copied)
		str_addf(out, "; %s%s", seen->wrongs.len > 0 ?
		    seen->wrongs.buf : "nothing wrong with its header",
		    seen->is_copied ? ", a copy in postman/" : "");
	if (!str_is_equal(&seen->header, &than->header))
		str_addf(out, "; header line \"" SLICE_FMT "\"",
		    SLICE_ARG(line));
}

/* What a person looks at first. */
static const char *
bytes_rule(const struct replay *replay, const struct seen_bytes *before,
    const struct seen_bytes *after)
{
	bool is_header_check = !str_is_equal(&before->wrongs,
	    &after->wrongs) || before->is_copied != after->is_copied;

	if (!str_is_equal(&before->fate, &after->fate) ||
	    !str_is_equal(&before->why, &after->why) || !is_header_check)
		return replay->fresh->hooks.script != NULL ||
		    replay->old->hooks.script != NULL ?
		    "on_header of the script, or a rule that rewrites" :
		    "a rule that reads or rewrites the header";
	return "header-check, header-repair";
}

static void
bytes_row(struct slice line, struct str texts[3],
    struct difference *out)
{
	static const char *const keys[] = { "t", "from", "to" };

	for (int i = 0; i < 3; i++) {
		str_init(&texts[i]);
		(void)json_get(line, keys[i], &texts[i]);
	}
	*out = (struct difference){ .kind = "header",
	    .when = str_slice(&texts[0]), .from = str_slice(&texts[1]),
	    .to = str_slice(&texts[2]) };
}

static void
bytes_tell(struct rereading *rereading, struct slice line,
    const struct seen_bytes *before, const struct seen_bytes *after)
{
	struct str texts[3], was = STR_INIT, is = STR_INIT;
	struct difference difference;

	bytes_row(line, texts, &difference);
	seen_add(&was, before, after);
	seen_add(&is, after, before);
	difference.before = str_slice(&was);
	difference.after = str_slice(&is);
	difference.rule = slice_of(bytes_rule(rereading->replay, before,
	    after));
	replay_tell(rereading->replay, &difference);
	for (int i = 0; i < 3; i++)
		str_release(&texts[i]);
	str_release(&was);
	str_release(&is);
}

/* Nobody kept the bytes, and what reads them is not what it was. */
static void
bytes_tell_missing(struct rereading *rereading, struct slice line)
{
	struct str texts[3];
	struct difference difference;

	rereading->missing++;
	bytes_row(line, texts, &difference);
	difference.before = SLICE("accepted");
	difference.after = SLICE("unknown: its bytes were not kept");
	difference.rule = SLICE("on_header, header-check or header-repair");
	replay_tell_unknown(rereading->replay, &difference);
	for (int i = 0; i < 3; i++)
		str_release(&texts[i]);
}

static bool
texts_differ(const char *a, const char *b)
{
	return a == NULL || b == NULL ? a != b : strcmp(a, b) != 0;
}

static bool
header_rules_differ(const struct replay *replay)
{
	const struct conf *old = replay->old, *fresh = replay->fresh;

	return texts_differ(old->hooks.script, fresh->hooks.script) ||
	    old->header_check != fresh->header_check ||
	    old->header_repair != fresh->header_repair;
}

static int
bytes_compare(struct rereading *rereading, struct slice line,
    const char *path, struct err *err)
{
	struct seen_bytes before, after;
	struct str question = STR_INIT;
	int result;

	seen_init(&before);
	seen_init(&after);
	str_addf(&question, "bytes %s", path);
	result = seen_ask(&rereading->old, str_slice(&question), &before,
	    err);
	if (result == 0)
		result = seen_ask(&rereading->fresh, str_slice(&question),
		    &after, err);
	rereading->replay->seen++;
	if (result == 0 && before.bad.len + after.bad.len > 0)
		rereading->replay->left_out++;
	else if (result == 0)
		rereading->replay->with_bytes++;
	if (result == 0 && before.bad.len + after.bad.len == 0 &&
	    !seen_equal(&before, &after))
		bytes_tell(rereading, line, &before, &after);
	seen_release(&before);
	seen_release(&after);
	str_release(&question);
	return result;
}

/* Messages that were passed to the router then. */
static int
bytes_line(struct rereading *rereading, struct slice line, struct err *err)
{
	const struct replay *replay = rereading->replay;
	struct str id = STR_INIT, path = STR_INIT;
	int result = 0;

	if (!json_is(line, "at", "data") ||
	    json_get_number(line, "code") / 100 != 2 ||
	    json_is(line, "discarded", "yes") || !json_get(line, "id", &id))
		return 0;
	if (record_body_find(replay->old->spool_dir, str_slice(&id),
	    journal_line_ms(line), &path))
		result = bytes_compare(rereading, line, path.buf, err);
	else if (replay->old->record_bodies_max_bytes > 0 &&
	    header_rules_differ(replay))
		bytes_tell_missing(rereading, line);
	str_release(&id);
	str_release(&path);
	return result;
}

static int
bytes_read(struct rereading *rereading, struct record_reader *reader,
    struct err *err)
{
	static const char *const words[] = { "--ask", NULL };
	const struct replay *replay = rereading->replay;
	struct slice line;
	int result = partner_start(&rereading->old, "router", words,
	    replay->old->path, err);

	if (result == 0)
		result = partner_start(&rereading->fresh, "router", words,
		    replay->fresh_path, err);
	while (result == 0 && record_reader_next(reader, &line))
		result = bytes_line(rereading, line, err);
	partner_end(&rereading->old);
	partner_end(&rereading->fresh);
	return result;
}

int
replay_bytes(struct replay *replay, struct err *err)
{
	struct rereading rereading = { .replay = replay };
	struct record_reader *reader;
	uint64_t all, done;
	int result = 0;

	if (record_reader_open(replay->old->log_dir, &replay->span, &reader,
	    err) < 0)
		return -1;
	record_reader_progress(reader, &all, &done);
	if (all > 0)
		result = bytes_read(&rereading, reader, err);
	record_reader_close(&reader);
	return result;
}
