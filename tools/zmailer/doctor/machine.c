/* machine.c - accounts, clock, limits and what the kernel can do
 *
 * In     the system's tables, clocks and answers
 * Out    findings
 * Trusts nothing: a system that cannot be asked is a finding
 * Spec   zmailer-doctor(8); adjtimex(2), landlock(7), inotify(7)
 *
 * SPDX-License-Identifier: ISC
 */
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timex.h>
#include <time.h>
#include <unistd.h>

#ifdef HAVE_LINUX_LANDLOCK_H
#include <linux/landlock.h>
#endif
#include <linux/seccomp.h>

#include "base/clock.h"
#include "daemon/skeleton.h"
#include "tools/zmailer/doctor/doctor.h"
#include "tools/journal/journal.h"

#include "base/banned.h"

enum {
	DESCRIPTORS_A_SESSION = 2,	/* socket and message */
	DESCRIPTORS_AN_AGENT = 3,	/* of the scheduler: a socket, and
					 * message and control file */
	DESCRIPTORS_BESIDE = 200,
	WATCHES_LEAST = 64,		/* directories of a spool, tables */
	RELEASED_S = 1760000000		/* October 2025: no clock says
					 * less */
};

/* ---- accounts --------------------------------------------------------- */

static void
judge_group(struct doctor *doctor, const char *word, const char *name)
{
	if (strcmp(name, "-") == 0)
		return;
	if (getgrnam(name) != NULL)
		doctor_add(doctor, DOCTOR_OK, name, "",
		    "the group of control %s exists", word);
	else
		doctor_add(doctor, DOCTOR_BAD, name, arena_printf(
		    doctor->arena, "groupadd --system %s", name),
		    "the group of control %s does not exist", word);
}

void
doctor_accounts(struct doctor *doctor)
{
	const struct conf *conf = doctor->conf;
	struct err err;
	uid_t uid;
	gid_t gid;

	judge_group(doctor, "admins", conf->control_admins);
	judge_group(doctor, "operators", conf->control_operators);
	if (daemon_is_private(conf)) {
		doctor_add(doctor, geteuid() == 0 ? DOCTOR_WARN : DOCTOR_OK,
		    "", geteuid() == 0 ? "fine for a trial; else give the "
		    "daemons accounts: see doc/zmailer.sysusers" : "",
		    "all daemons run as %s", geteuid() == 0 ? "root" : "you");
		return;
	}
	for (enum conf_role role = 0; role < ROLE_COUNT; role++) {
		const char *name = conf->accounts[role];

		if (!conf_uses_role(conf, role))
			continue;
		if (daemon_account(conf, role, &uid, &gid, &err) != 0)
			doctor_add(doctor, DOCTOR_BAD, name,
			    "make it: see doc/zmailer.sysusers", "%s",
			    err.text);
		else
			doctor_add(doctor, DOCTOR_OK, name, "",
			    "the account of %s exists",
			    conf_role_names[role]);
	}
}

/* ---- clock ------------------------------------------------------------ */

/* The newest stamp of the journal: time does not go back. */
static void
judge_journal_time(struct doctor *doctor, int64_t now_s)
{
	struct journal_cursor cursor = { 0, 0, 0 };
	struct journal *journal;
	struct slice line;
	int64_t last_ms = -1;
	char span[CLOCK_TEXT_BYTES];
	int64_t ahead_s;
	struct err err;

	if (journal_days_open(doctor->conf->log_dir, 1, &journal, &err) != 0)
		return;
	while (journal_next(journal, &cursor, &line))
		last_ms = journal_line_ms(line);
	ahead_s = last_ms / 1000 - now_s;
	journal_close(&journal);
	if (last_ms < 0 || ahead_s < DOCTOR_FUTURE_S)
		return;
	clock_span(ahead_s, span);
	doctor_add(doctor, DOCTOR_BAD, doctor->conf->log_dir,
	    "set the clock; mail's ages are wrong until then",
	    "the journal's newest line is %s in the future", span);
}

/* What the kernel knows of the service that keeps the clock. */
static void
judge_sync(struct doctor *doctor)
{
	struct timex state = { .modes = 0 };
	int result = adjtimex(&state);

	if (result < 0)
		doctor_add(doctor, DOCTOR_OK, "", "",
		    "the kernel does not say whether the clock is kept");
	else if (result == TIME_ERROR || (state.status & STA_UNSYNC) != 0)
		doctor_add(doctor, DOCTOR_WARN, "",
		    "run a time service: systemd-timesyncd, chrony, ntpd",
		    "nothing keeps the clock right");
	else
		doctor_add(doctor, DOCTOR_OK, "", "",
		    "the clock is kept right (within %ld ms)",
		    state.maxerror / 1000);
}

void
doctor_clock(struct doctor *doctor)
{
	int64_t now_s = clock_wall_s();
	char text[CLOCK_TEXT_BYTES];
	struct stat st;

	clock_local(now_s, text);
	if (now_s < RELEASED_S)
		doctor_add(doctor, DOCTOR_BAD, text,
		    "set the clock: certificates and ages depend on it",
		    "that is before this program was made");
	else
		doctor_add(doctor, DOCTOR_OK, text, "", "it is now");
	if (stat(doctor->conf->spool_dir, &st) == 0 &&
	    st.st_mtime > now_s + DOCTOR_FUTURE_S)
		doctor_add(doctor, DOCTOR_BAD, doctor->conf->spool_dir,
		    "set the clock", "it was changed in the future");
	judge_journal_time(doctor, now_s);
	judge_sync(doctor);
}

/* ---- limits ----------------------------------------------------------- */

/* A number in a file of /proc; -1: there is none. */
static int64_t
doctor_machine_number_of(const char *path)
{
	char text[32];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text));
	uint64_t number;

	if (fd >= 0)
		close(fd);
	if (n <= 0 || !slice_number(slice_trim((struct slice){ text,
	    (size_t)n }), 0, INT64_MAX, &number))
		return -1;
	return (int64_t)number;
}

static void
judge_rlimit(struct doctor *doctor, int which, const char *name,
    uint64_t need)
{
	struct rlimit limit;

	if (getrlimit(which, &limit) != 0)
		return;
	if (limit.rlim_max != RLIM_INFINITY && limit.rlim_max < need)
		doctor_add(doctor, DOCTOR_WARN, name, arena_printf(
		    doctor->arena, "raise it (%s=%llu in the unit, or "
		    "limits.conf), or lower limit sessions and limit agents",
		    which == RLIMIT_NOFILE ? "LimitNOFILE" : "LimitNPROC",
		    (unsigned long long)need),
		    "%llu are allowed, the configuration can need %llu",
		    (unsigned long long)limit.rlim_max,
		    (unsigned long long)need);
	else
		doctor_add(doctor, DOCTOR_OK, name, "",
		    "enough for the configuration (%llu)",
		    (unsigned long long)need);
}

static void
judge_inotify(struct doctor *doctor, const char *path, const char *what,
    int64_t least)
{
	int64_t allowed = doctor_machine_number_of(path);

	if (allowed < 0)
		return;
	if (allowed < least)
		doctor_add(doctor, DOCTOR_WARN, path, arena_printf(
		    doctor->arena, "sysctl -w fs.inotify.max_user_%s=%lld",
		    what, (long long)least),
		    "%lld %s for a user; without, directories are looked at "
		    "every few seconds", (long long)allowed, what);
	else
		doctor_add(doctor, DOCTOR_OK, "inotify", "",
		    "%lld %s for a user", (long long)allowed, what);
}

void
doctor_limits(struct doctor *doctor)
{
	const struct conf_limits *limits = &doctor->conf->limits;
	uint64_t agents = limits->agents;
	uint64_t of_sessions = (uint64_t)limits->sessions *
	    DESCRIPTORS_A_SESSION;
	uint64_t of_agents = agents * DESCRIPTORS_AN_AGENT;

	judge_rlimit(doctor, RLIMIT_NOFILE, "descriptors", DESCRIPTORS_BESIDE +
	    (of_sessions > of_agents ? of_sessions : of_agents));
	judge_rlimit(doctor, RLIMIT_NPROC, "processes", agents + 64);
	judge_inotify(doctor, "/proc/sys/fs/inotify/max_user_watches",
	    "watches", WATCHES_LEAST);
	judge_inotify(doctor, "/proc/sys/fs/inotify/max_user_instances",
	    "instances", 16);
}

/* ---- kernel ------------------------------------------------------------ */

static void
judge_landlock(struct doctor *doctor)
{
	long version = -1;

#if defined(HAVE_LINUX_LANDLOCK_H) && defined(SYS_landlock_create_ruleset)
	version = syscall(SYS_landlock_create_ruleset, NULL, 0,
	    LANDLOCK_CREATE_RULESET_VERSION);
#endif
	if (version > 0)
		doctor_add(doctor, DOCTOR_OK, "Landlock", "",
		    "version %ld: sessions and agents see no files", version);
	else
		doctor_add(doctor, DOCTOR_WARN, "Landlock",
		    "a kernel of 5.13 or later with lsm=landlock has it",
		    "not here: a session that was taken over could see "
		    "files that its account may read");
}

static void
judge_filter(struct doctor *doctor)
{
#ifdef HAVE_SECCOMP
	bool is_built = true;
#else
	bool is_built = false;
#endif
	unsigned action = SECCOMP_RET_ERRNO;
	bool is_there = syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0,
	    &action) == 0;

	if (is_built && is_there)
		doctor_add(doctor, DOCTOR_OK, "seccomp", "",
		    "the system call filter works");
	else
		doctor_add(doctor, DOCTOR_WARN, "seccomp", is_built ?
		    "the kernel needs CONFIG_SECCOMP_FILTER" :
		    "build with libseccomp-dev",
		    "system calls are not filtered");
}

void
doctor_kernel(struct doctor *doctor)
{
	judge_landlock(doctor);
	judge_filter(doctor);
#ifdef HAVE_RENAMEAT2
	doctor_add(doctor, DOCTOR_OK, "renameat2", "",
	    "built with it: a rename never replaces a message");
#else
	doctor_add(doctor, DOCTOR_WARN, "renameat2", "",
	    "built without: a lock and a link stand for it");
#endif
}
