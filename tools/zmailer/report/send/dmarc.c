/* dmarc.c - reports to domains about mail that claims to be their own
 *
 * In     the counts of a day; the addresses for reports in the DNS
 * Out    messages in the queue, a line for each domain; report.sent
 * Holds  nothing
 * Trusts no record: an address of another organization must agree to it
 * Spec   zmailer-report(8); RFC 9990
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdio.h>
#include <stdlib.h>
#include <sysexits.h>

#include "base/json.h"
#include "journal/event.h"
#include "mail/spool/spool.h"
#include "origin/dmarc/hears.h"
#include "tools/zmailer/auth/auth.h"
#include "tools/zmailer/report/send/mail.h"
#include "tools/zmailer/report/send/sending.h"

#include "base/banned.h"

enum {
	ROUNDS_MAX = 40,	/* of questions; each answers one at least */
	LOOKS_OF_ONE_MS = 20 * 1000,
	LOOKS_FOR_MS = 30 * 60 * 1000	/* of all */
};

/* A domain, on its way to be told. */
struct telling {
	struct sending	*sending;
	const struct authors_domain *domain;
	struct dmarc_hears hears;
	const char	*trouble;	/* "": none */
	char		 file[SPOOL_ID_BYTES];
};

/* ---- what is said of it ------------------------------------------------- */

static void
telling_say_json(const struct telling *telling, struct str *out)
{
	const struct authors_domain *domain = telling->domain;
	struct slice list[RUA_MAX];

	for (size_t i = 0; i < telling->hears.count; i++)
		list[i] = slice_of(telling->hears.to[i].text);
	json_open_answer(out);
	json_text(out, "kind", SLICE("dmarc"));
	json_text(out, "domain", slice_of(domain->name));
	json_text(out, "day", slice_of(telling->sending->day));
	json_number(out, "messages", (int64_t)domain->messages);
	json_number(out, "failed", (int64_t)domain->failed);
	json_number(out, "omitted", (int64_t)domain->left_out);
	json_list(out, "to", list, telling->hears.count);
	json_text(out, "file", slice_of(telling->file));
	json_text(out, "trouble", slice_of(telling->trouble));
	json_close(out);
}

/* "a.test: 3 messages, 1 failed; to d@a.test (3629dq5b399eg0r)" */
static void
telling_say_text(const struct telling *telling, struct str *out)
{
	const struct authors_domain *domain = telling->domain;

	str_addf(out, "%s: %llu messages, %llu failed", domain->name,
	    (unsigned long long)domain->messages,
	    (unsigned long long)domain->failed);
	if (domain->left_out > 0)
		str_addf(out, ", %llu more left out",
		    (unsigned long long)domain->left_out);
	for (size_t i = 0; i < telling->hears.count; i++) {
		str_adds(out, i == 0 ? "; to " : ", ");
		str_add_escaped(out, slice_of(telling->hears.to[i].text));
	}
	if (*telling->trouble != '\0') {
		str_adds(out, "; ");
		str_add_escaped(out, slice_of(telling->trouble));
	}
	if (*telling->file != '\0')
		str_addf(out, " (%s)", telling->file);
	str_addc(out, '\n');
}

static void
telling_say(const struct telling *telling)
{
	struct str out = STR_INIT;

	if (telling->sending->is_json)
		telling_say_json(telling, &out);
	else
		telling_say_text(telling, &out);
	fputs(out.buf, stdout);
	str_release(&out);
}

/* ---- the report --------------------------------------------------------- */

static void
telling_add_words(const struct telling *telling, struct str *out)
{
	const struct authors_domain *domain = telling->domain;
	const struct sending *sending = telling->sending;

	str_addf(out, "Mail that %s accepted on %s (UTC) and that says it is "
	    "of %s:\n%llu messages; of %llu neither SPF nor DKIM speaks for "
	    "it.\n", sending->conf->host, sending->day, domain->name,
	    (unsigned long long)domain->messages,
	    (unsigned long long)domain->failed);
	if (domain->left_out > 0)
		str_addf(out, "%llu more are not in the report: it has at "
		    "most %u rows.\n", (unsigned long long)domain->left_out,
		    (unsigned)AUTHORS_ROWS_MAX);
	str_adds(out, "The report is of the form of RFC 9990.\n");
}

/* As it goes: each LF as CR LF. */
static uint64_t
message_bytes(struct slice message)
{
	uint64_t bytes = message.n;

	for (size_t i = 0; i < message.n; i++)
		bytes += message.p[i] == '\n' ? 1 : 0;
	return bytes;
}

/* Who takes no report of this size is left out (section 3.4). */
static void
telling_drop_small(struct telling *telling, struct slice message)
{
	struct dmarc_hears *hears = &telling->hears;
	uint64_t bytes = message_bytes(message);
	size_t kept = 0;

	for (size_t i = 0; i < hears->count; i++)
		if (hears->to[i].bytes_max == 0 ||
		    bytes <= hears->to[i].bytes_max)
			hears->to[kept++] = hears->to[i];
	if (kept < hears->count)
		telling->trouble = "it is larger than they take";
	hears->count = kept;
}

static void
telling_note(const struct telling *telling)
{
	const struct authors_domain *domain = telling->domain;

	event(EV_REPORT_SENT, NULL, "kind", SLICE("dmarc"), "domain",
	    slice_of(domain->name), "day", slice_of(telling->sending->day),
	    "to", slice_of(telling->hears.to[0].text),
	    "file", slice_of(telling->file),
	    "messages", event_number((int64_t)domain->messages),
	    "omitted", event_number((int64_t)domain->left_out), NULL);
	event_flush();
}

/* Queue a message, unless it is too large for all addresses. */
static void
telling_send(struct telling *telling, struct report_mail *mail)
{
	struct sending *sending = telling->sending;
	struct str message = STR_INIT;
	struct err err;
	int status = EX_SOFTWARE;

	if (report_mail_add(&message, mail, &err) == 0) {
		telling_drop_small(telling, str_slice(&message));
		mail->to_count = telling->hears.count;
		str_reset(&message);
		status = mail->to_count == 0 ? EX_OK : report_mail_add(
		    &message, mail, &err) < 0 ? EX_SOFTWARE :
		    report_mail_send(sending->conf, mail,
		    str_slice(&message), telling->file);
	}
	if (status != EX_OK) {
		sending->failed++;
		telling->trouble = "it could not be queued";
	} else if (mail->to_count > 0) {
		sending->sent++;
		telling_note(telling);
	}
	str_release(&message);
}

static void
telling_mail(struct telling *telling)
{
	const struct sending *sending = telling->sending;
	struct str id = STR_INIT, data = STR_INIT, text = STR_INIT;
	struct str report_id = STR_INIT;
	struct authors_letter letter = { .organization = sending->conf->host,
	    .contact = sending->dmarc_from.buf, .begin_s = sending->begin_s,
	    .end_s = sending->begin_s + SENDING_DAY_S - 1 };
	struct report_mail mail = { .kind = REPORT_MAIL_DMARC,
	    .from = sending->dmarc_from.buf, .to = telling->hears.to,
	    .to_count = telling->hears.count,
	    .domain = telling->domain->name,
	    .submitter = sending->conf->host, .day = sending->day,
	    .begin_s = letter.begin_s, .end_s = letter.end_s,
	    .now_s = clock_wall_s() };

	str_addf(&id, "%s.%s", sending->day, telling->domain->name);
	mail.id = id.buf;
	str_addf(&report_id, "%s@%s", id.buf, mail.submitter);
	letter.id = report_id.buf;
	telling_add_words(telling, &text);
	mail.text = text.buf;
	authors_add_report(&data, &sending->authors, telling->domain,
	    &letter);
	mail.data = str_slice(&data);
	telling_send(telling, &mail);
	telling_say(telling);
	str_release(&id);
	str_release(&report_id);
	str_release(&data);
	str_release(&text);
}

/* ---- one domain --------------------------------------------------------- */

/* Ask the DNS until the addresses are known.  ORIGIN_TEMPERROR: not now. */
static enum origin
telling_look(struct telling *telling, struct arena *arena)
{
	const struct sending *sending = telling->sending;
	struct answers *answers = answers_new(arena);
	struct auth_look *look;
	enum origin found = ORIGIN_TEMPERROR;
	int64_t until_ms = clock_steady_ms() + LOOKS_OF_ONE_MS;
	struct err err;

	if (until_ms > sending->looks_until_ms)
		until_ms = sending->looks_until_ms;
	if (clock_steady_ms() >= sending->looks_until_ms ||
	    (look = auth_look_new(arena, sending->conf, &err)) == NULL)
		return ORIGIN_TEMPERROR;
	for (int i = 0; i < ROUNDS_MAX && clock_steady_ms() < until_ms;
	    i++) {
		found = dmarc_hear(answers, slice_of(telling->domain->name),
		    arena, &telling->hears);
		if (found != ORIGIN_ASKS)
			return found;
		auth_look_round(look, answers);
	}
	return ORIGIN_TEMPERROR;
}

/* What is known about the addresses, and what follows from that. */
static void
telling_go(struct telling *telling, enum origin found)
{
	struct sending *sending = telling->sending;

	telling->trouble = telling->hears.reason;
	if (found == ORIGIN_PASS && !sending->is_dry) {
		telling_mail(telling);
		return;
	}
	if (found == ORIGIN_TEMPERROR) {
		sending->failed++;
		telling->trouble = "who hears cannot be known now";
	}
	telling_say(telling);
}

static void
sending_tell_author(struct sending *sending,
    const struct authors_domain *domain)
{
	struct telling telling = { .sending = sending, .domain = domain,
	    .hears = { .reason = "" } };
	enum table_result is_own = TABLE_NONE;
	const struct conf_domain *own;
	struct arena *arena;
	struct err err;

	if (domain->is_told || domain->messages == 0)
		return;
	if (!sending->is_own)
		is_own = conf_domain_ask(sending->conf,
		    slice_of(domain->name), &own, &err);
	if (is_own == TABLE_FOUND)
		return;
	arena = arena_new();
	telling_go(&telling, is_own != TABLE_NONE ? ORIGIN_TEMPERROR :
	    telling_look(&telling, arena));
	arena_free(&arena);
}

static int
more_messages(const void *a, const void *b)
{
	const struct authors_domain *const *one = a, *const *other = b;

	if ((*one)->messages != (*other)->messages)
		return (*one)->messages < (*other)->messages ? 1 : -1;
	return *one < *other ? -1 : 1;
}

/* Those with most messages first: many names with one message each (anybody can
 * make them) are asked about last, when time may be short. */
static void
sending_tell_authors(struct sending *sending)
{
	const struct authors *authors = &sending->authors;
	const struct authors_domain **order = mem_alloc(
	    authors->domain_count + 1, sizeof(*order));

	for (size_t i = 0; i < authors->domain_count; i++)
		order[i] = &authors->domains[i];
	qsort(order, authors->domain_count, sizeof(*order), more_messages);
	sending->looks_until_ms = clock_steady_ms() + LOOKS_FOR_MS;
	for (size_t i = 0; i < authors->domain_count; i++)
		sending_tell_author(sending, order[i]);
	mem_free(&order);
}

/* Domains whose first message came after all rows were taken. */
static uint64_t
authors_without_row(const struct authors *authors)
{
	uint64_t count = 0;

	for (size_t i = 0; i < authors->domain_count; i++)
		if (authors->domains[i].messages == 0)
			count += authors->domains[i].left_out;
	return count;
}

void
sending_dmarc(struct sending *sending)
{
	const struct authors *authors = &sending->authors;
	uint64_t without_row = authors_without_row(authors);

	sending_tell_authors(sending);
	if (without_row > 0)
		fprintf(stderr, "zmailer: report: %llu messages are of "
		    "authors' domains for which no row was left; these "
		    "domains hear nothing\n",
		    (unsigned long long)without_row);
	if (authors->left_out > 0)
		fprintf(stderr, "zmailer: report: %llu messages are of more "
		    "than %u authors' domains and were left out\n",
		    (unsigned long long)authors->left_out,
		    (unsigned)AUTHORS_DOMAINS_MAX);
}
