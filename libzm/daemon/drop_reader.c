/* drop_reader.c - drop to an account, but go on reading root's files
 *
 * In     a role
 * Out    a process that is that account, without a core file, that nobody of
 *        that account can look into, and that, if it was root and on Linux,
 *        may open any file for reading (CAP_DAC_READ_SEARCH) and nothing more.
 *        Elsewhere it reads what the account may read
 * Spec   capabilities(7); prctl(2), PR_SET_KEEPCAPS, PR_SET_DUMPABLE
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#ifdef HAVE_SYS_PRCTL_H
#include <sys/prctl.h>
#endif
#ifdef __linux__
#include <linux/capability.h>
#include <sys/syscall.h>
#endif

#include "daemon/skeleton.h"

#include "base/banned.h"

#ifdef __linux__
static int
keep_reading(struct err *err)
{
	struct __user_cap_header_struct head = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	struct __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3];

	memset(sets, 0, sizeof(sets));
	sets[0].effective = sets[0].permitted = 1u << CAP_DAC_READ_SEARCH;
	if (syscall(SYS_capset, &head, sets) != 0)
		return err_sys(err, "cannot keep the right to read");
	return 0;
}
#endif

static int
drop_to_reader(const struct conf *conf, enum conf_role role,
    struct err *err)
{
	bool drops = geteuid() == 0 && strcmp(conf->accounts[role], "-") != 0;

#ifdef __linux__
	if (drops && prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) != 0)
		return err_sys(err, "cannot keep the right to read");
#endif
	if (daemon_drop(conf, role, err) != 0)
		return -1;
#ifdef __linux__
	if (drops && keep_reading(err) != 0)
		return -1;
#endif
#ifdef PR_SET_DUMPABLE
	if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0)
		return err_sys(err, "cannot shut others out");
#endif
	return 0;
}

void
daemon_keep_secrets(const struct process *process, bool is_root)
{
	struct rlimit none = { 0, 0 };
	struct err err;

	(void)setrlimit(RLIMIT_CORE, &none);
	if (!is_root && drop_to_reader(process->conf, process->daemon->role,
	    &err) != 0)
		fatal("%s", err.text);	/* nothing was served yet */
}
