/* report.h - what is wrong with a configuration, and where
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_CONF_SETTINGS_REPORT_H
#define ZM_CONF_SETTINGS_REPORT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"
#include "conf/settings/at.h"

/* One complaint about a file. */
struct conf_complaint {
	bool		 is_error;	/* else a warning */
	struct conf_at	 at;
	unsigned	 width;		/* columns to underline */
	const char	*source;	/* the line's text */
	const char	*text;		/* "'submision' is not a port" */
	const char	*hint;		/* "did you mean 'x'?" or NULL */
};
struct conf_report {		/* lives in the arena given to conf_load */
	struct conf_complaint	*complaints;	/* sorted by line */
	size_t			 count, errors, warnings;
};

/* A text that replaces what a file contains. */
struct conf_draft {
	const char	*path;		/* as conf_sources has it */
	struct slice	 text;
};
struct conf;
/* The texts that a configuration was made of, each once, with the names that
 * they were read by; the first is the main file's.  They borrow from conf.
 * Returns how many; at most max are put into out. */
size_t conf_texts(const struct conf *conf, struct conf_draft *out,
    size_t max);

#endif
