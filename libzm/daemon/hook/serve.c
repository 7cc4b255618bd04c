/* serve.c - the process of the script: questions in, answers out
 *
 * In     frames of its owner
 * Out    frames
 * Holds  one socket, nothing else: no file can be opened, no process started
 * Trusts its owner's frames to be frames; the script nothing
 * Spec   hook.h, frame.h; doc/HOOKS.md, What it cannot do
 *
 * SPDX-License-Identifier: ISC
 */
#include "daemon/hook/script.h"

#include <errno.h>
#include <sys/resource.h>
#include <unistd.h>

#include "daemon/sandbox.h"
#include "io/ipc.h"

#include "base/banned.h"

enum {
	READ_BYTES = 65536,
	FILES_MAX = 6		/* while the walls are put up */
};

int
script_port_send(struct script_port *port)
{
	ssize_t sent = ipc_send(port->socket, str_slice(&port->out), NULL, 0);

	str_reset(&port->out);
	return sent < 0 ? -1 : 0;
}

int
script_port_take(struct script_port *port, struct hook_frame *out)
{
	struct err err;
	ssize_t got;
	enum hook_frame_found found;

	str_consume(&port->in, port->used);
	port->used = 0;
	while ((found = hook_frame_take(str_slice(&port->in), out,
	    &port->used, &err)) == HOOK_FRAME_PART) {
		got = read(port->socket, str_room(&port->in, READ_BYTES),
		    READ_BYTES);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return -1;
		port->in.len += (size_t)got;
	}
	return found == HOOK_FRAME_WHOLE ? 0 : -1;
}

/* What the sandbox leaves is taken away by bounds: no further descriptor, no
 * byte of a file. */
static void
shut_in(void)
{
	static const struct sandbox nothing = { .sockets = SOCKETS_NONE };
	static const struct rlimit none = { 0, 0 };
	static const struct rlimit files = { FILES_MAX, FILES_MAX };
	struct err err;

	(void)setrlimit(RLIMIT_CORE, &none);
	(void)setrlimit(RLIMIT_FSIZE, &none);
	(void)setrlimit(RLIMIT_NOFILE, &files);
	if (sandbox_enter(&nothing, &err) < 0)
		fatal("hooks: %s", err.text);
}

void
script_serve(int socket, const struct conf_hooks *conf, struct slice text)
{
	struct script_port port = { .socket = socket };
	struct str question = STR_INIT;
	struct script *script;
	struct hook_frame frame;

	str_init(&port.in);
	str_init(&port.out);
	shut_in();
	script = script_new(conf, text, &port);
	if (script_port_send(&port) != 0 || script == NULL)
		_exit(0);
	while (script_port_take(&port, &frame) == 0 && frame.type == 'Q') {
		/* a lookup reads into the port's buffer */
		str_reset(&question);
		str_add_slice(&question, frame.fields);
		if (!script_call(script, str_slice(&question))) {
			(void)script_port_send(&port);
			_exit(0);	/* its memory is spent */
		}
		if (script_port_send(&port) != 0)
			break;
	}
	_exit(0);
}
