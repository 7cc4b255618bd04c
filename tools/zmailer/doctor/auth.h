/* auth.h - the area auth of the doctor: what its files share
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TOOLS_DOCTOR_AUTH_H
#define ZM_TOOLS_DOCTOR_AUTH_H

#include "origin/answers.h"
#include "tools/zmailer/doctor/doctor.h"

enum { DOCTOR_SENDINGS_MAX = 16 };

struct doctor_sending {			/* an address that mail leaves by */
	struct dns_address address;
	const char	*text;
};

struct doctor_auth {
	struct doctor		*doctor;
	struct doctor_asking	 asking;
	struct answers		*answers;	/* of the domain at work */
	const char		**domains;
	size_t			 domain_count;
	struct doctor_sending	 sendings[DOCTOR_SENDINGS_MAX];
	size_t			 sending_count;
};

/* The answer to a question, which is asked if it was not yet; never NULL, in
 * the arena. */
const struct origin_answer *doctor_auth_look(struct doctor_auth *auth,
    enum dns_type type, struct slice name);

/* auth_keys.c: find the domains; the addresses. */
void doctor_auth_domains(struct doctor_auth *auth);
void doctor_auth_sendings(struct doctor_auth *auth);
/* auth_keys.c: check that the DNS has the keys that sign for the domain; and
 * the TLSA records of our name, against our certificate. */
void doctor_auth_keys(struct doctor_auth *auth, const char *domain);
void doctor_auth_dane(struct doctor_auth *auth);

#endif
