/* rules.c - keys with actions as rules over tables
 *
 * In     keys, what is to be done with them
 * Out    a table for each kind of rule, and the rule
 * Holds  nothing
 * Spec   zmailer.conf(5), accept
 *
 * There the most specific key counts; here the order of the rules: those that
 * accept precede those that refuse.
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "grammar/net.h"
#include "tools/zmailer/import/sendmail/sendmail.h"

#include "base/banned.h"

bool
sendmail_group_add(struct sendmail_groups *groups,
    const struct sendmail_group *like, const char *key)
{
	struct sendmail_group *group = NULL;

	for (size_t i = 0; i < groups->count && group == NULL; i++)
		if (groups->rows[i].part == like->part &&
		    strcmp(groups->rows[i].verb, like->verb) == 0 &&
		    strcmp(groups->rows[i].condition, like->condition) == 0 &&
		    strcmp(groups->rows[i].text, like->text) == 0)
			group = &groups->rows[i];
	if (group == NULL) {
		if (groups->count == SENDMAIL_GROUPS_MAX)
			return false;
		group = &groups->rows[groups->count++];
		*group = *like;
		str_init(&group->rows);
	}
	str_addf(&group->rows, "%s -\n", key);
	return true;
}

void
sendmail_groups_say(struct sendmail *mail, struct sendmail_row *row,
    struct sendmail_groups *groups)
{
	for (int turn = 0; turn < 2; turn++)
		for (size_t i = 0; i < groups->count; i++) {
			struct sendmail_group *group = &groups->rows[i];
			bool is_accept = strcmp(group->verb, "accept") == 0;

			if (is_accept != (turn == 0))
				continue;
			sendmail_say(mail, row, group->part, "%s %s <%s>%s",
			    group->verb, group->condition, import_table_add(
			    mail->import, "", "file", group->part ==
			    IMPORT_RELAYING ? "relay" : is_accept ? "let-in" :
			    "kept-out", &group->rows, IMPORT_EVERYBODY),
			    group->text);
			str_release(&group->rows);
		}
	groups->count = 0;
}

/* "2001:db8" is all that begins so. */
static const char *
net_six(struct sendmail *mail, struct slice text)
{
	size_t groups = 1;

	for (size_t i = 0; i < text.n; i++)
		groups += text.p[i] == ':';
	if (groups == 8 || slice_find(text, '/') < text.n ||
	    strstr(slice_dup(mail->import->arena, text), "::") != NULL)
		return slice_dup(mail->import->arena, text);
	return arena_printf(mail->import->arena, SLICE_FMT "::/%zu",
	    SLICE_ARG(text), groups * 16);
}

static const char *
net_four(struct sendmail *mail, struct slice text)
{
	static const char *const zeros[] = { ".0.0.0", ".0.0", ".0" };
	size_t dots = 0;

	for (size_t i = 0; i < text.n; i++)
		dots += text.p[i] == '.';
	if (dots > 2 || slice_find(text, '/') < text.n)
		return slice_dup(mail->import->arena, text);
	return arena_printf(mail->import->arena, SLICE_FMT "%s/%zu",
	    SLICE_ARG(text), zeros[dots], (dots + 1) * 8);
}

const char *
sendmail_net(struct sendmail *mail, struct slice text)
{
	const char *out;
	struct net net;

	if (slice_starts(text, "[") && slice_ends(text, "]") && text.n > 1)
		text = (struct slice){ text.p + 1, text.n - 2 };
	if (slice_starts(text, "IPv6:") || slice_starts(text, "ipv6:"))
		out = net_six(mail, slice_from(text, 5));
	else if (text.n > 0 && slice_ends(text, ".") == false &&
	    strspn(slice_dup(mail->import->arena, text), "0123456789./") ==
	    text.n)
		out = net_four(mail, text);
	else
		return NULL;
	return net_parse(slice_of(out), &net, NULL) == 0 ? out : NULL;
}
