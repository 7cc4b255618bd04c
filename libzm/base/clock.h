/* clock.h - the only place that asks what time it is
 *
 * There are two clocks: the wall clock, for stamps that people and other
 * machines read and for what must survive a restart; and the steady clock,
 * for deadlines inside one process.  A name that ends in _at is a moment, one
 * that ends in _for is a span.
 *
 * A test may move both clocks: if the environment names a file in
 * ZMAILER_TEST_CLOCK, its first 8 bytes (a native int64_t, seconds) are
 * added to both, and the next 8, if there are any, to the wall clock alone, as
 * by somebody who sets it.  The file is mapped, so a change needs no message.
 * A process whose clock can move never sleeps longer than clock_nap_ms.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_BASE_CLOCK_H
#define ZM_BASE_CLOCK_H

#include <stddef.h>
#include <stdint.h>
#include <time.h>

/* Wall clock: microseconds / seconds since 1970-01-01 UTC. */
int64_t clock_wall_us(void);
int64_t clock_wall_s(void);

/* Stop the wall clock of this process at wall_us, for a caller that repeats a
 * decision of another time; 0 lets it run again. */
void clock_hold_wall(int64_t wall_us);

/* Steady clock: milliseconds / microseconds since some moment before the
 * start of this process. */
int64_t clock_steady_ms(void);
int64_t clock_steady_us(void);

/* The wall clock, in seconds, when the steady clock shows at_ms.  The result
 * for the same at_ms is always the same, which it would not be if the caller
 * computed it from clock_wall_s and clock_steady_ms. */
int64_t clock_wall_of_s(int64_t at_ms);

/* The steady clock, which no test moves: to measure how long something took. */
int64_t clock_real_us(void);

/* The moment of change that a file has which changes now lies between these;
 * no test moves them.  A file system takes that of the last tick, or a finer
 * one.  What is NULL is not asked for. */
void clock_file_now(struct timespec *out_least, struct timespec *out_most);

/* The longest sleep, in milliseconds, that a movable clock allows: 20 when a
 * test clock is in use, else -1 (no bound). */
int clock_nap_ms(void);

enum { CLOCK_TEXT_BYTES = 64 };

/* "2026-11-20T21:04:00.123Z" (RFC 3339) for a wall time in microseconds. */
void clock_rfc3339(int64_t wall_us, char out_text[CLOCK_TEXT_BYTES]);

/* "Fri, 20 Nov 2026 21:04:00 +0000" (RFC 5322 section 3.3), local zone. */
void clock_rfc5322(int64_t wall_s, char out_text[CLOCK_TEXT_BYTES]);

/* "2026-11-20 21:04:05 CET": a moment for people, local with its zone.  What
 * programs read (JSON, the journal) is in UTC.  No other code formats moments:
 * banned.h bars the functions that do. */
void clock_local(int64_t wall_s, char out_text[CLOCK_TEXT_BYTES]);

/* "21:04:05.123", local: for rows under a heading with the day and the zone. */
void clock_local_time(int64_t wall_ms, char out_text[CLOCK_TEXT_BYTES]);

/* "Fri Nov 20 21:04:05", local: the column that scripts expect of mailq(1),
 * whose first line has the zone. */
void clock_local_mailq(int64_t wall_s, char out_text[CLOCK_TEXT_BYTES]);

/* "Fri Nov 20 21:04:05 2026", UTC: the separating line of an mbox. */
void clock_mbox(int64_t wall_s, char out_text[CLOCK_TEXT_BYTES]);

/* The parts of a moment, local: for arithmetic with days. */
void clock_local_parts(int64_t wall_s, struct tm *out);

/* "3h12m", "45s", "5d": a span for people, of at most two units. */
void clock_span(int64_t span_s, char out_text[CLOCK_TEXT_BYTES]);

enum { CLOCK_AHEAD_S = 120, CLOCK_LONG_AGO_S = INT32_MAX };

/* The seconds since a moment of the wall clock that a file tells.  One that is
 * ahead by more than CLOCK_AHEAD_S is of a clock that was set back:
 * CLOCK_LONG_AGO_S, so that nobody waits until it comes; by less: 0. */
int64_t clock_since_s(int64_t then_s);

#endif
