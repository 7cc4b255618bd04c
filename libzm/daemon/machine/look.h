/* look.h - what the files of machine/ share
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_DAEMON_MACHINE_LOOK_H
#define ZM_DAEMON_MACHINE_LOOK_H

#include "base/str.h"
#include "conf/read/read.h"

struct table;

/* Compares a conf with the machine that it is for. */
struct machine_look {
	const struct conf	*conf;
	struct arena		*arena;		/* of the report */
	struct conf_report	*report;
	unsigned		 width;		/* of what is underlined */
};

/* Complain about what was found; hint may be NULL; both are copied. */
void machine_tell(const struct machine_look *look, enum conf_kind kind,
    struct conf_at at, const char *hint, const char *text);

/* A table that is checked, for complaints about its lines. */
struct machine_table {
	struct machine_look	*look;
	const struct conf_table	*entry;
	struct table		*table;
	const char		*path;		/* "": lines of the statement */
	struct str		 text;		/* of the file */
};

/* Complain about a line of the table, from word (may be empty) on; hint may
 * be NULL; all are copied. */
void machine_tell_line(struct machine_table *place, enum conf_kind kind,
    unsigned line, struct slice word, const char *hint, const char *text);
/* The tables of the configuration exist, can be read, and all their lines are
 * good. */
void machine_check_tables(struct machine_look *look);
/* A warning for aliases that lead to each other. */
void machine_check_loops(struct machine_table *place, bool is_virtual);

/* A warning for each value of a table of routes or of users that the router
 * could not use. */
void machine_check_values(struct machine_table *place);
/* Certificates can be read, fit their keys, are in force. */
void machine_check_certificates(const struct conf *conf, struct arena *arena,
    struct conf_report *report);
/* Keys of sign statements can be read, and are keys. */
void machine_check_signs(const struct machine_look *look);
/* The same for each line of a table that a sign statement names; if it cannot
 * be listed, complains that nothing was checked. */
void machine_check_sign_table(struct machine_table *place);
/* The password file of a cluster exists, and others cannot read it. */
void machine_check_cluster(const struct machine_look *look);
/* The keys of notify exist, and others cannot read them. */
void machine_check_notify(const struct machine_look *look);
/* The resolver's trust anchor and program exist. */
void machine_check_resolver(const struct machine_look *look);
/* Programs of pipes, agents and filters can be run; the directories of sockets
 * exist. */
void machine_check_programs(struct machine_look *look);
/* A process listens at each socket that is named. */
void machine_check_neighbours(const struct machine_look *look);
/* A warning for each domain whose aliases give postmaster's mail to nobody. */
void machine_check_postmaster(struct machine_look *look);
/* A warning when nobody takes what log-to sends. */
void machine_check_log_to(const struct machine_look *look);
/* A warning when the networks that may relay, or are trusted, in rules and in
 * tables, are too many altogether. */
void machine_check_relay(struct machine_look *look);
/* A warning for each warm-up whose last day is over. */
void machine_check_warm_ups(const struct machine_look *look);
/* The script of hooks is safe and compiles. */
void machine_check_hooks(const struct machine_look *look);

#endif
