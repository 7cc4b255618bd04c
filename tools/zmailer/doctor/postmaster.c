/* postmaster.c - who reads what postmaster gets
 *
 * In     what the router answers for postmaster at each of our domains
 * Out    a finding where it ends in root's mailbox, or the router has trouble
 * Holds  nothing
 * Trusts its answer only as lines of JSON
 * Spec   zmailer-doctor(8); RFC 5321 section 4.5.1
 *
 * SPDX-License-Identifier: ISC
 */
#include <pwd.h>

#include "base/json.h"
#include "daemon/skeleton.h"
#include "tools/run/ask_router.h"
#include "tools/zmailer/doctor/doctor.h"

#include "base/banned.h"

enum { POSTMASTERS_MAX = 50 };

/* The domains that have local parts of ours; returns how many. */
static size_t
postmaster_addresses(struct doctor *doctor, const char **out)
{
	const struct conf *conf = doctor->conf;
	size_t n = 0;

	for (size_t i = 0; i < conf->domain_count; i++)
		for (size_t k = 0; k < conf->domains[i].name_count &&
		    n < POSTMASTERS_MAX; k++)
			if (conf->domains[i].names[k][0] != '.')
				out[n++] = arena_printf(doctor->arena,
				    "postmaster@%s",
				    conf->domains[i].names[k]);
	return n;
}

/* The mailbox file of the user who gets it, if the template is simple. */
static const char *
postmaster_mailbox(struct doctor *doctor, const char *user)
{
	struct slice path = slice_of(doctor->conf->mailbox_path);
	const struct passwd *account = getpwnam(user);
	struct str out = STR_INIT;
	const char *result;

	while (path.n > 0) {
		if (slice_starts(path, "{user}"))
			str_adds(&out, user);
		else if (slice_starts(path, "{home}") && account != NULL)
			str_adds(&out, account->pw_dir);
		if (path.p[0] == '{' && slice_find(path, '}') < path.n)
			path = slice_from(path, slice_find(path, '}') + 1);
		else {
			str_addc(&out, path.p[0]);
			path = slice_from(path, 1);
		}
	}
	result = slice_dup(doctor->arena, str_slice(&out));
	str_release(&out);
	return result;
}

struct postmaster {		/* of one domain */
	bool		 is_roots, is_others;
	struct str	 who;		/* the others, by commas */
};

/* "anna", "anna@far.example by smtp" */
static void
postmaster_add(struct postmaster *out, struct slice channel, struct slice line)
{
	struct str user = STR_INIT;

	(void)json_get(line, "user", &user);
	str_adds(&out->who, out->is_others ? ", " : "");
	str_add_escaped(&out->who, str_slice(&user));
	if (!slice_is(channel, "local"))
		str_addf(&out->who, " by " SLICE_FMT, SLICE_ARG(channel));
	out->is_others = true;
	str_release(&user);
}

/* One line: a note, or a recipient. */
static void
postmaster_hear(struct slice line, const char *address,
    struct postmaster *out)
{
	struct str channel = STR_INIT, user = STR_INIT;

	if (json_is(line, "address", address) &&
	    json_get(line, "channel", &channel)) {
		if (slice_is(str_slice(&channel), "local") &&
		    json_get(line, "user", &user) &&
		    (slice_is(str_slice(&user), "root") ||
		    slice_starts(str_slice(&user), "root@")))
			out->is_roots = true;
		else
			postmaster_add(out, str_slice(&channel), line);
	}
	str_release(&channel);
	str_release(&user);
}

static void
postmaster_judge(struct doctor *doctor, const char *address,
    struct slice answer)
{
	struct postmaster found = { false, false, STR_INIT };
	struct slice line;

	while (slice_cut(&answer, '\n', &line))
		postmaster_hear(line, address, &found);
	if (found.is_others)
		doctor_add(doctor, DOCTOR_OK, address, "",
		    "its mail goes to %s", found.who.buf);
	else if (found.is_roots)
		doctor_add(doctor, daemon_is_private(doctor->conf) ?
		    DOCTOR_OK : DOCTOR_WARN, address,
		    "read it there, or name who reads it: an alias "
		    "`postmaster: somebody` or `root: somebody`, or the "
		    "statement postmaster",
		    "nobody else gets its mail: it lies in root's mailbox, "
		    "%s", postmaster_mailbox(doctor, "root"));
	str_release(&found.who);
}

void
doctor_postmaster(struct doctor *doctor)
{
	const char *addresses[POSTMASTERS_MAX + 1];
	struct str answer = STR_INIT;
	size_t n = postmaster_addresses(doctor, addresses);

	addresses[n] = NULL;
	if (n > 0 && router_asked(doctor->conf_path, addresses, &answer))
		for (size_t i = 0; i < n; i++)
			postmaster_judge(doctor, addresses[i],
			    str_slice(&answer));
	else if (n > 0)
		doctor_add(doctor, DOCTOR_WARN, "router", "is it installed?",
		    "the router cannot be asked where postmaster's mail "
		    "goes");
	str_release(&answer);
}
