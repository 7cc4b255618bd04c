/* fuzz_authors.c - lines of the journal as rows of reports, and as XML
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "tests/fuzz/fuzz.h"
#include "tools/zmailer/report/send/authors.h"

#include "base/banned.h"

/* A note that is read is written as one that is the same when it is read. */
static void
check_note(struct slice in)
{
	struct dmarc_note note, again;
	struct str once = STR_INIT, twice = STR_INIT;

	if (dmarc_note_read(in, &note)) {
		dmarc_note_add(&once, &note);
		MUST(once.len <= DMARC_NOTE_BYTES);
		MUST(memchr(once.buf, '\n', once.len) == NULL);
		MUST(dmarc_note_read(str_slice(&once), &again));
		dmarc_note_add(&twice, &again);
		MUST(strcmp(once.buf, twice.buf) == 0);
	}
	str_release(&once);
	str_release(&twice);
}

static size_t
count_of(const struct str *text, const char *what)
{
	size_t count = 0;

	for (const char *at = text->buf; (at = strstr(at, what)) != NULL;
	    at++)
		count++;
	return count;
}

/* Elements are ours alone: as many records as rows, one line each. */
static void
check_report(const struct authors *authors,
    const struct authors_domain *domain)
{
	struct authors_letter letter = { .organization = "mx.test",
	    .contact = "d@mx.test", .id = "1@mx.test" };
	struct str out = STR_INIT;

	authors_add_report(&out, authors, domain, &letter);
	MUST(strlen(out.buf) == out.len);
	MUST(count_of(&out, "<record>\n") == domain->row_count);
	MUST(count_of(&out, "<") == count_of(&out, ">"));
	for (size_t i = 0; i < out.len; i++)
		MUST(out.buf[i] == '\n' || (unsigned char)out.buf[i] >= ' ');
	str_release(&out);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct slice rest = fuzz_slice(data, size), line;
	struct authors authors;

	check_note(rest);
	authors_init(&authors, "2026-11-20");
	while (slice_cut(&rest, '\n', &line))
		authors_take_line(&authors, line);
	for (size_t i = 0; i < authors.domain_count; i++)
		check_report(&authors, &authors.domains[i]);
	authors_release(&authors);
	return 0;
}
