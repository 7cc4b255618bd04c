/* destinations.c - suspend, resume, pin, etrn, drain, undrain, orders
 *
 * In     argv: a destination (globs) and what is ordered about it
 * Out    the scheduler's counts
 * Spec   zmailer-queue(8); doc/protocol/control.md section 6
 *
 * SPDX-License-Identifier: ISC
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sysexits.h>

#include "base/json.h"
#include "grammar/units.h"
#include "tools/selection/selection.h"
#include "tools/queue/control.h"
#include "tools/zmailer/verb.h"

#include "base/banned.h"

struct order {			/* what the command line says */
	const char	*verb, *dest, *reason, *span, *timeout, *limit;
	bool		 is_json;
};

struct verb_words {		/* what a verb takes */
	bool	dest, span, limit, timeout, reason;
};

static int
destinations_take_args(int argc, char **argv, const struct verb_words *words,
    struct order *out)
{
	*out = (struct order){ .verb = argv[0] };
	for (int i = 1; i < argc; i++) {
		const char **value = NULL;

		if (strcmp(argv[i], "--json") == 0) {
			out->is_json = true;
			continue;
		}
		if (words->span && strcmp(argv[i], "--for") == 0)
			value = &out->span;
		else if (words->limit && strcmp(argv[i], "--limit") == 0)
			value = &out->limit;
		else if (words->timeout && strcmp(argv[i], "--timeout") == 0)
			value = &out->timeout;
		else if (words->reason && strcmp(argv[i], "--reason") == 0)
			value = &out->reason;
		if (value != NULL && i + 1 < argc)
			*value = argv[++i];
		else if (value == NULL && argv[i][0] != '-' && words->dest &&
		    out->dest == NULL)
			out->dest = argv[i];
		else
			return verb_usage(argv[0], "'%s' is too much",
			    argv[i]);
	}
	if (words->dest && out->dest == NULL)
		return verb_usage(argv[0], "which destination? "
		    "`zmailer queue` shows them");
	if (words->limit && out->limit == NULL)
		return verb_usage(argv[0], "--limit N is missing");
	return EX_OK;
}

/* "smtp/gmail.com", "gmail.com", "smtp/" + "*". */
static void
add_dest(struct str *request, const char *dest)
{
	const char *slash = strchr(dest, '/');

	if (slash != NULL && slash > dest)
		json_text(request, "channel",
		    (struct slice){ dest, (size_t)(slash - dest) });
	json_text(request, "host", slice_of(slash != NULL ? slash + 1 :
	    dest));
}

static int
destinations_add_words(struct str *request, const struct order *order)
{
	char until[64], who[64];
	struct err err = { "" };
	uint64_t number;
	int64_t ms;

	if (order->dest != NULL && strcmp(order->dest, "all") == 0 &&
	    strcmp(order->verb, "resume") == 0)
		json_bool(request, "all", true);
	else if (strcmp(order->verb, "etrn") == 0)
		json_text(request, "host", slice_of(order->dest));
	else if (order->dest != NULL)
		add_dest(request, order->dest);
	if (order->limit != NULL) {
		if (!slice_number(slice_of(order->limit), 0, 10000, &number))
			return verb_usage(order->verb, "--limit %s: 0 to "
			    "10000", order->limit);
		json_number(request, "limit", (int64_t)number);
	}
	if (order->span != NULL) {
		snprintf(until, sizeof(until), "+%s", order->span);
		json_text(request, "until", slice_of(until));
	}
	if (order->timeout != NULL) {
		if (units_span_ms(slice_of(order->timeout), &ms, &err) != 1)
			return verb_usage(order->verb, "--timeout %s",
			    err.text);
		json_number(request, "timeout_s", ms / 1000);
	}
	if (strcmp(order->verb, "orders") == 0)
		return EX_OK;
	if (order->reason != NULL)
		json_text(request, "reason", slice_of(order->reason));
	desk_who(who, sizeof(who));
	json_text(request, "who", slice_of(who));
	return EX_OK;
}

static bool
print_line(void *context, struct slice line)
{
	const bool *is_json = context;
	struct str value = STR_INIT, text = STR_INIT;
	struct slice key;
	size_t cursor = 0;

	if (*is_json) {
		control_put_line(line);
		return true;
	}
	while (json_next(line, &cursor, &key, &value)) {
		if (value.len == 0 || slice_is(key, "done") ||
		    slice_is(key, "op") || slice_is(key, "tag"))
			continue;
		if (text.len > 0)
			str_adds(&text, "  ");
		str_add_escaped(&text, key);
		str_addc(&text, ' ');
		str_add_escaped(&text, str_slice(&value));
	}
	printf("%s\n", text.buf);
	str_release(&value);
	str_release(&text);
	return true;
}

static int
send_order(struct order *order, const struct conf *conf)
{
	struct str request = STR_INIT, last = STR_INIT;
	struct control control;
	struct err err;
	int status, is_up = control_connect(conf->run_dir, &control, &err);

	if (is_up == 0)
		return control_stopped(order->verb, conf->run_dir, NULL);
	control_begin(&request, order->verb);
	status = destinations_add_words(&request, order);
	if (status == EX_OK && is_up == 1)
		is_up = control_ask(&control, &request, print_line,
		    &order->is_json, &last, &err);
	if (status == EX_OK && is_up < 0) {
		status = control_failed(order->verb, &control, &err);
	} else if (status == EX_OK) {
		print_line(&order->is_json, str_slice(&last));
	}
	control_hang_up(&control);
	str_release(&request);
	str_release(&last);
	return status;
}

static int
destinations_run(int argc, char **argv, const char *conf_path,
    const struct verb_words *words)
{
	struct order order;
	struct conf *conf;
	int status = destinations_take_args(argc, argv, words, &order);

	if (status != EX_OK)
		return status;
	conf = verb_conf(conf_path);
	status = send_order(&order, conf);
	conf_free(&conf);
	return status;
}

#define DESTINATION_VERB(name, ...) \
	int \
	verb_##name(int argc, char **argv, const char *conf_path) \
	{ \
		static const struct verb_words words = { __VA_ARGS__ }; \
		return destinations_run(argc, argv, conf_path, &words); \
	}
DESTINATION_VERB(suspend, .dest = true, .span = true, .reason = true)
DESTINATION_VERB(resume, .dest = true)
DESTINATION_VERB(pin, .dest = true, .limit = true, .span = true,
    .reason = true)
DESTINATION_VERB(etrn, .dest = true, .reason = true)
DESTINATION_VERB(drain, .timeout = true, .reason = true)
DESTINATION_VERB(undrain, .dest = false)
DESTINATION_VERB(orders, .dest = false)
