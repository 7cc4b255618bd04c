/* fuzz_path.c - any bytes as a path
 *
 * Input: one byte of flags, then the bytes.
 *
 * SPDX-License-Identifier: ISC
 */
#include "tests/fuzz/fuzz.h"
#include "grammar/smtp/path.h"

/* What was taken is written and read back the same. */
static void
round_trip(const struct path *path)
{
	struct str text = STR_INIT;
	struct path again;
	struct slice rest;

	path_add(&text, path);
	MUST(path_parse(str_slice(&text), PATH_BARE_OK | PATH_LOCAL_OK |
	    PATH_NULL_OK | PATH_UTF8, &again, &rest, NULL) == 0);
	MUST(rest.n == 0);
	MUST(slice_equal(again.local, path->local));
	MUST(slice_equal(again.domain, path->domain));
	MUST(path_equal(&again, path) && path_equal(path, &again));
	str_release(&text);
}

static void
check_path(struct slice in, unsigned flags)
{
	struct arena *arena = arena_new();
	struct err err = { "" };
	struct slice rest, plain;
	struct path path;
	int rc = path_parse(in, flags, &path, &rest, &err);

	MUST(rc == 0 || (rc == -1 && err.text[0] != '\0'));
	MUST(!fuzz_has_control(slice_of(err.text)));
	MUST(fuzz_inside(path.local, in) && fuzz_inside(path.domain, in));
	MUST(fuzz_inside(rest, in));
	if (rc == 0) {
		MUST(in.n - rest.n <= PATH_MAX_BYTES);
		MUST(!fuzz_has_control(path.local));
		MUST(!fuzz_has_control(path.domain));
		MUST(path.local.n > 0 || (flags & PATH_NULL_OK));
		plain = path_local_plain(arena, &path);
		MUST(plain.n <= path.local.n);
		round_trip(&path);
	}
	arena_free(&arena);
}

static void
check_domain(struct slice in)
{
	struct str text = STR_INIT;
	struct slice rest;
	struct path path;

	if (domain_parse(in, NULL) == 0) {
		MUST(in.n <= DOMAIN_MAX_BYTES && !fuzz_has_control(in));
		str_adds(&text, "a@");
		str_add_slice(&text, in);
		if (text.len <= PATH_MAX_BYTES - 2) {
			MUST(path_parse(str_slice(&text), PATH_BARE_OK, &path,
			    &rest, NULL) == 0);
			MUST(rest.n == 0 && slice_equal(path.domain, in));
		}
	}
	str_release(&text);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct slice in = fuzz_slice(data, size);

	if (size == 0)
		return 0;
	check_path(slice_from(in, 1), data[0] & 31);
	check_domain(slice_from(in, 1));
	return 0;
}
