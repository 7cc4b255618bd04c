/* signs.c - the keys that sign statements name are any good
 *
 * In     a conf that is right in itself; files of keys
 * Out    complaints: unreadable, no key, everybody's
 * Holds  nothing: a key that was read is freed at once
 * Spec   zmailer.conf(5), sign
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "daemon/machine/look.h"
#include "tls/dkim.h"
#include "tls/pair.h"

#include "base/banned.h"

static void
sign_check(const struct machine_look *look, const struct conf_sign *one)
{
	struct evp_pkey_st *key;
	struct err err;
	struct stat st;

	if (geteuid() != 0 && access(one->key, R_OK) != 0 && errno == EACCES) {
		machine_tell(look, CONF_WARNING, one->at, "check it as root",
		    arena_printf(look->arena, "%s cannot be read by you",
		    one->key));
		return;
	}
	key = dkim_private_load(one->key, &err);
	if (key == NULL) {
		machine_tell(look, one->else_send ? CONF_WARNING :
		    CONF_ERROR, one->at, arena_printf(
		    look->arena, "name a key that signs; zmailer dkim new %s "
		    "makes one; until then mail of %s %s", one->domain,
		    one->domain, one->else_send ? "goes unsigned" :
		    "waits in deferred/"), err.text);
		return;
	}
	dkim_private_free(&key);
	if (stat(one->key, &st) == 0 && (st.st_mode & S_IROTH) != 0)
		machine_tell(look, CONF_WARNING, one->at,
		    arena_printf(look->arena, "chmod o-r %s", one->key),
		    arena_printf(look->arena, "the key %s can be read by "
		    "everybody on this machine", one->key));
}

void
machine_check_signs(const struct machine_look *look)
{
	for (size_t i = 0; i < look->conf->sign_count; i++)
		sign_check(look, &look->conf->signs[i]);
}
