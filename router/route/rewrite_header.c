/* rewrite.c - addresses of a header become others; all else stays
 *
 * In     the header as it would go on
 * Out    the same with some addr-specs replaced, byte for byte elsewhere
 * Holds  nothing
 * Trusts nothing; what is no address stays as it is
 * Spec   RFC 5322 sections 2.1.1 (length of lines), 3.6.2, 3.6.3, 3.6.6
 *
 * SPDX-License-Identifier: ISC
 */
#include "router/route/rewrite.h"

#include <string.h>

#include "base/mem.h"
#include "grammar/message/header.h"

#include "base/banned.h"

enum {
	LINE_BYTES_MAX = 998,		/* RFC 5322 section 2.1.1 */
	REWRITTEN_BYTES_MAX = (4 << 20) - 65536	/* of an m block */
};

static const struct field_class {
	const char	*name;
	unsigned	 of;
} field_classes[] = {
	{ "From", REWRITE_SENDERS },
	{ "To", REWRITE_RCPTS },
	{ "Cc", REWRITE_RCPTS },
	{ "Bcc", REWRITE_RCPTS },
	{ "Sender", REWRITE_SENDERS },
	{ "Reply-To", REWRITE_SENDERS },
	{ "Resent-From", REWRITE_SENDERS },
	{ "Resent-Sender", REWRITE_SENDERS },
	{ "Resent-Reply-To", REWRITE_SENDERS },
	{ "Resent-To", REWRITE_RCPTS },
	{ "Resent-Cc", REWRITE_RCPTS },
	{ "Resent-Bcc", REWRITE_RCPTS },
	{ "Errors-To", REWRITE_SENDERS },
	{ "Return-Receipt-To", REWRITE_SENDERS },
	{ "Disposition-Notification-To", REWRITE_SENDERS },
	{ "Apparently-To", REWRITE_RCPTS },
};

static unsigned
rewriting_class(const struct header_field *field)
{
	for (size_t i = 0; i < sizeof(field_classes) /
	    sizeof(field_classes[0]); i++)
		if (header_is(field, field_classes[i].name))
			return field_classes[i].of;
	return 0;
}

struct rewriting {
	struct routing	*routing;
	unsigned	 number, of;	/* of: of the header as a whole */
	struct str	*out;
	size_t		 begin;		/* of ours in out */
	const char	*kept;		/* up to there the header is in out */
	bool		 is_other;
	struct err	*err;
};

/* Bytes of the last line in out. */
static size_t
rewriting_line_bytes(const struct rewriting *r)
{
	const char *end = r->out->buf + r->out->len;
	const char *line = r->out->len > r->begin ?
	    memrchr(r->out->buf + r->begin, '\n', r->out->len - r->begin) :
	    NULL;

	return line != NULL ? (size_t)(end - line) - 1 :
	    r->out->len - r->begin;
}

static void
rewriting_replace(struct rewriting *r, struct slice at, const struct path *path)
{
	str_add_slice(r->out, (struct slice){ r->kept,
	    (size_t)(at.p - r->kept) });
	if (rewriting_line_bytes(r) + path->local.n + path->domain.n + 3 >
	    LINE_BYTES_MAX)
		str_adds(r->out, "\n ");
	path_add(r->out, path);
	r->kept = at.p + at.n;
	r->is_other = true;
}

static int
rewriting_field(struct rewriting *r, const struct header_field *field,
    unsigned of)
{
	struct arena *arena = r->routing->rcpts->arena;
	struct slice rest = field->value, at;
	struct path path;
	struct err bad;
	enum route_answer found;
	int more;

	while ((more = header_address_at(arena, &rest, &path, &at, &bad)) !=
	    0) {
		if (more < 0)
			continue;
		found = r->number > 0 ? rewrite_path_generic(r->routing,
		    r->number, &path, r->err) : rewrite_path(r->routing,
		    r->of | of, &path, r->err);
		if (found == ROUTE_TROUBLE)
			return -1;
		if (found == ROUTE_YES)
			rewriting_replace(r, at, &path);
		if (r->out->len - r->begin > REWRITTEN_BYTES_MAX)
			break;
	}
	return 0;
}

enum route_answer
rewrite_header(struct routing *routing, unsigned number, bool is_stranger,
    struct slice header, struct str *out, struct err *err)
{
	struct rewriting r = { .routing = routing, .number = number,
	    .of = REWRITE_HEADERS | (is_stranger ? REWRITE_STRANGERS : 0),
	    .out = out, .begin = out->len, .kept = header.p, .err = err };
	struct slice rest = header;
	struct header_field field;
	bool is_broken;
	int result = 0;
	unsigned of;

	while (result == 0 && rest.n > 0 &&
	    out->len - r.begin <= REWRITTEN_BYTES_MAX) {
		if (!header_next(&rest, &field, &is_broken)) {
			header_junk(&rest);
			continue;
		}
		of = rewriting_class(&field);
		if (of != 0)
			result = rewriting_field(&r, &field, of);
	}
	str_add_slice(out, (struct slice){ r.kept,
	    (size_t)(header.p + header.n - r.kept) });
	if (result == 0 && r.is_other &&
	    out->len - r.begin <= REWRITTEN_BYTES_MAX)
		return ROUTE_YES;
	out->len = r.begin;		/* nothing, too much, or trouble */
	out->buf[out->len] = '\0';
	return result < 0 ? ROUTE_TROUBLE : ROUTE_NO;
}
