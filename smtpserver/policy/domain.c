/* domain.c - which domains are ours, as far as rules ask
 *
 * In     a name; the statements of domains, and the databases they name
 * Out    yes and the statement, no, or trouble with a database
 * Holds  nothing
 * Trusts what a database says of a name, as its owner wrote it
 * Spec   zmailer.conf(5), domain; internal.h
 *
 * SPDX-License-Identifier: ISC
 */
#include "smtpserver/policy/internal.h"

#include "base/banned.h"

enum fit
trial_domain(struct trial *trial, struct slice name,
    const struct conf_domain **out_domain)
{
	const struct policy *policy = trial->policy;
	struct table *asked;
	enum fit fit = FIT_NO;
	const char *table;

	*out_domain = conf_domain_find(policy->conf, name);
	if (*out_domain != NULL)
		return FIT_YES;
	if (!conf_domain_is_asked(name))
		return FIT_NO;
	for (size_t i = 0; fit == FIT_NO && (table = conf_domain_table(
	    policy->conf, i, out_domain)) != NULL; i++) {
		asked = trial_table(trial, arena_printf(policy->scratch,
		    "<%s>", table));
		fit = table_row(trial, asked, name);
	}
	if (fit != FIT_YES)
		*out_domain = NULL;
	return fit;
}
