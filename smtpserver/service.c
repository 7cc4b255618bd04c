/* service.c - what the sessions of a worker share
 *
 * In     a configuration; the spool
 * Out    settings that live as long as a session needs them; free space
 * Holds  a count of holders; the last look at the disk
 *
 * SPDX-License-Identifier: ISC
 */
#include <sys/statvfs.h>

#include "base/clock.h"
#include "base/mem.h"
#include "smtpserver/service.h"

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

static void
look_at_space(struct service *service)
{
	struct statvfs fs;

	if (fstatvfs(spool_dir_fd(service->spool, AREA_PUBLIC, 0), &fs) != 0)
		service->free_bytes = UINT64_MAX;	/* writing will tell */
	else if (fs.f_files > 0 && fs.f_favail == 0)
		service->free_bytes = 0;		/* no inode left */
	else
		service->free_bytes = (uint64_t)fs.f_bavail * fs.f_frsize;
	service->free_until_ms = clock_steady_ms() + SPACE_COUNTS_FOR_MS;
}

bool
service_has_space(struct service *service, uint64_t bytes, bool is_now)
{
	if (is_now || clock_steady_ms() >= service->free_until_ms)
		look_at_space(service);
	return service->free_bytes >= SPACE_RESERVE_BYTES &&
	    service->free_bytes - SPACE_RESERVE_BYTES >= bytes;
}

bool
service_reserve(struct service *service, uint64_t bytes)
{
	if (bytes < RESERVE_FROM_BYTES ||
	    bytes > service->free_bytes / RESERVE_PART ||
	    service->reserved_bytes > service->free_bytes / RESERVE_PART -
	    bytes)
		return false;
	service->reserved_bytes += bytes;
	return true;
}
