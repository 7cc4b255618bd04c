/* names.c - what the DNS says about us
 *
 * In     the host's name, our domains, the addresses that mail is sent from
 * Out    findings: addresses, MX, reverse names that lead back
 * Holds  answers, in the doctor's arena
 * Trusts nothing in answers: findings are escaped
 * Spec   zmailer-doctor(8); RFC 5321 section 5.1, RFC 7505, RFC 1912
 *        section 2.1 (PTR)
 *
 * SPDX-License-Identifier: ISC
 */
#include <arpa/inet.h>
#include <ifaddrs.h>
#include <string.h>
#include <strings.h>

#include "tools/zmailer/doctor/doctor.h"

#include "base/banned.h"

struct names {
	struct doctor		*doctor;
	struct doctor_asking	 asking;
	const char		**domains;	/* to be looked at */
	size_t			 domain_count;
	struct sending {
		const struct sockaddr	*address;
		const char		*text, *helo;
	}			* sendings;
	size_t			 sending_count;
};

/* ---- addresses ----------------------------------------------------- */

static bool
doctor_is_same(const struct sockaddr *a, const struct sockaddr *b)
{
	if (a->sa_family != b->sa_family)
		return false;
	if (a->sa_family == AF_INET)
		return ((const struct sockaddr_in *)a)->sin_addr.s_addr ==
		    ((const struct sockaddr_in *)b)->sin_addr.s_addr;
	return memcmp(&((const struct sockaddr_in6 *)a)->sin6_addr,
	    &((const struct sockaddr_in6 *)b)->sin6_addr, 16) == 0;
}

static bool
doctor_is_among(const struct sockaddr *address, const struct dns_address *all,
    size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (doctor_is_same(address,
		    (const struct sockaddr *)&all[i].address))
			return true;
	return false;
}

/* Nobody outside can see it: RFC 1918, RFC 4193, link-local. */
static bool
is_inside(const struct sockaddr *address)
{
	const unsigned char *b;

	if (address->sa_family == AF_INET6) {
		b = ((const struct sockaddr_in6 *)address)->sin6_addr.s6_addr;
		return (b[0] & 0xfe) == 0xfc ||
		    (b[0] == 0xfe && (b[1] & 0xc0) == 0x80);
	}
	b = (const unsigned char *)
	    &((const struct sockaddr_in *)address)->sin_addr;
	return b[0] == 10 || (b[0] == 172 && (b[1] & 0xf0) == 16) ||
	    (b[0] == 192 && b[1] == 168) || (b[0] == 169 && b[1] == 254);
}

static bool
doctor_is_loopback(const struct sockaddr *address)
{
	if (address->sa_family == AF_INET6)
		return IN6_IS_ADDR_LOOPBACK(
		    &((const struct sockaddr_in6 *)address)->sin6_addr);
	return *(const unsigned char *)
	    &((const struct sockaddr_in *)address)->sin_addr == 127;
}

bool
doctor_is_outside(const struct sockaddr *address)
{
	return !is_inside(address) && !doctor_is_loopback(address);
}

static bool
is_only_name(const struct conf *conf)
{
	for (size_t i = 0; i < conf->domain_count; i++)
		for (size_t k = 0; k < conf->domains[i].name_count; k++)
			if (strcasecmp(conf->domains[i].names[k],
			    conf->host) != 0 &&
			    strcasecmp(conf->domains[i].names[k],
			    "localhost") != 0)
				return false;
	return true;
}

const char *
doctor_only_way(const struct doctor *doctor)
{
	const struct conf *conf = doctor->conf;
	const char *way = NULL;

	if (doctor->domain_count > 0 || conf->sign_count > 0 ||
	    conf->sign_table_count > 0 || !is_only_name(conf))
		return NULL;
	for (size_t i = 0; i < conf->listen_count; i++) {
		const struct sockaddr *at = (const struct sockaddr *)
		    &conf->listens[i].address;

		if (at->sa_family != AF_UNIX && !doctor_is_loopback(at))
			return NULL;
	}
	for (size_t i = 0; i < conf->route_count; i++) {
		const struct conf_route *route = &conf->routes[i];

		if (route->table != NULL || route->way_count > 0 ||
		    (strcmp(route->channel, "smtp") == 0 &&
		    route->host[0] == '\0'))
			return NULL;	/* to MX hosts, perhaps */
		if (strcmp(route->pattern, "*") == 0 &&
		    route->sender == NULL && route->user == NULL &&
		    strcmp(route->channel, "smtp") == 0)
			way = route->host;
	}
	return way;
}

/* Is it on an interface of this machine? */
static bool
doctor_is_local(const struct sockaddr *address)
{
	struct ifaddrs *all = NULL;
	bool result = false;

	if (getifaddrs(&all) != 0)
		return false;
	for (const struct ifaddrs *one = all; one != NULL && !result;
	    one = one->ifa_next)
		result = one->ifa_addr != NULL &&
		    (one->ifa_addr->sa_family == AF_INET ||
		    one->ifa_addr->sa_family == AF_INET6) &&
		    doctor_is_same(one->ifa_addr, address);
	freeifaddrs(all);
	return result;
}

static const char *
doctor_address_text(struct names *names, const struct sockaddr *address)
{
	char text[80];

	dns_address_text(address, text, sizeof(text));
	return arena_printf(names->doctor->arena, "%s", text);
}

/* ---- what is asked ------------------------------------------------- */

static void
ask_host(struct names *names, const char *host)
{
	doctor_ask(&names->asking, host, DNS_TYPE_A);
	doctor_ask(&names->asking, host, DNS_TYPE_AAAA);
}

static bool
is_in_dns(const char *name)
{
	return conf_name_is_full(name);
}

static void
names_note(struct names *names, const char *name, size_t *left_out)
{
	if (!is_in_dns(name))
		return;
	if (names->domain_count < DOCTOR_DOMAINS_MAX)
		names->domains[names->domain_count++] = name;
	else
		(*left_out)++;
}

static void
take_domains(struct names *names)
{
	const struct doctor *doctor = names->doctor;
	const struct conf *conf = doctor->conf;
	size_t left_out = 0;

	names->domains = arena_alloc(names->doctor->arena,
	    DOCTOR_DOMAINS_MAX * sizeof(*names->domains));
	for (size_t i = 0; i < doctor->domain_count; i++)
		names_note(names, doctor->domains[i], &left_out);
	for (size_t i = 0; doctor->domain_count == 0 &&
	    i < conf->domain_count; i++)
		for (size_t k = 0; k < conf->domains[i].name_count; k++)
			names_note(names, conf->domains[i].names[k],
			    &left_out);
	if (left_out > 0)
		doctor_add(names->doctor, DOCTOR_OK, "",
		    "", "%zu more domains are not looked at", left_out);
	for (size_t i = 0; i < names->domain_count; i++) {
		const char *name = names->domains[i];

		doctor_ask(&names->asking, name, DNS_TYPE_MX);
		ask_host(names, name);
	}
}

static void
add_sending(struct names *names, const struct sockaddr *address,
    const char *helo)
{
	struct sending *sending;
	struct dns_name reverse;

	for (size_t i = 0; i < names->sending_count; i++)
		if (doctor_is_same(names->sendings[i].address, address))
			return;
	if (names->sending_count == DOCTOR_DOMAINS_MAX)
		return;
	if (names->sendings == NULL)
		names->sendings = arena_alloc(names->doctor->arena,
		    DOCTOR_DOMAINS_MAX * sizeof(*names->sendings));
	sending = &names->sendings[names->sending_count++];
	sending->address = address;
	sending->text = doctor_address_text(names, address);
	sending->helo = helo;
	dns_reverse_name(address, NULL, &reverse);
	doctor_ask(&names->asking, reverse.text, DNS_TYPE_PTR);
	if (is_in_dns(helo))
		ask_host(names, helo);
}

static void
take_zones(struct names *names)
{
	const struct conf *conf = names->doctor->conf;

	for (size_t i = 0; i < conf->zone_count; i++)
		for (size_t k = 0; k < conf->zones[i].source_count; k++) {
			const struct conf_outlet *out =
			    &conf->zones[i].sources[k];

			add_sending(names,
			    (const struct sockaddr *)&out->address,
			    out->helo != NULL ? out->helo :
			    conf->zones[i].helo != NULL ?
			    conf->zones[i].helo : conf->host);
		}
}

/* Addresses of the MX hosts; reverse names of our own addresses. */
static void
take_second(struct names *names)
{
	const char *host = names->doctor->conf->host;
	struct dns_address *own = arena_alloc(names->doctor->arena,
	    DNS_ADDRESS_MAX * sizeof(*own));
	struct dns_mx mx[DNS_MX_MAX];
	struct err err;
	size_t n;

	for (size_t i = 0; i < names->domain_count; i++) {
		const struct doctor_answer *answer = doctor_answered(
		    &names->asking, names->domains[i], DNS_TYPE_MX);

		n = 0;
		if (answer->result == DNS_OK)
			(void)dns_parse_mx(answer->bytes, answer->n, mx, &n,
			    &err);
		for (size_t k = 0; k < n && k < DOCTOR_HOSTS_MAX; k++)
			if (mx[k].host[0] != '\0')
				ask_host(names, mx[k].host);
	}
	if (doctor_addresses(&names->asking, host, own, &n) != DNS_OK)
		return;
	for (size_t i = 0; i < n; i++)
		if (!doctor_is_loopback((
		    const struct sockaddr *)&own[i].address))
			add_sending(names,
			    (const struct sockaddr *)&own[i].address, host);
}

/* PTR records of a sending address. */
static enum dns_result
reverse_names(struct names *names, const struct sending *sending,
    struct dns_name out[DNS_PTR_MAX], size_t *out_n)
{
	const struct doctor_answer *answer;
	struct dns_name reverse;
	struct err err;

	*out_n = 0;
	dns_reverse_name(sending->address, NULL, &reverse);
	answer = doctor_answered(&names->asking, reverse.text, DNS_TYPE_PTR);
	if (answer->result != DNS_OK)
		return answer->result;
	return dns_parse_ptr(answer->bytes, answer->n, out, out_n, &err);
}

static void
take_third(struct names *names)
{
	struct dns_name ptr[DNS_PTR_MAX];
	size_t n;

	for (size_t i = 0; i < names->sending_count; i++) {
		(void)reverse_names(names, &names->sendings[i], ptr, &n);
		for (size_t k = 0; k < n; k++)
			ask_host(names, ptr[k].text);
	}
}

/* ---- what it means --------------------------------------------------- */

static void
judge_host(struct names *names)
{
	struct doctor *doctor = names->doctor;
	const char *host = doctor->conf->host;
	struct dns_address own[DNS_ADDRESS_MAX];
	enum dns_result result;
	size_t n;

	if (!is_in_dns(host)) {
		doctor_add(doctor, strcmp(host, "localhost") == 0 ?
		    DOCTOR_OK : DOCTOR_WARN, host,
		    "for mail with others say: host NAME.DOMAIN",
		    "our name has no domain; nobody else can look it up");
		return;
	}
	result = doctor_addresses(&names->asking, host, own, &n);
	if (result == DNS_TRY_AGAIN || result == DNS_BAD)
		doctor_add(doctor, DOCTOR_WARN, host,
		    "see /etc/resolv.conf, or the statement dns",
		    "the DNS does not answer about our name");
	else if (result != DNS_OK)
		doctor_add(doctor, DOCTOR_BAD, host,
		    arena_printf(doctor->arena, "publish an address: %s. A "
		    "...; or set host to a name that has one", host),
		    "our name has no address; many servers refuse mail from "
		    "such hosts");
	else if (doctor_is_loopback((const struct sockaddr *)&own[0].address))
		doctor_add(doctor, DOCTOR_WARN, host,
		    "publish the address that others see",
		    "our name leads to %s, the loopback address",
		    doctor_address_text(names,
		    (const struct sockaddr *)&own[0].address));
	else
		doctor_add(doctor, DOCTOR_OK, host, "",
		    "our name has the address %s%s", doctor_address_text(names,
		    (const struct sockaddr *)&own[0].address),
		    doctor_is_local((const struct sockaddr *)&own[0].address) ?
		    "" :
		    ", on no interface here (a gateway translates?)");
}

/* Does this host of an MX lead to us? */
static bool
leads_here(struct names *names, const char *host)
{
	struct dns_address theirs[DNS_ADDRESS_MAX], own[DNS_ADDRESS_MAX];
	size_t n, own_n;

	if (slice_is_nocase(slice_of(host), names->doctor->conf->host))
		return true;
	(void)doctor_addresses(&names->asking, host, theirs, &n);
	(void)doctor_addresses(&names->asking, names->doctor->conf->host,
	    own, &own_n);
	for (size_t i = 0; i < n; i++)
		if (doctor_is_among((const struct sockaddr *)&theirs[i].address,
		    own,
		    own_n) ||
		    doctor_is_local((
		    const struct sockaddr *)&theirs[i].address))
			return true;
	return false;
}

/* The record that leads mail of the domain here, if one can. */
static const char *
mx_advice(const struct doctor *doctor, const char *domain)
{
	if (!is_in_dns(doctor->conf->host))
		return "give this machine a name with a domain first: host "
		    "NAME.DOMAIN";
	return arena_printf(doctor->arena, "publish: %s. MX 10 %s.", domain,
	    doctor->conf->host);
}

static void
judge_mx_hosts(struct names *names, const char *domain,
    const struct dns_mx *mx, size_t n)
{
	struct doctor *doctor = names->doctor;
	struct dns_address found[DNS_ADDRESS_MAX];
	bool is_ours = false;
	size_t found_n;

	for (size_t i = 0; i < n && i < DOCTOR_HOSTS_MAX; i++) {
		if (mx[i].host[0] == '\0') {
			doctor_add(doctor, DOCTOR_BAD, domain,
			    "take the record \"MX 0 .\" away",
			    "its MX record says that it takes no mail "
			    "(RFC 7505)");
			return;
		}
		if (doctor_addresses(&names->asking, mx[i].host, found,
		    &found_n) == DNS_NONE || (found_n == 0 &&
		    doctor_answered(&names->asking, mx[i].host,
		    DNS_TYPE_A)->result == DNS_NO_NAME))
			doctor_add(doctor, DOCTOR_BAD, domain,
			    "give that host an address, or take the MX "
			    "record away", "its MX %s has no address",
			    mx[i].host);
		is_ours = is_ours || leads_here(names, mx[i].host);
	}
	if (is_ours)
		doctor_add(doctor, DOCTOR_OK, domain, "",
		    "its MX leads here (%u %s)", mx[0].preference,
		    mx[0].host);
	else
		doctor_add(doctor, DOCTOR_WARN, domain, arena_printf(
		    doctor->arena, "fine when that host passes it on; else "
		    "%s", mx_advice(doctor, domain)),
		    "no MX of it leads here: mail goes to %s", mx[0].host);
}

static void
judge_no_mx(struct names *names, const char *domain, enum dns_result result)
{
	struct doctor *doctor = names->doctor;
	const char *advice = mx_advice(doctor, domain);
	struct dns_address found[DNS_ADDRESS_MAX];
	size_t n;

	if (result == DNS_TRY_AGAIN || result == DNS_BAD)
		doctor_add(doctor, DOCTOR_WARN, domain, "look again later",
		    "the DNS does not answer about it");
	else if (result == DNS_NO_NAME)
		doctor_add(doctor, DOCTOR_BAD, domain, advice,
		    "it does not exist in the DNS");
	else if (doctor_addresses(&names->asking, domain, found, &n) ==
	    DNS_OK)
		doctor_add(doctor, leads_here(names, domain) ? DOCTOR_OK :
		    DOCTOR_WARN, domain, advice,
		    "it has no MX; mail goes to its address, %s",
		    doctor_address_text(names,
		    (const struct sockaddr *)&found[0].address));
	else
		doctor_add(doctor, DOCTOR_BAD, domain, advice,
		    "it has neither MX nor address: it gets no mail");
}

static void
judge_domain(struct names *names, const char *domain)
{
	const struct doctor_answer *answer = doctor_answered(&names->asking,
	    domain, DNS_TYPE_MX);
	struct dns_mx mx[DNS_MX_MAX];
	enum dns_result result = answer->result;
	struct err err;
	size_t n = 0;

	if (result == DNS_OK)
		result = dns_parse_mx(answer->bytes, answer->n, mx, &n, &err);
	if (result == DNS_OK && n > 0)
		judge_mx_hosts(names, domain, mx, n);
	else
		judge_no_mx(names, domain, result);
}

/* The first reverse name that leads back; NULL. */
static const char *
name_confirmed(struct names *names, const struct sending *sending,
    const struct dns_name *ptr, size_t n)
{
	struct dns_address back[DNS_ADDRESS_MAX];
	size_t back_n;

	for (size_t i = 0; i < n; i++)
		if (doctor_addresses(&names->asking, ptr[i].text, back,
		    &back_n) == DNS_OK &&
		    doctor_is_among(sending->address, back, back_n))
			return ptr[i].text;
	return NULL;
}

static void
judge_helo(struct names *names, const struct sending *sending,
    const char *name)
{
	struct dns_address helo[DNS_ADDRESS_MAX];
	size_t n;

	(void)doctor_addresses(&names->asking, sending->helo, helo, &n);
	if (doctor_is_among(sending->address, helo, n))
		doctor_add(names->doctor, DOCTOR_OK, sending->text, "",
		    "its name, %s, leads back to it", name);
	else
		doctor_add(names->doctor, DOCTOR_WARN, sending->text,
		    arena_printf(names->doctor->arena, "publish an address "
		    "for %s, or say: helo %s", sending->helo, name),
		    "its name is %s, but it says hello as %s", name,
		    sending->helo);
}

static void
judge_sending(struct names *names, const struct sending *sending)
{
	struct doctor *doctor = names->doctor;
	const char *advice = arena_printf(doctor->arena,
	    "who gave you the address sets its PTR record: %s",
	    sending->helo);
	struct dns_name ptr[DNS_PTR_MAX];
	enum dns_result result;
	const char *name;
	size_t n;

	if (is_inside(sending->address)) {
		doctor_add(doctor, DOCTOR_OK, sending->text, "",
		    "a private address: others see the gateway's");
		return;
	}
	result = reverse_names(names, sending, ptr, &n);
	name = name_confirmed(names, sending, ptr, n);
	if (name != NULL)
		judge_helo(names, sending, name);
	else if (result == DNS_TRY_AGAIN || result == DNS_BAD)
		doctor_add(doctor, DOCTOR_WARN, sending->text,
		    "look again later",
		    "the DNS does not answer about its name");
	else if (n == 0)
		doctor_add(doctor, DOCTOR_BAD, sending->text, advice,
		    "it has no reverse name; large providers refuse mail "
		    "from it");
	else
		doctor_add(doctor, DOCTOR_BAD, sending->text, advice,
		    "its reverse name %s does not lead back to it",
		    ptr[0].text);
}

void
doctor_dns(struct doctor *doctor)
{
	struct names names = { .doctor = doctor };
	const char *way = doctor_only_way(doctor);
	struct err err;

	if (way != NULL) {
		doctor_add(doctor, DOCTOR_OK, doctor->conf->host,
		    "zmailer doctor dns DOMAIN looks all the same",
		    "all mail leaves by %s, and none comes in: what the DNS "
		    "says of this name does not matter", way);
		return;
	}
	if (dns_use(doctor->conf->dns_server, &err) != 0) {
		doctor_add(doctor, DOCTOR_BAD, "dns", "mend the statement",
		    "%s", err.text);
		return;
	}
	names.asking.doctor = doctor;
	names.asking.end_at_ms = doctor_dns_end(doctor);
	if (is_in_dns(doctor->conf->host))
		ask_host(&names, doctor->conf->host);
	take_domains(&names);
	take_zones(&names);
	doctor_ask_round(&names.asking);
	take_second(&names);
	doctor_ask_round(&names.asking);
	take_third(&names);
	doctor_ask_round(&names.asking);
	judge_host(&names);
	for (size_t i = 0; i < names.domain_count; i++)
		judge_domain(&names, names.domains[i]);
	for (size_t i = 0; i < names.sending_count; i++)
		judge_sending(&names, &names.sendings[i]);
}
