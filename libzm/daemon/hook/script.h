/* script.h - inside the process of hook.h: the script itself
 *
 * Lua 5.4 with base, string, table, math, utf8 and the table zm; memory,
 * instructions and time of a call have bounds.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_DAEMON_HOOK_SCRIPT_H
#define ZM_DAEMON_HOOK_SCRIPT_H

#include "conf/conf.h"
#include "daemon/hook/frame.h"

enum {
	SCRIPT_TEXT_BYTES_MAX = 1 << 20,
	SCRIPT_STEP = 1000,		/* instructions between two checks */
	SCRIPT_LOOKUPS_MAX = 1000,	/* of a call */
	SCRIPT_LOGS_MAX = 100,		/* lines of a call */
	SCRIPT_LOG_BYTES_MAX = 1000,
	SCRIPT_WORDS_BYTES_MAX = 400	/* of a verdict */
};

/* Serve questions on socket until its end; text is the script.  Does not
 * return. */
void script_serve(int socket, const struct conf_hooks *conf,
    struct slice text) __attribute__((noreturn));

/* ---- for script_serve ------------------------------------------------- */

struct script;

/* The other side, as the script sees it: lookups wait for their answer. */
struct script_port {
	int		socket;
	struct str	in, out;
	size_t		used;		/* of in, by the present frame */
};
/* Send out.  0; -1: the other side is gone. */
int script_port_send(struct script_port *port);
/* Wait for a frame.  0 or -1. */
int script_port_take(struct script_port *port, struct hook_frame *out);

/* Compile and run the text.  Appends H or E to port->out.  NULL after E. */
struct script *script_new(const struct conf_hooks *conf, struct slice text,
    struct script_port *port);
/* Call the function that the fields of Q name; append A or E.  False when the
 * script must be started anew (its memory is used up). */
bool script_call(struct script *script, struct slice fields);
void script_free(struct script **script);

#endif
