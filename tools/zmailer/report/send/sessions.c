/* sessions.c - connections to the hosts of domains, counted for a day
 *
 * In     lines of the journal
 * Out    rows of domains
 * Holds  bounded tables
 * Trusts nothing in a line
 * Spec   sessions.h; zmailer-events(5)
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "base/crc32c.h"
#include "base/json.h"
#include "grammar/rua.h"
#include "tools/zmailer/report/send/sessions.h"

#include "base/banned.h"

enum { SLOT_COUNT = SESSIONS_DOMAINS_MAX * 2 };

void
sessions_init(struct sessions *sessions, const char *day)
{
	memset(sessions, 0, sizeof(*sessions));
	sessions->arena = arena_new();
	sessions->day = day;
	sessions->domains = mem_alloc(SESSIONS_DOMAINS_MAX,
	    sizeof(*sessions->domains));
	sessions->slots = mem_alloc(SLOT_COUNT, sizeof(uint32_t));
	str_init(&sessions->value);
	for (size_t i = 0; i < 4; i++)
		str_init(&sessions->members[i]);
}

void
sessions_release(struct sessions *sessions)
{
	mem_free(&sessions->domains);
	mem_free(&sessions->slots);
	str_release(&sessions->value);
	for (size_t i = 0; i < 4; i++)
		str_release(&sessions->members[i]);
	arena_free(&sessions->arena);
}

/* The row of a name, which is added if it is new; NULL: there is no room. */
static struct sessions_domain *
sessions_domain_find(struct sessions *sessions, struct slice name)
{
	uint32_t at = crc32c(0, name.p, name.n) % SLOT_COUNT;
	struct sessions_domain *domain;

	for (; sessions->slots[at] != 0; at = (at + 1) % SLOT_COUNT)
		if (slice_is(name, sessions->domains[sessions->slots[at] -
		    1].name))
			return &sessions->domains[sessions->slots[at] - 1];
	if (sessions->domain_count == SESSIONS_DOMAINS_MAX)
		return NULL;
	domain = &sessions->domains[sessions->domain_count];
	domain->name = slice_dup(sessions->arena, name);
	sessions->slots[at] = (uint32_t)++sessions->domain_count;
	return domain;
}

/* ---- counting ----------------------------------------------------------- */

enum member { MEMBER_RESULT, MEMBER_HOST, MEMBER_ADDRESS, MEMBER_SOURCE };

static void
sessions_take_members(struct sessions *sessions, struct slice line)
{
	static const char *const keys[] = { "result", "host", "address",
		"source" };

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		str_reset(&sessions->members[i]);
		(void)json_get(line, keys[i], &sessions->members[i]);
	}
	/* "mx.example.org[192.0.2.1]:25" */
	str_truncate(&sessions->members[MEMBER_HOST],
	    slice_find(str_slice(&sessions->members[MEMBER_HOST]), '['));
}

static bool
member_is(const struct sessions *sessions, enum member member,
    const char *text)
{
	return slice_is(str_slice(&sessions->members[member]), text);
}

static const char *
member_keep(const struct sessions *sessions, enum member member)
{
	return slice_dup(sessions->arena,
	    str_slice(&sessions->members[member]));
}

static void
count_host(const struct sessions *sessions, struct sessions_count *count)
{
	for (size_t i = 0; i < count->host_count; i++)
		if (member_is(sessions, MEMBER_HOST, count->hosts[i]))
			return;
	if (sessions->members[MEMBER_HOST].len > 0 &&
	    count->host_count < SESSIONS_HOSTS_MAX)
		count->hosts[count->host_count++] = member_keep(sessions,
		    MEMBER_HOST);
}

static bool
count_has_record(const struct sessions_count *count, struct slice record)
{
	for (size_t i = 0; i < count->record_count; i++)
		if (slice_is(record, count->records[i]))
			return true;
	return false;
}

/* "3 1 1 d2ab...", others after commas. */
static void
count_records(struct sessions *sessions, struct sessions_count *count,
    struct slice line)
{
	struct slice rest, record;

	str_reset(&sessions->value);
	(void)json_get(line, "records", &sessions->value);
	rest = str_slice(&sessions->value);
	while (slice_cut(&rest, ',', &record)) {
		if (record.n == 0 || record.n > SESSIONS_RECORD_BYTES_MAX ||
		    count->record_count == SESSIONS_RECORDS_MAX ||
		    count_has_record(count, record))
			continue;
		if (count->records == NULL)
			count->records = arena_alloc(sessions->arena,
			    SESSIONS_RECORDS_MAX * sizeof(*count->records));
		count->records[count->record_count++] = slice_dup(
		    sessions->arena, record);
	}
}

/* The row of such failures, added if it is new; NULL: there is no room. */
static struct sessions_failure *
count_failure_find(const struct sessions *sessions,
    struct sessions_count *count)
{
	struct sessions_failure *row;

	if (count->failures == NULL)
		count->failures = arena_alloc(sessions->arena,
		    SESSIONS_FAILURES_MAX * sizeof(*count->failures));
	for (size_t i = 0; i < count->failure_count; i++) {
		row = &count->failures[i];
		if (member_is(sessions, MEMBER_RESULT, row->result) &&
		    member_is(sessions, MEMBER_HOST, row->host) &&
		    member_is(sessions, MEMBER_ADDRESS, row->address) &&
		    member_is(sessions, MEMBER_SOURCE, row->source))
			return row;
	}
	if (count->failure_count == SESSIONS_FAILURES_MAX)
		return NULL;
	row = &count->failures[count->failure_count++];
	row->result = member_keep(sessions, MEMBER_RESULT);
	row->host = member_keep(sessions, MEMBER_HOST);
	row->address = member_keep(sessions, MEMBER_ADDRESS);
	row->source = member_keep(sessions, MEMBER_SOURCE);
	return row;
}

/* A connection, or a policy that could not be had: that fails, too. */
static void
sessions_count_line(struct sessions *sessions, struct sessions_domain *domain,
    struct slice line)
{
	struct sessions_count *count = &domain->by[json_is(line, "policy",
	    "tlsa") ? SESSIONS_TLSA : SESSIONS_STS];
	struct sessions_failure *failure;

	sessions_take_members(sessions, line);
	count_host(sessions, count);
	count_records(sessions, count, line);
	if (member_is(sessions, MEMBER_RESULT, "success")) {
		count->ok++;
		return;
	}
	count->failed++;
	failure = count_failure_find(sessions, count);
	if (failure != NULL)
		failure->count++;
}

static bool
sessions_is_of_day(struct sessions *sessions, struct slice line)
{
	size_t n = strlen(sessions->day);

	str_reset(&sessions->value);
	return json_get(line, "t", &sessions->value) && slice_is(slice_first(
	    str_slice(&sessions->value), n), sessions->day);
}

void
sessions_take_line(struct sessions *sessions, struct slice line)
{
	bool is_session = json_is(line, "ev", "tls.session") ||
	    json_is(line, "ev", "sts.trouble");
	bool is_told = json_is(line, "ev", "report.sent") &&
	    json_is(line, "kind", "tls") &&
	    json_is(line, "day", sessions->day);
	struct sessions_domain *domain;

	if (!is_told && !(is_session && sessions_is_of_day(sessions, line)))
		return;
	str_reset(&sessions->value);
	if (!json_get(line, "domain", &sessions->value) ||
	    !rua_domain_is(str_slice(&sessions->value)))
		return;
	domain = sessions_domain_find(sessions, str_slice(&sessions->value));
	if (domain == NULL)
		sessions->left_out++;
	else if (is_told)
		domain->is_told = true;
	else
		sessions_count_line(sessions, domain, line);
}
