/* programs.c - the programs and sockets that a configuration names are there
 *
 * In     a conf that is right in itself
 * Out    warnings: a program that cannot be run, a directory of a socket that
 *        is missing
 * Holds  nothing
 * Spec   zmailer(8), check
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <pwd.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "daemon/machine/look.h"
#include "io/unix_socket.h"

#include "base/banned.h"

/* The first word of a command; NULL: an agent of ours, by its name. */
static const char *
command_program(const struct machine_look *look, const char *command)
{
	struct slice rest = slice_of(command), word;

	return slice_word(&rest, &word) && word.p[0] == '/' ?
	    slice_dup(look->arena, word) : NULL;
}

static void
check_command_for(const struct machine_look *look, const char *command,
    const char *what_happens, struct conf_at at)
{
	const char *program = command == NULL ? NULL :
	    command_program(look, command);
	struct stat st;
	const char *wrong = NULL;

	if (program == NULL)
		return;
	if (stat(program, &st) != 0)
		wrong = strerror(errno);
	else if (!S_ISREG(st.st_mode))
		wrong = "it is no file";
	else if ((st.st_mode & 0111) == 0)
		wrong = "nobody may run it";
	if (wrong != NULL)
		machine_tell(look, CONF_WARNING, at, arena_printf(look->arena,
		    "install it, or name another; %s", what_happens),
		    arena_printf(look->arena, "the program %s: %s", program,
		    wrong));
}

static void
check_command(const struct machine_look *look, const char *command,
    struct conf_at at)
{
	check_command_for(look, command, "mail for it waits until then", at);
}

static void
check_learn(const struct machine_look *look, const struct conf_learn *one)
{
	check_command_for(look, one->program, "nothing is learned until then",
	    one->at);
	if (one->program != NULL && getpwnam(one->account) == NULL)
		machine_tell(look, CONF_WARNING, one->at, "make it, or name "
		    "another; nothing is learned until then",
		    arena_printf(look->arena, "there is no account called %s",
		    one->account));
}

/* The directory in which a listener makes its socket. */
static void
check_listen(const struct machine_look *look, const struct conf_listen *one)
{
	const struct sockaddr_un *address =
	    (const struct sockaddr_un *)&one->address;
	const char *slash;
	struct stat st;
	char *directory;

	if (one->address.ss_family != AF_UNIX)
		return;
	slash = strrchr(address->sun_path, '/');
	directory = arena_dup(look->arena, address->sun_path,
	    slash == NULL || slash == address->sun_path ? 1 :
	    (size_t)(slash - address->sun_path));
	if (stat(directory, &st) != 0 || !S_ISDIR(st.st_mode))
		machine_tell(look, CONF_WARNING, one->at, arena_printf(
		    look->arena, "make it (install -d %s), or name another",
		    directory), arena_printf(look->arena, "the directory of "
		    "the socket, %s, is not there", directory));
}

/* Its socket is a neighbour's. */
static void
check_content_filter(const struct machine_look *look)
{
	const struct conf_milter *filter = &look->conf->content_filter;

	if (filter->socket != NULL &&
	    !unix_socket_is_meant(slice_of(filter->socket)) &&
	    strncmp(filter->socket, "inet:", 5) != 0)
		check_command(look, filter->socket, filter->at);
}

void
machine_check_programs(struct machine_look *look)
{
	const struct conf *conf = look->conf;

	for (size_t i = 0; i < conf->domain_count; i++)
		check_command(look, conf->domains[i].deliver.command,
		    conf->domains[i].at);
	for (size_t i = 0; i < conf->schedule_count; i++)
		if (conf->schedules[i].at.file != NULL && (i == 0 ||
		    conf->schedules[i].command !=
		    conf->schedules[i - 1].command))
			check_command(look, conf->schedules[i].command,
			    conf->schedules[i].at);
	for (size_t i = 0; i < conf->listen_count; i++)
		check_listen(look, &conf->listens[i]);
	check_content_filter(look);
	for (size_t i = 0; i < LEARN_COUNT; i++)
		check_learn(look, &conf->learns[i]);
}
