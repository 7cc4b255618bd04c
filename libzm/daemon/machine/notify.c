/* notify.c - what notify needs of this machine
 *
 * In     a conf that is right in itself; the files of keys and roots
 * Out    complaints: not there, too short, others'
 * Holds  nothing: keys are not kept
 * Spec   zmailer.conf(5), notify
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/machine/look.h"
#include "daemon/machine/notify_key.h"
#include "daemon/skeleton.h"

#include "base/banned.h"

enum { PROGRAM_BYTES = 4200 };

static bool
notify_is_denied(void)
{
	return geteuid() != 0 && errno == EACCES;
}

static void
notify_check_key(const struct machine_look *look,
    const struct conf_notify *notify)
{
	struct str key = STR_INIT;
	const char *hint;
	struct err err;

	if (access(notify->key_path, R_OK) != 0) {
		bool is_denied = notify_is_denied();

		machine_tell(look, is_denied ? CONF_WARNING : CONF_ERROR,
		    notify->at, is_denied ? "check it as root" :
		    "make it: openssl rand -hex 32 >FILE; chmod 600 FILE",
		    arena_printf(look->arena, "the key of notify, %s: %s",
		    notify->key_path, strerror(errno)));
	} else if (notify_key_read(notify->key_path, &key, &hint, &err) < 0) {
		machine_tell(look, CONF_ERROR, notify->at, hint, err.text);
	}
	explicit_bzero(key.buf, key.len);
	str_release(&key);
}

static void
notify_check_roots(const struct machine_look *look,
    const struct conf_notify *notify)
{
	bool is_denied;

	if (notify->roots == NULL || access(notify->roots, R_OK) == 0)
		return;
	is_denied = notify_is_denied();
	machine_tell(look, is_denied ? CONF_WARNING : CONF_ERROR, notify->at,
	    is_denied ? "check it as root" : "make it, or name another file",
	    arena_printf(look->arena, "the roots for notify, %s: %s",
	    notify->roots, strerror(errno)));
}

void
machine_check_notify(const struct machine_look *look)
{
	const struct conf *conf = look->conf;
	char path[PROGRAM_BYTES];

	for (size_t i = 0; i < conf->notify_count; i++) {
		notify_check_key(look, &conf->notifies[i]);
		notify_check_roots(look, &conf->notifies[i]);
	}
	daemon_libexec("notify", path, sizeof(path));
	if (conf_asks_notify(conf) && access(path, X_OK) != 0)
		machine_tell(look, CONF_ERROR, conf->notifies[0].at,
		    "install it", arena_printf(look->arena, "the program "
		    "that posts events, %s: %s", path, strerror(errno)));
}
