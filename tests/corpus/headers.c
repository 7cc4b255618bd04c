/* headers.c - what our grammar reads in the headers of message files
 *
 * usage: headers FILE...
 *
 * In     message files
 * Out    for each its name, how many fields and junk lines it has, where the
 *        body begins; for each field of addresses what stands in it
 * Trusts nothing of them
 *
 * Each header is put together again from what was read: it must be the same
 * bytes.  Each address is printed and read again: it must be the same
 * address.  A date that is one is one on one line, too.  A message made fit
 * for a host that takes less needs it no more, and is not changed again.
 * What does not hold is told as BROKEN, and the exit status is 1.
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "grammar/message/header.h"
#include "grammar/message/mime_down.h"

static const char *const address_fields[] = {
	"From", "To", "Cc", "Bcc", "Sender", "Reply-To", "Resent-From",
	"Resent-To", "Resent-Cc", "Resent-Sender"
};

static int is_bad;

static bool
has_addresses(const struct header_field *field)
{
	for (size_t i = 0; i < sizeof(address_fields) /
	    sizeof(address_fields[0]); i++)
		if (header_is(field, address_fields[i]))
			return true;
	return false;
}

/* Printed and read again it is the same. */
static void
check_stable(const struct path *path)
{
	struct str text = STR_INIT;
	struct slice rest;
	struct path again;

	path_add(&text, path);
	if (path_parse(str_slice(&text), PATH_BARE_OK | PATH_LOCAL_OK |
	    PATH_UTF8, &again, &rest, NULL) != 0 || rest.n > 0 ||
	    !slice_equal(again.local, path->local) ||
	    !slice_equal(again.domain, path->domain)) {
		printf("  BROKEN %s is read as another\n", text.buf);
		is_bad = 1;
	}
	str_release(&text);
}

static void
tell_addresses(struct arena *arena, const struct header_field *field)
{
	struct slice rest = field->value, at;
	struct str text = STR_INIT;
	struct err err = { "" };
	struct path path;
	int more;

	str_adds(&text, " ");
	str_add_escaped(&text, field->name);
	str_addc(&text, ':');
	while ((more = header_address_at(arena, &rest, &path, &at, &err)) !=
	    0) {
		if (more < 0) {
			str_addf(&text, " !%s!", err.text);
			continue;
		}
		check_stable(&path);
		if (at.p < field->value.p || at.p + at.n > field->value.p +
		    field->value.n) {
			str_adds(&text, " BROKEN-PLACE");
			is_bad = 1;
		}
		str_addc(&text, ' ');
		str_add_escaped(&text, path.local);
		if (path.domain.n > 0) {
			str_addc(&text, '@');
			str_add_escaped(&text, path.domain);
		}
	}
	puts(text.buf);
	str_release(&text);
}

static void
check_date(struct slice value)
{
	struct str flat = STR_INIT;
	struct err err;

	header_add_unfolded(&flat, value);
	if (header_date(value, &err) != header_date(str_slice(&flat), &err)) {
		puts("  BROKEN date on one line is another");
		is_bad = 1;
	}
	str_release(&flat);
}

/* Whether the message had to be made smaller; out has it. */
static bool
make_smaller(struct slice header, struct slice body, struct str *out)
{
	struct mime_down down;
	bool is_needed;

	mime_down_init(&down, MIME_TO_7BIT);
	mime_down_header(&down, header, NULL);
	mime_down_body(&down, body, NULL);
	mime_down_end(&down, NULL);
	is_needed = mime_down_is_needed(&down) && !down.is_too_much &&
	    !down.is_undoable;
	if (is_needed) {
		mime_down_again(&down);
		mime_down_header(&down, header, out);
		mime_down_body(&down, body, out);
		mime_down_end(&down, out);
	}
	mime_down_release(&down);
	return is_needed;
}

static void
check_body(struct slice file)
{
	struct str lines = STR_INIT, small = STR_INIT, again = STR_INIT;
	const char *blank;
	size_t n;

	for (size_t i = 0; i < file.n; i++)	/* as it lies in our files */
		if (file.p[i] != '\r')
			str_addc(&lines, file.p[i]);
	blank = memmem(lines.buf, lines.len, "\n\n", 2);
	n = blank == NULL ? 0 : (size_t)(blank - lines.buf) + 1;
	if (n > 0 && make_smaller(slice_first(str_slice(&lines), n),
	    slice_from(str_slice(&lines), n + 1), &small)) {
		blank = memmem(small.buf, small.len, "\n\n", 2);
		n = (size_t)(blank - small.buf) + 1;
		if (!mime_is_ascii(str_slice(&small)) ||
		    make_smaller(slice_first(str_slice(&small), n),
		    slice_from(str_slice(&small), n + 1), &again)) {
			puts("  BROKEN what was made smaller is not small");
			is_bad = 1;
		}
	}
	str_release(&lines);
	str_release(&small);
	str_release(&again);
}

static void
tell_file(const char *name, struct slice file)
{
	struct arena *arena = arena_new();
	struct slice rest = file, begin;
	struct str again = STR_INIT;
	unsigned count = 0, junk = 0;
	struct header_field field;
	bool is_broken = false;
	size_t end;

	for (begin = rest; rest.n > 0; begin = rest) {
		if (header_next(&rest, &field, &is_broken) == 1) {
			count++;
			str_add_slice(&again, field.whole);
		} else if (is_broken) {
			junk++;
			str_add_slice(&again, header_junk(&rest));
		} else {
			break;		/* the blank line was before this */
		}
	}
	str_add_slice(&again, slice_first(begin, begin.n - rest.n));
	end = file.n - rest.n;
	printf("%s fields=%u junk=%u body=%zu\n", name, count, junk, end);
	if (!slice_equal(str_slice(&again), slice_first(file, end))) {
		puts("  BROKEN the header is not the same bytes");
		is_bad = 1;
	}
	for (rest = file; rest.n > 0; ) {
		if (header_next(&rest, &field, &is_broken) == 1) {
			if (has_addresses(&field))
				tell_addresses(arena, &field);
			if (header_is(&field, "Date"))
				check_date(field.value);
		} else if (is_broken) {
			header_junk(&rest);
		} else {
			break;
		}
	}
	check_body(file);
	str_release(&again);
	arena_free(&arena);
}

int
main(int argc, char **argv)
{
	static char buffer[8 << 20];

	for (int i = 1; i < argc; i++) {
		const char *name = strrchr(argv[i], '/');
		FILE *file = fopen(argv[i], "rb");
		size_t n;

		if (file == NULL) {
			perror(argv[i]);
			return 2;
		}
		n = fread(buffer, 1, sizeof(buffer), file);
		fclose(file);
		tell_file(name != NULL ? name + 1 : argv[i],
		    (struct slice){ buffer, n });
	}
	return is_bad;
}
