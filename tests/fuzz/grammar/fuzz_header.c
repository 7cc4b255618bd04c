/* fuzz_header.c - any bytes as a message, and as an address list
 *
 * SPDX-License-Identifier: ISC
 */
#include "tests/fuzz/fuzz.h"
#include "grammar/message/header.h"

static void
check_value(struct slice value)
{
	struct str line = STR_INIT;
	struct slice id = header_msgid(value);
	struct err err = { "" };

	MUST(fuzz_inside(id, value) && !fuzz_has_control(id));
	MUST(id.n == 0 || (id.p[0] == '<' && id.p[id.n - 1] == '>'));
	if (header_date(value, &err) != 0)
		MUST(err.text[0] != '\0' && !fuzz_has_control(slice_of(
		    err.text)));
	header_add_unfolded(&line, value);
	MUST(line.len <= value.n);
	MUST(slice_find(str_slice(&line), '\n') == line.len);
	str_release(&line);
}

/* What comes out of a list is what path_parse takes. */
static void
check_addresses(struct slice value)
{
	struct arena *arena = arena_new();
	struct slice rest = value, behind;
	struct path path, again;
	size_t left = rest.n + 1;
	struct err err = { "" };
	int rc;

	while ((rc = header_address(arena, &rest, &path, &err)) !=
	    HEADER_ADDRESS_END) {
		struct str text = STR_INIT;

		MUST(fuzz_inside(rest, value) && rest.n < left);
		left = rest.n;
		MUST(rc == 1 || err.text[0] != '\0');
		MUST(!fuzz_has_control(slice_of(err.text)));
		if (rc < 0)
			continue;
		path_add(&text, &path);
		MUST(path_parse(str_slice(&text), PATH_BARE_OK |
		    PATH_LOCAL_OK | PATH_UTF8, &again, &behind, NULL) == 0);
		MUST(behind.n == 0 && path_equal(&path, &again));
		str_release(&text);
	}
	MUST(rest.n == 0);
	arena_free(&arena);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct slice in = fuzz_slice(data, size), rest = in;
	struct header_field field;
	bool is_broken;
	size_t bytes = 0;

	while (header_next(&rest, &field, &is_broken) == 1) {
		MUST(!is_broken && field.whole.n > 0);
		MUST(field.whole.p == in.p + bytes);
		bytes += field.whole.n;
		MUST(bytes + rest.n == in.n);
		MUST(fuzz_inside(field.name, field.whole));
		MUST(fuzz_inside(field.value, field.whole));
		MUST(field.name.n > 0 && !fuzz_has_control(field.name));
		check_value(field.value);
		check_addresses(field.value);
	}
	MUST(fuzz_inside(rest, in));
	MUST(header_bytes(in) == in.n - rest.n);
	check_value(in);
	check_addresses(in);
	return 0;
}
