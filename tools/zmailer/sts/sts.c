/* sts.c - zmailer sts: policies of others, and our own
 *
 * In     a domain; what the process sts answers
 * Out    its policy in words or as JSON; with publish: publish.c
 * Holds  nothing
 * Spec   zmailer-sts(8); doc/protocol/sts.md
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdio.h>
#include <sysexits.h>

#include "base/clock.h"
#include "base/json.h"
#include "io/consult/sts_ask.h"
#include "tools/zmailer/sts/sts.h"

#include "base/banned.h"

enum { STS_SHOW_FOR_MS = 700000 };	/* longer than sts timeout may be */

static void
sts_add_json(struct str *out, const char *domain,
    const struct sts_policy *policy)
{
	struct slice list[STS_MX_MAX];
	const char *mx;

	json_open_answer(out);
	json_text(out, "domain", slice_of(domain));
	json_text(out, "mode", slice_of(sts_mode_word(policy->mode)));
	json_text(out, "policy", slice_of(policy->id));
	json_number(out, "left_s", policy->max_age_s);
	for (unsigned i = 0; (mx = sts_policy_mx(policy, i)) != NULL; i++)
		list[i] = slice_of(mx);
	json_list(out, "mx", list, policy->mx_count);
	json_close(out);
}

static void
sts_add_text(struct str *out, const char *domain,
    const struct sts_policy *policy)
{
	char left[CLOCK_TEXT_BYTES];
	const char *mx;

	clock_span(policy->max_age_s, left);
	str_addf(out, "%s: %s, id %s, counts for %s more\n", domain,
	    sts_mode_word(policy->mode),
	    policy->id[0] != '\0' ? policy->id : "unknown", left);
	for (unsigned i = 0; (mx = sts_policy_mx(policy, i)) != NULL; i++)
		str_addf(out, "    mx %s\n", mx);
}

static void
sts_say(const char *domain, const struct sts_policy *policy, bool is_json)
{
	struct str out = STR_INIT;

	(is_json ? sts_add_json : sts_add_text)(&out, domain, policy);
	fputs(out.buf, stdout);
	str_release(&out);
}

static int
sts_complain(const char *domain, const struct err *err, int status)
{
	fprintf(stderr, "zmailer: sts: %s%s%s\n", domain,
	    domain[0] != '\0' ? ": " : "", err->text);
	return status;
}

static int
sts_show(const struct conf *conf, const char *verb, const char *domain,
    bool is_json)
{
	struct sts_policy policy;
	struct err err;

	switch (sts_ask(conf->run_dir, verb, domain, STS_SHOW_FOR_MS, &policy,
	    &err)) {
	case STS_ANSWER_POLICY:
		sts_say(domain, &policy, is_json);
		return EX_OK;
	case STS_ANSWER_NONE:
		return sts_complain(domain, &err, 1);
	case STS_ANSWER_TROUBLE:
		return sts_complain(domain, &err, EX_TEMPFAIL);
	default:
		return sts_complain("", &err, err_is_denied(&err) ? EX_NOPERM :
		    EX_UNAVAILABLE);
	}
}

/* "DOMAIN MODE LEFT ID MX..." */
static void
sts_say_row(struct slice row, bool is_json)
{
	struct sts_policy policy;
	struct slice domain;
	char name[STS_DOMAIN_BYTES];
	struct err err;

	if (slice_word(&row, &domain) && sts_domain(domain, name) &&
	    sts_policy_read_words(row, &policy, &err) == 0)
		sts_say(name, &policy, is_json);
}

static int
sts_list(const struct conf *conf, bool is_json)
{
	struct str rows = STR_INIT;
	struct slice rest, row;
	int status = EX_OK;
	struct err err;

	if (sts_ask_list(conf->run_dir, &rows, &err) < 0)
		status = sts_complain("", &err, err_is_denied(&err) ?
		    EX_NOPERM : EX_UNAVAILABLE);
	rest = str_slice(&rows);
	while (status == EX_OK && slice_cut(&rest, '\n', &row))
		sts_say_row(row, is_json);
	if (status == EX_OK && rows.len == 0)
		status = 1;
	str_release(&rows);
	return status;
}

int
verb_sts(struct arguments *arguments)
{
	bool is_json = arguments_has(arguments, OPT_JSON);
	char domain[STS_DOMAIN_BYTES] = "";
	struct conf *conf;
	int status;

	if (arguments_is(arguments, "publish"))
		return sts_publish(arguments);
	if (!arguments_is(arguments, "list") &&
	    !sts_domain(slice_of(arguments_word(arguments, 0)), domain))
		return arguments_refuse(arguments, "'%s' is no domain",
		    arguments_word(arguments, 0));
	conf = verb_conf(arguments->conf_path);
	status = arguments_is(arguments, "list") ? sts_list(conf, is_json) :
	    sts_show(conf, arguments_is(arguments, "refresh") ? "refresh" :
	    "policy", domain, is_json);
	conf_free(&conf);
	return status;
}
