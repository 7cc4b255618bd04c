/* auth.c - would the world believe that mail of a domain is its own
 *
 * In     domains, the addresses that mail is sent from, the DNS
 * Out    findings: SPF by each address, DMARC, where reports go; of MTA-STS
 *        that there is a record, and what the process sts has of the policy
 * Holds  answers, in the doctor's arena
 * Trusts nothing in answers: findings are escaped
 * Spec   zmailer-doctor(8), doc/AUTH.md; RFC 7208, RFC 9989, RFC 8460,
 *        RFC 8461
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "base/clock.h"
#include "grammar/rua.h"
#include "io/consult/sts_ask.h"
#include "origin/dmarc/record.h"
#include "origin/spf/spf.h"
#include "tools/zmailer/doctor/auth.h"

#include "base/banned.h"

enum { AUTH_STS_MS = 5000 };

/* ---- answers ------------------------------------------------------------ */

const struct origin_answer *
doctor_auth_look(struct doctor_auth *auth, enum dns_type type,
    struct slice name)
{
	const struct origin_answer *answer = answers_look(auth->answers, type,
	    name);

	if (answer != NULL)
		return answer;
	doctor_ask_answers(&auth->asking, auth->answers);
	return answers_look(auth->answers, type, name);
}

/* front and domain in one name, of the arena. */
static struct slice
doctor_auth_name(struct doctor_auth *auth, const char *front,
    struct slice domain)
{
	return slice_of(arena_printf(auth->doctor->arena, "%s" SLICE_FMT,
	    front, SLICE_ARG(domain)));
}

/* ---- SPF ---------------------------------------------------------------- */

/* "v=spf1 ip4:192.0.2.1 mx -all", with the addresses that mail leaves by. */
static const char *
spf_advice(struct doctor_auth *auth, struct slice domain)
{
	struct str record = STR_INIT;
	const char *advice;

	for (size_t i = 0; i < auth->sending_count; i++)
		str_addf(&record, "%s:%s ", strchr(auth->sendings[i].text,
		    ':') != NULL ? "ip6" : "ip4", auth->sendings[i].text);
	advice = arena_printf(auth->doctor->arena, "publish: " SLICE_FMT
	    ". TXT \"v=spf1 %smx -all\" (all that send for it must be in it)",
	    SLICE_ARG(domain), record.buf);
	str_release(&record);
	return advice;
}

static void
spf_say(struct doctor_auth *auth, const char *domain,
    const struct doctor_sending *sending, const struct spf *spf)
{
	const char *word = origin_text(spf->origin);

	switch (spf->origin) {
	case ORIGIN_PASS:
		doctor_add(auth->doctor, DOCTOR_OK, domain, "",
		    "SPF lets %s send for it (" SLICE_FMT ")", sending->text,
		    SLICE_ARG(spf->term));
		break;
	case ORIGIN_FAIL:
	case ORIGIN_SOFTFAIL:
	case ORIGIN_NEUTRAL:
		doctor_add(auth->doctor, spf->origin == ORIGIN_FAIL ?
		    DOCTOR_BAD : DOCTOR_WARN, domain,
		    arena_printf(auth->doctor->arena, "add %s:%s to the "
		    "record, in front of its \"all\"", strchr(sending->text,
		    ':') != NULL ? "ip6" : "ip4", sending->text),
		    "SPF says %s of our address %s (" SLICE_FMT ")", word,
		    sending->text, SLICE_ARG(spf->term));
		break;
	case ORIGIN_TEMPERROR:
		doctor_add(auth->doctor, DOCTOR_WARN, domain,
		    "look again later", "SPF cannot be looked up: %s",
		    spf->reason);
		break;
	default:
		doctor_add(auth->doctor, DOCTOR_BAD, domain,
		    "mend the record; until then it counts as none",
		    "SPF says %s: %s", word, spf->reason);
		break;
	}
}

static enum origin
spf_find(struct doctor_auth *auth, struct slice domain,
    const struct doctor_sending *sending, struct spf *out)
{
	struct spf_ask ask = { .helo = domain, .now_s = clock_wall_s(),
	    .sender = slice_of(arena_printf(auth->doctor->arena,
	    "postmaster@" SLICE_FMT, SLICE_ARG(domain))),
	    .receiver = slice_of(auth->doctor->conf->host) };

	net_of_sockaddr((const struct sockaddr *)&sending->address,
	    &ask.client);
	while (spf_judge(auth->answers, &ask, auth->doctor->arena, out) ==
	    ORIGIN_ASKS)
		doctor_ask_answers(&auth->asking, auth->answers);
	return out->origin;
}

/* If no address is known that mail leaves by, use one that nobody has, so that
 * the record is shown. */
static void
judge_spf(struct doctor_auth *auth, const char *domain)
{
	struct doctor_sending nobody = { .text = "192.0.2.255" };
	struct slice name = slice_of(domain);
	struct spf spf;
	bool is_host = strcmp(domain, auth->doctor->conf->host) == 0;

	dns_address_set(AF_INET, "\300\0\2\377", &nobody.address);
	if (spf_find(auth, name, &nobody, &spf) == ORIGIN_NONE) {
		doctor_add(auth->doctor, is_host ? DOCTOR_OK : DOCTOR_WARN,
		    domain, spf_advice(auth, name),
		    "no SPF record says who may send for it");
		return;
	}
	if (spf.record.n > 0)
		doctor_add(auth->doctor, DOCTOR_OK, domain, "",
		    "SPF: %.*s", (int)(spf.record.n > 200 ? 200 :
		    spf.record.n), spf.record.p);
	if (spf.origin == ORIGIN_PASS)
		doctor_add(auth->doctor, DOCTOR_WARN, domain, "end it with "
		    "-all or ~all", "its SPF record lets everybody send for it "
		    "(" SLICE_FMT ")", SLICE_ARG(spf.term));
	if (spf.origin == ORIGIN_PERMERROR || spf.origin == ORIGIN_TEMPERROR) {
		spf_say(auth, domain, &nobody, &spf);
		return;
	}
	for (size_t i = 0; i < auth->sending_count; i++) {
		(void)spf_find(auth, name, &auth->sendings[i], &spf);
		spf_say(auth, domain, &auth->sendings[i], &spf);
	}
}

/* ---- DMARC -------------------------------------------------------------- */

/* Is this name below the other, or the same? */
static bool
is_within(struct slice name, struct slice domain)
{
	return slice_equal_nocase(name, domain) || (name.n > domain.n &&
	    name.p[name.n - domain.n - 1] == '.' && slice_equal_nocase(
	    slice_from(name, name.n - domain.n), domain));
}

/* Reports that go to another domain need its consent (RFC 9990 section 4). */
static void
judge_reports_to(struct doctor_auth *auth, const char *domain,
    struct slice record_at, struct slice organization, struct slice rua)
{
	struct rua_address all[RUA_MAX];
	size_t other, count = rua_addresses(rua, all, &other);

	for (size_t i = 0; i < count; i++) {
		struct slice at = slice_of(strrchr(all[i].text, '@') + 1);
		struct slice name = doctor_auth_name(auth,
		    arena_printf(auth->doctor->arena, SLICE_FMT
		    "._report._dmarc.", SLICE_ARG(record_at)), at);
		const struct origin_answer *answer;
		bool is_good = false;

		if (is_within(at, organization))
			continue;
		answer = doctor_auth_look(auth, DNS_TYPE_TXT, name);
		for (size_t k = 0; k < answer->record_count; k++)
			is_good |= slice_starts(answer->records[k].text,
			    "v=DMARC1");
		if (!is_good && !answer_is_trouble(answer))
			doctor_add(auth->doctor, DOCTOR_WARN, domain,
			    arena_printf(auth->doctor->arena, "who runs "
			    SLICE_FMT " publishes: " SLICE_FMT ". TXT "
			    "\"v=DMARC1\"", SLICE_ARG(at), SLICE_ARG(name)),
			    "DMARC reports go to %s, which does not agree to "
			    "take them", all[i].text);
	}
}

static void
judge_dmarc_policy(struct doctor_auth *auth, const char *domain,
    const struct dmarc_walk *walk, size_t row)
{
	const struct dmarc_record *record = &walk->records[row];
	struct slice organization = dmarc_organization(walk);
	enum dmarc_policy policy = row == 0 ? record->p : record->sp;

	doctor_add(auth->doctor, DOCTOR_OK, domain, "", "DMARC: %.*s%s"
	    SLICE_FMT, (int)(record->text.n > 200 ? 200 : record->text.n),
	    record->text.p, row == 0 ? "" : ", of ",
	    SLICE_ARG(row == 0 ? slice_of("") : walk->domains[row]));
	if (policy == DMARC_NONE)
		doctor_add(auth->doctor, DOCTOR_OK, domain, "when reports say "
		    "that all of its mail passes: p=quarantine, then p=reject",
		    "its DMARC policy is none: mail that others forge is "
		    "taken");
	if (record->rua.n == 0)
		doctor_add(auth->doctor, DOCTOR_OK, domain, arena_printf(
		    auth->doctor->arena, "add to the record: "
		    "rua=mailto:postmaster@%s", domain),
		    "its DMARC record asks for no reports");
	else
		judge_reports_to(auth, domain, walk->domains[row],
		    organization, record->rua);
}

static void
judge_dmarc(struct doctor_auth *auth, const char *domain)
{
	struct slice name = slice_of(domain);
	struct dmarc_walk walk;
	enum origin origin;
	size_t row, bad = 0;

	while ((origin = dmarc_walk(auth->answers, name, auth->doctor->arena,
	    &walk)) == ORIGIN_ASKS)
		doctor_ask_answers(&auth->asking, auth->answers);
	if (origin == ORIGIN_TEMPERROR) {
		doctor_add(auth->doctor, DOCTOR_WARN, domain,
		    "look again later", "DMARC cannot be looked up: the DNS "
		    "does not answer about _dmarc." SLICE_FMT,
		    SLICE_ARG(walk.domains[walk.count - 1]));
		return;
	}
	for (size_t i = 0; i < walk.count; i++)
		if (walk.found[i] == DMARC_READ_BAD && ++bad > 0)
			doctor_add(auth->doctor, DOCTOR_BAD, domain,
			    "it begins: v=DMARC1; p=none|quarantine|reject",
			    "the DMARC record at _dmarc." SLICE_FMT " cannot "
			    "be read, or there are several",
			    SLICE_ARG(walk.domains[i]));
	row = dmarc_policy_row(&walk);
	if (row < walk.count)
		judge_dmarc_policy(auth, domain, &walk, row);
	else if (bad == 0)
		doctor_add(auth->doctor, DOCTOR_WARN, domain, arena_printf(
		    auth->doctor->arena, "publish: _dmarc.%s. TXT \"v=DMARC1; "
		    "p=none; rua=mailto:postmaster@%s\"", domain, domain),
		    "no DMARC record: large receivers refuse bulk mail of such "
		    "domains");
}

/* ---- MTA-STS and reports about TLS -------------------------------------- */

static void
auth_say_silent(struct doctor_auth *auth, const char *domain,
    const char *what)
{
	doctor_add(auth->doctor, DOCTOR_WARN, domain, "look again later",
	    "the DNS does not answer about %s", what);
}

/* May each MX host have the mail by the policy that the world sees? */
static void
judge_sts_hosts(struct doctor_auth *auth, const char *domain,
    const struct sts_policy *policy)
{
	const struct origin_answer *mx = doctor_auth_look(auth, DNS_TYPE_MX,
	    slice_of(domain));
	size_t bad = 0;

	for (size_t i = 0; i < mx->record_count; i++) {
		if (sts_policy_allows(policy, mx->records[i].text))
			continue;
		bad++;
		doctor_add(auth->doctor, policy->mode == STS_ENFORCE ?
		    DOCTOR_BAD : DOCTOR_WARN, domain, "zmailer sts publish "
		    "writes the policy anew", "its MTA-STS policy (%s) does "
		    "not name its MX " SLICE_FMT, sts_mode_word(policy->mode),
		    SLICE_ARG(mx->records[i].text));
	}
	if (answer_is_trouble(mx))
		auth_say_silent(auth, domain, "its MX hosts");
	else if (bad == 0)
		doctor_add(auth->doctor, DOCTOR_OK, domain, "",
		    "its MTA-STS policy (%s) names its MX hosts",
		    sts_mode_word(policy->mode));
}

static void
judge_sts(struct doctor_auth *auth, const char *domain)
{
	const struct origin_answer *answer = doctor_auth_look(auth,
	    DNS_TYPE_TXT, doctor_auth_name(auth, "_mta-sts.",
	    slice_of(domain)));
	struct sts_policy policy;
	size_t count = 0;
	struct err err = { "" };

	for (size_t i = 0; i < answer->record_count; i++)
		count += sts_record_is(answer->records[i].text);
	if (answer_is_trouble(answer)) {
		auth_say_silent(auth, domain, "MTA-STS");
		return;
	}
	if (count != 1) {
		doctor_add(auth->doctor, count == 0 ? DOCTOR_OK : DOCTOR_BAD,
		    domain, count == 0 ? "zmailer sts publish writes one" :
		    "keep one", count == 0 ? "no MTA-STS policy" : "it has "
		    "%zu MTA-STS records, which counts as none", count);
		return;
	}
	switch (sts_ask(auth->doctor->conf->run_dir, "policy", domain,
	    AUTH_STS_MS, &policy, &err)) {
	case STS_ANSWER_POLICY:
		judge_sts_hosts(auth, domain, &policy);
		break;
	case STS_ANSWER_NOBODY:
		doctor_add(auth->doctor, DOCTOR_OK, domain, "zmailer start, "
		    "then look again", "it has an MTA-STS record; its policy "
		    "was not looked at: %s", err.text);
		break;
	default:
		doctor_add(auth->doctor, DOCTOR_BAD, domain, "zmailer sts "
		    "publish says what must be where", "it has an MTA-STS "
		    "record, but no policy: %s", err.text);
		break;
	}
}

static void
judge_tls_reports(struct doctor_auth *auth, const char *domain)
{
	const struct origin_answer *answer = doctor_auth_look(auth,
	    DNS_TYPE_TXT, doctor_auth_name(auth, "_smtp._tls.",
	    slice_of(domain)));
	struct rua_address all[RUA_MAX];
	struct slice uris = { NULL, 0 };
	size_t count = 0, other = 0;

	for (size_t i = 0; i < answer->record_count; i++)
		count += rua_of_tls(answer->records[i].text, &uris);
	if (answer_is_trouble(answer))
		auth_say_silent(auth, domain, "TLS reports");
	else if (count == 0 && !answer_has(answer))
		doctor_add(auth->doctor, DOCTOR_OK, domain, arena_printf(
		    auth->doctor->arena, "publish: _smtp._tls.%s. TXT "
		    "\"v=TLSRPTv1; rua=mailto:postmaster@%s\"", domain, domain),
		    "nobody is asked for TLS reports");
	else if (count != 1 || rua_addresses(uris, all, &other) + other == 0)
		doctor_add(auth->doctor, DOCTOR_WARN, domain, arena_printf(
		    auth->doctor->arena, "keep one, such as \"v=TLSRPTv1; "
		    "rua=mailto:postmaster@%s\"", domain),
		    "its TLS report record cannot be used, or there are "
		    "several");
	else
		doctor_add(auth->doctor, DOCTOR_OK, domain, "",
		    "TLS reports go to " SLICE_FMT, SLICE_ARG(uris));
}

/* ---- a domain, and all of them ------------------------------------------ */

static void
judge_domain_auth(struct doctor_auth *auth, const char *domain)
{
	auth->answers = answers_new(auth->doctor->arena);
	/* what is always asked, in one round */
	(void)answers_look(auth->answers, DNS_TYPE_TXT, slice_of(domain));
	(void)answers_look(auth->answers, DNS_TYPE_MX, slice_of(domain));
	for (size_t i = 0; i < 3; i++) {
		static const char *const fronts[] = { "_dmarc.", "_mta-sts.",
			"_smtp._tls." };

		(void)answers_look(auth->answers, DNS_TYPE_TXT,
		    doctor_auth_name(auth, fronts[i], slice_of(domain)));
	}
	doctor_ask_answers(&auth->asking, auth->answers);
	judge_spf(auth, domain);
	doctor_auth_keys(auth, domain);
	judge_dmarc(auth, domain);
	judge_sts(auth, domain);
	judge_tls_reports(auth, domain);
}

void
doctor_auth(struct doctor *doctor)
{
	struct doctor_auth auth = { .doctor = doctor };
	struct err err;

	if (doctor_only_way(doctor) != NULL ||
	    dns_use(doctor->conf->dns_server, &err) != 0)
		return;		/* area dns says so */
	auth.asking.doctor = doctor;
	auth.asking.end_at_ms = doctor_dns_end(doctor);
	doctor_auth_domains(&auth);
	doctor_auth_sendings(&auth);
	for (size_t i = 0; i < auth.domain_count; i++)
		judge_domain_auth(&auth, auth.domains[i]);
	doctor_auth_dane(&auth);
	if (auth.domain_count == 0)
		doctor_add(doctor, DOCTOR_OK, "", "zmailer doctor auth DOMAIN",
		    "no domain is ours that the DNS could know");
}
