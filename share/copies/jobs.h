/* jobs.h - what the database is asked next
 *
 * The lease before all else; then what waits, in its order.  Of this folder
 * alone.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SHARE_COPIES_JOBS_H
#define ZM_SHARE_COPIES_JOBS_H

/* Ask, if nothing is under way.  context: a struct copies. */
void jobs_turn(void *context);

#endif
