/* fuzz_xtext.c - any bytes as xtext and as values of DSN parameters
 *
 * SPDX-License-Identifier: ISC
 */
#include "tests/fuzz/fuzz.h"
#include "grammar/smtp/dsn.h"
#include "grammar/smtp/xtext.h"

static bool
is_line_safe(struct slice in)
{
	return slice_find(in, '\0') == in.n && slice_find(in, '\r') == in.n &&
	    slice_find(in, '\n') == in.n;
}

static void
check_encode(struct slice in)
{
	struct str encoded = STR_INIT, decoded = STR_INIT;
	int rc;

	xtext_encode(&encoded, in);
	MUST(encoded.len <= 3 * in.n && !fuzz_has_control(str_slice(&encoded)));
	rc = xtext_decode(str_slice(&encoded), &decoded, NULL);
	MUST(rc == (is_line_safe(in) ? 0 : -1));
	if (rc == 0)
		MUST(slice_equal(str_slice(&decoded), in));
	str_release(&encoded);
	str_release(&decoded);
}

static void
check_decode(struct slice in)
{
	struct str once = STR_INIT, encoded = STR_INIT, twice = STR_INIT;

	if (xtext_decode(in, &once, NULL) == 0) {
		MUST(once.len <= in.n && is_line_safe(str_slice(&once)));
		xtext_encode(&encoded, str_slice(&once));
		MUST(xtext_decode(str_slice(&encoded), &twice, NULL) == 0);
		MUST(slice_equal(str_slice(&once), str_slice(&twice)));
	}
	str_release(&once);
	str_release(&encoded);
	str_release(&twice);
}

static void
check_dsn(struct slice in)
{
	struct str text = STR_INIT;
	unsigned notify, again;
	enum dsn_ret ret;

	if (dsn_notify_parse(in, &notify, NULL) == 0) {
		dsn_notify_add(&text, notify);
		MUST(dsn_notify_parse(str_slice(&text), &again, NULL) == 0);
		MUST(again == notify && notify != DSN_NOTIFY_DEFAULT);
	}
	if (dsn_ret_parse(in, &ret, NULL) == 0)
		MUST(slice_is_nocase(in, dsn_ret_name(ret)));
	if (dsn_orcpt_check(in, NULL) == 0)
		MUST(in.n <= DSN_ORCPT_BYTES_MAX && !fuzz_has_control(in) &&
		    slice_find(in, ' ') == in.n);
	if (dsn_envid_check(in, NULL) == 0)
		MUST(in.n <= DSN_ENVID_BYTES_MAX && !fuzz_has_control(in) &&
		    slice_find(in, ' ') == in.n);
	str_release(&text);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct slice in = fuzz_slice(data, size);

	check_encode(in);
	check_decode(in);
	check_dsn(in);
	return 0;
}
