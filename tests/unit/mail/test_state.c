/* test_state.c - the states of mail, where people read of them
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "mail/state.h"

static void
page_read(const char *name, struct str *out)
{
	const char *source = getenv("ZMAILER_SRC");
	char path[1000], bytes[4096];
	FILE *file;
	size_t n;

	snprintf(path, sizeof(path), "%s/%s", source ? source : ".", name);
	file = fopen(path, "r");
	cr_assert_not_null(file, "%s", path);
	while ((n = fread(bytes, 1, sizeof(bytes), file)) > 0)
		str_add(out, bytes, n);
	fclose(file);
}

Test(state, glossary_and_manual_have_each)
{
	struct str glossary = STR_INIT, manual = STR_INIT, queue = STR_INIT;
	char row[300];

	page_read("doc/GLOSSARY.md", &glossary);
	page_read("doc/man/zmailer-selector.7", &manual);
	page_read("doc/man/zmailer-queue.8.in", &queue);
	for (int i = 0; i < MAIL_STATE_COUNT; i++) {
		snprintf(row, sizeof(row), "| %s | %s |\n",
		    mail_states[i].name, mail_states[i].text);
		cr_expect_not_null(strstr(glossary.buf, row), "%s", row);
		snprintf(row, sizeof(row), " %s", mail_states[i].name);
		cr_expect_not_null(strstr(manual.buf, row), "%s", row);
	}
	for (int i = 0; i < DESTINATION_STATE_COUNT; i++) {
		snprintf(row, sizeof(row), "| %s | %s |\n",
		    destination_states[i].name, destination_states[i].text);
		cr_expect_not_null(strstr(glossary.buf, row), "%s", row);
		snprintf(row, sizeof(row), " %s", destination_states[i].name);
		cr_expect_not_null(strstr(queue.buf, row), "%s", row);
		cr_expect_not_null(strstr(manual.buf, row), "%s", row);
	}
	str_release(&queue);
	str_release(&glossary);
	str_release(&manual);
}

Test(state, a_destination_has_the_first_that_fits)
{
	static const struct {
		struct destination_look look;
		const char *want;
	} rows[] = {
		{ { 0 }, "idle" },
		{ { .held = 1 }, "held" },
		{ { .held = 1, .waiting = 1 }, "waiting" },
		{ { .waiting = 1, .ready = 1 }, "ready" },
		{ { .ready = 1, .active = 1 }, "active" },
		{ { .is_throttled = true, .active = 1 }, "throttled" },
		{ { .is_down = true, .is_throttled = true }, "down" },
		{ { .is_suspended = true, .is_down = true }, "suspended" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		enum destination_state state =
		    destination_state_of(&rows[i].look);

		cr_expect_str_eq(destination_states[state].name, rows[i].want,
		    "row %zu", i);
		cr_expect_eq(destination_state_parse(slice_of(rows[i].want)),
		    state, "row %zu", i);
	}
	cr_expect_eq(destination_state_parse(SLICE("delivering")),
	    DESTINATION_STATE_COUNT);
}

/* Every word of a mail's state that a destination has too means the same
 * thing of it: no word is in one table by accident. */
Test(state, words_that_both_have_are_known)
{
	static const char *const both[] = { "suspended", "down", "active",
		"ready", "waiting", "held" };
	size_t known = 0;

	for (int i = 0; i < MAIL_STATE_COUNT; i++)
		if (destination_state_parse(slice_of(mail_states[i].name)) !=
		    DESTINATION_STATE_COUNT)
			known++;
	cr_expect_eq(known, sizeof(both) / sizeof(both[0]));
	for (size_t i = 0; i < sizeof(both) / sizeof(both[0]); i++)
		cr_expect_neq(destination_state_parse(slice_of(both[i])),
		    DESTINATION_STATE_COUNT, "%s", both[i]);
}
