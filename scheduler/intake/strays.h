/* strays.h - what a person took away while the scheduler runs
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SCHEDULER_INTAKE_STRAYS_H
#define ZM_SCHEDULER_INTAKE_STRAYS_H

#include "scheduler/intake/intake.h"

/* Begin a round, unless one is under way or the start's walk is not over:
 * the next walk of transport/ (scan_begin) belongs to it. */
void strays_begin(struct intake *intake);

/* Some more of the round; intake.c calls it in each turn while
 * intake->strays.phase is not STRAYS_IDLE. */
void strays_step(struct intake *intake);

/* A walk of transport/ met a control file that is no job. */
void strays_control_found(struct intake *intake, ino_t inode);

/* Free what a round holds. */
void strays_release(struct strays *strays);

#endif
