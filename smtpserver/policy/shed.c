/* shed.c - what goes first when there are too many sessions
 *
 * In     numbers
 * Out    a level; yes or no
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdint.h>

#include "smtpserver/policy/shed.h"

#include "base/banned.h"

enum { WAITING_PERCENT = 70, SECOND_PERCENT = 85, STRANGERS_PERCENT = 95 };

enum shed_level
shed_level(unsigned sessions, unsigned limit)
{
	uint64_t hundred = (uint64_t)sessions * 100;

	if (limit == 0)
		return SHED_NOTHING;
	if (sessions >= limit)
		return SHED_ALL;
	if (hundred >= (uint64_t)limit * STRANGERS_PERCENT)
		return SHED_STRANGERS;
	if (hundred >= (uint64_t)limit * SECOND_PERCENT)
		return SHED_SECOND;
	return hundred >= (uint64_t)limit * WAITING_PERCENT ? SHED_WAITING :
	    SHED_NOTHING;
}

bool
shed_admits(enum shed_level level, bool is_stranger,
    unsigned client_sessions)
{
	switch (level) {
	case SHED_NOTHING:
	case SHED_WAITING:
		return true;
	case SHED_SECOND:
		return !is_stranger || client_sessions == 0;
	case SHED_STRANGERS:
		return !is_stranger;
	case SHED_ALL:
		break;
	}
	return false;
}
