/* sign.c - a signature of ours in the making
 *
 * In     a header, the sum of a body, whose signature it is to be
 * Out    a DKIM-Signature field, and the sum to be signed
 * Holds  nothing
 * Spec   RFC 6376 sections 3.5, 3.7, 5.4; RFC 8463
 *
 * SPDX-License-Identifier: ISC
 */
#include <inttypes.h>

#include "grammar/base64.h"
#include "origin/dkim/internal.h"
#include "origin/dkim/sign.h"

#include "base/banned.h"

enum { SIGN_FIELDS_MAX = 5000, LINE_CHARS = 72 };

/* Section 5.4.1, and what says how the body is read.  The first of them are
 * named once more than they are there. */
static const char *const signed_names[] = {
	"from", "to", "cc", "subject", "date", "message-id", "mime-version",
	"content-type", "content-transfer-encoding", "reply-to", "sender",
	"in-reply-to", "references", "list-unsubscribe",
	"list-unsubscribe-post",
	"resent-date", "resent-from", "resent-sender", "resent-to",
	"resent-cc", "resent-message-id", "list-id", "list-help",
	"list-subscribe", "list-post", "list-owner", "list-archive"
};

enum {
	NAMES = sizeof(signed_names) / sizeof(signed_names[0]),
	NAMES_ONCE_MORE = 15
};

int
dkim_sign_body(struct slice body, unsigned char *out)
{
	uint64_t bytes;

	return dkim_body_sum(body, true, UINT64_MAX, out, &bytes);
}

/* ---- the field -------------------------------------------------------- */

struct sign_lines {		/* text that is folded between words */
	struct str	*out;
	size_t		 begun;		/* where the line begins in out */
};

static void
lines_add(struct sign_lines *lines, const char *before, struct slice word)
{
	struct str *out = lines->out;

	str_adds(out, before);
	if (out->len - lines->begun + word.n > LINE_CHARS) {
		str_adds(out, "\n\t");
		lines->begun = out->len;
	} else if (before[0] == ';') {
		str_addc(out, ' ');
	}
	str_add_slice(out, word);
}

/* Each name as often as it is to be taken, into h=. */
static void
sign_add_names(struct sign_lines *lines, const struct header_field *fields,
    size_t count, struct str *names)
{
	for (size_t i = 0; i < NAMES; i++) {
		size_t times = i < NAMES_ONCE_MORE;

		for (size_t k = 0; k < count; k++)
			times += header_is(&fields[k], signed_names[i]);
		for (; times > 0; times--) {
			bool is_first = names->len == 0;
			const char *name = signed_names[i];

			if (is_first)
				lines_add(lines, ";", SLICE("h="));
			else
				str_addc(names, ':');
			lines_add(lines, is_first ? "" : ":", slice_of(name));
			str_adds(names, name);
		}
	}
}

/* There are no more fields than lines. */
static size_t
sign_lines_count(struct slice header)
{
	size_t count = 1;

	for (size_t i = 0; i < header.n && count < SIGN_FIELDS_MAX; i++)
		count += header.p[i] == '\n';
	return count;
}

static size_t
sign_fields(struct slice header, struct header_field *out, size_t room)
{
	bool is_broken = false;
	size_t count = 0;

	while (count < room && header.n > 0) {
		if (header_next(&header, &out[count], &is_broken) == 1)
			count++;
		else if (!is_broken || header_junk(&header).n == 0)
			break;
	}
	return count;
}

static void
sign_add_field(const struct dkim_sign *sign, const struct header_field *fields,
    size_t count, struct str *out, struct str *names)
{
	struct sign_lines lines = { out, out->len };
	struct str word = STR_INIT;

	str_addf(out, "DKIM-Signature: v=1; a=%s; c=relaxed/relaxed",
	    sign->kind == VERIFY_RSA_SHA256 ? "rsa-sha256" : "ed25519-sha256");
	str_addf(&word, "d=" SLICE_FMT, SLICE_ARG(sign->domain));
	lines_add(&lines, ";", str_slice(&word));
	str_reset(&word);
	str_addf(&word, "s=" SLICE_FMT, SLICE_ARG(sign->selector));
	lines_add(&lines, ";", str_slice(&word));
	str_reset(&word);
	str_addf(&word, "t=%" PRId64, sign->time_s);
	lines_add(&lines, ";", str_slice(&word));
	sign_add_names(&lines, fields, count, names);
	str_reset(&word);
	str_adds(&word, "bh=");
	base64_add(&word, (struct slice){ (const char *)sign->body_sum,
	    DIGEST_SHA256_BYTES });
	lines_add(&lines, ";", str_slice(&word));
	str_adds(out, ";\n\tb=");
	str_release(&word);
}

/* ---- what is to be signed --------------------------------------------- */

int
dkim_sign_begin(const struct dkim_sign *sign, struct slice header,
    struct arena *arena, struct str *out, unsigned char *out_sum)
{
	size_t begun = out->len, count = sign_lines_count(header);
	struct header_field *fields = arena_alloc(arena,
	    (count + 1) * sizeof(*fields));
	struct str names = STR_INIT, text = STR_INIT;
	struct dkim_field field = { .is_relaxed_header = true };
	int result;

	count = sign_fields(header, fields, count);
	sign_add_field(sign, fields, count, out, &names);
	field.names = str_slice(&names);
	field.field.whole = slice_from(str_slice(out), begun);
	field.field.name = slice_first(field.field.whole,
	    slice_find(field.field.whole, ':'));
	field.b_at = slice_from(field.field.whole, field.field.whole.n);
	dkim_add_signed_header(&text, arena, fields, count, &field);
	result = digest(DIGEST_SHA256, str_slice(&text), out_sum);
	str_release(&names);
	str_release(&text);
	return result;
}

void
dkim_sign_end(struct str *out, struct slice signature)
{
	base64_add_folded(out, signature);
	str_addc(out, '\n');
}

/* ---- one that is there ------------------------------------------------ */

static bool
sign_is_same(const struct header_field *field, const struct dkim_sign *sign)
{
	struct dkim_tags tags;

	return header_is(field, "DKIM-Signature") &&
	    dkim_tags_read(field->value, &tags) &&
	    slice_equal_nocase(dkim_tag(&tags, "d"), sign->domain) &&
	    slice_equal_nocase(dkim_tag(&tags, "s"), sign->selector);
}

bool
dkim_sign_is_there(struct slice header, const struct dkim_sign *sign)
{
	struct header_field field;
	bool is_broken = false;

	while (header.n > 0) {
		if (header_next(&header, &field, &is_broken) == 1) {
			if (sign_is_same(&field, sign))
				return true;
		} else if (!is_broken || header_junk(&header).n == 0) {
			break;
		}
	}
	return false;
}
