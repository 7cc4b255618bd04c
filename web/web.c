/* web.c - main: the postmaster's desk in a browser
 *
 * zmailer web starts it, in the foreground.  It becomes two processes: one has
 * the rights of who calls, and asks as he may ask; the other serves, and has
 * none.
 *
 * SPDX-License-Identifier: ISC
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

#include "base/fd.h"
#include "conf/conf.h"
#include "daemon/skeleton.h"
#include "web/pages/pages.h"
#include "web/send/send.h"
#include "web/serve/serve.h"

#include "base/banned.h"

enum { WORDS = 5, WORDS_NETWORK = 10, WORDS_SEND = 4 };

static int
web_usage(FILE *out, int status)
{
	fputs("usage: zm-web [--send DIR LISTENER BYTES] "
	    "ZMAILER CONFIGURATION RUN-DIRECTORY PORT "
	    "[ADDRESS:PORT CERTIFICATE KEY USERS ROLES]\n\n"
	    "zmailer web starts it; see zmailer-web(8).\n", out);
	return status;
}

/* --send DIR LISTENER BYTES, before all others.  -1: BYTES is no number. */
static int
web_take_send(int *argc, char ***argv, struct send_how *out)
{
	uint64_t bytes;

	*out = (struct send_how){ .dir = NULL };
	if (*argc <= WORDS_SEND || strcmp((*argv)[1], "--send") != 0)
		return 0;
	if (!slice_number(slice_of((*argv)[4]), 1, INT64_MAX, &bytes))
		return -1;
	*out = (struct send_how){ .dir = (*argv)[2], .place = (*argv)[3],
	    .size_bytes = (size_t)bytes };
	*argc -= WORDS_SEND;
	*argv += WORDS_SEND;
	return 0;
}

/* Whose the directory of --send will be. */
static int
web_account(const struct conf *conf, struct send_how *out, struct err *err)
{
	out->uid = geteuid();
	out->gid = getegid();
	if (out->uid != 0 || strcmp(conf->accounts[ROLE_WEB], "-") == 0)
		return 0;
	return daemon_account(conf, ROLE_WEB, &out->uid, &out->gid, err);
}

/* returns an exit status, at the end of the desk */
static int
web_begin(struct web_site *site, struct send_how *send, unsigned port)
{
	struct err err;

	if (send->dir != NULL &&
	    (web_account(site->orders.conf, send, &err) < 0 ||
	    send_open(send, &err) < 0)) {
		fprintf(stderr, "zmailer: web: %s\n", err.text);
		return EX_CANTCREAT;
	}
	site->orders.has_intake = send->dir != NULL;
	site->orders.submit = send_place(&site->orders.submit_length);
	if (web_serve(site, port, &err) < 0) {
		fprintf(stderr, "zmailer: web: %s\n", err.text);
		return EX_UNAVAILABLE;
	}
	return EX_OK;
}

int
main(int argc, char **argv)
{
	struct web_site site = { .door = NULL };
	struct send_how send;
	struct web_door door;
	struct conf *conf;
	uint64_t port;
	int status;

	fd_claim_standard();
	if (argc == 2 && strcmp(argv[1], "--version") == 0)
		return printf("zmailer web %s\n", PACKAGE_VERSION) < 0;
	if (argc == 2 && strcmp(argv[1], "--help") == 0)
		return web_usage(stdout, EX_OK);
	if (web_take_send(&argc, &argv, &send) < 0 ||
	    (argc != WORDS && argc != WORDS_NETWORK) ||
	    !slice_number(slice_of(argv[4]), 0, 65535, &port))
		return web_usage(stderr, EX_USAGE);
	err_program("zmailer: web");
	(void)signal(SIGPIPE, SIG_IGN);
	site.orders.asker.zmailer = argv[1];
	site.orders.asker.conf_path = argv[2][0] != '\0' ? argv[2] : NULL;
	site.orders.asker.run_dir = argv[3];
	conf = conf_makeshift_or_tell(site.orders.asker.conf_path);
	if (conf == NULL)
		return EX_CONFIG;
	site.orders.conf = conf;
	if (conf_asks_nodes(conf))
		pages_set_cluster(&conf->cluster);
	if (argc == WORDS_NETWORK) {
		door = (struct web_door){ .address = argv[5],
		    .certificate = argv[6], .key = argv[7] };
		site.door = &door;
		site.orders.is_network = true;
		site.orders.certificate = door.certificate;
		site.orders.key = door.key;
		site.orders.users = argv[8];
		site.orders.roles = argv[9];
		err_program("web");
	}
	status = web_begin(&site, &send, (unsigned)port);
	conf_free(&conf);
	return status;
}
