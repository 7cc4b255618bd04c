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
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

#include "base/clock.h"
#include "base/json.h"
#include "grammar/smtp/path.h"
#include "grammar/units.h"
#include "tools/run/ask_router.h"
#include "tools/selection/selection.h"
#include "tools/queue/control.h"
#include "tools/zmailer/orders/move.h"
#include "tools/zmailer/verbs/verb.h"

#include "base/banned.h"

static void
destinations_add_words(struct str *request, const struct arguments *arguments)
{
	const char *verb = arguments->verb, *dest = arguments_word(arguments,
	    0), *span = arguments_text(arguments, OPT_FOR), *reason =
	    arguments_text(arguments, OPT_REASON);
	char until[64], who[64];

	if (dest != NULL && strcmp(dest, "all") == 0 &&
	    strcmp(verb, "resume") == 0)
		json_bool(request, "all", true);
	else if (strcmp(verb, "etrn") == 0)
		json_text(request, "host", slice_of(dest));
	else if (dest != NULL)
		control_add_dest(request, dest);
	if (arguments_has(arguments, OPT_AGENTS))
		json_number(request, "limit",
		    arguments_number(arguments, OPT_AGENTS, 0));
	if (span != NULL) {
		snprintf(until, sizeof(until), "+%s", span);
		json_text(request, "until", slice_of(until));
	}
	if (arguments_has(arguments, OPT_TIMEOUT))
		json_number(request, "timeout_s",
		    arguments_number(arguments, OPT_TIMEOUT, 0) / 1000);
	if (strcmp(verb, "orders") == 0)
		return;
	if (reason != NULL)
		json_text(request, "reason", slice_of(reason));
	verb_who(who, sizeof(who));
	json_text(request, "who", slice_of(who));
}

/* Words for a member whose value is for programs; NULL: there are none.
 * returns an empty text if people need not see it */
static const char *
member_in_words(struct slice key, struct slice value)
{
	static const struct { const char *key, *value, *words; } rows[] = {
		{ "was", "true", "deliveries begin again" },
		{ "was", "false", "it was not drained" },
		{ "known", "true", "it has mail" },
		{ "known", "false", "no such destination has mail" },
		{ "limit", "0", "" }, { "limit", "-1", "" },
		{ "suspended", "0", "" },
		{ "until", "0", "" }, { "since", "0", "" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (slice_is(key, rows[i].key) &&
		    slice_is(value, rows[i].value))
			return rows[i].words;
	return NULL;
}

static void
member_add(struct str *out, struct slice key, struct slice value)
{
	const char *words = member_in_words(key, value);
	char date[CLOCK_TEXT_BYTES];
	uint64_t moment;

	if (words != NULL && words[0] == '\0')
		return;
	if (out->len > 0)
		str_adds(out, "  ");
	if (words != NULL) {
		str_adds(out, words);
		return;
	}
	str_add_escaped(out, key);
	str_addc(out, ' ');
	if ((slice_is(key, "since") || slice_is(key, "until")) &&
	    slice_number(value, 1, INT64_MAX, &moment)) {
		clock_local((int64_t)moment, date);
		str_adds(out, date);
	} else {
		str_add_escaped(out, value);
	}
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
		member_add(&text, key, str_slice(&value));
	}
	printf("%s\n", text.buf);
	str_release(&value);
	str_release(&text);
	return true;
}

/* drain: the last line says how many deliveries are still under way.
 * returns an exit status. */
static int
drain_status(struct slice last)
{
	struct str value = STR_INIT;
	uint64_t active = 0;

	if (!json_get(last, "active", &value) ||
	    !slice_number(str_slice(&value), 0, INT64_MAX, &active))
		active = 0;
	str_release(&value);
	if (active == 0)
		return EX_OK;
	fprintf(stderr, "zmailer drain: %" PRIu64 " deliver%s still under way "
	    "after the timeout; nothing new begins.  Wait for %s with "
	    "'zmailer drain', or see 'zmailer queue'.\n", active,
	    active == 1 ? "y is" : "ies are", active == 1 ? "it" : "them");
	return EXIT_FAILURE;
}

/* ---- a mail domain that is not a destination --------------------------- */

/* Is a new order about one name, which may be a domain's? */
static bool
order_names_domain(const struct arguments *arguments, const char *host)
{
	const char *dest = arguments_word(arguments, 0);

	if (strcmp(arguments->verb, "pin") == 0 &&
	    arguments_number(arguments, OPT_AGENTS, 0) == 0)
		return false;
	return (strcmp(arguments->verb, "suspend") == 0 ||
	    strcmp(arguments->verb, "pin") == 0) &&
	    strncmp(dest, "zone/", 5) != 0 && strpbrk(host, "*?[:") == NULL &&
	    domain_parse(slice_of(host), NULL) == 0;
}

/* The destinations that mail for a domain goes to, "smtp/[h]:25, ...", empty
 * where the router does not say; true: one of them is meant by dest. */
static bool
domain_goes_to(const char *conf_path, const char *dest, const char *host,
    struct str *out_places)
{
	struct str answer = STR_INIT, address = STR_INIT, channel = STR_INIT,
	    next = STR_INIT;
	const char *addresses[2] = { NULL, NULL };
	struct slice rest, line;
	bool is_meant = false;

	str_addf(&address, "postmaster@%s", host);
	addresses[0] = address.buf;
	(void)router_asked(conf_path, addresses, &answer);
	rest = str_slice(&answer);
	while (slice_cut(&rest, '\n', &line)) {
		if (!json_get(line, "channel", &channel) ||
		    !json_get(line, "host", &next))
			continue;
		str_adds(out_places, out_places->len > 0 ? ", " : "");
		str_add_escaped(out_places, str_slice(&channel));
		str_addc(out_places, '/');
		str_add_escaped(out_places, str_slice(&next));
		is_meant = is_meant || (slice_is_nocase(str_slice(&next),
		    host) && (dest == host || glob_match((struct slice){ dest,
		    (size_t)(host - 1 - dest) }, str_slice(&channel))));
	}
	str_release(&answer);
	str_release(&address);
	str_release(&channel);
	str_release(&next);
	return is_meant;
}

/* How many destinations with mail now the order is about; -1: unknown. */
static int64_t
order_count_threads(const struct arguments *arguments,
    struct control *control)
{
	struct str request = STR_INIT, last = STR_INIT;
	struct err err;
	int64_t count = -1;

	control_begin(&request, arguments->verb);
	destinations_add_words(&request, arguments);
	json_bool(&request, "dry_run", true);
	if (control_ask(control, &request, NULL, NULL, &last, &err) == 0)
		count = json_get_number(str_slice(&last), "destinations");
	str_release(&request);
	str_release(&last);
	return count;
}

/* No mail has it as its destination, and none will: it goes elsewhere.  Says
 * so; an order about it would do nothing. */
static bool
order_misses(const struct arguments *arguments, struct control *control)
{
	const char *dest = arguments_word(arguments, 0);
	const char *slash = dest == NULL ? NULL : strchr(dest, '/');
	const char *host = slash == NULL ? dest : slash + 1;
	struct str places = STR_INIT;
	bool is_missed;

	is_missed = dest != NULL && order_names_domain(arguments, host) &&
	    order_count_threads(arguments, control) == 0 &&
	    !domain_goes_to(arguments->conf_path, dest, host, &places) &&
	    places.len > 0;
	if (is_missed)
		fprintf(stderr, "zmailer %s: nothing was done: %s is no "
		    "destination; its mail goes to %s, with all other mail "
		    "that goes there.  Name that one, or hold its mail: "
		    "zmailer hold to:@%s\n", arguments->verb, dest, places.buf,
		    host);
	str_release(&places);
	return is_missed;
}

/* ---- what became of it ------------------------------------------------- */

/* An order to be revoked that did not exist; or one that is about no mail yet.
 * returns an exit status. */
static int
order_status(const struct arguments *arguments, struct slice last,
    bool is_json)
{
	const char *dest = arguments_word(arguments, 0);
	struct str value = STR_INIT;
	bool takes_back = json_get(last, "orders", &value);

	str_release(&value);
	if (strcmp(arguments->verb, "drain") == 0)
		return drain_status(last);
	if (dest != NULL && strcmp(dest, "all") != 0 &&
	    json_is(last, "orders", "0")) {
		fprintf(stderr, "zmailer %s: nothing was done: there is no "
		    "such order about %s; `zmailer orders` has them as they "
		    "were given\n", arguments->verb, dest);
		return EXIT_FAILURE;
	}
	if (!is_json && json_is(last, "destinations", "0") && !takes_back &&
	    strcmp(arguments->verb, "etrn") != 0)
		printf("nothing waits for it now; the order is about what "
		    "comes\n");
	return EX_OK;
}

/* --to: a node that is none is found out before anything is drained.  0, or an
 * exit status. */
static int
drain_check(const struct arguments *arguments, const struct conf *conf)
{
	const char *node = arguments_text(arguments, OPT_TO_NODE);

	if (node == NULL)
		return EX_OK;
	if (!conf_keeps_copies(conf))
		return arguments_refuse(arguments, "--to: no cluster with a "
		    "postgres is configured");
	if (strcmp(node, conf->cluster.self) == 0)
		return arguments_refuse(arguments, "--to %s: that is this "
		    "machine", node);
	for (size_t i = 0; i < conf->cluster.node_count; i++)
		if (strcmp(node, conf->cluster.nodes[i]) == 0)
			return EX_OK;
	return arguments_refuse(arguments, "--to %s: there is no such node in "
	    "the cluster", node);
}

/* drain --to: nothing is at an agent any more, all of it may go. */
static int
drain_move(const struct arguments *arguments, struct control *control)
{
	const char *reason = arguments_text(arguments, OPT_REASON);
	const struct move_words words = { .verb = "drain",
	    .node = arguments_text(arguments, OPT_TO_NODE),
	    .reason = reason != NULL ? reason : "",
	    .select = SLICE("all"), .wait_ms = arguments_number(arguments,
	    OPT_TIMEOUT, 3600000), .is_json = arguments_has(arguments,
	    OPT_JSON) };
	int status = move_mail(control, &words);

	return status == 1 && !control->is_denied ? EX_OK : status;
}

static int
send_order(const struct arguments *arguments, const struct conf *conf)
{
	bool is_json = arguments_has(arguments, OPT_JSON);
	struct str request = STR_INIT, last = STR_INIT;
	struct control control;
	struct err err;
	enum control_reached reached = control_connect(conf->run_dir,
	    &control, &err);
	int status = drain_check(arguments, conf);

	if (status != EX_OK) {
		control_hang_up(&control);
		return status;
	}
	if (reached == CONTROL_ABSENT)
		return control_stopped(arguments->verb, conf->run_dir, NULL);
	control.waits_as = arguments->verb;
	if (reached == CONTROL_REACHED && order_misses(arguments, &control)) {
		control_hang_up(&control);
		return EXIT_FAILURE;
	}
	control_begin(&request, arguments->verb);
	destinations_add_words(&request, arguments);
	if (reached == CONTROL_REACHED && control_ask(&control, &request,
	    print_line, &is_json, &last, &err) < 0)
		reached = CONTROL_BROKEN;
	if (reached == CONTROL_BROKEN)
		status = control_failed(arguments->verb, &control, &err);
	else
		print_line(&is_json, str_slice(&last));
	if (reached == CONTROL_REACHED)
		status = order_status(arguments, str_slice(&last), is_json);
	if (reached == CONTROL_REACHED && status == EX_OK &&
	    arguments_has(arguments, OPT_TO_NODE))
		status = drain_move(arguments, &control);
	control_hang_up(&control);
	str_release(&request);
	str_release(&last);
	return status;
}

static int
destinations_run(const struct arguments *arguments)
{
	struct conf *conf = verb_conf_spool(arguments->conf_path);
	int status = send_order(arguments, conf);

	conf_free(&conf);
	return status;
}

#define DESTINATION_VERB(name) \
	int verb_##name(struct arguments *arguments) \
	{ \
		return destinations_run(arguments); \
	}
DESTINATION_VERB(suspend)
DESTINATION_VERB(resume)
DESTINATION_VERB(pin)
DESTINATION_VERB(etrn)
DESTINATION_VERB(drain)
DESTINATION_VERB(undrain)
DESTINATION_VERB(orders)
