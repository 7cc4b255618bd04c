/* auth_keys.c - the keys of ours that the world knows us by
 *
 * In     sign and tls statements, their files, the DNS
 * Out    findings: a record of each DKIM key that fits it; TLSA records that
 *        fit the certificate
 * Holds  a key's text for a moment; wiped
 * Trusts nothing in answers: findings are escaped
 * Spec   zmailer-doctor(8); RFC 6376 section 3.6, RFC 7672
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "tls/about.h"
#include "tls/dane.h"
#include "tls/dkim.h"
#include "tools/zmailer/doctor/auth.h"

#include "base/banned.h"

enum { KEY_BYTES_MAX = 64 * 1024 };

/* ---- which domains, which addresses ------------------------------------- */

static void
auth_note_domain(struct doctor_auth *auth, const char *name)
{
	if (!conf_name_is_full(name) ||
	    auth->domain_count == DOCTOR_DOMAINS_MAX)
		return;
	for (size_t i = 0; i < auth->domain_count; i++)
		if (strcmp(auth->domains[i], name) == 0)
			return;
	auth->domains[auth->domain_count++] = name;
}

void
doctor_auth_domains(struct doctor_auth *auth)
{
	const struct doctor *doctor = auth->doctor;
	const struct conf *conf = doctor->conf;

	auth->domains = arena_alloc(doctor->arena,
	    DOCTOR_DOMAINS_MAX * sizeof(*auth->domains));
	for (size_t i = 0; i < doctor->domain_count; i++)
		auth_note_domain(auth, doctor->domains[i]);
	if (doctor->domain_count > 0)
		return;
	for (size_t i = 0; i < conf->domain_count; i++)
		for (size_t k = 0; k < conf->domains[i].name_count; k++)
			auth_note_domain(auth, conf->domains[i].names[k]);
	for (size_t i = 0; i < conf->sign_count; i++)
		auth_note_domain(auth, conf->signs[i].domain);
}

static void
auth_note_sending(struct doctor_auth *auth, const struct sockaddr *address)
{
	struct doctor_sending *row = &auth->sendings[auth->sending_count];
	char text[80];

	if (auth->sending_count == DOCTOR_SENDINGS_MAX ||
	    !doctor_is_outside(address))
		return;
	dns_address_text(address, text, sizeof(text));
	for (size_t i = 0; i < auth->sending_count; i++)
		if (strcmp(auth->sendings[i].text, text) == 0)
			return;
	if (address->sa_family == AF_INET)
		dns_address_set(AF_INET, &((const struct sockaddr_in *)
		    (const void *)address)->sin_addr, &row->address);
	else
		dns_address_set(AF_INET6, &((const struct sockaddr_in6 *)
		    (const void *)address)->sin6_addr, &row->address);
	row->text = arena_printf(auth->doctor->arena, "%s", text);
	auth->sending_count++;
}

/* Those of the zones; without zones what our name leads to. */
void
doctor_auth_sendings(struct doctor_auth *auth)
{
	const struct conf *conf = auth->doctor->conf;
	struct dns_address own[DNS_ADDRESS_MAX];
	size_t n = 0;

	for (size_t i = 0; i < conf->zone_count; i++)
		for (size_t k = 0; k < conf->zones[i].source_count; k++)
			auth_note_sending(auth, (const struct sockaddr *)
			    &conf->zones[i].sources[k].address);
	if (auth->sending_count > 0 || !conf_name_is_full(conf->host))
		return;
	doctor_ask(&auth->asking, conf->host, DNS_TYPE_A);
	doctor_ask(&auth->asking, conf->host, DNS_TYPE_AAAA);
	doctor_ask_round(&auth->asking);
	(void)doctor_addresses(&auth->asking, conf->host, own, &n);
	for (size_t i = 0; i < n; i++)
		auth_note_sending(auth,
		    (const struct sockaddr *)&own[i].address);
}

/* ---- DKIM ---------------------------------------------------------------- */

/* The value of p= of the first record that has one; n 0: revoked. */
static bool
key_published(struct doctor_auth *auth, const struct origin_answer *answer,
    struct slice *out)
{
	for (size_t i = 0; i < answer->record_count; i++) {
		struct slice rest = answer->records[i].text, part, name;

		while (slice_cut(&rest, ';', &part)) {
			struct str text = STR_INIT;

			if (!slice_cut(&part, '=', &name) ||
			    !slice_is(slice_trim(name), "p"))
				continue;
			for (size_t k = 0; k < part.n; k++)
				if (part.p[k] != ' ' && part.p[k] != '\t')
					str_addc(&text, part.p[k]);
			*out = slice_copy(auth->doctor->arena,
			    str_slice(&text));
			str_release(&text);
			return true;
		}
	}
	return false;
}

static const char *
key_record_advice(struct doctor_auth *auth, const struct conf_sign *sign)
{
	return arena_printf(auth->doctor->arena, "publish what zmailer dkim "
	    "record %s %s prints", sign->domain, sign->selector);
}

/* Does it fit what signs here?  Who may not read the key is told so. */
static void
judge_key_fits(struct doctor_auth *auth, const struct conf_sign *sign,
    const char *name, struct slice published)
{
	struct str pem = STR_INIT;
	struct err err = { "" };
	int fd = open(sign->key, O_RDONLY | O_CLOEXEC);
	enum dkim_fit fits = DKIM_KEY_BAD;
	bool is_denied = fd < 0 && errno == EACCES;

	if (fd < 0)
		err_set(&err, "%s: %s", sign->key, strerror(errno));
	else if (fd_read_all(fd, KEY_BYTES_MAX, &pem) != 0)
		err_set(&err, "%s: it cannot be read", sign->key);
	else
		fits = dkim_key_fits(str_slice(&pem), published, &err);
	if (fd >= 0)
		close(fd);
	if (pem.cap > 0)
		explicit_bzero(pem.buf, pem.cap);
	str_release(&pem);
	if (fits == DKIM_KEY_FITS)
		doctor_add(auth->doctor, DOCTOR_OK, name, "",
		    "it signs, and the DNS has the key that verifies it");
	else if (is_denied)
		doctor_add(auth->doctor, DOCTOR_OK, name, "", "the DNS has a "
		    "key; ours, which may differ, cannot be read by you");
	else if (fits == DKIM_KEY_DIFFERS)
		doctor_add(auth->doctor, DOCTOR_BAD, name, key_record_advice(
		    auth, sign), "the DNS has another key: "
		    "what is signed here counts as forged");
	else
		doctor_add(auth->doctor, DOCTOR_BAD, name, "zmailer dkim "
		    "check", "%s", err.text);
}

static void
judge_key(struct doctor_auth *auth, const struct conf_sign *sign)
{
	const char *name = arena_printf(auth->doctor->arena,
	    "%s._domainkey.%s", sign->selector, sign->domain);
	const struct origin_answer *answer = doctor_auth_look(auth,
	    DNS_TYPE_TXT, slice_of(name));
	struct slice published;

	if (answer_is_trouble(answer))
		doctor_add(auth->doctor, DOCTOR_WARN, name,
		    "look again later", "the DNS does not answer");
	else if (!key_published(auth, answer, &published))
		doctor_add(auth->doctor, DOCTOR_BAD, name, key_record_advice(
		    auth, sign), "it signs, and the DNS has "
		    "no such record: what is signed counts as not signed");
	else if (published.n == 0)
		doctor_add(auth->doctor, DOCTOR_BAD, name, "make another key: "
		    "zmailer dkim new", "the record has been revoked (p= is "
		    "empty)");
	else
		judge_key_fits(auth, sign, name, published);
}

void
doctor_auth_keys(struct doctor_auth *auth, const char *domain)
{
	const struct conf *conf = auth->doctor->conf;
	struct conf_sign *found;
	struct err err;
	size_t count;
	int result = conf_sign_keys(conf, slice_of(domain),
	    auth->doctor->arena, &found, &count, &err);

	for (size_t i = 0; i < count; i++)
		judge_key(auth, &found[i]);
	if (result != 0)
		doctor_add(auth->doctor, DOCTOR_WARN, domain, "zmailer check",
		    "%s: nobody can say what signs for it", err.text);
	else if (count == 0)
		doctor_add(auth->doctor, conf->milter_count > 0 ? DOCTOR_OK :
		    DOCTOR_WARN, domain, arena_printf(auth->doctor->arena,
		    "zmailer dkim new %s", domain), conf->milter_count > 0 ?
		    "no sign statement is of it (a milter may sign)" :
		    "its mail is not signed");
}

/* ---- DANE ---------------------------------------------------------------- */

/* The certificate that our name is served with. */
static const char *
dane_certificate(const struct doctor *doctor)
{
	const struct conf *conf = doctor->conf;
	struct conf_certificate *rows;
	size_t count;
	struct err err;

	(void)conf_all_certificates(conf, doctor->arena, &rows, &count, &err);
	for (size_t i = 0; i < count; i++) {
		struct tls_about about;
		bool is_ours = tls_about_load(&about, rows[i].file, &err) ==
		    0 && tls_about_has(&about, conf->host);

		tls_about_release(&about);
		if (is_ours)
			return rows[i].file;
	}
	return count > 0 ? rows[0].file : NULL;
}

static void
judge_no_tlsa(struct doctor_auth *auth, const char *name, const char *file)
{
	struct str record = STR_INIT;
	struct err err;

	if (tls_tlsa_add(&record, file, &err) == 0)
		doctor_add(auth->doctor, DOCTOR_OK, name, arena_printf(
		    auth->doctor->arena, "where the zone is signed (DNSSEC) "
		    "publish: %s. TLSA %s", name, record.buf),
		    "no TLSA record");
	str_release(&record);
}

/* One record that matches is enough (RFC 7672 section 3.1); others may be for
 * the next certificate. */
static void
judge_tlsa(struct doctor_auth *auth, const char *name, const char *file,
    const struct dns_records *records)
{
	struct str right = STR_INIT;
	struct tlsa tlsa;
	struct err err;
	size_t usable = 0, fits = 0;

	for (size_t i = 0; i < records->count; i++) {
		if (tlsa_parse(dns_records_at(records, i), &tlsa) != 0 ||
		    !tls_tlsa_is_usable(&tlsa))
			continue;
		usable++;
		fits += tls_tlsa_fits(&tlsa, file, &err) == TLS_TLSA_FITS;
	}
	if (tls_tlsa_add(&right, file, &err) != 0) {
		doctor_add(auth->doctor, DOCTOR_WARN, name, "look at it as "
		    "root", "%s", err.text);
	} else if (fits > 0) {
		doctor_add(auth->doctor, DOCTOR_OK, name, "", "TLSA records "
		    "name the certificate %s", file);
	} else {
		const char *advice = arena_printf(auth->doctor->arena,
		    "publish: %s. TLSA %s", name, right.buf);

		doctor_add(auth->doctor, usable > 0 ? DOCTOR_BAD :
		    DOCTOR_WARN, name, advice, usable > 0 ? "no TLSA record "
		    "names the certificate %s: who checks them sends no mail "
		    "here" : "of its TLSA records SMTP can use none (%s)",
		    file);
	}
	str_release(&right);
}

void
doctor_auth_dane(struct doctor_auth *auth)
{
	const struct doctor *doctor = auth->doctor;
	const char *host = doctor->conf->host, *name, *file;
	const struct doctor_answer *answer;
	struct dns_records records;
	struct err err;

	if (!conf_name_is_full(host) ||
	    (file = dane_certificate(doctor)) == NULL)
		return;
	name = arena_printf(doctor->arena, "_25._tcp.%s", host);
	doctor_ask(&auth->asking, name, DNS_TYPE_TLSA);
	doctor_ask_round(&auth->asking);
	answer = doctor_answered(&auth->asking, name, DNS_TYPE_TLSA);
	dns_records_init(&records);
	if (answer->result == DNS_OK && dns_parse_records(answer->bytes,
	    answer->n, DNS_TYPE_TLSA, &records, &err) == DNS_OK &&
	    records.count > 0)
		judge_tlsa(auth, name, file, &records);
	else if (answer->result == DNS_OK || answer->result == DNS_NONE ||
	    answer->result == DNS_NO_NAME)
		judge_no_tlsa(auth, name, file);
	dns_records_release(&records);
}
