/* look.h - what the files of machine/ share
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_DAEMON_MACHINE_LOOK_H
#define ZM_DAEMON_MACHINE_LOOK_H

#include "conf/read/read.h"

struct table;

/* A look from a conf at the machine it is for. */
struct machine_look {
	const struct conf	*conf;
	struct arena		*arena;		/* of the report */
	struct conf_report	*report;
	unsigned		 width;		/* of what is underlined */
};

/* Complain about what was seen; hint may be NULL; both are copied. */
void machine_tell(const struct machine_look *look, enum conf_kind kind,
    struct conf_at at, const char *hint, const char *text);

/* A warning for each value of a table of routes or of users that the router
 * could not use. */
void machine_check_values(struct machine_look *look,
    const struct conf_table *entry, struct table *table);
/* Certificates can be read, fit their keys, are in force. */
void machine_check_certificates(const struct conf *conf, struct arena *arena,
    struct conf_report *report);
/* Somebody listens at the sockets that are named. */
void machine_check_neighbours(const struct machine_look *look);
/* The script of hooks is safe and compiles. */
void machine_check_hooks(const struct machine_look *look);

#endif
