/* taken.h - messages of this node that other nodes have taken over
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SCHEDULER_SHARING_TAKEN_H
#define ZM_SCHEDULER_SHARING_TAKEN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"

enum { TAKEN_MAX = 4 << 20 };	/* rows; more is nonsense */

struct taken_row;

struct taken_list {			/* zeroed: empty */
	struct arena		*arena;
	struct taken_row	*rows;	/* by id, once it is sorted */
	size_t			 count, room;
};

/* Add a message, and the node that has it.  false: there are too many. */
bool taken_add(struct taken_list *taken, struct slice id, struct slice node);
/* No more come: taken_node may be asked. */
void taken_sort(struct taken_list *taken);
/* Was it said of this message that somebody else has it still, when it was
 * seen here?  If not it is taken out of the list. */
void taken_settle(struct taken_list *taken, const char *id, bool is_taken);
/* Was that said? */
bool taken_is_settled(const struct taken_list *taken, const char *id);
/* Who has it; NULL: nobody else. */
const char *taken_node(const struct taken_list *taken, const char *id);
void taken_release(struct taken_list *taken);

#endif
