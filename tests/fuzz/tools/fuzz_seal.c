/* fuzz_seal.c - whatever stands in the journal, an audit of it ends
 *
 * The lines are held against the seals among them, and taken into the books;
 * sealed anew, they are found whole.
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/fuzz/fuzz.h"
#include "tools/zmailer/audit/audit.h"

#include "base/banned.h"

static void
on_fault(void *context, enum seal_fault fault, const char *part,
    size_t number, int64_t at_ms, size_t count)
{
	size_t *faults = context;

	MUST(count > 0);
	*faults += 1;
}

static void
lines_audit(struct slice rest, struct audit *audit)
{
	const struct journal_span always = { INT64_MIN, INT64_MAX };
	struct books *books = books_new(&always);
	struct seal_reader *reader = seal_reader_new("", on_fault,
	    &audit->faults_all);
	struct slice line;
	uint64_t sum = 0;

	seal_read_part(reader, "events-2026-11-20.jsonl");
	while (slice_cut(&rest, '\n', &line)) {
		seal_read_line(reader, line);
		books_read_line(books, line);
	}
	seal_read_end(reader, &audit->seals);
	books_close(books, &audit->sums, audit->findings,
	    &audit->finding_count);
	for (int i = 0; i < AUDIT_FATE_COUNT; i++)
		sum += audit->sums.fates[i];
	MUST(sum == audit->sums.recipients);
	seal_reader_free(&reader);
	books_free(&books);
}

/* What a file has is sealed, whatever it is; half a line at its end the second
 * time, and then nothing is left to be sealed. */
static void
lines_seal(struct slice text)
{
	int fd = memfd_create("journal", MFD_CLOEXEC);
	struct seal_end end;
	struct err err;

	MUST(fd >= 0 && write(fd, text.p, text.n) == (ssize_t)text.n);
	MUST(seal_part(fd, &end, &err) == 0);
	MUST(seal_part(fd, &end, &err) == 0);
	MUST(seal_part(fd, &end, &err) == 0 && end.seals == 0);
	close(fd);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct audit_finding findings[AUDIT_FINDINGS_MAX];
	struct slice text = fuzz_slice(data, size);
	struct audit audit = { .findings = findings };
	struct str out = STR_INIT;

	lines_audit(text, &audit);
	audit_print(&audit, &out);
	str_reset(&out);
	audit_print_json(&audit, &out);
	str_release(&out);
	if (size > 0)
		lines_seal(text);
	return 0;
}
