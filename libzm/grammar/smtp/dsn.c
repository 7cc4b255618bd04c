/* dsn.c - what a sender asked to be told
 *
 * In     values of NOTIFY, RET, ORCPT and ENVID
 * Out    bits, an enum, or the word that the value is sound
 * Trusts nothing: what passes is written to files of lines unchanged
 * Spec   RFC 3461 section 4.1 to 4.4; RFC 6533 section 3
 *
 *   notify = "NEVER" / 1#( "SUCCESS" / "FAILURE" / "DELAY" )
 *   ret    = "FULL" / "HDRS"
 *   orcpt  = addr-type ";" xtext     ; with "utf-8" UTF-8 may be bare
 *   envid  = xtext
 *
 * SPDX-License-Identifier: ISC
 */
#include "base/ascii.h"
#include "grammar/smtp/dsn.h"
#include "grammar/smtp/xtext.h"

#include "base/banned.h"

static const struct {
	const char	*name;
	unsigned	 bit;
} notify_rows[] = {
	{ "NEVER", DSN_NOTIFY_NEVER },
	{ "SUCCESS", DSN_NOTIFY_SUCCESS },
	{ "FAILURE", DSN_NOTIFY_FAILURE },
	{ "DELAY", DSN_NOTIFY_DELAY },
};

enum { NOTIFY_ROWS = sizeof(notify_rows) / sizeof(notify_rows[0]) };

int
dsn_notify_parse(struct slice value, unsigned *out_notify, struct err *err)
{
	struct slice rest = { value.n ? value.p : "", value.n }, word;
	unsigned notify = 0;

	while (slice_cut(&rest, ',', &word)) {
		size_t i = 0;

		while (i < NOTIFY_ROWS &&
		    !slice_is_nocase(word, notify_rows[i].name))
			i++;
		if (i == NOTIFY_ROWS)
			return err_set(err, "NOTIFY wants NEVER, or a list of "
			    "SUCCESS, FAILURE, DELAY");
		notify |= notify_rows[i].bit;
	}
	if ((notify & DSN_NOTIFY_NEVER) && notify != DSN_NOTIFY_NEVER)
		return err_set(err, "NOTIFY=NEVER stands alone");
	*out_notify = notify;
	return 0;
}

void
dsn_notify_add(struct str *out, unsigned notify)
{
	bool is_first = true;

	for (size_t i = 0; i < NOTIFY_ROWS; i++) {
		if (!(notify & notify_rows[i].bit))
			continue;
		if (!is_first)
			str_addc(out, ',');
		str_adds(out, notify_rows[i].name);
		is_first = false;
	}
}

int
dsn_ret_parse(struct slice value, enum dsn_ret *out_ret, struct err *err)
{
	if (slice_is_nocase(value, "FULL"))
		*out_ret = DSN_RET_FULL;
	else if (slice_is_nocase(value, "HDRS"))
		*out_ret = DSN_RET_HDRS;
	else
		return err_set(err, "RET wants FULL or HDRS");
	return 0;
}

const char *
dsn_ret_name(enum dsn_ret ret)
{
	switch (ret) {
	case DSN_RET_FULL:
		return "FULL";
	case DSN_RET_HDRS:
		return "HDRS";
	case DSN_RET_DEFAULT:
		break;
	}
	return "";
}

/* xtext, in which UTF-8 may stand bare when the address type says so. */
static int
check_xtext(struct slice text, bool is_utf8, struct err *err)
{
	struct str decoded = STR_INIT;
	int rc = 0;

	while (text.n > 0 && rc == 0) {
		size_t n = 0, skip;

		while (n < text.n && (unsigned char)text.p[n] < 128)
			n++;
		rc = xtext_decode(slice_first(text, n), &decoded, err);
		text = slice_from(text, n);
		skip = is_utf8 ? slice_utf8(text) : 0;
		if (rc == 0 && text.n > 0 && skip == 0)
			rc = err_set(err, "a byte beyond ASCII must be "
			    "written as +HH");
		text = slice_from(text, skip);
	}
	str_release(&decoded);
	return rc;
}

static bool
is_type_byte(char c)
{
	return ascii_is_alnum(c) || c == '-';
}

int
dsn_orcpt_check(struct slice value, struct err *err)
{
	size_t n = slice_find(value, ';');
	struct slice type = slice_first(value, n);
	struct slice address = slice_from(value, n + 1);

	if (value.n > DSN_ORCPT_BYTES_MAX)
		return err_set(err, "ORCPT is longer than %d bytes",
		    DSN_ORCPT_BYTES_MAX);
	if (n == value.n || type.n == 0 || address.n == 0)
		return err_set(err, "ORCPT wants type;address, as in "
		    "rfc822;user@example.org");
	for (size_t i = 0; i < type.n; i++)
		if (!is_type_byte(type.p[i]))
			return err_set(err, "the address type of ORCPT may "
			    "have letters, digits and hyphens only");
	return check_xtext(address, slice_is_nocase(type, "utf-8"), err);
}

int
dsn_envid_check(struct slice value, struct err *err)
{
	if (value.n == 0 || value.n > DSN_ENVID_BYTES_MAX)
		return err_set(err, "ENVID wants 1 to %d characters",
		    DSN_ENVID_BYTES_MAX);
	return check_xtext(value, false, err);
}

bool
dsn_wants(unsigned notify, enum dsn_notify kind)
{
	if (notify == DSN_NOTIFY_DEFAULT)
		return kind == DSN_NOTIFY_FAILURE || kind == DSN_NOTIFY_DELAY;
	if (notify & DSN_NOTIFY_NEVER)
		return false;
	return (notify & (unsigned)kind) != 0;
}
