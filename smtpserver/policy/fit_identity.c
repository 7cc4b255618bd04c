/* fit_identity.c - does a rule fit who the client has proven to be
 *
 * In     a rule; the certificate that was shown, the user who logged in
 * Out    yes, no or trouble
 * Holds  nothing
 * Trusts names in a certificate that leads to a root of ours; of any other
 *        its fingerprint alone, for its key was used
 * Spec   zmailer.conf(5), accept; RFC 2253; RFC 6409 section 6.1
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "grammar/units.h"
#include "smtpserver/policy/internal.h"

#include "base/banned.h"

enum { PRINT_DIGITS = 64 };	/* of SHA-256 */

static enum fit
fit_identity_if(bool is_true)
{
	return is_true ? FIT_YES : FIT_NO;
}

enum fit
fit_cert(struct trial *trial, const struct conf_rule *rule)
{
	const struct policy_cert *cert = &trial->question->cert;
	const char *pattern = rule->patterns[PATTERN_CERT];
	struct table *table = trial_table(trial, pattern);
	struct slice p = slice_of(pattern);

	if (slice_is(p, "none"))
		return fit_identity_if(!cert->is_verified);
	if (slice_is(p, "any"))
		return fit_identity_if(cert->is_verified);
	if (cert->fingerprint.n == 0)
		return FIT_NO;
	if (table != NULL)
		return table_fits(trial, table, cert->fingerprint);
	if (p.n == PRINT_DIGITS && slice_find(p, '=') == p.n)
		return fit_identity_if(slice_equal(p, cert->fingerprint));
	return fit_identity_if(cert->is_verified && cert->subject.n > 0 &&
	    glob_match(p, cert->subject));
}

enum fit
fit_issuer(struct trial *trial, const struct conf_rule *rule)
{
	const struct policy_cert *cert = &trial->question->cert;

	return fit_identity_if(cert->is_verified && cert->issuer.n > 0 &&
	    glob_match(
	    slice_of(rule->patterns[PATTERN_ISSUER]), cert->issuer));
}

/* ---- who has logged in ------------------------------------------------- */

/* As it was given, else in small letters: no spelling passes a row by. */
static enum fit
table_fits_user(struct trial *trial, struct table *table, struct slice user)
{
	enum fit fit = table_fits(trial, table, user);

	return fit != FIT_NO ? fit : table_fits(trial, table,
	    slice_lower(trial->policy->scratch, user));
}

static enum fit
user_fits(struct trial *trial, const char *pattern, struct slice user)
{
	struct table *table = trial_table(trial, pattern);

	return table != NULL ? table_fits_user(trial, table, user) :
	    fit_identity_if(glob_match(slice_of(pattern), user));
}

/* A login as ann@example.org is one as the account ann where that has the mail
 * of the address (auth/check.c); so who refuses the address refuses the
 * account. */
static enum fit
fit_user_address(struct trial *trial, const char *pattern, struct slice user)
{
	const struct conf *conf = trial->policy->conf;
	enum fit fit = FIT_NO;

	if (conf->mailbox_is_addressed || slice_find(user, '@') < user.n)
		return FIT_NO;
	for (size_t i = 0; i < conf->domain_count && fit == FIT_NO; i++) {
		const struct conf_domain *domain = &conf->domains[i];

		if (strcmp(domain->deliver.channel, "local") != 0)
			continue;
		for (size_t k = 0; k < domain->name_count && fit == FIT_NO; k++)
			fit = user_fits(trial, pattern, slice_of(arena_printf(
			    trial->policy->scratch, SLICE_FMT "@%s",
			    SLICE_ARG(user), domain->names[k])));
	}
	return fit;
}

enum fit
fit_user(struct trial *trial, const struct conf_rule *rule)
{
	const char *pattern = rule->patterns[PATTERN_USER];
	struct slice user = trial->question->user;
	enum fit fit;

	if (slice_is(slice_of(pattern), "none"))
		return fit_identity_if(user.n == 0);
	if (user.n == 0)
		return FIT_NO;
	if (slice_is(slice_of(pattern), "any"))
		return FIT_YES;
	fit = user_fits(trial, pattern, user);
	return fit != FIT_NO || rule->action == ACTION_ACCEPT ? fit :
	    fit_user_address(trial, pattern, user);
}

/* ---- whose address it is ---------------------------------------------- */

/* "alice, bob": one of them; names of users have no case here, as addresses
 * have none. */
bool
name_is_among(struct slice users, struct slice user)
{
	struct slice part, name;

	while (slice_cut(&users, ',', &part))
		while (slice_word(&part, &name))
			if (slice_equal_nocase(name, user))
				return true;
	return false;
}

enum fit
fit_not_owner(struct trial *trial, const struct conf_rule *rule)
{
	struct table *table = trial_table(trial,
	    rule->patterns[PATTERN_OWNERS]);
	struct slice user = trial->question->user;
	enum fit fit;

	if (user.n == 0 || trial->sender.text.n == 0)
		return FIT_NO;
	if (table == NULL) {
		err_set(&trial->out->err, "there is no table %s",
		    rule->patterns[PATTERN_OWNERS]);
		return FIT_TROUBLE;
	}
	fit = table_fits_address(trial, table, &trial->sender);
	if (fit == FIT_YES)
		return fit_identity_if(!name_is_among(trial->row, user));
	return fit == FIT_NO ?
	    fit_identity_if(!slice_equal_nocase(user, trial->sender.text)) :
	    fit;
}
