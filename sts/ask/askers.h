/* askers.h - who asks for policies, over RUN/sts.sock
 *
 *	policy DOMAIN		policy MODE LEFT ID MX...  |  none  |
 *				trouble WORDS
 *	refresh DOMAIN		the same, looked up now
 *	list			DOMAIN MODE LEFT ID MX... lines, then "."
 *
 * A line ends in LF; answers come in the order of questions.  Who may connect
 * is said by the socket's group and mode.  doc/protocol/sts.md.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_STS_ASKERS_ASKERS_H
#define ZM_STS_ASKERS_ASKERS_H

#include "daemon/callers.h"
#include "sts/known/known.h"

/* Their context is a struct known. */
extern const struct callers_kind askers_kind;

#endif
