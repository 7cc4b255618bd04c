/* judge_line.c - what is asked about the origin of a message, and the answer
 *
 * In     lines
 * Out    questions and answers
 * Holds  nothing
 * Trusts neither side: a session may have been taken over, and so may a
 *        process that reads what strangers wrote
 * Spec   judge.h
 *
 * SPDX-License-Identifier: ISC
 */
#include <inttypes.h>
#include <string.h>

#include "base/ascii.h"
#include "base/json.h"
#include "grammar/base64.h"
#include "smtpserver/origin/judge.h"

#include "base/banned.h"

const char judge_kind[] = "origin";

/* A name of a draft: below public/, and nowhere else. */
static bool
judge_is_draft(struct slice name)
{
	if (name.n == 0 || name.n >= SPOOL_NAME_BYTES || name.p[0] == '/')
		return false;
	for (size_t i = 0; i < name.n; i++)
		if (name.p[i] <= ' ' || name.p[i] >= 0x7f ||
		    (name.p[i] == '.' && i + 1 < name.n &&
		    name.p[i + 1] == '.'))
			return false;
	return true;
}

/* ---- questions -------------------------------------------------------- */

void
judge_question_add(struct str *out, const struct judge_question *question)
{
	json_open(out);
	json_text(out, "id", question->id);
	if (question->is_spf_alone)
		json_text(out, "ask", SLICE("spf"));
	json_text(out, "client", question->client_text);
	json_text(out, "helo", question->helo);
	json_text(out, "sender", question->sender);
	if (!question->is_spf_alone) {
		json_text(out, "host", question->host);
		json_text(out, "file", question->file);
		if (question->is_edit)
			json_text(out, "edit", SLICE("yes"));
	}
	json_close(out);
	out->buf[--out->len] = '\0';	/* its LF */
}

static struct slice
judge_question_value(struct arena *arena, struct slice line, const char *key)
{
	struct str value = STR_INIT;
	struct slice copy = { NULL, 0 };

	if (json_get(line, key, &value))
		copy = slice_copy(arena, str_slice(&value));
	str_release(&value);
	return copy;
}

/* What a message has, and SPF does without. */
static int
judge_question_check(const struct judge_question *question, struct err *err)
{
	if (question->host.n == 0 ||
	    memchr(question->host.p, '\0', question->host.n) != NULL)
		return err_set(err, "no name of this host");
	return judge_is_draft(question->file) ? 0 : err_set(err, "no draft");
}

int
judge_question_parse(struct arena *arena, struct slice line,
    struct judge_question *out, struct err *err)
{
	struct sockaddr_storage address;
	socklen_t length;
	struct slice asks = judge_question_value(arena, line, "ask");

	*out = (struct judge_question){
		.is_spf_alone = slice_is(asks, "spf"),
		.id = judge_question_value(arena, line, "id"),
		.client_text = judge_question_value(arena, line, "client"),
		.helo = judge_question_value(arena, line, "helo"),
		.sender = judge_question_value(arena, line, "sender"),
		.host = judge_question_value(arena, line, "host"),
		.file = judge_question_value(arena, line, "file"),
		.is_edit = slice_is(judge_question_value(arena, line, "edit"),
		    "yes"),
	};
	if (out->id.n == 0 || out->id.n >= SPOOL_ID_BYTES)
		return err_set(err, "a message without an id");
	if (asks.n > 0 && !out->is_spf_alone)
		return err_set(err, "it asks for what is not known here");
	if (!out->is_spf_alone && judge_question_check(out, err) != 0)
		return -1;
	if (net_endpoint_parse(out->client_text, 25, &address, &length,
		err) != 0)
		return -1;
	net_of_sockaddr((const struct sockaddr *)&address, &out->client);
	return 0;
}

/* ---- answers ---------------------------------------------------------- */

static bool
judge_is_of_domain(char c)
{
	return ascii_is_alnum(c) || c == '.' || c == '-' || c == '_';
}

/* 0 or -1: it does not fit, or is no name. */
static int
judge_copy_domain(struct slice domain, char *out, size_t room)
{
	if (domain.n >= room)
		return -1;
	for (size_t i = 0; i < domain.n; i++)
		if (!judge_is_of_domain(domain.p[i]))
			return -1;
	if (domain.n > 0)		/* of nothing, p may be NULL */
		memcpy(out, domain.p, domain.n);
	out[domain.n] = '\0';
	return 0;
}

void
judge_answer_set_sealer(struct judge_answer *answer, struct slice domain)
{
	(void)judge_copy_domain(domain, answer->sealer,
	    sizeof(answer->sealer));
}

void
judge_name_set(struct slice name, char out[JUDGE_NAME_BYTES])
{
	if (judge_copy_domain(name, out, JUDGE_NAME_BYTES) != 0)
		out[0] = '\0';
}

void
judge_why_set(struct slice why, char out[JUDGE_WHY_BYTES])
{
	why = slice_first(why, JUDGE_WHY_BYTES - 1);
	for (size_t i = 0; i < why.n; i++)
		out[i] = why.p[i] >= ' ' && why.p[i] < 0x7f ? why.p[i] : '?';
	out[why.n] = '\0';
}

void
judge_answer_add_signer(struct judge_answer *answer, struct slice domain)
{
	size_t n = strlen(answer->signers);

	if (domain.n == 0 || n + domain.n + 2 > sizeof(answer->signers))
		return;
	for (size_t i = 0; i < domain.n; i++)
		if (!judge_is_of_domain(domain.p[i]))
			return;
	if (n > 0)
		answer->signers[n++] = ',';
	memcpy(answer->signers + n, domain.p, domain.n);
	answer->signers[n + domain.n] = '\0';
}

/* A word: bytes that a journal can have. */
static int
judge_copy_report(struct slice text, char out[DMARC_NOTE_BYTES + 1])
{
	if (text.n == 0 || text.n > DMARC_NOTE_BYTES)
		return -1;
	for (size_t i = 0; i < text.n; i++)
		if ((unsigned char)text.p[i] <= ' ' || text.p[i] == 0x7f)
			return -1;
	memcpy(out, text.p, text.n);
	out[text.n] = '\0';
	return 0;
}

void
judge_answer_set_report(struct judge_answer *answer,
    const struct dmarc_note *note)
{
	struct str text = STR_INIT;

	dmarc_note_add(&text, note);
	(void)judge_copy_report(str_slice(&text), answer->report);
	str_release(&text);
}

int
judge_answer_set_field(struct judge_answer *answer, struct slice field)
{
	if (field.n == 0 || field.n >= sizeof(answer->field) ||
	    memchr(field.p, '\0', field.n) != NULL)
		return -1;
	memcpy(answer->field, field.p, field.n);
	answer->field[field.n] = '\0';
	return 0;
}

static void
judge_add_name(struct str *out, const char *key, const char *name)
{
	str_addf(out, "%s=%s ", key, name[0] != '\0' ? name : "-");
}

static void
judge_add_names(struct str *out, const struct judge_names *names)
{
	judge_add_name(out, "spf-at", names->spf);
	judge_add_name(out, "dkim-at", names->dkim);
	judge_add_name(out, "dmarc-at", names->dmarc);
	str_adds(out, "dkim2-why=");
	if (names->dkim2[0] != '\0')
		base64_add(out, slice_of(names->dkim2));
	else
		str_addc(out, '-');
	str_addc(out, ' ');
}

void
judge_answer_add(struct str *out, const struct judge_answer *answer)
{
	str_addf(out, "spf=%s dkim=%s dmarc=%s policy=%s arc=%s dkim2=%s "
	    "sealer=%s signers=%s ",
	    origin_text(answer->spf), origin_text(answer->dkim),
	    origin_text(answer->dmarc),
	    dmarc_policy_text(answer->policy), origin_text(answer->arc),
	    origin_text(answer->dkim2),
	    answer->sealer[0] != '\0' ? answer->sealer : "-",
	    answer->signers[0] != '\0' ? answer->signers : "-");
	judge_add_names(out, &answer->names);
	judge_add_name(out, "report", answer->report);
	if (answer->field[0] != '\0') {
		str_adds(out, "field=");
		base64_add(out, slice_of(answer->field));
	} else {
		str_addf(out, "file=%s bytes=%" PRIu64 " crc=%" PRIu32,
		    answer->file, answer->bytes, answer->crc);
	}
}

static bool
judge_policy_of_text(struct slice text, enum dmarc_policy *out)
{
	for (enum dmarc_policy i = DMARC_NONE; i <= DMARC_REJECT; i++)
		if (slice_is(text, dmarc_policy_text(i))) {
			*out = i;
			return true;
		}
	return false;
}

/* "-", or domains with commas between; as d= writes them. */
static bool
judge_signers_of_text(struct slice text, char out[JUDGE_SIGNERS_BYTES])
{
	if (text.n >= JUDGE_SIGNERS_BYTES)
		return false;
	if (slice_is(text, "-"))
		return true;
	for (size_t i = 0; i < text.n; i++)
		if (!judge_is_of_domain(text.p[i]) && text.p[i] != ',')
			return false;
	memcpy(out, text.p, text.n);
	return true;
}

static bool
judge_field_of_text(struct slice text, struct judge_answer *out)
{
	struct str field = STR_INIT;
	struct err err;
	bool is_good = text.n < 2 * JUDGE_FIELD_BYTES &&
	    base64_decode(text, &field, &err) == 0 &&
	    judge_answer_set_field(out, str_slice(&field)) == 0;

	str_release(&field);
	return is_good;
}

static bool
judge_name_of_text(struct slice text, char out[JUDGE_NAME_BYTES])
{
	return slice_is(text, "-") || (text.n > 0 &&
	    judge_copy_domain(text, out, JUDGE_NAME_BYTES) == 0);
}

static bool
judge_why_of_text(struct slice text, char out[JUDGE_WHY_BYTES])
{
	struct str why = STR_INIT;
	struct err err;
	bool is_good = slice_is(text, "-");

	if (!is_good && text.n < 2 * JUDGE_WHY_BYTES &&
	    base64_decode(text, &why, &err) == 0) {
		judge_why_set(str_slice(&why), out);
		is_good = why.len > 0 && slice_is(str_slice(&why), out);
	}
	str_release(&why);
	return is_good;
}

/* Of the words about names; false: it is none of them. */
static bool
judge_names_word(const char *key, struct slice value,
    struct judge_names *out, bool *out_is_good)
{
	char *name = strcmp(key, "spf-at") == 0 ? out->spf :
	    strcmp(key, "dkim-at") == 0 ? out->dkim :
	    strcmp(key, "dmarc-at") == 0 ? out->dmarc : NULL;

	if (name == NULL && strcmp(key, "dkim2-why") != 0)
		return false;
	*out_is_good = name != NULL ? judge_name_of_text(value, name) :
	    judge_why_of_text(value, out->dkim2);
	return true;
}

static bool
judge_answer_word(const char *key, struct slice value,
    struct judge_answer *out)
{
	uint64_t number = 0;
	bool is_good;

	if (judge_names_word(key, value, &out->names, &is_good))
		return is_good;
	if (strcmp(key, "spf") == 0)
		return origin_of_text(value, &out->spf);
	if (strcmp(key, "dkim") == 0)
		return origin_of_text(value, &out->dkim);
	if (strcmp(key, "dmarc") == 0)
		return origin_of_text(value, &out->dmarc);
	if (strcmp(key, "arc") == 0)
		return origin_of_text(value, &out->arc);
	if (strcmp(key, "dkim2") == 0)
		return origin_of_text(value, &out->dkim2);
	if (strcmp(key, "sealer") == 0)
		return judge_name_of_text(value, out->sealer);
	if (strcmp(key, "policy") == 0)
		return judge_policy_of_text(value, &out->policy);
	if (strcmp(key, "signers") == 0)
		return judge_signers_of_text(value, out->signers);
	if (strcmp(key, "report") == 0)
		return slice_is(value, "-") ||
		    judge_copy_report(value, out->report) == 0;
	if (strcmp(key, "field") == 0)
		return judge_field_of_text(value, out);
	if (strcmp(key, "bytes") == 0)
		return slice_number(value, 1, INT64_MAX, &out->bytes);
	if (strcmp(key, "crc") == 0) {
		is_good = slice_number(value, 0, UINT32_MAX, &number);
		out->crc = (uint32_t)number;
		return is_good;
	}
	if (!judge_is_draft(value))
		return false;
	memcpy(out->file, value.p, value.n);
	return true;
}

/* In this order; the last key is NULL.  0 or -1. */
static int
judge_answer_words(struct slice *line, const char *const keys[],
    struct judge_answer *out)
{
	struct slice word;

	for (; *keys != NULL; keys++) {
		size_t n = strlen(*keys);

		if (!slice_word(line, &word) || !slice_starts(word, *keys) ||
		    word.n <= n || word.p[n] != '=' ||
		    !judge_answer_word(*keys, slice_from(word, n + 1), out))
			return -1;
	}
	return 0;
}

int
judge_answer_parse(struct slice line, struct judge_answer *out)
{
	static const char *const keys[] = { "spf", "dkim", "dmarc", "policy",
		"arc", "dkim2", "sealer", "signers", "spf-at", "dkim-at",
		"dmarc-at", "dkim2-why", "report", NULL };
	static const char *const ends[] = { "file", "bytes", "crc", NULL };
	static const char *const field_ends[] = { "field", NULL };
	struct slice word;

	memset(out, 0, sizeof(*out));
	if (judge_answer_words(&line, keys, out) != 0)
		return -1;
	line = slice_trim(line);
	if (judge_answer_words(&line, slice_starts(line, "field=") ?
	    field_ends : ends, out) != 0)
		return -1;
	return slice_word(&line, &word) ? -1 : 0;
}

/* ---- SPF alone -------------------------------------------------------- */

void
judge_spf_add(struct str *out, enum origin spf, struct slice at)
{
	char name[JUDGE_NAME_BYTES];

	judge_name_set(at, name);
	str_addf(out, "spf=%s at=%s", origin_text(spf), name[0] != '\0' ?
	    name : "-");
}

int
judge_spf_parse(struct slice line, enum origin *out, struct slice *out_at)
{
	char name[JUDGE_NAME_BYTES];
	struct slice word;

	*out_at = (struct slice){ NULL, 0 };
	if (!slice_starts(line, "spf="))
		return -1;
	line = slice_from(line, 4);
	word = slice_first(line, slice_find(line, ' '));
	if (!origin_of_text(word, out))
		return -1;
	line = slice_from(line, word.n);
	if (line.n == 0)	/* recorded before it had a name */
		return 0;
	if (!slice_starts(line, " at=") ||
	    !judge_name_of_text(slice_from(line, 4), name))
		return -1;
	if (!slice_is(line, " at=-"))
		*out_at = slice_from(line, 4);
	return 0;
}
