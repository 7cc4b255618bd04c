/* state.c - the names of states
 *
 * In     the rows of state.h
 * Out    a table
 * Holds  nothing
 * Spec   mail/state.h
 *
 * SPDX-License-Identifier: ISC
 */
#include "mail/state.h"

#include "base/banned.h"

const struct mail_state_row mail_states[MAIL_STATE_COUNT] = {
#define MAIL_STATE(name, word, text) [MAIL_STATE_##name] = { word, text },
	MAIL_STATE_ROWS(MAIL_STATE)
#undef MAIL_STATE
};

const struct mail_state_row destination_states[DESTINATION_STATE_COUNT] = {
#define DESTINATION_STATE(name, word, text) \
	[DESTINATION_STATE_##name] = { word, text },
	DESTINATION_STATE_ROWS(DESTINATION_STATE)
#undef DESTINATION_STATE
};

enum destination_state
destination_state_of(const struct destination_look *look)
{
	if (look->is_suspended)
		return DESTINATION_STATE_SUSPENDED;
	if (look->is_down)
		return DESTINATION_STATE_DOWN;
	if (look->is_throttled)
		return DESTINATION_STATE_THROTTLED;
	if (look->active > 0)
		return DESTINATION_STATE_ACTIVE;
	if (look->ready > 0)
		return DESTINATION_STATE_READY;
	if (look->waiting > 0)
		return DESTINATION_STATE_WAITING;
	return look->held > 0 ? DESTINATION_STATE_HELD :
	    DESTINATION_STATE_IDLE;
}

enum destination_state
destination_state_parse(struct slice name)
{
	int i = 0;

	while (i < DESTINATION_STATE_COUNT &&
	    !slice_is(name, destination_states[i].name))
		i++;
	return (enum destination_state)i;
}
