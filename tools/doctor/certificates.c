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
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "io/tls_about.h"
#include "io/tls_pair.h"
#include "tools/doctor/doctor.h"

#include "base/banned.h"

enum { DAY_S = 86400 };

/* Who may not read the key says so, and goes on without. */
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
	is_good = tls_pair_load(&pair, one->file, one->key, &err) == 1;
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
	if (about->begins_s > now_s)
		doctor_add(doctor, DOCTOR_BAD, one->file,
		    "is the clock right?", "it is not in force yet");
	else if (left_s < 0)
		doctor_add(doctor, DOCTOR_BAD, one->file,
		    "renew it: zmailer cert install",
		    "it has expired %s ago", span);
	else if (left_s < DOCTOR_CERTIFICATE_DAYS * DAY_S)
		doctor_add(doctor, DOCTOR_WARN, one->file,
		    "renew it: zmailer cert install", "it expires in %s",
		    span);
	else
		doctor_add(doctor, DOCTOR_OK, one->file, "",
		    "good for %s more; %s", span, about->names.buf);
}

static void
judge_one(struct doctor *doctor, const struct conf_certificate *one,
    const char *name)
{
	struct tls_about about;
	struct err err;

	if (tls_about_load(&about, one->file, &err) != 1) {
		doctor_add(doctor, DOCTOR_BAD, one->file,
		    "it must be PEM and readable", "%s", err.text);
		tls_about_release(&about);
		return;
	}
	if (has_key(doctor, one))
		judge_dates(doctor, one, &about);
	if (name != NULL && !tls_about_has(&about, name))
		doctor_add(doctor, DOCTOR_WARN, one->file,
		    "clients that look will not believe us: get one with "
		    "that name", "it is shown as %s, but has the names %s",
		    name, about.names.buf);
	tls_about_release(&about);
}

void
doctor_certificates(struct doctor *doctor)
{
	const struct conf *conf = doctor->conf;

	for (size_t i = 0; i < conf->certificate_count; i++) {
		const struct conf_certificate *one = &conf->certificates[i];

		/* the first is the default, shown under our own name */
		judge_one(doctor, one, one->name != NULL ? one->name :
		    i == 0 ? conf->host : NULL);
	}
	if (conf->certificate_count == 0)
		doctor_add(doctor, DOCTOR_OK, "",
		    "zmailer cert install FILE KEY",
		    "no certificate: mail comes in unencrypted");
}
