/* service.c - what the sessions of a worker share
 *
 * In     a configuration
 * Out    settings that live as long as a session needs them
 * Holds  a count of holders
 *
 * SPDX-License-Identifier: ISC
 */
#include "base/mem.h"
#include "smtpserver/session/service.h"

#include "base/banned.h"

struct settings *
settings_new(struct conf *conf, bool owns_conf)
{
	struct settings *settings = mem_alloc(1, sizeof(*settings));

	settings->conf = conf;
	settings->policy = policy_new(conf);
	settings->peers = peers_new(conf);
	settings->holders = 1;
	settings->owns_conf = owns_conf;
	return settings;
}

struct settings *
settings_hold(struct settings *settings)
{
	settings->holders++;
	return settings;
}

void
settings_drop(struct settings **settings)
{
	struct settings *s = *settings;

	*settings = NULL;
	if (s == NULL || --s->holders > 0)
		return;
	policy_free(&s->policy);
	peers_free(&s->peers);
	if (s->owns_conf)
		conf_free(&s->conf);
	mem_free(&s);
}
