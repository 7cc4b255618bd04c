/* bounce_internal.h - shared by the files that implement bounce.h
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SCHEDULER_BOUNCE_INTERNAL_H
#define ZM_SCHEDULER_BOUNCE_INTERNAL_H

#include "scheduler/report/bounce.h"

/* ---- bounce_value.c: one value inside one line ------------------------- */

/* Has the text a byte that is not ASCII? */
bool bounce_has_8bit(struct slice text);
/* Append a value, with control characters as "?". */
void bounce_add_value(struct str *out, struct slice value);
/* The same in ASCII, with other characters as \x{20AC} (RFC 6533 section 3). */
void bounce_add_ascii(struct str *out, struct slice value);
/* "name: Fri, 20 Nov 2026 ...". */
void bounce_add_date(struct str *out, const char *name, int64_t wall_s);
/* Words of a header field: encoded (RFC 2047) where they are not ASCII. */
void bounce_add_words(struct str *out, struct slice text);
/* Lines of at most 72 characters, each after indent. */
void bounce_add_wrapped(struct str *out, const char *indent,
    struct slice text);

/* ---- what an outcome is ------------------------------------------------ */

/* The kind of report for one recipient. */
enum bounce_kind bounce_rcpt_kind(const struct bounce_rcpt *rcpt);
/* The Action field of RFC 3464 section 2.3.3. */
const char *bounce_action(const struct bounce_rcpt *entry);

/* ---- bounce_words.c, bounce_fields.c ------------------------------------ */

/* Form number i of the bounce; English if it has none. */
const struct report_form *bounce_form(const struct bounce *bounce, size_t i);
void bounce_add_people(const struct bounce *bounce, struct str *out);
void bounce_add_fields(const struct bounce *bounce, struct str *out);

#endif
