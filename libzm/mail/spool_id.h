/* spool_id.h - the name of a message from its acceptance to its end
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_MAIL_SPOOL_ID_H
#define ZM_MAIL_SPOOL_ID_H

#include <stdint.h>
#include <sys/types.h>

#include "base/str.h"

enum {
	SPOOL_ID_BYTES = 32,		/* a spool id and its NUL */
	SPOOL_NODE_BYTES = 3,		/* digits of a node, and their NUL */
	SPOOL_NODES_MAX = 1 << 10	/* that two digits tell apart */
};

/* A spool id: 10 base-32 digits of time (ticks of 16 microseconds since
 * 1970, strictly rising in a process) and the inode in base 32; on a machine
 * of a cluster also u and two digits of the node, so that no other node can
 * make the same.  Digits 0-9 a-z without i l o u: ids sort by time as text. */
void spool_id_make(int64_t wall_us, ino_t inode,
    char out_id[SPOOL_ID_BYTES]);
/* The id of a message that was accepted elsewhere, at that time: the same tick
 * and inode give the same id. */
void spool_id_make_of(int64_t wall_us, ino_t inode,
    char out_id[SPOOL_ID_BYTES]);
/* Append the digits of a node, "" none, to an id that has none. */
void spool_id_add_node(const char *node, char id[SPOOL_ID_BYTES]);
/* The digits of node number 0..1023. */
void spool_node_digits(unsigned number, char out[SPOOL_NODE_BYTES]);
/* Is it 11..24 digits of that alphabet, with a node or without? */
bool spool_id_is(struct slice text);
/* When the message was accepted, wall, in microseconds. */
int64_t spool_id_time_us(struct slice id);
/* The inode that it had then; 0: id is not a spool id. */
ino_t spool_id_inode(struct slice id);

#endif
