/* check.c - what is wrong with a header
 *
 * In     fields, one after the other
 * Out    what RFC 5322 has against them; whether the header is signed
 * Holds  nothing
 * Trusts nothing
 * Spec   RFC 5322 section 3.6; RFC 6376 section 3.5, 5.4; RFC 8617 section 4
 *
 * SPDX-License-Identifier: ISC
 */
#include "base/mem.h"
#include "router/header/check.h"

#include "base/banned.h"

/* ---- what a field has to be ------------------------------------------- */

enum field_kind { KIND_ANY, KIND_LIST, KIND_SOME, KIND_ONE, KIND_DATE,
	KIND_MSGID };

static const struct check_row {
	const char	*name;
	enum field_kind	 kind;
	bool		 is_once;	/* RFC 5322 section 3.6, the table */
} check_rows[] = {
	{ "Bcc", KIND_LIST, true },
	{ "Cc", KIND_LIST, true },
	{ "Date", KIND_DATE, true },
	{ "From", KIND_SOME, true },
	{ "In-Reply-To", KIND_ANY, true },	/* RFC 822: phrases, too */
	{ "Message-Id", KIND_MSGID, true },
	{ "References", KIND_ANY, true },
	{ "Reply-To", KIND_SOME, true },
	{ "Resent-Cc", KIND_LIST, false },
	{ "Resent-Date", KIND_DATE, false },
	{ "Resent-From", KIND_SOME, false },
	{ "Resent-Message-Id", KIND_MSGID, false },
	{ "Resent-Sender", KIND_ONE, false },
	{ "Resent-To", KIND_LIST, false },
	{ "Sender", KIND_ONE, true },
	{ "Subject", KIND_ANY, true },
	{ "To", KIND_LIST, true },
};

static const struct check_row *
header_check_row(const struct header_field *field)
{
	char first = (char)(field->name.p[0] & ~0x20);

	for (size_t i = 0; i < sizeof(check_rows) / sizeof(check_rows[0]); i++)
		if (check_rows[i].name[0] == first &&
		    header_is(field, check_rows[i].name))
			return &check_rows[i];
	return NULL;
}

static int
header_check_addresses(struct arena *arena, enum field_kind kind,
    struct slice value,
    bool is_stranger, struct err *err)
{
	struct arena_mark mark = arena_mark(arena);
	struct path path;
	size_t count = 0;
	int more;

	while ((more = header_address(arena, &value, &path, err)) ==
	    HEADER_ADDRESS) {
		count++;
		if (is_stranger && path.domain.n == 0) {
			more = err_set(err, "an address without a domain");
			break;
		}
	}
	arena_back(arena, mark);
	if (more < 0)
		return -1;
	if (count == 0 && kind != KIND_LIST)
		return err_set(err, "no address");
	if (count > 1 && kind == KIND_ONE)
		return err_set(err, "more than one address");
	return 0;
}

int
header_check_field(struct arena *arena, struct header_wrongs *wrongs,
    const struct header_field *field, bool is_stranger,
    const char **out_name, struct err *err)
{
	const struct check_row *row = header_check_row(field);
	unsigned bit;

	if (row == NULL)
		return 0;
	*out_name = row->name;
	bit = 1u << (row - check_rows);
	if (row->is_once && (wrongs->seen & bit) != 0)
		return err_set(err, "it is there a second time");
	wrongs->seen |= bit;
	switch (row->kind) {
	case KIND_ANY:
		return 0;
	case KIND_DATE:
		return header_date(field->value, err);
	case KIND_MSGID:
		return header_msgid(field->value).n > 0 ? 0 :
		    err_set(err, "no id in angle brackets");
	case KIND_LIST:
	case KIND_SOME:
	case KIND_ONE:
		break;
	}
	return header_check_addresses(arena, row->kind, field->value,
	    is_stranger,
	    err);
}

void
header_wrong_add(struct arena *arena, struct header_wrongs *wrongs,
    const char *field, const char *reason, unsigned line, bool is_repaired)
{
	char *text;

	if (wrongs->count >= HEADER_WRONGS_MAX)
		return;
	text = slice_dup(arena, slice_first(slice_of(reason),
	    HEADER_REASON_BYTES_MAX));
	for (char *at = text; *at != 0; at++)	/* it may stand in a field */
		if (*at < ' ' || *at > '~')
			*at = '?';
	wrongs->list[wrongs->count++] = (struct header_wrong){ field, text,
	    line, is_repaired };
}

/* ---- signatures -------------------------------------------------------- */

/* Next field of a header that may have lines which are none. */
static bool
header_next_field(struct slice *header, struct header_field *out)
{
	bool is_broken;

	while (!header_next(header, out, &is_broken)) {
		if (!is_broken)
			return false;
		header_junk(header);
	}
	return true;
}

static bool
header_is_signature(const struct header_field *field)
{
	return header_is(field, "DKIM-Signature") ||
	    header_is(field, "ARC-Message-Signature");
}

bool
header_is_signed(struct slice header)
{
	struct header_field field;

	while (header_next_field(&header, &field))
		if (header_is_signature(&field))
			return true;
	return false;
}

/* "from : to:date" with folds. */
static bool
signed_list_names(struct slice list, const char *name)
{
	struct slice word;

	while (slice_cut(&list, ':', &word))
		if (slice_is_nocase(slice_trim(word), name))
			return true;
	return false;
}

/* tag-list = tag-spec *( ";" tag-spec ); tag-spec = "h" "=" names */
static bool
signature_names(struct slice tags, const char *name)
{
	struct slice tag, key;

	while (slice_cut(&tags, ';', &tag)) {
		key = slice_first(tag, slice_find(tag, '='));
		if (slice_is(slice_trim(key), "h") &&
		    signed_list_names(slice_from(tag, key.n + 1), name))
			return true;
	}
	return false;
}

bool
header_signs(struct slice header, const char *name)
{
	struct header_field field;

	while (header_next_field(&header, &field))
		if (header_is_signature(&field) && signature_names(field.value,
		    name))
			return true;
	return false;
}

/* ---- what cannot be a field -------------------------------------------- */

void
header_illegal_add(struct str *out, const char *host, const char *field,
    const char *reason, struct slice lines)
{
	str_addf(out, "Illegal-Object: %s found by %s:\n\t%s\n\t", field,
	    host, reason);
	str_add_slice(out, lines);
	if (!slice_ends(lines, "\n"))
		str_addc(out, '\n');
}
