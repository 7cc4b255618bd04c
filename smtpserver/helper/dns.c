/* dns.c - the helper that asks the DNS about clients and senders
 *
 * In     "name ADDRESS", "listed ADDRESS ZONE...", "mail DOMAIN"
 * Out    the client's name confirmed in both directions, or "-";
 *        "ZONE=127.0.0.2,127.0.0.3 ..." of the zones that have it;
 *        "yes" or "no": the domain has a host that takes mail
 * Holds  answers for a while; a job for each question in hand
 * Trusts no answer: names, addresses and zones are bounded
 * Spec   RFC 1035 section 3.5, RFC 5782 section 2.1, RFC 5321 section 5.1,
 *        RFC 7505
 *
 * SPDX-License-Identifier: ISC
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "journal/event.h"
#include "base/mem.h"
#include "io/dns_ask.h"
#include "io/ipc.h"
#include "smtpserver/helper/cache.h"
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
	int			 socket;
	struct watch		*watch;
	struct ipc_inbox	 inbox;
	struct str		 outbox;
	struct dns_asker	*asker;
	struct cache		*known;
	int64_t			 silent_noted_ms;
};

struct job {			/* one question in hand */
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
	struct job		*job;
	struct slice		 zone;		/* in job->question */
	size_t			 name;		/* in job->names */
};

/* ---- the end of a job ------------------------------------------------- */

static void
dns_job_free(struct job **job)
{
	str_release(&(*job)->token);
	str_release(&(*job)->question);
	str_release(&(*job)->answer);
	mem_free(&(*job)->tickets);
	mem_free(job);
}

static void
dns_job_answer(struct job *job, bool is_ok)
{
	struct dns_helper *helper = job->helper;

	if (is_ok)
		cache_add(helper->known, str_slice(&job->question),
		    str_slice(&job->answer),
		    clock_steady_ms() + KNOWN_FOR_MS);
	helper_add_answer(&helper->outbox, str_slice(&job->token), is_ok,
	    str_slice(&job->answer));
	dns_job_free(&job);
}

static void
job_trouble(struct job *job, const char *why)
{
	str_reset(&job->answer);
	str_adds(&job->answer, why);
	dns_job_answer(job, false);
}

/* Does the job wait for more, or is its end that nobody answers? */
static bool
is_undecided(struct job *job)
{
	if (job->out > 0)
		return true;
	if (job->is_found || !job->met_trouble)
		return false;
	job_trouble(job, "the name servers do not answer");
	return true;
}

/* Room for count DNS questions of a job. */
static void
dns_tickets_make(struct job *job, size_t count)
{
	job->tickets = mem_grow(job->tickets, count, sizeof(*job->tickets));
	for (size_t i = 0; i < count; i++)
		job->tickets[i] = (struct ticket){ .job = job };
	job->ticket_count = count;
}

static void
ticket_ask(struct ticket *ticket, const char *name, enum dns_type type,
    dns_answer_fn *fn)
{
	ticket->job->out++;
	dns_ask(ticket->job->helper->asker, name, type, fn, ticket);
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
name_conclude(struct job *job)
{
	if (is_undecided(job))
		return;
	if (!job->is_found)
		str_adds(&job->answer, "-");
	dns_job_answer(job, true);
}

/* One question of the job is answered.  returns how many addresses. */
static size_t
dns_addresses_take(struct job *job, enum dns_result result,
    const unsigned char *answer, size_t n,
    struct dns_address addresses[DNS_ADDRESS_MAX])
{
	size_t count = 0;

	job->out--;
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
	struct job *job = ticket->job;
	size_t count = dns_addresses_take(job, result, answer, n, addresses);

	if (result == DNS_TRY_AGAIN)
		job->met_trouble = true;
	for (size_t i = 0; i < count && !job->is_found; i++)
		if (is_same_address(&addresses[i], &job->address)) {
			job->is_found = true;
			str_adds(&job->answer,
			    job->names[ticket->name].text);
		}
	name_conclude(job);
}

static void
on_ptr(void *context, enum dns_result result, const unsigned char *answer,
    size_t n)
{
	struct ticket *ticket = context;
	struct job *job = ticket->job;
	enum dns_type type = job->address.address.ss_family == AF_INET ?
	    DNS_TYPE_A : DNS_TYPE_AAAA;

	job->out--;
	if (result == DNS_TRY_AGAIN)
		job->met_trouble = true;
	else if (result == DNS_OK)
		(void)dns_parse_ptr(answer, n, job->names, &job->name_count,
		    NULL);
	if (job->name_count == 0) {
		name_conclude(job);
		return;
	}
	dns_tickets_make(job, job->name_count);
	for (size_t i = 0; i < job->name_count; i++) {
		job->tickets[i].name = i;
		ticket_ask(&job->tickets[i], job->names[i].text, type,
		    on_address);
	}
}

static bool
dns_address_take(struct job *job, struct slice text)
{
	struct sockaddr_in *four = (void *)&job->address.address;
	struct sockaddr_in6 *six = (void *)&job->address.address;
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
name_begin(struct job *job, struct slice args)
{
	struct dns_name name;

	if (!dns_address_take(job, args))
		return false;
	dns_reverse_name((struct sockaddr *)&job->address.address, NULL,
	    &name);
	dns_tickets_make(job, 1);
	ticket_ask(&job->tickets[0], name.text, DNS_TYPE_PTR, on_ptr);
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
dns_hits_add(struct job *job, struct slice zone,
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
			dns_note_silent(job->helper, zone,
			    "it refuses to answer this host");
			continue;
		}
		if (separator == '=')
			str_addf(&job->answer, "%s" SLICE_FMT,
			    job->answer.len > 0 ? " " : "", SLICE_ARG(zone));
		str_addf(&job->answer, "%c%u.%u.%u.%u", separator, bytes[0],
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
	struct job *job = ticket->job;
	size_t count = dns_addresses_take(job, result, answer, n, addresses);

	if (result == DNS_TRY_AGAIN)
		dns_note_silent(job->helper, ticket->zone, "no answer");
	dns_hits_add(job, ticket->zone, addresses, count);
	if (job->out == 0)
		dns_job_answer(job, true);
}

static bool
listed_begin(struct job *job, struct slice args)
{
	struct slice word, zones[ZONES_MAX];
	size_t count = 0;

	if (!slice_word(&args, &word) || !dns_address_take(job, word))
		return false;
	while (count < ZONES_MAX && slice_word(&args, &zones[count]))
		count++;
	if (count == 0)
		return false;
	dns_tickets_make(job, count);
	for (size_t i = 0; i < count; i++) {
		struct dns_name name;
		char zone[256];

		snprintf(zone, sizeof(zone), SLICE_FMT, SLICE_ARG(zones[i]));
		dns_reverse_name((struct sockaddr *)&job->address.address,
		    zone, &name);
		job->tickets[i].zone = zones[i];
		ticket_ask(&job->tickets[i], name.text, DNS_TYPE_A, on_listed);
	}
	return true;
}

/* ---- mail: has the domain a host that takes mail ---------------------- */

static void
mail_conclude(struct job *job)
{
	if (is_undecided(job))
		return;
	str_adds(&job->answer, job->is_found ? "yes" : "no");
	dns_job_answer(job, true);
}

static void
on_mail_address(void *context, enum dns_result result,
    const unsigned char *answer, size_t n)
{
	struct dns_address addresses[DNS_ADDRESS_MAX];
	struct job *job = ((struct ticket *)context)->job;
	size_t count = 0;

	job->out--;
	if (result == DNS_TRY_AGAIN)
		job->met_trouble = true;
	else if (result == DNS_OK)
		(void)dns_parse_addresses(answer, n, addresses, &count, NULL);
	job->is_found = job->is_found || count > 0;
	mail_conclude(job);
}

static void
on_mx(void *context, enum dns_result result, const unsigned char *answer,
    size_t n)
{
	struct dns_mx mx[DNS_MX_MAX];
	struct job *job = ((struct ticket *)context)->job;
	size_t count = 0;

	job->out--;
	if (result == DNS_TRY_AGAIN)
		job->met_trouble = true;
	else if (result == DNS_OK)
		(void)dns_parse_mx(answer, n, mx, &count, NULL);
	if (count > 0 || result != DNS_OK) {
		/* one empty host is a null MX: none takes mail */
		job->is_found = count > 0 && mx[0].host[0] != '\0';
		mail_conclude(job);
		return;
	}
	dns_tickets_make(job, 2);
	ticket_ask(&job->tickets[0], job->names[0].text, DNS_TYPE_A,
	    on_mail_address);
	ticket_ask(&job->tickets[1], job->names[0].text, DNS_TYPE_AAAA,
	    on_mail_address);
}

static bool
mail_begin(struct job *job, struct slice args)
{
	char *name = job->names[0].text;

	if (args.n == 0 || args.n >= sizeof(job->names[0].text))
		return false;
	memcpy(name, args.p, args.n);
	name[args.n] = '\0';
	dns_tickets_make(job, 1);
	ticket_ask(&job->tickets[0], name, DNS_TYPE_MX, on_mx);
	return true;
}

/* ---- questions in, answers out ---------------------------------------- */

static bool
dns_job_begin(struct job *job)
{
	struct slice rest = str_slice(&job->question), verb;

	if (!slice_word(&rest, &verb))
		return false;
	rest = slice_from(rest, rest.n > 0);
	if (slice_is(verb, "name"))
		return name_begin(job, rest);
	if (slice_is(verb, "listed"))
		return listed_begin(job, rest);
	return slice_is(verb, "mail") && mail_begin(job, rest);
}

static void
dns_question_take(struct dns_helper *helper, struct slice line)
{
	struct slice token, known;
	struct job *job;

	if (!slice_word(&line, &token))
		return;
	line = slice_from(line, line.n > 0);
	if (cache_find(helper->known, line, clock_steady_ms(), &known)) {
		helper_add_answer(&helper->outbox, token, true, known);
		return;
	}
	job = mem_alloc(1, sizeof(*job));
	job->helper = helper;
	str_init(&job->token);
	str_init(&job->question);
	str_init(&job->answer);
	str_add_slice(&job->token, token);
	str_add_slice(&job->question, line);
	if (!dns_job_begin(job))
		job_trouble(job, "this is no question for the DNS");
}

static void
dns_on_listener(void *context, unsigned ready)
{
	struct dns_helper *helper = context;
	struct slice line;
	size_t cursor = 0;
	int got;

	if (!(ready & (LOOP_READ | LOOP_HANGUP)))
		return;
	got = ipc_receive(helper->socket, &helper->inbox);
	if (got == 0 || (got < 0 && errno != EAGAIN)) {
		loop_stop(helper->process->loop);
		return;
	}
	while (ipc_line(&helper->inbox, &cursor, &line) == 1)
		dns_question_take(helper, line);
	ipc_inbox_consume(&helper->inbox, cursor);
}

static void
dns_say_answers(void *context)
{
	struct dns_helper *helper = context;
	ssize_t n;

	if (helper->outbox.len == 0)
		return;
	n = ipc_send(helper->socket, str_slice(&helper->outbox), NULL, 0);
	if (n > 0)
		str_consume(&helper->outbox, (size_t)n);
	watch_set(helper->watch, LOOP_READ |
	    (n >= 0 && helper->outbox.len > 0 ? LOOP_WRITE : 0));
}

void
dns_serve(struct process *process, int socket)
{
	struct dns_helper helper = { .process = process, .socket = socket };
	struct err err;

	signal(SIGHUP, SIG_IGN);
	(void)fcntl(socket, F_SETFL, O_NONBLOCK);
	if (dns_use(process->conf->dns_server, &err) != 0)
		warning("%s", err.text);
	ipc_inbox_init(&helper.inbox);
	str_init(&helper.outbox);
	helper.asker = dns_asker_new(process->loop);
	helper.known = cache_new(KNOWN_MAX);
	helper.watch = loop_watch(process->loop, socket, LOOP_READ,
	    dns_on_listener, &helper);
	loop_at_turn_end(process->loop, dns_say_answers, &helper);
	loop_run(process->loop);
}
