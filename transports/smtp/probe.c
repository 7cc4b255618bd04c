/* probe.c - does a next hop take us: hello without mail
 *
 * In     a configuration, a host field
 * Out    a line a step on stdout, for people and for zmailer smarthost
 * Holds  one connection
 * Trusts nothing of the host: its words are cut and escaped
 * Spec   zmailer-smtp(8), zmailer-smarthost(8)
 *
 * SPDX-License-Identifier: ISC
 */
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sysexits.h>

#include "base/err.h"
#include "daemon/skeleton.h"
#include "io/dns/dns.h"
#include "transports/smtp/auth/auth.h"
#include "transports/smtp/probe.h"

#include "base/banned.h"

static void
probe_say(const char *step, const char *words)
{
	struct str line = STR_INIT;

	str_addf(&line, "%s ", step);
	str_add_escaped(&line, slice_of(words));
	puts(line.buf);
	str_release(&line);
}

/* A person waits: no answer may take as long as mail would let it. */
static void
probe_shorten_waits(struct conf *conf)
{
	int64_t *waits[] = { &conf->timeouts.connect_ms,
		&conf->timeouts.greeting_ms, &conf->timeouts.helo_ms,
		&conf->timeouts.quit_ms };

	for (size_t i = 0; i < sizeof(waits) / sizeof(waits[0]); i++)
		if (*waits[i] > PROBE_WAIT_MS)
			*waits[i] = PROBE_WAIT_MS;
}

static int
probe_say_trouble(const struct verdict *trouble)
{
	struct str words = STR_INIT;

	str_addf(&words, "%s %s: %s", trouble->status, trouble->who,
	    trouble->text);
	probe_say("trouble", words.buf);
	str_release(&words);
	return trouble->status[2] == '7' ? EX_NOPERM : EX_UNAVAILABLE;
}

/* What came of hello, in words. */
static void
probe_tell(const struct smtp_client *client)
{
	struct str words = STR_INIT;

	probe_say("connected", client->who);
	if (client->tls.version[0] != '\0')
		tls_info_add(&words, &client->tls);
	else
		str_adds(&words, "none");
	probe_say("tls", words.buf);
	probe_say("login", client->secret != NULL ? client->secret->user :
	    "none");
	probe_say("good", "it takes our mail");
	str_release(&words);
}

static int
probe_run(struct smtp_client *client, const char *host)
{
	struct verdict trouble;
	struct err err;

	if (dns_use(client->conf->dns_server, &err) < 0 ||
	    client_start(client, &err) < 0) {
		probe_say("trouble", err.text);
		return EX_CONFIG;
	}
	memset(&trouble, 0, sizeof(trouble));
	if (!client_open(client, host, WISH_NONE, &trouble))
		return probe_say_trouble(&trouble);
	probe_tell(client);
	client_quit_for(client, client->conf->timeouts.quit_ms);
	return EX_OK;
}

/* Another file in the place of the table of auth-to. */
static void
probe_set_secrets(struct conf *conf, const char *secrets)
{
	static char spec[PATH_MAX + 8];

	snprintf(spec, sizeof(spec), "file:%s", secrets);
	for (size_t i = 0; i < conf->table_count; i++)
		if (conf->auth_to.table != NULL &&
		    strcmp(conf->tables[i].name, conf->auth_to.table) == 0)
			conf->tables[i].spec = spec;
}

int
client_probe(const char *conf_path, const char *host, const char *secrets)
{
	struct conf *conf = conf_load_or_tell(conf_path);
	struct smtp_client *client;
	int status;

	if (conf == NULL)
		return EX_CONFIG;
	signal(SIGPIPE, SIG_IGN);
	probe_shorten_waits(conf);
	if (secrets != NULL)
		probe_set_secrets(conf, secrets);
	client = mem_alloc(1, sizeof(*client));
	client_init(client, conf, false);
	status = probe_run(client, host);
	client_release(client);
	mem_free(&client);
	conf_free(&conf);
	return status;
}
