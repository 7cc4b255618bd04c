/* fuzz_dsn.c - any bytes as a value of NOTIFY, RET, ORCPT, ENVID, and as a
 * moment
 *
 * SPDX-License-Identifier: ISC
 */
#include "tests/fuzz/fuzz.h"
#include "grammar/message/date.h"
#include "grammar/smtp/dsn.h"

static void
check_notify(struct slice in)
{
	struct str text = STR_INIT;
	unsigned notify = 0, again = 0;

	if (dsn_notify_parse(in, &notify, NULL) == 0) {
		MUST(notify != DSN_NOTIFY_DEFAULT && notify < 16);
		MUST(!(notify & DSN_NOTIFY_NEVER) ||
		    notify == DSN_NOTIFY_NEVER);
		dsn_notify_add(&text, notify);
		MUST(dsn_notify_parse(str_slice(&text), &again, NULL) == 0);
		MUST(again == notify);
	}
	str_release(&text);
}

static void
check_ret(struct slice in)
{
	enum dsn_ret ret, again;

	if (dsn_ret_parse(in, &ret, NULL) != 0)
		return;
	MUST(dsn_ret_parse(slice_of(dsn_ret_name(ret)), &again, NULL) == 0);
	MUST(again == ret);
}

/* What passes stands in files of lines as it is. */
static void
check_kept(struct slice in)
{
	struct err err = { "" };

	if (dsn_envid_check(in, &err) == 0)
		MUST(in.n > 0 && in.n <= DSN_ENVID_BYTES_MAX &&
		    !fuzz_has_control(in) && slice_find(in, ' ') == in.n);
	MUST(!fuzz_has_control(slice_of(err.text)));
	err.text[0] = '\0';
	if (dsn_orcpt_check(in, &err) == 0)
		MUST(in.n <= DSN_ORCPT_BYTES_MAX && !fuzz_has_control(in) &&
		    slice_find(in, ';') < in.n && slice_find(in, ' ') == in.n);
	MUST(!fuzz_has_control(slice_of(err.text)));
}

static void
check_date(struct slice in)
{
	struct str text = STR_INIT;
	int64_t moment = 0, again = -1;

	if (date_parse(in, &moment, NULL) == 0) {
		date_add(&text, moment);
		MUST(date_parse(str_slice(&text), &again, NULL) == 0);
		MUST(again == moment);
	}
	str_release(&text);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct slice in = fuzz_slice(data, size);

	check_notify(in);
	check_ret(in);
	check_kept(in);
	check_date(in);
	return 0;
}
