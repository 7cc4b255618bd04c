/* hooks.h - hooks FILE: the site's script and its bounds
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_CONF_SETTINGS_HOOKS_H
#define ZM_CONF_SETTINGS_HOOKS_H

#include <stdbool.h>
#include <stdint.h>

#include "conf/settings/at.h"

struct conf_hooks {
	const char	*script;	/* NULL: none */
	uint64_t	 instructions;	/* of a call */
	uint64_t	 memory_bytes;	/* of the script as a whole */
	int64_t		 time_ms;	/* of a call */
	bool		 waits_when_late;	/* before_attempt */
	struct conf_at	 at;
};

enum conf_learn_as { LEARN_SPAM, LEARN_HAM, LEARN_COUNT };

struct conf_learn {		/* learn spam|ham PROGRAM as ACCOUNT */
	const char	*program;	/* with its words; NULL: none */
	const char	*account;
	int64_t		 timeout_ms;
	struct conf_at	 at;
};

#endif
