/* certificates.c - dates, keys and names of our certificates
 *
 * In     the tls statements, their files
 * Out    findings
 * Trusts nothing in a certificate: its words are escaped
 * Spec   zmailer-doctor(8)
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <unistd.h>

#include "base/clock.h"
#include "tls/about.h"
#include "tls/pair.h"
#include "tools/zmailer/doctor/doctor.h"

#include "base/banned.h"

/* If we may not read the key, say so and check the rest. */
static bool
has_key(struct doctor *doctor, const struct conf_certificate *one)
{
	struct tls_pair pair;
	struct err err;
	bool is_good;

	if (access(one->key, R_OK) != 0 && errno == EACCES) {
		doctor_add(doctor, DOCTOR_OK, one->key,
		    "run the doctor as root to look at it",
		    "the key cannot be read by you");
		return true;
	}
	is_good = tls_pair_load(&pair, one->file, one->key, &err) == 0;
	if (is_good)
		tls_pair_release(&pair);
	else
		doctor_add(doctor, DOCTOR_BAD, one->file,
		    "see zmailer cert check; zmailer cert install puts a new "
		    "pair in place", "%s", err.text);
	return is_good;
}

static void
judge_dates(struct doctor *doctor, const struct conf_certificate *one,
    const struct tls_about *about)
{
	int64_t now_s = clock_wall_s(), left_s = about->expires_s - now_s;
	char span[CLOCK_TEXT_BYTES];

	clock_span(left_s < 0 ? -left_s : left_s, span);
	switch (tls_term(about->begins_s, about->expires_s, now_s)) {
	case TLS_TERM_EARLY:
		doctor_add(doctor, DOCTOR_BAD, one->file,
		    "is the clock right?", "it is not in force yet");
		break;
	case TLS_TERM_OVER:
		doctor_add(doctor, DOCTOR_BAD, one->file,
		    "renew it: zmailer cert install",
		    "it has expired %s ago", span);
		break;
	case TLS_TERM_SOON:
		doctor_add(doctor, DOCTOR_WARN, one->file,
		    "renew it: zmailer cert install", "it expires in %s",
		    span);
		break;
	case TLS_TERM_GOOD:
		doctor_add(doctor, DOCTOR_OK, one->file, "",
		    "good for %s more; %s", span, about->names.buf);
		break;
	}
}

static void
judge_names(struct doctor *doctor, const struct conf_certificate *one,
    const char *names, const struct tls_about *about)
{
	struct slice lacks = tls_about_lacks(about, names);

	if (lacks.n > 0)
		doctor_add(doctor, DOCTOR_WARN, one->file,
		    "clients that look will not believe us: get one with "
		    "that name", "it is shown as " SLICE_FMT ", but has the "
		    "names %s", SLICE_ARG(lacks), about->names.buf);
}

static void
judge_one(struct doctor *doctor, const struct conf_certificate *one,
    const char *name)
{
	struct tls_about about;
	struct err err;

	if (tls_about_load(&about, one->file, &err) != 0) {
		doctor_add(doctor, DOCTOR_BAD, one->file,
		    "it must be PEM and readable", "%s", err.text);
		tls_about_release(&about);
		return;
	}
	if (has_key(doctor, one))
		judge_dates(doctor, one, &about);
	if (name != NULL)
		judge_names(doctor, one, name, &about);
	tls_about_release(&about);
}

void
doctor_certificates(struct doctor *doctor)
{
	const struct conf *conf = doctor->conf;

	struct conf_certificate *rows;
	struct err err;
	size_t count;

	if (conf_all_certificates(conf, doctor->arena, &rows, &count, &err) <
	    0)
		doctor_add(doctor, DOCTOR_BAD, conf->certificate_table,
		    "the names of the table before it stay", "%s", err.text);
	for (size_t i = 0; i < count; i++) {
		const struct conf_certificate *one = &rows[i];

		/* the first is the default, shown under our own name */
		judge_one(doctor, one, one->name != NULL ? one->name :
		    i == 0 ? conf->host : NULL);
	}
	if (count == 0)
		doctor_add(doctor, DOCTOR_OK, "",
		    "zmailer cert install FILE KEY",
		    "no certificate: mail comes in unencrypted");
}
