/* run.c - the differences, told
 *
 * In     addresses, the old program, the new configuration
 * Out    a table of what differs, and a sum
 * Holds  nothing
 * Spec   zmailer-import(8), "Do both say the same?"
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdio.h>
#include <string.h>
#include <sysexits.h>

#include "base/json.h"
#include "tools/selection/progress.h"
#include "tools/zmailer/import/compare/compare.h"

#include "base/banned.h"

static void
answer_text(const struct compare_answer *answer, const char *name,
    struct str *out)
{
	str_addf(out, "    %-4s ", name);
	if (answer->trouble != NULL)
		str_addf(out, "no answer: %s", answer->trouble);
	for (size_t i = 0; i < answer->count && answer->trouble == NULL; i++) {
		str_adds(out, i > 0 ? ", " : "");
		str_add_escaped(out, slice_of(answer->places[i]));
	}
	str_addc(out, '\n');
}

static void
answer_json(const struct compare_answer *answer, const char *name,
    struct str *out)
{
	struct slice places[COMPARE_PLACES_MAX];

	for (size_t i = 0; i < answer->count; i++)
		places[i] = slice_of(answer->places[i]);
	json_list(out, name, places, answer->count);
}

static void
compare_difference_say(const char *address, const struct compare_answer *old,
    const struct compare_answer *ours, bool is_json)
{
	struct str out = STR_INIT;

	if (is_json) {
		json_open_answer(&out);
		json_text(&out, "address", slice_of(address));
		answer_json(old, "old", &out);
		answer_json(ours, "new", &out);
		if (old->trouble != NULL || ours->trouble != NULL)
			json_text(&out, "trouble", slice_of(old->trouble !=
			    NULL ? old->trouble : ours->trouble));
		json_close(&out);
	} else {
		str_add_escaped(&out, slice_of(address));
		str_addc(&out, '\n');
		answer_text(old, "old", &out);
		answer_text(ours, "new", &out);
	}
	fputs(out.buf, stdout);
	str_release(&out);
}

static void
sum_say(size_t count, size_t differ, bool is_json)
{
	struct str out = STR_INIT;

	if (is_json) {
		json_open_answer(&out);
		json_number(&out, "addresses", (int64_t)count);
		json_number(&out, "differ", (int64_t)differ);
		json_close(&out);
	} else
		str_addf(&out, "%s%zu addresses, %zu differ\n", differ > 0 ?
		    "\n" : "", count, differ);
	fputs(out.buf, stdout);
	str_release(&out);
}

/* Exim does not show the port of a transport: HOST may then be HOST:PORT. */
static void
ports_forget(struct compare *compare, const struct compare_answer *old,
    struct compare_answer *ours)
{
	for (size_t i = 0; i < ours->count && i < old->count; i++) {
		size_t n = strlen(old->places[i]);

		if (strncmp(ours->places[i], old->places[i], n) == 0 &&
		    ours->places[i][n] == ':' && strncmp(ours->places[i],
		    "smtp ", 5) == 0)
			ours->places[i] = arena_printf(
			    compare->import->arena, "%.*s", (int)n,
			    ours->places[i]);
	}
}

int
compare_both(struct compare *compare, bool is_json)
{
	struct compare_answer *ours = arena_alloc(compare->import->arena,
	    (compare->count + 1) * sizeof(*ours));
	struct compare_answer old;
	struct selection_progress progress;
	size_t differ = 0, at;
	struct err err;

	memset(ours, 0, (compare->count + 1) * sizeof(*ours));
	if (compare_ours(compare, ours, &err) != 0) {
		fprintf(stderr, "zmailer: import: %s\n", err.text);
		return EX_UNAVAILABLE;
	}
	progress_begin(&progress, "compare", "compared", compare->count);
	for (at = 0; at < compare->count && progress_step(&progress, at);
	    at++) {
		old = (struct compare_answer){ .count = 0 };
		if (compare_old(compare, compare->addresses[at], &old,
		    &err) != 0) {
			(void)progress_end(&progress, at);
			fprintf(stderr, "zmailer: import: %s\n", err.text);
			return EX_UNAVAILABLE;
		}
		compare_answer_settle(&old);
		compare_answer_settle(&ours[at]);
		if (strcmp(compare->import->mailer, "exim") == 0)
			ports_forget(compare, &old, &ours[at]);
		if (compare_answer_equal(&old, &ours[at]))
			continue;
		differ++;
		progress_hide(&progress);
		compare_difference_say(compare->addresses[at], &old,
		    &ours[at], is_json);
	}
	/* what was asked counts, when somebody interrupted */
	(void)progress_end(&progress, at);
	sum_say(at, differ, is_json);
	return differ > 0 ? 1 : EX_OK;
}
