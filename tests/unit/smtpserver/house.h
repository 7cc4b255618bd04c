/* house.h - a worker with a spool of its own, for tests and the fuzzer
 *
 * Everything runs in one process: the test is the client at the other end
 * of a socket pair and turns the loop by hand.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TESTS_SMTPSERVER_HOUSE_H
#define ZM_TESTS_SMTPSERVER_HOUSE_H

#include "io/loop.h"
#include "smtpserver/worker/worker.h"

struct house {
	char		 dir[128];
	struct loop	*loop;
	struct spool	*spool;
	struct conf	*conf;
	struct worker	*worker;
	int64_t		*clock;		/* seconds added to both clocks */
	int		 send_bytes;	/* buffer of connections to come; 0: as
					 * the system has it */
};

/* Open one.  conf_text is put after "host mx.example.org" and "domain
 * example.org".  Ends the process with a message when that fails. */
void house_open(struct house *house, const char *conf_text);
/* For fuzzers: the first call opens it, in memory where there is such a
 * place (an input may write a file); it is closed when the process ends. */
void house_open_once(struct house *house, const char *conf_text);
/* Close and remove it. */
void house_close(struct house *house);

/* The same, with time in the hand of the test: house->clock. */
void house_open_clocked(struct house *house, const char *conf_text);

/* A client from address ("192.0.2.7:4711").  returns its descriptor,
 * non-blocking. */
int house_connect(struct house *house, const char *address);

/* Send n bytes in pieces of at most piece bytes, turning the loop after
 * each; replies are appended to out (may be NULL). */
void house_send(struct house *house, int client, const char *bytes, size_t n,
    size_t piece, struct str *out);
/* Turn until nothing more comes.  returns false when the server has closed. */
bool house_hear(struct house *house, int client, struct str *out);

/* Replies in short: "250 250/2.1.0 354": code, and status if there is one;
 * a reply of several lines once. */
void replies_short(struct slice replies, struct str *out);

/* How many files an area has; the contents of the first one. */
unsigned house_count(struct house *house, const char *area);
void house_first(struct house *house, const char *area, struct str *out);
/* Unlink all files of an area. */
void house_empty(struct house *house, const char *area);

#endif
