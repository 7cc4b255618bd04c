/* sessions_json.c - what a domain is told of connections to its hosts
 *
 * In     the row of a domain
 * Out    JSON
 * Spec   RFC 8460 section 4.4
 *
 * SPDX-License-Identifier: ISC
 */
#include "base/json.h"
#include "tools/zmailer/report/send/sessions.h"

#include "base/banned.h"

enum { LINES_MAX = 64 };	/* of a policy */

static void
report_add_failure(struct str *out, const struct sessions_failure *failure)
{
	json_begin(out, NULL);
	json_text(out, "result-type", slice_of(failure->result));
	if (*failure->source != '\0')
		json_text(out, "sending-mta-ip", slice_of(failure->source));
	if (*failure->host != '\0')
		json_text(out, "receiving-mx-hostname",
		    slice_of(failure->host));
	if (*failure->address != '\0')
		json_text(out, "receiving-ip", slice_of(failure->address));
	json_number(out, "failed-session-count", (int64_t)failure->count);
	json_end(out);
}

static void
report_add_policy(struct str *out, const char *domain, const char *type,
    const char *policy, const struct sessions_count *count)
{
	struct slice lines[LINES_MAX], hosts[SESSIONS_HOSTS_MAX], line;
	struct slice rest = slice_of(policy);
	size_t line_count = 0;

	while (line_count < LINES_MAX && slice_cut(&rest, '\n', &line))
		if (line.n > 0)
			lines[line_count++] = line;
	for (size_t i = 0; i < count->record_count; i++)
		if (line_count < LINES_MAX)
			lines[line_count++] = slice_of(count->records[i]);
	for (size_t i = 0; i < count->host_count; i++)
		hosts[i] = slice_of(count->hosts[i]);
	json_begin(out, "policy");
	json_text(out, "policy-type", slice_of(type));
	if (line_count > 0)
		json_list(out, "policy-string", lines, line_count);
	json_text(out, "policy-domain", slice_of(domain));
	if (count->host_count > 0)
		json_list(out, "mx-host", hosts, count->host_count);
	json_end(out);
}

static void
report_add_count(struct str *out, const char *domain, const char *type,
    const char *policy, const struct sessions_count *count)
{
	json_begin(out, NULL);
	report_add_policy(out, domain, type, policy, count);
	json_begin(out, "summary");
	json_number(out, "total-successful-session-count",
	    (int64_t)count->ok);
	json_number(out, "total-failure-session-count",
	    (int64_t)count->failed);
	json_end(out);
	if (count->failure_count > 0) {
		json_begin_list(out, "failure-details");
		for (size_t i = 0; i < count->failure_count; i++)
			report_add_failure(out, &count->failures[i]);
		json_end_list(out);
	}
	json_end(out);
}

void
sessions_add_report(struct str *out, const struct sessions *sessions,
    const struct sessions_domain *domain,
    const struct sessions_letter *letter)
{
	static const char *const types[] = { "sts", "tlsa" };
	struct str moment = STR_INIT;

	json_open(out);
	json_text(out, "organization-name", slice_of(letter->organization));
	json_begin(out, "date-range");
	str_addf(&moment, "%sT00:00:00Z", sessions->day);
	json_text(out, "start-datetime", str_slice(&moment));
	str_reset(&moment);
	str_addf(&moment, "%sT23:59:59Z", sessions->day);
	json_text(out, "end-datetime", str_slice(&moment));
	json_end(out);
	json_text(out, "contact-info", slice_of(letter->contact));
	json_text(out, "report-id", slice_of(letter->id));
	json_begin_list(out, "policies");
	for (size_t i = 0; i < SESSIONS_POLICIES; i++)
		if (domain->by[i].ok + domain->by[i].failed > 0)
			report_add_count(out, domain->name, types[i],
			    letter->policies[i], &domain->by[i]);
	json_end_list(out);
	json_close(out);
	str_release(&moment);
}
