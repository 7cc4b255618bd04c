/* allow.c - a sender whom a person lets through is let through from now on
 *
 * In     addresses of senders
 * Out    a rule for each in front of the first one of the configuration
 * Trusts no address: what would need quotes is left out and said
 * Spec   selection.h; doc/POLICY.md (the first rule that fits decides)
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdio.h>
#include <string.h>
#include <sysexits.h>

#include "base/ascii.h"
#include "tools/change/change.h"
#include "tools/selection/selection.h"

#include "base/banned.h"

static bool
line_is_rule(struct slice line)
{
	static const char *const words[] = { "accept", "reject", "freeze",
	    "defer", "shadow", "policy-service", "include", "limit" };
	struct slice word;

	if (!slice_word(&line, &word))
		return false;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (slice_is(word, words[i]))
			return true;
	return false;
}

/* Where the first rule stands, outside of blocks; the end when there is
 * none. */
static size_t
rules_begin(struct slice text)
{
	struct slice rest = text, line;
	int depth = 0;

	while (slice_cut(&rest, '\n', &line)) {
		if (depth == 0 && line_is_rule(line))
			return (size_t)(line.p - text.p);
		for (size_t i = 0; i < line.n; i++)
			depth += (line.p[i] == '{') - (line.p[i] == '}');
	}
	return text.n;
}

static bool
address_is_plain(struct slice address)
{
	for (size_t i = 0; i < address.n; i++)
		if (!ascii_is_alnum(address.p[i]) &&
		    !ascii_is_among(address.p[i], "@.-_+="))
			return false;
	return address.n > 2 && slice_find(address, '@') > 0 &&
	    slice_find(address, '@') < address.n - 1;
}

static void
allow_rule_add(struct str *text, struct slice address)
{
	struct str out = STR_INIT, rule = STR_INIT;
	size_t at;

	str_addf(&rule, "accept sender " SLICE_FMT "\n", SLICE_ARG(address));
	if (memmem(text->buf, text->len, rule.buf, rule.len) == NULL) {
		at = rules_begin(str_slice(text));
		str_add(&out, text->buf, at);
		if (at > 0 && text->buf[at - 1] != '\n')
			str_addc(&out, '\n');
		str_add_slice(&out, str_slice(&rule));
		str_add(&out, text->buf + at, text->len - at);
		str_reset(text);
		str_add_slice(text, str_slice(&out));
	}
	str_release(&out);
	str_release(&rule);
}

int
selection_allow(const char *conf_path, const struct slice *senders,
    size_t count,
    bool is_yes)
{
	struct arguments arguments = { .verb = "allow",
	    .conf_path = conf_path };
	struct change change;
	struct str *text;
	int status;

	if (is_yes)
		arguments.options[OPT_YES].text = "";
	status = change_open(&change, &arguments);
	if (status != EX_OK)
		return status;
	text = change_main(&change);
	if (text == NULL) {
		change_release(&change);
		return EX_NOINPUT;
	}
	for (size_t i = 0; i < count; i++)
		if (address_is_plain(senders[i]))
			allow_rule_add(text, senders[i]);
		else
			fprintf(stderr, "zmailer: allow: a rule for this "
			    "sender must be written by hand\n");
	status = change_is_empty(&change) ? EX_OK : change_carry_out(&change);
	change_release(&change);
	return status;
}
