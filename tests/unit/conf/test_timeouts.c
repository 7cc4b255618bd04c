/* test_timeouts.c - each time-out, its default and its statement
 *
 * SPDX-License-Identifier: ISC
 */
#include <stddef.h>
#include <stdio.h>

#include "conf_case.h"

/* RFC 5321 section 4.5.3.2 names the least; each can be set. */
Test(conf, the_timeouts_of_rfc_5321)
{
	static const struct {
		const char	*name;
		size_t		 offset;
		int64_t		 preset_ms;
	} rows[] = {
#define ROW(name, field, minutes) \
	{ name, offsetof(struct conf, timeouts.field), \
		(minutes)*INT64_C(60000) }
		ROW("greeting", greeting_ms, 5), ROW("mail", mail_ms, 5),
		ROW("rcpt", rcpt_ms, 5), ROW("data-start", data_start_ms, 2),
		ROW("data-block", data_block_ms, 3),
		ROW("data-end", data_end_ms, 10),
		ROW("command", command_ms, 5), ROW("helo", helo_ms, 5),
#undef ROW
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct conf_case c;
		char text[64];

		case_good(&c, "");
		cr_expect_eq(*(const int64_t *)(const void *)
		    ((const char *)c.conf + rows[i].offset),
		    rows[i].preset_ms, "%s", rows[i].name);
		case_close(&c);
		snprintf(text, sizeof(text), "timeout %s 77s\n",
		    rows[i].name);
		case_good(&c, text);
		cr_expect_eq(*(const int64_t *)(const void *)
		    ((const char *)c.conf + rows[i].offset), 77000, "%s",
		    rows[i].name);
		case_close(&c);
	}
}
