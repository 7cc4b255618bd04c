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
