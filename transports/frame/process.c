/* process.c - the process of an agent: arguments, configuration, sandbox
 *
 * In     a command line
 * Out    an agent that serves its standard input and output
 * Holds  the configuration
 * Spec   doc/protocol/agent.md; doc/INTERNALS.md row E1
 *
 * SPDX-License-Identifier: ISC
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sysexits.h>
#include <unistd.h>

#include "base/title.h"
#include "base/clock.h"
#include "base/fd.h"
#include "journal/event.h"
#include "io/dns/dns.h"
#include "transports/frame/agent.h"
#include "transports/frame/carrier.h"

#include "base/banned.h"

static int
process_usage(FILE *out, const struct agent_kind *agent, int status)
{
	fprintf(out, "usage: %s [-C FILE]%s%s\n%s; started by the scheduler, "
	    "which speaks\non its standard input and output "
	    "(doc/protocol/agent.md)\n", agent->name,
	    agent->takes != NULL ? " " : "",
	    agent->takes != NULL ? agent->takes : "", agent->purpose);
	return status;
}

struct arguments {
	const char	*path;
	bool		 tries_escape;	/* show what the sandbox leaves open */
	bool		 is_many;	/* agents come on standard input */
	char		**words;	/* the rest */
	int		 word_count;
};

/* returns the exit status, or -1: go on. */
static int
process_take_arguments(int argc, char **argv, const struct agent_kind *agent,
    struct arguments *out)
{
	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "-C") == 0 && i + 1 < argc) {
			out->path = argv[++i];
		} else if (strcmp(argv[i], "--try-escape") == 0) {
			out->tries_escape = true;
		} else if (strcmp(argv[i], "--carrier") == 0 &&
		    agent->join != NULL) {
			out->is_many = true;
		} else if (strcmp(argv[i], "--version") == 0) {
			printf("%s (zmailer %s)\n", agent->name,
			    PACKAGE_VERSION);
			return EX_OK;
		} else if (strcmp(argv[i], "--help") == 0) {
			return process_usage(stdout, agent, EX_OK);
		} else if (agent->takes != NULL) {
			out->words = argv + i;
			out->word_count = argc - i;
			return -1;
		} else {
			fprintf(stderr, "%s: unknown argument %s\n",
			    agent->name, argv[i]);
			return process_usage(stderr, agent, EX_USAGE);
		}
	}
	return -1;
}

/* Whatever is opened by and by is opened now; of the file system the journal
 * remains, to be written. */
static int
process_confine(struct agent_run *run, bool is_many, struct err *err)
{
	struct sandbox *sandbox = &run->sandbox;

	(void)clock_steady_ms();
	if (dns_open(is_many ? DNS_RESOLVERS_MAX : 1, err) < 0)
		return -1;
	sandbox->appended[sandbox->appended_count++] = run->conf->log_dir;
	return sandbox_enter(sandbox, err) < 0 ? -1 : 0;
}

static int
process_start(struct agent_run *run, bool is_many, struct err *err)
{
	title_set("%s agent", run->agent->name);
	signal(SIGPIPE, SIG_IGN);
	umask(077);
	if (event_open(run->conf->log_dir) < 0)
		warning("%s cannot be opened: this agent keeps no journal",
		    run->conf->log_dir);
	if (conf_classes_load(run->conf, err) < 0)
		warning("classes: %s", err->text);
	if (dns_use(run->conf->dns_server, err) < 0)
		return -1;
	if (run->agent->start != NULL && run->agent->start(run, err) < 0)
		return -1;
	return run->agent->is_confined ? process_confine(run, is_many, err) :
	    0;
}

/* One agent, which is the process; or those that the launcher sends. */
static int
process_serve(struct agent_run *run, bool is_many, struct err *err)
{
	int result;

	if (!is_many)
		return agent_serve(run, STDIN_FILENO, STDOUT_FILENO, err);
	result = carrier_serve(run, STDIN_FILENO, err);
	if (run->agent->finish != NULL)
		run->agent->finish(run);
	event_flush();
	return result;
}

int
agent_main(int argc, char **argv, const struct agent_kind *agent)
{
	struct arguments arguments = { .path = NULL };
	struct agent_run run = { .agent = agent };
	struct conf *conf;
	struct err err;
	int status;

	fd_claim_standard();
	err_program(agent->name);
	title_open(argc, argv);
	status = process_take_arguments(argc, argv, agent, &arguments);
	if (status >= 0)
		return status;
	conf = conf_in_force_or_tell(arguments.path);
	if (conf == NULL)
		return EX_CONFIG;
	run.conf = conf;
	run.words = arguments.words;
	run.word_count = arguments.word_count;
	run.arena = arena_new();
	status = EX_OK;
	if (process_start(&run, arguments.is_many, &err) < 0)
		status = EX_CONFIG;
	else if (arguments.tries_escape)
		status = sandbox_try_escape() == 0 ? EX_OK : EX_SOFTWARE;
	else if (process_serve(&run, arguments.is_many, &err) < 0)
		status = EX_UNAVAILABLE;
	if (status == EX_CONFIG || status == EX_UNAVAILABLE)
		warning("%s", err.text);
	arena_free(&run.arena);
	conf_free(&conf);
	return status;
}
