/* fuzz_received.c - any file that is said to hold reports
 *
 * Grammar: RFC 9990 appendix A (XML), RFC 8460 section 4.4 (JSON), in gzip,
 * zip, messages and mailboxes
 *
 * SPDX-License-Identifier: ISC
 */
#include "tests/fuzz/fuzz.h"
#include "tools/reports/received.h"

#include "base/banned.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct received_rows rows = { .kind = size % 2 == 0 ? RECEIVED_DMARC :
	    RECEIVED_TLS, .out = STR_INIT };
	struct received_table *table = received_table_new(rows.kind);
	struct str out = STR_INIT, complaints = STR_INIT;

	received_read(&rows, fuzz_slice(data, size));
	/* what it writes, the table reads; and whatever else there is */
	received_table_take(table, "file", str_slice(&rows.out), &complaints);
	MUST(received_table_rows(table) == rows.count);
	received_table_take(table, "file", fuzz_slice(data, size),
	    &complaints);
	received_table_show(table, size % 3 == 0, &out);
	received_table_free(&table);
	str_release(&rows.out);
	str_release(&complaints);
	str_release(&out);
	return 0;
}
