/* blocked.c - does a block of the cluster bar a client, a sender, a user?
 *
 * In     a question; the blocks
 * Out    the rule that stands for the block
 * Holds  nothing
 * Trusts nothing in an address: it is compared in canonical form
 * Spec   blocked.h; zmailer-block(8)
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "smtpserver/policy/blocked.h"
#include "smtpserver/auth/blocks.h"

#include "base/banned.h"

/* What `zmailer block` puts into the configuration says the same. */
static const struct conf_rule rules[BLOCKS_KINDS] = {
	[BLOCKS_CLIENTS] = { .word = "reject", .action = ACTION_REJECT,
	    .text = "mail from your address is blocked here",
	    .at = { "cluster/blocked-clients", 0, 0 } },
	[BLOCKS_SENDERS] = { .word = "reject", .action = ACTION_REJECT,
	    .text = "mail from this sender is blocked here",
	    .at = { "cluster/blocked-senders", 0, 0 } },
	[BLOCKS_USERS] = { .word = "reject", .action = ACTION_REJECT,
	    .text = "this account is blocked here",
	    .at = { "cluster/blocked-users", 0, 0 } },
};

/* Who looks on sees whom it bars, until when, and why. */
static const struct conf_rule *
blocked_rule(struct trial *trial, const struct block *block)
{
	const struct policy_question *question = trial->question;
	struct conf_rule shown = rules[block->kind];

	if (question->trace == NULL)
		return &rules[block->kind];
	shown.has_from_net = block->kind == BLOCKS_CLIENTS;
	shown.from_net = block->net;
	if (block->kind != BLOCKS_CLIENTS)
		shown.patterns[block->kind == BLOCKS_USERS ? PATTERN_USER :
		    PATTERN_SENDER] = block->key;
	shown.until_s = block->until_s;
	shown.text = arena_printf(trial->policy->scratch, "%s (%s)",
	    shown.text, block->about);
	question->trace(question->trace_context, &shown, "fits");
	return &rules[block->kind];
}

/* As a table of rules has it: user@domain; @domain, domain, .parent ...;
 * user@. */
static bool
blocked_sender(struct trial *trial, struct block *out)
{
	const struct canonical *sender = &trial->sender;
	struct arena *scratch = trial->policy->scratch;
	struct slice name = sender->domain;
	size_t dot;

	if (sender->text.n == 0 || !blocks_has(BLOCKS_SENDERS))
		return false;
	if (blocks_find(BLOCKS_SENDERS, sender->text, out))
		return true;
	if (name.n == 0)
		return false;
	if (blocks_find(BLOCKS_SENDERS, slice_of(arena_printf(scratch,
	    "@" SLICE_FMT, SLICE_ARG(name))), out) ||
	    blocks_find(BLOCKS_SENDERS, name, out))
		return true;
	while ((dot = slice_find(name, '.')) < name.n) {
		name = slice_from(name, dot);
		if (blocks_find(BLOCKS_SENDERS, name, out))
			return true;
		name = slice_from(name, 1);
	}
	return blocks_find(BLOCKS_SENDERS, slice_of(arena_printf(scratch,
	    SLICE_FMT "@", SLICE_ARG(sender->local))), out);
}

/* Who is blocked by an address of the account is blocked as the account
 * (fit_identity.c). */
static bool
blocked_account(struct trial *trial, struct block *out)
{
	const struct conf *conf = trial->policy->conf;
	struct slice user = trial->question->user;

	if (conf->mailbox_is_addressed || slice_find(user, '@') < user.n)
		return false;
	for (size_t i = 0; i < conf->domain_count; i++) {
		const struct conf_domain *domain = &conf->domains[i];

		if (strcmp(domain->deliver.channel, "local") != 0)
			continue;
		for (size_t k = 0; k < domain->name_count; k++)
			if (blocks_find(BLOCKS_USERS, slice_of(arena_printf(
			    trial->policy->scratch, SLICE_FMT "@%s",
			    SLICE_ARG(user), domain->names[k])), out))
				return true;
	}
	return false;
}

const struct conf_rule *
blocked_user(struct trial *trial)
{
	struct slice user = trial->question->user;
	struct block block;

	if (user.n == 0 || !blocks_has(BLOCKS_USERS))
		return NULL;
	return blocks_find(BLOCKS_USERS, user, &block) ||
	    blocked_account(trial, &block) ? blocked_rule(trial, &block) :
	    NULL;
}

const struct conf_rule *
blocked_by(struct trial *trial, bool has_sender)
{
	struct block block;

	if (blocks_find_client(&trial->question->client, &block) ||
	    (has_sender && blocked_sender(trial, &block)))
		return blocked_rule(trial, &block);
	return blocked_user(trial);
}
