/* brief.h - what one message needs of a configuration
 *
 * sendmail(1) starts for one message and ends: to read a configuration cost
 * it more than to store the message.  So the snapshot of the one in force has
 * these few at its front.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_CONF_BRIEF_H
#define ZM_CONF_BRIEF_H

#include <stdint.h>

struct conf_brief {		/* as in struct conf, and from one */
	const char	*path;
	const char	*host;
	const char	*spool_dir, *run_dir, *log_dir;
	unsigned	 hash_levels;
	unsigned	 sync;			/* enum conf_sync */
	uint64_t	 size_bytes, header_bytes, received;	/* limits */
	const char	*node;			/* its digits in ids, or "" */
};

#endif
