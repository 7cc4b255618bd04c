/* handover.h - what a supervisor hands over to the program that replaces it;
 * internal to tools/run
 *
 * `zmailer upgrade`: the supervisor executes the installed program in its own
 * process.  Descriptors stay open, children stay children; a record, a text in
 * a memfd, says what they are.  Its first line is "zmailer-handover 1"; each
 * other line is a word and its fields, by a table (handover.c) from which the
 * record is written and read.  A program refuses another version, a line that
 * it does not know, and impossible values.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TOOLS_RUN_HANDOVER_H
#define ZM_TOOLS_RUN_HANDOVER_H

#include "base/err.h"
#include "base/str.h"
#include "conf/conf.h"

enum {
	HANDOVER_VERSION = 1,
	HANDOVER_BYTES_MAX = 1 << 20,
	HANDOVER_SETTINGS_MAX = 32,
	HANDOVER_LISTENERS_MAX = 256,
	HANDOVER_GIVEN_MAX = 256,
	HANDOVER_ROOMS_MAX = 8,
	HANDOVER_CHILDREN_MAX = 8,
	HANDOVER_BEFORE_MAX = 64,
	HANDOVER_BESIDE_MAX = 16
};

struct handover_instance {
	int64_t	since_s;
	int64_t	conf_number, reloads, upgrades;
	int	lock_fd;
};

/* A setting that must be unchanged in a program that takes over; and "conf",
 * the path of the file (none: all defaults). */
struct handover_setting {
	char	name[32];
	char	value[4096];
};

struct handover_room {
	int64_t	number;			/* enum spool_room */
	int	fd;
};

struct handover_listener {
	char	whose[16];		/* "smtpserver", "scheduler" */
	int	fd;
	bool	is_given, is_submission, is_tls;
	char	text[CONF_LISTEN_BYTES];
};

struct handover_given {			/* by the service manager, unused */
	int	fd;
};

struct handover_child {
	char	name[32], state[16];
	int64_t	pid;
	int	lifeline;		/* -1: no process */
	int64_t	since_s, started_at_ms, restarts, conf;
	bool	was_ready;
	int64_t	made_s, bytes;		/* of the program */
	char	program[256];
};

struct handover_before {		/* a predecessor, oldest first */
	char	name[32];
	int64_t	pid;
	int	lifeline;
	bool	is_told, has_left, is_stopping;
};

struct handover_beside {
	char	name[32];
	int64_t	pid;			/* 0: none */
	int	lifeline, socket, place, second;	/* -1: none */
};

struct handover {
	struct handover_instance instances[1];
	struct handover_setting	settings[HANDOVER_SETTINGS_MAX];
	struct handover_room	rooms[HANDOVER_ROOMS_MAX];
	struct handover_listener listeners[HANDOVER_LISTENERS_MAX];
	struct handover_given	given[HANDOVER_GIVEN_MAX];
	struct handover_child	children[HANDOVER_CHILDREN_MAX];
	struct handover_before	before[HANDOVER_BEFORE_MAX];
	struct handover_beside	beside[HANDOVER_BESIDE_MAX];
	size_t	instance_count, setting_count, room_count, listener_count,
		given_count, child_count, before_count, beside_count;
};

/* Append the record.  0; -1 with err: a text does not fit into a line. */
int handover_add(struct str *out, const struct handover *handover,
    struct err *err);
/* Read a record.  0; -1 with err, which names the line. */
int handover_parse(struct slice text, struct handover *out, struct err *err);
/* Check that all its descriptors are open, none is named twice, and each is
 * what the record says.  0 or -1 with err. */
int handover_check(const struct handover *handover, struct err *err);
/* Set whether they, and fd, which has the record, stay open over an exec. */
void handover_keep(const struct handover *handover, int fd, bool is_kept);

/* The value of a setting; "": there is none. */
const char *handover_setting(const struct handover *handover,
    const char *name);
/* Add a setting. */
void handover_set(struct handover *handover, const char *name,
    const char *value);

/* Write the record to a memfd, close-on-exec, and return that.  -1 with err. */
int handover_write(const struct handover *handover, struct err *err);
/* Read and check the record in fd.  The caller owns fd and all descriptors that
 * the record names.  0 or -1 with err. */
int handover_read(int fd, struct handover *out, struct err *err);

#endif
