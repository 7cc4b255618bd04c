/* dns.c - zmailer dns: what the DNS answers for a name, and if it is secure
 *
 * In     a name and a type; the answer of the server that all daemons ask
 * Out    its status, its records; or JSON
 * Holds  nothing
 * Trusts nothing in the answer: io/dns reads it, odd bytes are escaped
 * Spec   zmailer-dns(8)
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdio.h>
#include <string.h>
#include <sysexits.h>

#include "base/json.h"
#include "grammar/net.h"
#include "io/dns/ask.h"
#include "tools/zmailer/verbs/verb.h"

#include "base/banned.h"

enum { RECORDS_MAX = 4096, SERVER_BYTES = 80 };

struct dns_look {
	struct arena	*arena;
	struct loop	*loop;
	const struct conf *conf;
	const char	*name;
	enum dns_type	 type;
	struct str	 type_text, servers;
	enum dns_result	 result;
	const char	*status;	/* one word or two */
	const char	*why;		/* NULL: no more to say */
	bool		 has_answer;
	struct dns_trust trust;		/* what the answer says */
	struct slice	*records;	/* "NAME TTL TYPE VALUE" */
	size_t		 record_count;
	uint32_t	 ttl_s;		/* the least of all */
	struct dns_error error;
	bool		 has_error;
	unsigned	 code;		/* of the answer */
};

/* dns_record_fn */
static void
dns_look_take_record(void *context, const struct dns_record *record)
{
	struct dns_look *look = context;
	struct str line = STR_INIT;

	if (look->record_count == RECORDS_MAX)
		return;
	str_addf(&line, "%s. %lu ", strcmp(record->name, ".") == 0 ? "" :
	    record->name, (unsigned long)record->ttl_s);
	dns_type_text(record->type, &line);
	str_addc(&line, ' ');
	str_add_slice(&line, record->value);
	if (look->record_count == 0 || record->ttl_s < look->ttl_s)
		look->ttl_s = record->ttl_s;
	look->records[look->record_count++] = slice_copy(look->arena,
	    str_slice(&line));
	str_release(&line);
}

/* dns_answer_fn */
static void
dns_look_on_answer(void *context, enum dns_result result,
    const unsigned char *answer, size_t n)
{
	struct dns_look *look = context;

	look->result = result;
	loop_stop(look->loop);
	if (answer == NULL || n < 12)
		return;
	look->has_answer = true;
	dns_parse_trust(answer, n, &look->trust);
	look->code = answer[3] & 0x0f;
	look->has_error = dns_parse_error(answer, n, &look->error);
	if (result == DNS_OK && !dns_tell_records(answer, n,
	    dns_look_take_record, look))
		look->result = DNS_BAD;
}

/* ---- what it is worth -------------------------------------------------- */

static const char *
dns_look_why_insecure(const struct dns_look *look)
{
	if (conf_has_resolver(look->conf))
		return "the domain is not signed";
	return dns_is_here() ? "the domain is not signed, or the name server "
	    "here does not validate" : "the name server is not on this "
	    "machine: what it says of signatures cannot count (zmailer help "
	    "resolver)";
}

static void
dns_look_judge_failed(struct dns_look *look)
{
	if (look->has_error && look->error.code == DNS_ERROR_BOGUS)
		look->status = "bogus";
	else if (!look->has_answer)
		look->status = "no answer";
	else
		look->status = look->code == 2 ? "SERVFAIL" :
		    look->code == 5 ? "REFUSED" : "failed";
	if (look->has_error && look->error.words[0] != '\0')
		look->why = look->error.words;
	else if (!look->has_answer && conf_has_resolver(look->conf))
		look->why = "the resolver does not answer: zmailer doctor";
}

static void
dns_look_judge(struct dns_look *look)
{
	bool is_secure = look->trust.is_secure && dns_is_here();

	switch (look->result) {
	case DNS_OK: case DNS_NONE:
		look->status = look->record_count == 0 ? "none" :
		    is_secure ? "secure" : "insecure";
		if (look->record_count == 0)
			look->why = "the name exists, it has no such record";
		else if (!is_secure)
			look->why = dns_look_why_insecure(look);
		break;
	case DNS_NO_NAME:
		look->status = "no such name";
		break;
	case DNS_BAD:
		look->status = "damaged";
		break;
	case DNS_TRY_AGAIN:
		dns_look_judge_failed(look);
	}
}

/* ---- printed ------------------------------------------------------------ */

static void
dns_look_add_servers(struct dns_look *look)
{
	struct dns_address servers[DNS_SERVERS_MAX];
	size_t count = dns_servers(servers);

	for (size_t i = 0; i < count; i++) {
		char text[SERVER_BYTES];

		net_endpoint_text((struct sockaddr *)&servers[i].address,
		    text, sizeof(text));
		str_addf(&look->servers, "%s%s", i > 0 ? " or " : "", text);
	}
}

static void
dns_look_print_json(const struct dns_look *look)
{
	struct str out = STR_INIT;

	json_open_answer(&out);
	json_text(&out, "name", slice_of(look->name));
	json_text(&out, "type", str_slice(&look->type_text));
	json_text(&out, "status", slice_of(look->status));
	json_bool(&out, "secure", look->trust.is_secure && dns_is_here() &&
	    look->result != DNS_TRY_AGAIN);
	if (look->why != NULL)
		json_text(&out, "why", slice_of(look->why));
	if (look->record_count > 0)
		json_number(&out, "ttl_s", look->ttl_s);
	json_text(&out, "server", str_slice(&look->servers));
	json_list(&out, "records", look->records, look->record_count);
	json_close(&out);
	fputs(out.buf, stdout);
	str_release(&out);
}

static void
dns_look_print(const struct dns_look *look)
{
	printf("%s %s: %s%s%s\n", look->name, look->type_text.buf,
	    look->status, look->why != NULL ? ": " : "",
	    look->why != NULL ? look->why : "");
	for (size_t i = 0; i < look->record_count; i++)
		printf("    " SLICE_FMT "\n", SLICE_ARG(look->records[i]));
	if (look->record_count == 0 && look->trust.is_secure && dns_is_here() &&
	    look->result != DNS_TRY_AGAIN)
		printf("    that it is not there is signed\n");
	if (look->record_count > 0)
		printf("    kept for %lu s more\n",
		    (unsigned long)look->ttl_s);
	printf("    %s by %s%s\n", look->has_answer ? "answered" :
	    "not answered", look->servers.len > 0 ? look->servers.buf :
	    "no name server", conf_has_resolver(look->conf) ?
	    ", the resolver of zmailer" : "");
}

static int
dns_look_status(const struct dns_look *look)
{
	switch (look->result) {
	case DNS_OK: case DNS_NONE:
		return look->record_count > 0 ? EX_OK : 1;
	case DNS_NO_NAME:
		return 1;
	default:
		return EX_TEMPFAIL;
	}
}

/* ---- asked -------------------------------------------------------------- */

/* For an address and PTR: the name of its PTR record. */
static void
dns_look_turn(struct dns_look *look)
{
	struct dns_address address;
	struct dns_name reverse;
	struct net net;
	size_t count = 0;
	struct err err;

	if (look->type != DNS_TYPE_PTR ||
	    net_parse(slice_of(look->name), &net, NULL) != 0 ||
	    dns_addresses(look->name, &address, &count, NULL, &err) != DNS_OK)
		return;
	dns_reverse_name((struct sockaddr *)&address.address, NULL, &reverse);
	look->name = arena_dup(look->arena, reverse.text,
	    strlen(reverse.text));
}

static int
dns_look_run(struct dns_look *look, bool is_json)
{
	struct dns_asker *asker;
	struct err err;

	if (dns_use(look->conf->dns_server, &err) < 0) {
		fprintf(stderr, "zmailer: dns: %s\n", err.text);
		return EX_CONFIG;
	}
	dns_look_turn(look);
	dns_look_add_servers(look);
	look->loop = loop_new();
	asker = dns_asker_new(look->loop);
	dns_ask(asker, look->name, look->type, dns_look_on_answer, look);
	loop_run(look->loop);
	dns_asker_free(&asker);
	loop_free(&look->loop);
	dns_look_judge(look);
	(is_json ? dns_look_print_json : dns_look_print)(look);
	return dns_look_status(look);
}

int
verb_dns(struct arguments *arguments)
{
	struct dns_look look = { .type = DNS_TYPE_A, .type_text = STR_INIT,
	    .servers = STR_INIT, .status = "failed" };
	const char *type = arguments_word(arguments, 1);
	struct conf *conf;
	int status;

	look.name = arguments_word(arguments, 0);
	if (look.name == NULL)
		return arguments_refuse(arguments, "of which name?");
	if (type != NULL && !dns_type_parse(type, &look.type))
		return arguments_refuse(arguments, "there is no type '%s'; "
		    "A, AAAA, MX, TXT, TLSA, ... or TYPE52", type);
	dns_type_text((unsigned)look.type, &look.type_text);
	conf = verb_conf(arguments->conf_path);
	look.conf = conf;
	look.arena = arena_new();
	look.records = arena_alloc(look.arena,
	    RECORDS_MAX * sizeof(*look.records));
	status = dns_look_run(&look, arguments_has(arguments, OPT_JSON));
	str_release(&look.type_text);
	str_release(&look.servers);
	arena_free(&look.arena);
	conf_free(&conf);
	return status;
}
