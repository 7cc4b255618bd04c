/* owner.c - whose address it is that somebody gives who has logged in
 *
 * In     a user, a sender; the aliases of our domains, the table of owners
 * Out    yes, no, or trouble with a table
 * Holds  nothing
 * Trusts the tables' owners; names have no case, as addresses have none
 * Spec   zmailer.conf(5), auth, senders; RFC 6409 section 6.1
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "base/ascii.h"
#include "grammar/message/alias.h"
#include "smtpserver/policy/internal.h"

#include "base/banned.h"

enum { ALIASES_DEEP_MAX = 5 };

struct owning {
	struct trial		*trial;		/* of whom it is asked */
	struct slice		 user;
	int			 depth;		/* of aliases */
};

static enum policy_ownership owning_alias(struct owning *owning,
    const struct canonical *address);

/* ---- the user's own name ------------------------------------------------ */

/* "alice+lists" is Alice's, where recipient-delimiter says so. */
static struct slice
owner_without_detail(const struct conf *conf, struct slice local)
{
	if (strcmp(conf->delimiters, "none") == 0)
		return local;
	for (size_t i = 1; i < local.n; i++)
		if (strchr(conf->delimiters, local.p[i]) != NULL)
			return slice_first(local, i);
	return local;
}

static enum policy_ownership
owning_fit(enum fit fit)
{
	return fit == FIT_YES ? OWNER_YES : fit == FIT_NO ? OWNER_NO :
	    fit == FIT_NEED ? OWNER_NEED : OWNER_TROUBLE;
}

/* The statement of a domain of ours. */
static enum policy_ownership
owning_domain(struct owning *owning, struct slice name,
    const struct conf_domain **out)
{
	return owning_fit(trial_domain(owning->trial, name, out));
}

/* Is it "alice" or "alice@example.org", as the user is called? */
static enum policy_ownership
owning_is_name(struct owning *owning, struct slice local,
    struct slice domain)
{
	struct slice rest = owning->user, name;
	const struct conf_domain *ours;

	slice_cut(&rest, '@', &name);
	if (!slice_equal_nocase(name, local))
		return OWNER_NO;
	if (rest.p != NULL)
		return slice_equal_nocase(rest, domain) ? OWNER_YES :
		    OWNER_NO;
	return domain.n == 0 ? OWNER_YES : owning_domain(owning, domain,
	    &ours);
}

static enum fit
owning_look_up(struct owning *owning, const char *name,
    const struct canonical *address, struct slice *out_value)
{
	struct trial *trial = owning->trial;
	struct table *table = trial_table(trial, arena_printf(
	    trial->policy->scratch, "<%s>", name));
	enum fit fit;

	if (table == NULL)
		return FIT_NO;
	fit = table_row(trial, table, address->text);
	if (fit == FIT_NO && table_takes_parts(table))
		fit = table_row(trial, table, address->local);
	if (fit == FIT_YES)
		*out_value = slice_copy(trial->policy->scratch, trial->row);
	return fit;
}

/* Is it the user's name with a detail, and can it be nobody else's?  The
 * router takes a name that is known as a whole for that one: mary-ann is not
 * Mary's.  Who has accounts is not asked here: a byte that names of accounts
 * have parts nothing, unless a table says that there is no such user. */
static enum policy_ownership
owning_detail(struct owning *owning, const struct canonical *address,
    const struct conf_domain *domain)
{
	struct slice bare = owner_without_detail(owning->trial->policy->conf,
	    address->local), value;
	enum policy_ownership is_name = bare.n == address->local.n ?
	    OWNER_NO : owning_is_name(owning, bare, address->domain);
	char byte;

	if (is_name != OWNER_YES)
		return is_name;
	byte = address->local.p[bare.n];
	if (domain == NULL || domain->users != USERS_TABLE)
		return ascii_is_alnum(byte) || ascii_is_among(byte, "-._") ?
		    OWNER_NO : OWNER_YES;
	switch (owning_look_up(owning, domain->users_table, address, &value)) {
	case FIT_YES:
		return OWNER_NO;
	case FIT_NO:
		return OWNER_YES;
	case FIT_NEED:
		return OWNER_NEED;
	default:
		return OWNER_TROUBLE;
	}
}

/* ---- aliases ------------------------------------------------------------ */

/* Does this target of an alias lead to the user, and nowhere else? */
static enum policy_ownership
owning_item(struct owning *owning, const struct alias_item *item,
    struct slice domain)
{
	struct arena *scratch = owning->trial->policy->scratch;
	struct path path = item->path;
	const struct conf_domain *ours;
	enum policy_ownership found;
	struct canonical target;

	if (item->kind != ALIAS_ADDRESS && item->kind != ALIAS_MAILBOX)
		return OWNER_NO;
	if (path.domain.n == 0)
		path.domain = domain;
	target = canonical_of(scratch, &path);
	found = owning_is_name(owning, target.local, target.domain);
	if (found != OWNER_NO)
		return found;
	if (item->kind == ALIAS_ADDRESS)
		return owning_alias(owning, &target);
	found = owning_domain(owning, target.domain, &ours);
	return found == OWNER_NEED || found == OWNER_TROUBLE ? found :
	    owning_detail(owning, &target, ours);
}

static enum policy_ownership
owning_value(struct owning *owning, struct slice value, struct slice domain)
{
	struct arena *scratch = owning->trial->policy->scratch;
	enum policy_ownership all = OWNER_NO;
	struct alias_item item;
	enum alias_answer more;

	while ((more = alias_next(scratch, &value, 0, &item, NULL)) !=
	    ALIAS_END) {
		if (more == ALIAS_BAD)
			return OWNER_NO;
		all = owning_item(owning, &item, domain);
		if (all != OWNER_YES)
			return all;
	}
	return all;
}

/* The first table of the domain that has it tells, as it does the router;
 * else it may be a detail. */
static enum policy_ownership
owning_alias(struct owning *owning, const struct canonical *address)
{
	const struct conf_domain *domain;
	enum policy_ownership is_ours;
	struct slice value;

	if (++owning->depth > ALIASES_DEEP_MAX)
		return OWNER_NO;
	is_ours = owning_domain(owning, address->domain, &domain);
	if (is_ours == OWNER_NEED || is_ours == OWNER_TROUBLE)
		return is_ours;
	for (size_t i = 0; domain != NULL && i < domain->alias_count; i++)
		switch (owning_look_up(owning, domain->aliases[i], address,
		    &value)) {
		case FIT_YES:
			return owning_value(owning, value, address->domain);
		case FIT_NO:
			break;
		case FIT_NEED:
			return OWNER_NEED;
		default:
			return OWNER_TROUBLE;
		}
	return owning_detail(owning, address, domain);
}

/* ---- what the configuration says ---------------------------------------- */

static bool
owner_has_rules(const struct conf *conf)
{
	for (size_t i = 0; i < conf->rule_count; i++)
		if (conf->rules[i].patterns[PATTERN_OWNERS] != NULL)
			return true;
	return false;
}

/* The row of the sender that is most exact names the user, or does not. */
static enum policy_ownership
owning_row(struct owning *owning, const struct canonical *sender)
{
	struct trial *trial = owning->trial;
	struct table *table = trial_table(trial,
	    trial->policy->conf->auth.senders);
	enum fit fit = table == NULL ? FIT_NO :
	    table_fits_address(trial, table, sender);

	if (fit == FIT_TROUBLE || fit == FIT_NEED)
		return fit == FIT_NEED ? OWNER_NEED : OWNER_TROUBLE;
	return fit == FIT_YES && name_is_among(trial->row, owning->user) ?
	    OWNER_YES : OWNER_NO;
}

enum policy_ownership
policy_owns(struct policy *policy, const struct policy_question *question,
    struct policy_verdict *out)
{
	struct trial trial = { .policy = policy, .question = question,
	    .out = out };
	struct owning owning = { .trial = &trial, .user = question->user };
	const struct path *sender = &question->sender;
	const char *senders = policy->conf->auth.senders;
	struct canonical address;
	enum policy_ownership found;

	*out = (struct policy_verdict){ .result = POLICY_ACCEPT };
	if (question->user.n == 0 || path_is_null(sender) ||
	    policy->conf->auth.kind == AUTH_NONE || (senders == NULL ?
	    owner_has_rules(policy->conf) : strcmp(senders, "any") == 0))
		return OWNER_YES;
	arena_reset(policy->scratch);
	address = canonical_of(policy->scratch, sender);
	if (address.domain.n == 0)
		address.domain = slice_of(policy->conf->host);
	found = owning_is_name(&owning, address.local, address.domain);
	if (found != OWNER_NO)
		return found;
	found = senders == NULL || senders[0] != '<' ? OWNER_NO :
	    owning_row(&owning, &address);
	return found != OWNER_NO ? found : owning_alias(&owning, &address);
}
