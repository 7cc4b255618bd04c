/* limit_place.h - where a limit stands that keeps mail back
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SCHEDULER_LIMIT_PLACE_H
#define ZM_SCHEDULER_LIMIT_PLACE_H

#include "scheduler/control/constraint.h"

/* Append members to the open JSON object when a limit binds mail of the
 * thread: `setting`, as it would be written, with its value now; `place`,
 * the file and line of its clause, "preset", or "order"; `learned`, when
 * what the host answers makes it less than that. */
void limit_place_add(const struct agents *agents,
    const struct thread *thread, const struct constraint *why,
    struct str *out);

#endif
