/* tls.c - reports to domains about connections to their hosts
 *
 * In     the counts of a day; the addresses for reports in the DNS; the
 *        policies that are known (process sts)
 * Out    messages in the queue, a line for each domain; report.sent
 * Holds  nothing
 * Trusts no record; a domain decides only who gets reports about itself, and
 *        hosts of others get so many a day (elsewhere.h)
 * Spec   zmailer-report(8); RFC 8460
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdio.h>
#include <stdlib.h>
#include <sysexits.h>

#include "base/clock.h"
#include "base/json.h"
#include "io/dns/dns.h"
#include "io/consult/sts_ask.h"
#include "journal/event.h"
#include "mail/spool/spool.h"
#include "tools/zmailer/report/send/mail.h"
#include "tools/zmailer/report/send/sending.h"

#include "base/banned.h"

enum { STS_FOR_MS = 2000 };

/* ---- who gets reports --------------------------------------------------- */

/* The strings of a TXT record, joined. */
static void
text_join(struct slice data, struct str *out)
{
	size_t n;

	while (data.n > 0) {
		n = (unsigned char)data.p[0];
		data = slice_from(data, 1);
		n = n < data.n ? n : data.n;
		str_add(out, data.p, n);
		data = slice_from(data, n);
	}
}

/* One record of TLS reporting, or none that counts (RFC 8460 section 3).
 * returns how many addresses; err: why none, when that is trouble */
static size_t
sending_look(const char *domain, struct rua_address to[RUA_MAX],
    struct err *err)
{
	struct dns_records records;
	struct str name = STR_INIT, text = STR_INIT;
	size_t count = 0, other, found = 0;
	enum dns_result result;
	struct slice uris;

	str_addf(&name, "_smtp._tls.%s", domain);
	dns_records_init(&records);
	result = dns_ask_records(name.buf, DNS_TYPE_TXT, &records, err);
	if (result != DNS_TRY_AGAIN && result != DNS_BAD)
		err->text[0] = '\0';
	for (size_t i = 0; i < records.count; i++) {
		str_reset(&text);
		text_join(dns_records_at(&records, i), &text);
		if (rua_of_tls(str_slice(&text), &uris) && ++found == 1)
			count = rua_addresses(uris, to, &other);
	}
	dns_records_release(&records);
	str_release(&name);
	str_release(&text);
	return found == 1 ? count : 0;
}

/* ---- policies ----------------------------------------------------------- */

/* The lines of the domain's policy, as it is known now; "": it is not. */
static void
sending_sts_lines(const struct sending *sending, const char *domain,
    struct str *out)
{
	struct sts_policy policy;
	struct str file = STR_INIT;
	struct err err;

	if (sts_ask(sending->conf->run_dir, "policy", domain, STS_FOR_MS,
	    &policy, &err) == STS_ANSWER_POLICY) {
		sts_policy_add_file(&file, &policy);
		for (size_t i = 0; i < file.len; i++)
			if (file.buf[i] != '\r')
				str_addc(out, file.buf[i]);
	}
	str_release(&file);
}

/* ---- one domain --------------------------------------------------------- */

static uint64_t
domain_failed(const struct sessions_domain *domain)
{
	return domain->by[SESSIONS_STS].failed +
	    domain->by[SESSIONS_TLSA].failed;
}

static uint64_t
domain_ok(const struct sessions_domain *domain)
{
	return domain->by[SESSIONS_STS].ok + domain->by[SESSIONS_TLSA].ok;
}

/* "enf.test: 3 connections, 1 of them failed; to a@b (3629dq5b399eg0r)" */
static void
sending_say(const struct sending *sending,
    const struct sessions_domain *domain, const struct rua_address *to,
    size_t to_count, const char *id, const char *trouble)
{
	struct slice list[RUA_MAX];
	struct str out = STR_INIT;

	for (size_t i = 0; i < to_count; i++)
		list[i] = slice_of(to[i].text);
	if (sending->is_json) {
		json_open_answer(&out);
		json_text(&out, "kind", SLICE("tls"));
		json_text(&out, "domain", slice_of(domain->name));
		json_text(&out, "day", slice_of(sending->day));
		json_number(&out, "ok", (int64_t)domain_ok(domain));
		json_number(&out, "failed", (int64_t)domain_failed(domain));
		json_list(&out, "to", list, to_count);
		json_text(&out, "file", slice_of(id));
		json_text(&out, "trouble", slice_of(trouble));
		json_close(&out);
	} else {
		str_add_escaped(&out, slice_of(domain->name));
		str_addf(&out, ": %llu went well, %llu failed; ",
		    (unsigned long long)domain_ok(domain),
		    (unsigned long long)domain_failed(domain));
		for (size_t i = 0; i < to_count; i++) {
			str_adds(&out, i == 0 ? "to " : ", ");
			str_add_escaped(&out, list[i]);
		}
		str_adds(&out, *trouble != '\0' ? trouble : "");
		if (*id != '\0')
			str_addf(&out, " (%s)", id);
		str_addc(&out, '\n');
	}
	fputs(out.buf, stdout);
	str_release(&out);
}

static void
sending_mail(struct sending *sending, const struct sessions_domain *domain,
    const struct rua_address *to, size_t to_count)
{
	struct str id = STR_INIT, policy = STR_INIT, data = STR_INIT;
	struct str text = STR_INIT, message = STR_INIT, hosts = STR_INIT;
	char spool_id[SPOOL_ID_BYTES] = "";
	struct sessions_letter letter = { .organization =
	    sending->conf->host, .contact = sending->from.buf };
	struct report_mail mail = { .kind = REPORT_MAIL_TLS,
	    .from = sending->from.buf, .to = to,
	    .to_count = to_count, .domain = domain->name,
	    .submitter = sending->conf->host, .day = sending->day,
	    .begin_s = sending->begin_s,
	    .end_s = sending->begin_s + SENDING_DAY_S - 1,
	    .now_s = clock_wall_s() };
	struct err err;
	int status;

	str_addf(&id, "%s.%s", sending->day, domain->name);
	mail.id = letter.id = id.buf;
	sending_sts_lines(sending, domain->name, &policy);
	letter.policies[SESSIONS_STS] = policy.buf;
	letter.policies[SESSIONS_TLSA] = "";
	sessions_add_report(&data, &sending->sessions, domain, &letter);
	str_addf(&text, "Connections of %s to the hosts of %s on %s (UTC):\n"
	    "%llu went well, %llu failed.  The report is of the form of "
	    "RFC 8460.\n", sending->conf->host, domain->name, sending->day,
	    (unsigned long long)domain_ok(domain),
	    (unsigned long long)domain_failed(domain));
	mail.text = text.buf;
	mail.data = str_slice(&data);
	status = report_mail_add(&message, &mail, &err) < 0 ? EX_SOFTWARE :
	    report_mail_send(sending->conf, &mail, str_slice(&message),
	    spool_id);
	if (status == EX_OK) {
		sending->sent++;
		elsewhere_add_hosts(&hosts, domain->name, to, to_count);
		event(EV_REPORT_SENT, NULL, "kind", SLICE("tls"), "domain",
		    slice_of(domain->name), "day", slice_of(sending->day),
		    "to", slice_of(to[0].text), "file", slice_of(spool_id),
		    hosts.len > 0 ? "elsewhere" : NULL, str_slice(&hosts),
		    NULL);
		event_flush();
	} else {
		sending->failed++;
	}
	sending_say(sending, domain, to, to_count, spool_id,
	    status == EX_OK ? "" : ": it could not be queued");
	str_release(&id);
	str_release(&policy);
	str_release(&data);
	str_release(&text);
	str_release(&message);
	str_release(&hosts);
}

static void
sending_tell_host(struct sending *sending, const struct sessions_domain *domain)
{
	struct rua_address to[RUA_MAX];
	struct err err = { "" };
	size_t count, kept;

	if (domain->is_told || domain_ok(domain) + domain_failed(domain) == 0)
		return;
	count = sending_look(domain->name, to, &err);
	kept = elsewhere_keep(&sending->elsewhere, domain->name, to, count);
	if (count == 0 && err.text[0] != '\0') {
		sending->failed++;
		sending_say(sending, domain, to, 0, "",
		    "whether it wants to hear cannot be known now");
	} else if (count == 0 && sending->is_dry) {
		sending_say(sending, domain, to, 0, "",
		    "it does not ask for reports by mail");
	} else if (count > 0 && kept == 0) {
		sending_say(sending, domain, to, 0, "", "the hosts that it "
		    "names had as many reports of this day as they get from "
		    "us");
	} else if (count > 0 && sending->is_dry) {
		sending_say(sending, domain, to, kept, "", "");
	} else if (count > 0) {
		sending_mail(sending, domain, to, kept);
	}
}

static int
reported_compare(const void *a, const void *b)
{
	const struct sessions_domain *const *x = a, *const *y = b;
	uint64_t mine = domain_ok(*x) + domain_failed(*x);
	uint64_t other = domain_ok(*y) + domain_failed(*y);

	if (mine != other)
		return mine > other ? -1 : 1;
	return *x < *y ? -1 : *x > *y;
}

/* Those with the most connections first: they are who gets mail, and not kept
 * out by others that name the same host for their reports. */
void
sending_tls(struct sending *sending)
{
	size_t count = sending->sessions.domain_count;
	const struct sessions_domain **rows = mem_alloc(count + 1,
	    sizeof(*rows));

	for (size_t i = 0; i < count; i++)
		rows[i] = &sending->sessions.domains[i];
	qsort(rows, count, sizeof(*rows), reported_compare);
	for (size_t i = 0; i < count; i++)
		sending_tell_host(sending, rows[i]);
	mem_free(&rows);
	if (sending->sessions.left_out > 0)
		fprintf(stderr, "zmailer: report: %llu lines are of more than "
		    "%u domains and were left out\n", (unsigned long long)
		    sending->sessions.left_out, SESSIONS_DOMAINS_MAX);
}
