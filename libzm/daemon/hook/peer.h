/* peer.h - the process of a script, seen from outside
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_DAEMON_HOOK_PEER_H
#define ZM_DAEMON_HOOK_PEER_H

#include <sys/types.h>

#include "conf/conf.h"
#include "daemon/hook/frame.h"

enum {
	HOOK_GRACE_MS = 250	/* after its time is up, a script may end by
				 * itself, with its line; then it is killed */
};

struct hook_peer {
	pid_t		pid;		/* 0: none */
	int		socket;
	struct str	in;
	size_t		used;		/* of in, by the present frame */
};

/* Fill in *peer: there is no process yet. */
void hook_peer_init(struct hook_peer *peer);
/* Fork a process for this text.  0 or -1. */
int hook_peer_start(struct hook_peer *peer, const struct conf_hooks *conf,
    struct slice text, struct err *err);
/* Kill, reap and forget the process; harmless when there is none. */
void hook_peer_end(struct hook_peer *peer);
/* Reap the process if it has ended, so that the next question starts a new
 * one. */
void hook_peer_look(struct hook_peer *peer);
bool hook_peer_is_there(const struct hook_peer *peer);

/* Send all bytes before until_ms of the steady clock.  0 or -1. */
int hook_peer_send(struct hook_peer *peer, struct slice bytes,
    int64_t until_ms);

enum hook_peer_word {
	HOOK_PEER_DEAD = -1,	/* it died, or sent nonsense */
	HOOK_PEER_LATE,		/* it sent nothing in time */
	HOOK_PEER_SPOKE		/* there is a frame */
};
/* Take a frame, valid until the next one, before until_ms of the steady
 * clock; err says what went wrong. */
enum hook_peer_word hook_peer_take(struct hook_peer *peer, int64_t until_ms,
    struct hook_frame *out, struct err *err);

#endif
