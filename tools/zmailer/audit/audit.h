/* audit.h - what one audit found
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TOOLS_ZMAILER_AUDIT_H
#define ZM_TOOLS_ZMAILER_AUDIT_H

#include "tools/journal/seal.h"
#include "tools/zmailer/audit/books.h"

enum { AUDIT_FAULTS_MAX = 1000 };	/* of the journal, named one by one */

struct audit_fault {
	enum seal_fault	 fault;
	char		 part[64];
	size_t		 number, count;
	int64_t		 at_ms;
};

struct audit {
	struct journal_span window;
	const char	*known;		/* a sum that the chain must have */
	struct audit_sums sums;
	struct audit_finding *findings;
	size_t		 finding_count;
	struct seal_sums seals;
	struct audit_fault *faults;
	size_t		 fault_count;
	uint64_t	 faults_all;
};

/* Does every recipient have a fate, and is the journal as it was written? */
bool audit_is_good(const struct audit *audit);

/* Append it for people, or as lines of JSON. */
void audit_print(const struct audit *audit, struct str *out);
void audit_print_json(const struct audit *audit, struct str *out);

#endif
