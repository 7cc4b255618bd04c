/* authors_xml.c - the report to a domain about mail that claims to be its own
 *
 * In     the row of a domain
 * Out    XML
 * Holds  nothing
 * Spec   RFC 9990 section 3.1.1 and appendix A
 *
 * SPDX-License-Identifier: ISC
 */
#include "tools/zmailer/report/send/authors.h"
#include "tools/zmailer/report/send/xml.h"

#include "base/banned.h"

static void
report_add_metadata(struct str *out, const struct authors_letter *letter)
{
	xml_begin(out, "report_metadata");
	xml_text(out, "org_name", slice_of(letter->organization));
	xml_text(out, "email", slice_of(letter->contact));
	xml_text(out, "report_id", slice_of(letter->id));
	xml_begin(out, "date_range");
	xml_number(out, "begin", (uint64_t)letter->begin_s);
	xml_number(out, "end", (uint64_t)letter->end_s);
	xml_end(out, "date_range");
	xml_text(out, "generator", SLICE("zmailer " PACKAGE_VERSION));
	xml_end(out, "report_metadata");
}

static void
report_add_published(struct str *out, const struct authors_domain *domain)
{
	xml_begin(out, "policy_published");
	xml_text(out, "domain", slice_of(domain->name));
	xml_text(out, "discovery_method", SLICE("treewalk"));
	xml_text(out, "p", slice_of(dmarc_policy_text(domain->p)));
	xml_text(out, "sp", slice_of(dmarc_policy_text(domain->sp)));
	xml_text(out, "np", slice_of(dmarc_policy_text(domain->np)));
	xml_text(out, "adkim", domain->is_dkim_strict ? SLICE("s") :
	    SLICE("r"));
	xml_text(out, "aspf", domain->is_spf_strict ? SLICE("s") :
	    SLICE("r"));
	xml_text(out, "testing", domain->is_testing ? SLICE("y") :
	    SLICE("n"));
	xml_end(out, "policy_published");
}

static void
record_add_reason(struct str *out, const struct authors_message *message)
{
	static const char *const types[] = {
		[AUTHORS_AS_ASKED] = "",
		[AUTHORS_LOCAL] = "local_policy",
		[AUTHORS_TESTING] = "policy_test_mode",
		[AUTHORS_FORWARDED] = "trusted_forwarder",
		[AUTHORS_UNKNOWN] = "other"
	};
	struct str comment = STR_INIT;

	if (message->reason == AUTHORS_AS_ASKED)
		return;
	xml_begin(out, "reason");
	xml_text(out, "type", slice_of(types[message->reason]));
	if (message->reason == AUTHORS_FORWARDED) {
		str_addf(&comment, "arc=pass; %.*s, who is trusted here, saw "
		    "DMARC pass", SLICE_ARG(message->sealer));
		xml_text(out, "comment", str_slice(&comment));
	} else if (message->reason == AUTHORS_UNKNOWN) {
		xml_text(out, "comment", SLICE("the DNS could not say "
		    "whether SPF or DKIM speaks for it"));
	}
	xml_end(out, "reason");
	str_release(&comment);
}

static struct slice
record_verdict(bool is_pass)
{
	return is_pass ? SLICE("pass") : SLICE("fail");
}

static void
record_add_row(struct str *out, const struct authors_message *message,
    uint64_t count)
{
	static const char *const done[] = {
		[AUTHORS_NONE] = "none",
		[AUTHORS_PASSED] = "pass",
		[AUTHORS_QUARANTINED] = "quarantine"
	};

	xml_begin(out, "row");
	xml_text(out, "source_ip", message->client);
	xml_number(out, "count", count);
	xml_begin(out, "policy_evaluated");
	xml_text(out, "disposition", slice_of(done[message->done]));
	xml_text(out, "dkim", record_verdict(message->note.is_dkim_aligned));
	xml_text(out, "spf", record_verdict(message->note.is_spf_aligned));
	record_add_reason(out, message);
	xml_end(out, "policy_evaluated");
	xml_end(out, "row");
}

static void
record_add_results(struct str *out, const struct authors_message *message)
{
	xml_begin(out, "auth_results");
	for (size_t i = 0; i < message->note.dkim_count; i++) {
		const struct dmarc_note_dkim *dkim = &message->note.dkims[i];

		xml_begin(out, "dkim");
		xml_text(out, "domain", dkim->domain);
		xml_text(out, "selector", dkim->selector);
		xml_text(out, "result", slice_of(origin_text(dkim->origin)));
		xml_end(out, "dkim");
	}
	xml_begin(out, "spf");
	xml_text(out, "domain", message->note.spf_domain);
	xml_text(out, "scope", SLICE("mfrom"));
	xml_text(out, "result", slice_of(origin_text(message->spf)));
	xml_end(out, "spf");
	xml_end(out, "auth_results");
}

static void
report_add_record(struct str *out, const struct authors_row *row)
{
	struct authors_message message;

	authors_key_read(row->key, &message);
	xml_begin(out, "record");
	record_add_row(out, &message, row->count);
	xml_begin(out, "identifiers");
	xml_text(out, "header_from", message.note.author);
	xml_text(out, "envelope_from", message.has_from ? message.from :
	    SLICE(""));
	xml_end(out, "identifiers");
	record_add_results(out, &message);
	xml_end(out, "record");
}

void
authors_add_report(struct str *out, const struct authors *authors,
    const struct authors_domain *domain, const struct authors_letter *letter)
{
	str_adds(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
	    "<feedback xmlns=\"urn:ietf:params:xml:ns:dmarc-2.0\">\n");
	xml_text(out, "version", SLICE("1.0"));
	report_add_metadata(out, letter);
	report_add_published(out, domain);
	for (uint32_t at = domain->first; at != 0;
	    at = authors->rows[at - 1].next)
		report_add_record(out, &authors->rows[at - 1]);
	xml_end(out, "feedback");
}
