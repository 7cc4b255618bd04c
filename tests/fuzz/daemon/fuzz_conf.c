/* fuzz_conf.c - any bytes as a configuration
 *
 * A report comes for bad ones; a good one is asked, and what is
 * shown of it parses.
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdio.h>
#include <stdlib.h>

#include "conf/conf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What conf_show prints is a configuration. */
static void
show_and_parse(const struct conf *conf, struct arena *arena)
{
	struct str shown = STR_INIT;
	struct conf_report report;
	struct conf *again;

	conf_show(conf, true, &shown);
	again = conf_parse("shown.conf", str_slice(&shown), arena, &report);
	if (again == NULL) {
		conf_report_print(&report, "shown.conf", &shown);
		fputs(shown.buf, stderr);
		abort();
	}
	conf_free(&again);
	str_release(&shown);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct slice text = { (const char *)data, size };
	struct arena *arena = arena_new();
	struct conf_report report;
	struct conf *conf = conf_parse("fuzz.conf", text, arena, &report);
	struct str out = STR_INIT;

	if ((conf == NULL) != (report.errors > 0))
		abort();
	conf_report_print(&report, "fuzz.conf", &out);
	conf_report_json(&report, &out);
	if (conf != NULL) {
		show_and_parse(conf, arena);
		conf_domain_find(conf, slice_first(text, 40));
		if (conf_schedule_for(conf, slice_first(text, 4),
		    slice_from(text, 4)) == NULL)
			abort();
	}
	str_release(&out);
	conf_free(&conf);
	arena_free(&arena);
	return 0;
}
