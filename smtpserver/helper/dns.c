/* dns.c - the helper that asks the DNS about clients and senders
 *
 * In     "name ADDRESS", "listed ADDRESS ZONE...", "mail DOMAIN"
 * Out    the client's name confirmed in both directions, or "-";
 *        "ZONE=127.0.0.2,127.0.0.3 ..." of the zones that have it;
 *        "yes" or "no": the domain has a host that takes mail
 * Holds  answers for a while; a lookup for each question in hand
 * Trusts no answer: names, addresses and zones are bounded
 * Spec   RFC 1035 section 3.5, RFC 5782 section 2.1, RFC 5321 section 5.1,
 *        RFC 7505
 *
 * SPDX-License-Identifier: ISC
 */
#include <arpa/inet.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/cache.h"
#include "base/clock.h"
#include "journal/event.h"
#include "base/mem.h"
#include "io/dns/ask.h"
#include "io/ipc_link.h"
#include "smtpserver/helper/helper.h"

#include "base/banned.h"

enum {
	ZONES_MAX = 64,
	KNOWN_MAX = 16384,		/* a power of two */
	KNOWN_FOR_MS = 5 * 60 * 1000,
	SILENT_NOTE_MS = 10 * 60 * 1000
};

struct dns_helper {
	struct process		*process;
	struct ipc_link		*listener;
	struct dns_asker	*asker;
	struct cache		*known;
	int64_t			 silent_noted_ms;
};

struct lookup {			/* one question in hand */
	struct dns_helper		*helper;
	struct str		 token, question, answer;
	struct dns_address	 address;
	struct dns_name		 names[DNS_PTR_MAX];	/* or the domain */
	size_t			 name_count;
	unsigned		 out;		/* DNS questions on their way */
	bool			 met_trouble, is_found;
	struct ticket		*tickets;	/* one a DNS question */
	size_t			 ticket_count;
};

struct ticket {			/* what a DNS question is about */
	struct lookup		*lookup;
	struct slice		 zone;		/* in lookup->question */
	size_t			 name;		/* in lookup->names */
};

/* ---- the end of a lookup ------------------------------------------------- */

static void
lookup_free(struct lookup **lookup)
{
	str_release(&(*lookup)->token);
	str_release(&(*lookup)->question);
	str_release(&(*lookup)->answer);
	mem_free(&(*lookup)->tickets);
	mem_free(lookup);
}

static void
lookup_answer(struct lookup *lookup, bool is_ok)
{
	struct dns_helper *helper = lookup->helper;

	if (is_ok)
		cache_add(helper->known, str_slice(&lookup->question),
		    str_slice(&lookup->answer),
		    clock_steady_ms() + KNOWN_FOR_MS);
	helper_add_answer(ipc_link_out(helper->listener),
	    str_slice(&lookup->token), is_ok, str_slice(&lookup->answer));
	lookup_free(&lookup);
}

static void
lookup_trouble(struct lookup *lookup, const char *why)
{
	str_reset(&lookup->answer);
	str_adds(&lookup->answer, why);
	lookup_answer(lookup, false);
}

/* Does the lookup wait for more, or is its end that nobody answers? */
static bool
is_undecided(struct lookup *lookup)
{
	if (lookup->out > 0)
		return true;
	if (lookup->is_found || !lookup->met_trouble)
		return false;
	lookup_trouble(lookup, "the name servers do not answer");
	return true;
}

/* Room for count DNS questions of a lookup. */
static void
dns_tickets_make(struct lookup *lookup, size_t count)
{
	lookup->tickets = mem_grow(lookup->tickets, count,
	    sizeof(*lookup->tickets));
	for (size_t i = 0; i < count; i++)
		lookup->tickets[i] = (struct ticket){ .lookup = lookup };
	lookup->ticket_count = count;
}

static void
ticket_ask(struct ticket *ticket, const char *name, enum dns_type type,
    dns_answer_fn *fn)
{
	ticket->lookup->out++;
	dns_ask(ticket->lookup->helper->asker, name, type, fn, ticket);
}

/* ---- name: PTR, and back ---------------------------------------------- */

static bool
is_same_address(const struct dns_address *a, const struct dns_address *b)
{
	const struct sockaddr_in *a4 = (const void *)&a->address,
	    *b4 = (const void *)&b->address;
	const struct sockaddr_in6 *a6 = (const void *)&a->address,
	    *b6 = (const void *)&b->address;

	if (a->address.ss_family != b->address.ss_family)
		return false;
	return a->address.ss_family == AF_INET ?
	    memcmp(&a4->sin_addr, &b4->sin_addr, sizeof(a4->sin_addr)) == 0 :
	    memcmp(&a6->sin6_addr, &b6->sin6_addr,
	    sizeof(a6->sin6_addr)) == 0;
}

static void
name_conclude(struct lookup *lookup)
{
	if (is_undecided(lookup))
		return;
	if (!lookup->is_found)
		str_adds(&lookup->answer, "-");
	lookup_answer(lookup, true);
}

/* One question of the lookup is answered.  returns how many addresses. */
static size_t
dns_addresses_take(struct lookup *lookup, enum dns_result result,
    const unsigned char *answer, size_t n,
    struct dns_address addresses[DNS_ADDRESS_MAX])
{
	size_t count = 0;

	lookup->out--;
	if (result == DNS_OK)
		(void)dns_parse_addresses(answer, n, addresses, &count, NULL);
	return count;
}

/* The first name, as the PTR answer has them, that leads back. */
static void
on_address(void *context, enum dns_result result,
    const unsigned char *answer, size_t n)
{
	struct dns_address addresses[DNS_ADDRESS_MAX];
	struct ticket *ticket = context;
	struct lookup *lookup = ticket->lookup;
	size_t count = dns_addresses_take(lookup, result, answer, n, addresses);

	if (result == DNS_TRY_AGAIN)
		lookup->met_trouble = true;
	for (size_t i = 0; i < count && !lookup->is_found; i++)
		if (is_same_address(&addresses[i], &lookup->address)) {
			lookup->is_found = true;
			str_adds(&lookup->answer,
			    lookup->names[ticket->name].text);
		}
	name_conclude(lookup);
}

static void
on_ptr(void *context, enum dns_result result, const unsigned char *answer,
    size_t n)
{
	struct ticket *ticket = context;
	struct lookup *lookup = ticket->lookup;
	enum dns_type type = lookup->address.address.ss_family == AF_INET ?
	    DNS_TYPE_A : DNS_TYPE_AAAA;

	lookup->out--;
	if (result == DNS_TRY_AGAIN)
		lookup->met_trouble = true;
	else if (result == DNS_OK)
		(void)dns_parse_ptr(answer, n, lookup->names,
		    &lookup->name_count,
		    NULL);
	if (lookup->name_count == 0) {
		name_conclude(lookup);
		return;
	}
	dns_tickets_make(lookup, lookup->name_count);
	for (size_t i = 0; i < lookup->name_count; i++) {
		lookup->tickets[i].name = i;
		ticket_ask(&lookup->tickets[i], lookup->names[i].text, type,
		    on_address);
	}
}

static bool
dns_address_take(struct lookup *lookup, struct slice text)
{
	struct sockaddr_in *four = (void *)&lookup->address.address;
	struct sockaddr_in6 *six = (void *)&lookup->address.address;
	char copy[INET6_ADDRSTRLEN];

	if (text.n >= sizeof(copy))
		return false;
	memcpy(copy, text.p, text.n);
	copy[text.n] = '\0';
	if (inet_pton(AF_INET, copy, &four->sin_addr) == 1)
		four->sin_family = AF_INET;
	else if (inet_pton(AF_INET6, copy, &six->sin6_addr) == 1)
		six->sin6_family = AF_INET6;
	else
		return false;
	return true;
}

static bool
name_begin(struct lookup *lookup, struct slice args)
{
	struct dns_name name;

	if (!dns_address_take(lookup, args))
		return false;
	dns_reverse_name((struct sockaddr *)&lookup->address.address, NULL,
	    &name);
	dns_tickets_make(lookup, 1);
	ticket_ask(&lookup->tickets[0], name.text, DNS_TYPE_PTR, on_ptr);
	return true;
}

/* ---- listed ----------------------------------------------------------- */

/* 127.255.255.0/24 is how lists say that they do not answer us. */
static bool
is_refusal(const unsigned char bytes[4])
{
	return bytes[1] == 255 && bytes[2] == 255;
}

static void
dns_note_silent(struct dns_helper *helper, struct slice zone,
    const char *reason)
{
	int64_t now_ms = clock_steady_ms();

	if (helper->silent_noted_ms != 0 &&
	    now_ms < helper->silent_noted_ms + SILENT_NOTE_MS)
		return;
	helper->silent_noted_ms = now_ms;
	event(EV_DNSBL_SILENT, NULL, "zone", zone, "reason",
	    slice_of(reason), NULL);
}

/* Append " ZONE=127.0.0.2,..." for the answers that mean something. */
static void
dns_hits_add(struct lookup *lookup, struct slice zone,
    const struct dns_address *addresses, size_t count)
{
	char separator = '=';

	for (size_t i = 0; i < count; i++) {
		const struct sockaddr_in *four =
		    (const void *)&addresses[i].address;
		const unsigned char *bytes =
		    (const unsigned char *)&four->sin_addr;

		if (four->sin_family != AF_INET || bytes[0] != 127)
			continue;
		if (is_refusal(bytes)) {
			dns_note_silent(lookup->helper, zone,
			    "it refuses to answer this host");
			continue;
		}
		if (separator == '=')
			str_addf(&lookup->answer, "%s" SLICE_FMT,
			    lookup->answer.len > 0 ? " " : "", SLICE_ARG(zone));
		str_addf(&lookup->answer, "%c%u.%u.%u.%u", separator, bytes[0],
		    bytes[1], bytes[2], bytes[3]);
		separator = ',';
	}
}

static void
on_listed(void *context, enum dns_result result,
    const unsigned char *answer, size_t n)
{
	struct dns_address addresses[DNS_ADDRESS_MAX];
	struct ticket *ticket = context;
	struct lookup *lookup = ticket->lookup;
	size_t count = dns_addresses_take(lookup, result, answer, n, addresses);

	if (result == DNS_TRY_AGAIN)
		dns_note_silent(lookup->helper, ticket->zone, "no answer");
	dns_hits_add(lookup, ticket->zone, addresses, count);
	if (lookup->out == 0)
		lookup_answer(lookup, true);
}

static bool
listed_begin(struct lookup *lookup, struct slice args)
{
	struct slice word, zones[ZONES_MAX];
	size_t count = 0;

	if (!slice_word(&args, &word) || !dns_address_take(lookup, word))
		return false;
	while (count < ZONES_MAX && slice_word(&args, &zones[count]))
		count++;
	if (count == 0)
		return false;
	dns_tickets_make(lookup, count);
	for (size_t i = 0; i < count; i++) {
		struct dns_name name;
		char zone[256];

		snprintf(zone, sizeof(zone), SLICE_FMT, SLICE_ARG(zones[i]));
		dns_reverse_name((struct sockaddr *)&lookup->address.address,
		    zone, &name);
		lookup->tickets[i].zone = zones[i];
		ticket_ask(&lookup->tickets[i], name.text, DNS_TYPE_A,
		    on_listed);
	}
	return true;
}

/* ---- mail: has the domain a host that takes mail ---------------------- */

static void
mail_conclude(struct lookup *lookup)
{
	if (is_undecided(lookup))
		return;
	str_adds(&lookup->answer, lookup->is_found ? "yes" : "no");
	lookup_answer(lookup, true);
}

static void
on_mail_address(void *context, enum dns_result result,
    const unsigned char *answer, size_t n)
{
	struct dns_address addresses[DNS_ADDRESS_MAX];
	struct lookup *lookup = ((struct ticket *)context)->lookup;
	size_t count = 0;

	lookup->out--;
	if (result == DNS_TRY_AGAIN)
		lookup->met_trouble = true;
	else if (result == DNS_OK)
		(void)dns_parse_addresses(answer, n, addresses, &count, NULL);
	lookup->is_found = lookup->is_found || count > 0;
	mail_conclude(lookup);
}

static void
on_mx(void *context, enum dns_result result, const unsigned char *answer,
    size_t n)
{
	struct dns_mx mx[DNS_MX_MAX];
	struct lookup *lookup = ((struct ticket *)context)->lookup;
	size_t count = 0;

	lookup->out--;
	if (result == DNS_TRY_AGAIN)
		lookup->met_trouble = true;
	else if (result == DNS_OK)
		(void)dns_parse_mx(answer, n, mx, &count, NULL);
	if (count > 0 || result != DNS_OK) {
		/* one empty host is a null MX: none takes mail */
		lookup->is_found = count > 0 && mx[0].host[0] != '\0';
		mail_conclude(lookup);
		return;
	}
	dns_tickets_make(lookup, 2);
	ticket_ask(&lookup->tickets[0], lookup->names[0].text, DNS_TYPE_A,
	    on_mail_address);
	ticket_ask(&lookup->tickets[1], lookup->names[0].text, DNS_TYPE_AAAA,
	    on_mail_address);
}

static bool
mail_begin(struct lookup *lookup, struct slice args)
{
	char *name = lookup->names[0].text;

	if (args.n == 0 || args.n >= sizeof(lookup->names[0].text))
		return false;
	memcpy(name, args.p, args.n);
	name[args.n] = '\0';
	dns_tickets_make(lookup, 1);
	ticket_ask(&lookup->tickets[0], name, DNS_TYPE_MX, on_mx);
	return true;
}

/* ---- questions in, answers out ---------------------------------------- */

static bool
lookup_begin(struct lookup *lookup)
{
	struct slice rest = str_slice(&lookup->question), verb;

	if (!slice_word(&rest, &verb))
		return false;
	rest = slice_from(rest, rest.n > 0);
	if (slice_is(verb, "name"))
		return name_begin(lookup, rest);
	if (slice_is(verb, "listed"))
		return listed_begin(lookup, rest);
	return slice_is(verb, "mail") && mail_begin(lookup, rest);
}

static enum ipc_link_taken
dns_question_take(void *context, struct slice line)
{
	struct dns_helper *helper = context;
	struct slice token, known;
	struct lookup *lookup;

	if (!slice_word(&line, &token))
		return IPC_LINK_NEXT;
	line = slice_from(line, line.n > 0);
	if (cache_find(helper->known, line, clock_steady_ms(), &known)) {
		helper_add_answer(ipc_link_out(helper->listener), token, true,
		    known);
		return IPC_LINK_NEXT;
	}
	lookup = mem_alloc(1, sizeof(*lookup));
	lookup->helper = helper;
	str_init(&lookup->token);
	str_init(&lookup->question);
	str_init(&lookup->answer);
	str_add_slice(&lookup->token, token);
	str_add_slice(&lookup->question, line);
	if (!lookup_begin(lookup))
		lookup_trouble(lookup, "this is no question for the DNS");
	return IPC_LINK_NEXT;
}

static void
dns_on_listener_gone(void *context)
{
	struct dns_helper *helper = context;

	loop_stop(helper->process->loop);
}

static void
dns_say_answers(void *context)
{
	struct dns_helper *helper = context;

	ipc_link_send(helper->listener);
}

static const struct ipc_link_kind dns_listener_kind = {
	.take = dns_question_take, .ended = dns_on_listener_gone,
	.reads_on = true,
};

void
dns_serve(struct process *process, int socket)
{
	struct dns_helper helper = { .process = process };
	struct err err;

	signal(SIGHUP, SIG_IGN);
	if (dns_use(process->conf->dns_server, &err) != 0)
		warning("%s", err.text);
	helper.asker = dns_asker_new(process->loop);
	helper.known = cache_new(KNOWN_MAX);
	helper.listener = ipc_link_new(process->loop, socket,
	    &dns_listener_kind, &helper);
	loop_at_turn_end(process->loop, dns_say_answers, &helper);
	loop_run(process->loop);
}
