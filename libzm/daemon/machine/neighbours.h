/* neighbours.h - the sockets of other programs that a configuration names
 *
 * Milters, policy services, a content filter, password checkers, and next hops
 * by LMTP: without them mail waits or is refused for now.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_DAEMON_MACHINE_NEIGHBOURS_H
#define ZM_DAEMON_MACHINE_NEIGHBOURS_H

#include "conf/conf.h"

enum { MACHINE_KNOCK_MS = 1000 };

struct machine_neighbour {
	const char	*kind;	/* as of journal/neighbours.h, or "lmtp" */
	const char	*name;	/* "unix:/PATH", "inet:ADDRESS:PORT", a path,
				 * a command */
	struct conf_at	 at;
};

/* All of them, each once, in an array in arena.  returns how many. */
size_t machine_neighbours(const struct conf *conf, struct arena *arena,
    struct machine_neighbour **out);

/* Does a process listen at this socket?  MACHINE_SILENT: none does (err says
 * why); MACHINE_UNKNOWN: it is a command or a name that needs the DNS, or we
 * may not connect. */
enum machine_knock { MACHINE_ANSWERS, MACHINE_SILENT, MACHINE_UNKNOWN };
enum machine_knock machine_knock(const char *name, struct err *err);

#endif
