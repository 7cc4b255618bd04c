/* at.h - a place in a configuration file
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_CONF_SETTINGS_AT_H
#define ZM_CONF_SETTINGS_AT_H

struct conf_at {		/* where a setting was written */
	const char	*file;		/* NULL: it is the default */
	unsigned	 line, column;	/* from 1 */
};

#endif
