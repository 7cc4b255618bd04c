/* control.h - who may ask and give orders over the network
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_CONF_SETTINGS_CONTROL_H
#define ZM_CONF_SETTINGS_CONTROL_H

#include <stdbool.h>

#include "base/err.h"
#include "base/str.h"
#include "conf/settings/clients.h"

struct conf_mailq {		/* mailq ADDRESS users FILE */
	struct conf_listen listen;
	const char	*users;		/* a file; NULL: nobody may ask */
	bool		 is_sha256_only;
};

/* Read mailq's file of users into out.  0; -1: it cannot be read or has a bad
 * line: err has the file, the line, and what is wrong, but no password. */
int conf_mailq_read(const char *path, struct str *out, struct err *err);

#endif
