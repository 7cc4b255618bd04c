/* goal.c - where the PostgreSQL is, and what it wants to hear
 *
 * In     words of the configuration, the resolver, a file
 * Out    addresses, and words for libpq
 * Holds  nothing
 * Trusts the machine's resolver
 * Spec   goal.h; PostgreSQL 15, section 34.1.2 (words of a connection)
 *
 * SPDX-License-Identifier: ISC
 */
#include "share/copies/goal.h"

#include <string.h>

#include "base/mem.h"

#ifdef HAVE_PGSQL
#include <libpq-fe.h>
#include <netdb.h>
#include <pwd.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "grammar/net.h"
#include "share/redis/places.h"

#endif

#include "base/banned.h"

#ifdef HAVE_PGSQL

#define GOAL_SOCKETS "/run/postgresql"
#define GOAL_ROOTS "/etc/ssl/certs/ca-certificates.crt"

enum { GOAL_ADDRESS_BYTES = 80 };

/* What we say ourselves, or what says where it is. */
static const char *const goal_ours[] = {
	"host", "hostaddr", "port", "passfile", "application_name",
	"fallback_application_name", "gssencmode", "target_session_attrs",
	"connect_timeout", "client_encoding", "replication"
};
static const char *const goal_of_files[] = {
	"sslrootcert", "sslcert", "sslkey", "sslcrl"
};

static bool
goal_is_among(const char *word, const char *const words[], size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(word, words[i]) == 0)
			return true;
	return false;
}

static void
goal_say(struct copies_goal *goal, const char *keyword, const char *value)
{
	if (goal->word_count == GOAL_WORDS_MAX - 1)	/* a NULL follows */
		return;
	goal->keywords[goal->word_count] = keyword;
	goal->values[goal->word_count++] = value;
}

/* "": it was not said. */
static const char *
goal_said(const PQconninfoOption *options, const char *keyword)
{
	for (; options->keyword != NULL; options++)
		if (strcmp(options->keyword, keyword) == 0)
			return options->val != NULL ? options->val : "";
	return "";
}

/* ---- places ------------------------------------------------------------ */

static void
goal_add_place(struct copies_goal *goal, struct slice host,
    struct slice address, struct slice port)
{
	struct goal_place *place = &goal->places[goal->place_count];

	if (goal->place_count == GOAL_PLACES_MAX)
		return;
	place->host = slice_dup(goal->arena, host);
	place->address = slice_dup(goal->arena, address);
	place->port = slice_dup(goal->arena, port);
	goal->place_count++;
}

/* All addresses of a name, in the order of the system. */
static void
goal_look_up(struct copies_goal *goal, struct slice host, struct slice port,
    struct err *err)
{
	const struct addrinfo want = { .ai_family = AF_UNSPEC,
	    .ai_socktype = SOCK_STREAM };
	const char *name = slice_dup(goal->arena, host);
	char address[GOAL_ADDRESS_BYTES];
	struct addrinfo *found = NULL;
	int result = getaddrinfo(name, NULL, &want, &found);

	if (result != 0) {
		err_set(err, "%s: %s", name, gai_strerror(result));
		goal->has_names = true;
		return;
	}
	for (const struct addrinfo *one = found; one != NULL;
	    one = one->ai_next)
		if (getnameinfo(one->ai_addr, one->ai_addrlen, address,
		    sizeof(address), NULL, 0, NI_NUMERICHOST) == 0) {
			goal->has_names = goal->has_names ||
			    strcmp(address, name) != 0;
			goal_add_place(goal, host, slice_of(address), port);
		}
	freeaddrinfo(found);
}

/* An item of the lists host, hostaddr, port; an item that is missing in them
 * is empty. */
static void
goal_add_host(struct copies_goal *goal, struct slice host,
    struct slice address, struct slice port, struct err *err)
{
	if (address.n > 0)
		goal_add_place(goal, host.n > 0 ? host : address, address,
		    port);
	else if (host.n == 0)
		goal_add_place(goal, SLICE(GOAL_SOCKETS), address, port);
	else if (host.p[0] == '/' || host.p[0] == '@')
		goal_add_place(goal, host, address, port);
	else
		goal_look_up(goal, host, port, err);
}

static int
goal_find_places(struct copies_goal *goal, const PQconninfoOption *options,
    struct err *err)
{
	struct slice hosts = slice_of(goal_said(options, "host"));
	struct slice addresses = slice_of(goal_said(options, "hostaddr"));
	struct slice ports = slice_of(goal_said(options, "port"));
	struct slice host, address, port = { "", 0 };
	bool has_ports = slice_find(ports, ',') < ports.n;

	if (!has_ports)
		port = ports;
	err_set(err, "no address");
	do {
		host = address = (struct slice){ "", 0 };
		(void)slice_cut(&hosts, ',', &host);
		(void)slice_cut(&addresses, ',', &address);
		if (has_ports)
			(void)slice_cut(&ports, ',', &port);
		goal_add_host(goal, slice_trim(host), slice_trim(address),
		    slice_trim(port), err);
	} while (hosts.n > 0 || addresses.n > 0);
	return goal->place_count > 0 ? 0 : -1;
}

/* ---- words ------------------------------------------------------------- */

static void
goal_take_words(struct copies_goal *goal, const PQconninfoOption *options)
{
	for (; options->keyword != NULL; options++) {
		const char *keyword, *value;

		if (options->val == NULL || options->val[0] == '\0' ||
		    goal_is_among(options->keyword, goal_ours,
		    sizeof(goal_ours) / sizeof(goal_ours[0])))
			continue;
		keyword = slice_dup(goal->arena, slice_of(options->keyword));
		value = slice_dup(goal->arena, slice_of(options->val));
		goal_say(goal, keyword, value);
		if (goal->file_count < GOAL_FILES_MAX &&
		    goal_is_among(keyword, goal_of_files,
		    sizeof(goal_of_files) / sizeof(goal_of_files[0])))
			goal->files[goal->file_count++] = value;
	}
}

/* What libpq would look for in places that are not there later. */
static void
goal_complete(struct copies_goal *goal, const PQconninfoOption *options)
{
	bool is_verified = strncmp(goal_said(options, "sslmode"), "verify-",
	    7) == 0;
	const struct passwd *user = getpwuid(geteuid());

	if (is_verified && goal_said(options, "sslrootcert")[0] == '\0' &&
	    goal->file_count < GOAL_FILES_MAX) {
		goal_say(goal, "sslrootcert", GOAL_ROOTS);
		goal->files[goal->file_count++] = GOAL_ROOTS;
	}
	if (goal_said(options, "user")[0] == '\0' && user != NULL)
		goal_say(goal, "user", slice_dup(goal->arena,
		    slice_of(user->pw_name)));
	goal_say(goal, "passfile", "/dev/null");
	goal_say(goal, "application_name", "zmailer");
	goal_say(goal, "gssencmode", "disable");
	goal_say(goal, "target_session_attrs", "read-write");
	goal_say(goal, "client_encoding", "UTF8");
	if (goal->password != NULL)
		goal_say(goal, "password", goal->password);
}

int
goal_find(const struct conf_cluster *cluster, struct copies_goal *goal,
    struct err *err)
{
	char *trouble = NULL;
	PQconninfoOption *options = PQconninfoParse(cluster->postgres,
	    &trouble);
	int result;

	if (goal->arena == NULL)
		goal->arena = arena_new();
	if (options == NULL) {
		err_set(err, SLICE_FMT, SLICE_ARG(slice_trim(slice_of(
		    trouble != NULL ? trouble : "no words for libpq"))));
		PQfreemem(trouble);
		strlcpy(goal->trouble, err->text, sizeof(goal->trouble));
		return -1;
	}
	goal_take_words(goal, options);
	goal_complete(goal, options);
	result = goal_find_places(goal, options, err);
	strlcpy(goal->trouble, err->text, sizeof(goal->trouble));
	PQconninfoFree(options);
	return result;
}

#else

int
goal_find(const struct conf_cluster *cluster, struct copies_goal *goal,
    struct err *err)
{
	return err_set(err, "this zmailer was built without PostgreSQL");
}

#endif

void
goal_release(struct copies_goal *goal)
{
	if (goal->password != NULL)
		explicit_bzero(goal->password, strlen(goal->password));
	mem_free(&goal->password);
	arena_free(&goal->arena);
}
