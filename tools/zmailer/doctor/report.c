/* report.c - findings of the doctor are collected
 *
 * In     words, some of them from outside
 * Out    findings, escaped, in the doctor's arena
 * Trusts nothing in names: controls cannot move a cursor
 * Spec   doctor.h
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "tools/zmailer/doctor/doctor.h"

#include "base/banned.h"

enum { WHAT_BYTES = 1024 };

static const char *
report_escaped(struct doctor *doctor, const char *text)
{
	struct str out = STR_INIT;
	const char *result;

	str_add_escaped(&out, slice_of(text));
	result = slice_dup(doctor->arena, str_slice(&out));
	str_release(&out);
	return result;
}

void
doctor_add(struct doctor *doctor, enum doctor_level level,
    const char *where, const char *advice, const char *format, ...)
{
	struct doctor_finding *finding;
	char what[WHAT_BYTES];
	va_list ap;

	va_start(ap, format);
	vsnprintf(what, sizeof(what), format, ap);
	va_end(ap);
	if (doctor->count % 64 == 0) {
		struct doctor_finding *wider = arena_alloc(doctor->arena,
		    (doctor->count + 64) * sizeof(*wider));

		if (doctor->count > 0)
			memcpy(wider, doctor->findings,
			    doctor->count * sizeof(*wider));
		doctor->findings = wider;
	}
	finding = &doctor->findings[doctor->count++];
	finding->level = level;
	finding->area = doctor->area;
	finding->where = report_escaped(doctor, where);
	finding->what = report_escaped(doctor, what);
	finding->advice = report_escaped(doctor, advice == NULL ? "" : advice);
}

void
doctor_progress(const struct doctor *doctor, const char *what, size_t done,
    size_t all)
{
	if (!doctor->shows_progress)
		return;
	if (all == 0)
		fprintf(stderr, "\r%40s\r", "");
	else
		fprintf(stderr, "\r%s %zu/%zu ", what, done, all);
	fflush(stderr);
}
