/* classify.c - what a reply would be taken for
 *
 * In     a reply as a word or as lines of standard input; the configuration
 * Out    its class and scope, the rule, what the schedule makes of it
 * Spec   zmailer-classify(8)
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdio.h>
#include <string.h>
#include <sysexits.h>

#include "base/json.h"
#include "grammar/units.h"
#include "mail/classify.h"
#include "tools/zmailer/verbs/verb.h"

#include "base/banned.h"

enum { REPLY_LINE_BYTES = 4096 };

struct options {
	const char	*to;		/* CHANNEL/HOST */
	bool		 is_json;
};

static void
classify_list(void)
{
	for (int i = 0; i < CLASS_COUNT; i++)
		printf("%-15s %s\n", mail_class_name((enum mail_class)i),
		    mail_class_text((enum mail_class)i));
}

static const struct conf_schedule *
clause_of(const struct conf *conf, const char *to)
{
	struct slice rest = slice_of(to), channel;

	slice_cut(&rest, '/', &channel);
	return conf_schedule_for(conf, channel, rest);
}

static const struct conf_retry_rule *
classify_rule(const struct conf_schedule *clause, enum mail_class class)
{
	for (size_t i = 0; i < clause->rule_count; i++)
		if (clause->rules[i].classes & (UINT32_C(1) << class))
			return &clause->rules[i];
	return NULL;
}

/* Of a 5xx: the recipient is over; the destination may have to wait. */
static void
classify_add_failure(struct str *out, const struct conf_schedule *clause,
    enum mail_class class)
{
	const struct conf_retry_rule *rule = classify_rule(clause, class);

	str_adds(out, "failed for good");
	if (rule == NULL || rule->action != RETRY_ON_SUSPEND)
		return;
	str_adds(out, ", suspend ");
	units_add_span(out, rule->suspend_s * 1000);
}

/* "retry after 5m 1h", "suspend 6h", "end", or the clause's own waits. */
static void
classify_add_answer(struct str *out, const struct conf_schedule *clause,
    enum mail_class class)
{
	const struct conf_retry_rule *rule = classify_rule(clause, class);
	const int64_t *wait_s = clause->retry_s;
	size_t count = clause->retry_count;

	if (rule != NULL && rule->action == RETRY_ON_END) {
		str_adds(out, "end");
		return;
	}
	if (rule != NULL && rule->action == RETRY_ON_SUSPEND) {
		str_adds(out, "suspend ");
		units_add_span(out, rule->suspend_s * 1000);
		return;
	}
	if (rule != NULL) {
		wait_s = rule->wait_s;
		count = rule->wait_count;
	}
	str_adds(out, "retry");
	for (size_t i = 0; i < count; i++) {
		str_addc(out, ' ');
		units_add_span(out, wait_s[i] * 1000);
	}
	if (rule != NULL ? rule->stops : clause->retry_stops)
		str_adds(out, " stop");
}

static void
print_json(struct slice reply, const struct mail_finding *found,
    struct slice answer)
{
	struct str out = STR_INIT;

	json_open_answer(&out);
	json_text(&out, "reply", reply);
	json_text(&out, "class", slice_of(mail_class_name(found->class)));
	json_text(&out, "scope", slice_of(mail_scope_name(found->scope)));
	json_number(&out, "line", found->line);
	json_bool(&out, "site", found->is_own);
	json_text(&out, "then", answer);
	json_close(&out);
	fputs(out.buf, stdout);
	str_release(&out);
}

static void
classify_words(const struct conf *conf, const struct options *options,
    struct slice reply)
{
	const struct conf_schedule *clause = clause_of(conf, options->to);
	struct mail_finding found;
	struct str answer = STR_INIT, shown = STR_INIT;

	classify_reply(reply, SLICE(""), &found);
	if (slice_starts(reply, "5"))
		classify_add_failure(&answer, clause, found.class);
	else
		classify_add_answer(&answer, clause, found.class);
	if (options->is_json) {
		print_json(reply, &found, str_slice(&answer));
	} else {
		str_add_escaped(&shown, reply);
		printf("%s\n    class %s, scope %s: %s\n    ", shown.buf,
		    mail_class_name(found.class),
		    mail_scope_name(found.scope),
		    mail_class_text(found.class));
		if (found.line == 0)
			printf("no rule fits; ");
		else
			printf("%s line %u; ", found.is_own ?
			    conf->classes_path : "shipped rules,",
			    found.line);
		printf("%s: %s\n", options->to, answer.buf);
	}
	str_release(&answer);
	str_release(&shown);
}

/* Lines of standard input: a log's worth of replies. */
static void
classify_lines(const struct conf *conf, const struct options *options)
{
	char line[REPLY_LINE_BYTES];

	while (fgets(line, sizeof(line), stdin) != NULL) {
		struct slice reply = slice_trim(slice_of(line));

		if (reply.n > 0)
			classify_words(conf, options, reply);
	}
}

int
verb_classify(struct arguments *arguments)
{
	const char *to = arguments_text(arguments, OPT_TO_DEST);
	struct options options = { .to = to != NULL ? to : "smtp/*",
	    .is_json = arguments_has(arguments, OPT_JSON) };
	const char *reply = arguments_word(arguments, 0);
	struct conf *conf;
	struct err err;

	if (arguments_has(arguments, OPT_LIST)) {
		classify_list();
		return EX_OK;
	}
	if (arguments_has(arguments, OPT_RULES)) {
		printf(SLICE_FMT, SLICE_ARG(classify_shipped()));
		return EX_OK;
	}
	if (strchr(options.to, '/') == NULL)
		return arguments_refuse(arguments, "--to %s: CHANNEL/HOST is "
		    "wanted", options.to);
	if (reply == NULL)
		return arguments_refuse(arguments, "which reply?");
	conf = verb_conf(arguments->conf_path);
	if (conf_classes_load(conf, &err) < 0)
		fprintf(stderr, "zmailer: classify: %s: %s\n",
		    conf->classes_path, err.text);
	if (strcmp(reply, "-") == 0)
		classify_lines(conf, &options);
	else
		classify_words(conf, &options, slice_of(reply));
	conf_free(&conf);
	return EX_OK;
}
