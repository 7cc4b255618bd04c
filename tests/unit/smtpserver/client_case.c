/* client_case.c - a client of a house that says and hears whole sentences
 *
 * SPDX-License-Identifier: ISC
 */
#include "client_case.h"

#include <string.h>

#include "base/banned.h"

void
client_say(struct house *house, int client, const char *text)
{
	house_send(house, client, text, strlen(text), strlen(text), NULL);
}

void
client_expect(struct house *house, int client, bool is_open, const char *want)
{
	struct str out = STR_INIT, got = STR_INIT;

	cr_expect_eq(house_hear(house, client, &out), is_open, "%s: open %d",
	    want, (int)is_open);
	replies_short(str_slice(&out), &got);
	cr_expect_str_eq(got.buf, want, "got  %s\nwant %s\n%s", got.buf, want,
	    out.buf);
	str_release(&out);
	str_release(&got);
}
