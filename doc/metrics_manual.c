/* metrics_manual.c - print the list of metrics from the rows of metrics.h
 *
 * In     journal/metrics.h
 * Out    mdoc on standard output, for doc/man/zmailer-metrics.8.in
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdio.h>

#include "journal/counters.h"

#include "base/banned.h"

int
main(void)
{
	struct counters_about about;

	for (unsigned i = 0; counters_about(i, &about); i++) {
		printf(".It Li %s", about.name);
		if (about.labels[0] != '\0')
			printf(" Brq %s", about.labels);
		printf("\n%c%s (%s).\n", about.text[0], about.text + 1,
		    about.type);
	}
	return 0;
}
