/* fuzz_scrape.c - requests of scrapers and of anybody else by HTTP
 *
 * SPDX-License-Identifier: ISC
 */
#include "tests/fuzz/fuzz.h"
#include "tools/zmailer/metrics/scrape.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct slice in = fuzz_slice(data, size);
	struct scrape scrape, longer;
	struct str out = STR_INIT;
	bool is_done = false;

	for (size_t n = 0; n < size && !is_done; n++)
		is_done = scrape_read(slice_first(in, n), &scrape);
	/* once it has come to its end, more bytes change nothing */
	MUST(!is_done || (scrape_read(in, &longer) &&
	    longer.status == scrape.status &&
	    longer.is_head == scrape.is_head &&
	    longer.is_open == scrape.is_open));
	if (!scrape_read(in, &scrape)) {
		MUST(size <= SCRAPE_BYTES_MAX);
		return 0;
	}
	scrape_answer(&scrape, SLICE("zmailer_up 1\n"), &out);
	MUST(slice_starts(str_slice(&out), "HTTP/1.1 "));
	MUST(scrape.status != 200 || scrape.is_head ||
	    slice_ends(str_slice(&out), "\r\n\r\nzmailer_up 1\n"));
	str_release(&out);
	return 0;
}
