/* places.c - where a Redis is, and what it wants to hear
 *
 * In     words of the configuration, the resolver, a file
 * Out    addresses, a password
 * Holds  nothing
 * Trusts the machine's resolver
 * Spec   places.h
 *
 * SPDX-License-Identifier: ISC
 */
#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "grammar/net.h"
#include "share/redis/places.h"

#include "base/banned.h"

enum { PORT_BYTES = 8, OTHERS = S_IRWXG | S_IRWXO };

static void
places_add(struct places *out, const char *host,
    const struct addrinfo *found)
{
	struct store_place *place = &out->at[out->count];

	if (out->count >= PLACES_MAX ||
	    found->ai_addrlen > sizeof(place->address))
		return;
	memcpy(&place->address, found->ai_addr, found->ai_addrlen);
	place->length = found->ai_addrlen;
	net_endpoint_text(found->ai_addr, place->text, sizeof(place->text));
	strlcpy(place->host, host, sizeof(place->host));
	out->count++;
}

static void
places_find_host(struct slice host, unsigned port, struct places *out,
    struct err *err)
{
	const struct addrinfo want = { .ai_family = AF_UNSPEC,
	    .ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV };
	char name[PLACE_HOST_BYTES], number[PORT_BYTES];
	struct addrinfo *found = NULL;
	int result;

	snprintf(name, sizeof(name), SLICE_FMT, SLICE_ARG(host));
	snprintf(number, sizeof(number), "%u", port);
	result = getaddrinfo(name, number, &want, &found);
	if (result != 0) {
		err_set(err, "%s: %s", name, gai_strerror(result));
		return;
	}
	for (const struct addrinfo *one = found; one != NULL;
	    one = one->ai_next)
		places_add(out, name, one);
	freeaddrinfo(found);
}

int
places_find(const struct conf_cluster *cluster, struct places *out,
    struct err *err)
{
	const bool has_sentinels = cluster->master != NULL;
	const char *const *servers = has_sentinels ? cluster->sentinels :
	    cluster->servers;
	const size_t count = has_sentinels ? cluster->sentinel_count :
	    cluster->server_count;
	struct slice host;
	unsigned port;

	out->count = 0;
	err_set(err, "no address");
	for (size_t i = 0; i < count; i++) {
		port = has_sentinels ? CLUSTER_SENTINEL_PORT : CLUSTER_PORT;
		if (conf_cluster_server(slice_of(servers[i]), &host, &port))
			places_find_host(host, port, out, err);
	}
	return out->count > 0 ? 0 : -1;
}

char *
places_password(const char *path, struct err *err)
{
	char line[PASSWORD_BYTES_MAX] = "", *password = NULL;
	FILE *file = fopen(path, "re");
	struct stat st;

	if (file == NULL || fstat(fileno(file), &st) != 0) {
		err_sys(err, "%s", path);
		if (file != NULL)
			fclose(file);
		return NULL;
	}
	if ((st.st_mode & OTHERS) != 0)
		err_set(err, "%s: others may read or change it: chmod 600",
		    path);
	else if (fgets(line, sizeof(line), file) == NULL)
		err_set(err, "%s: its first line is empty", path);
	fclose(file);
	line[strcspn(line, "\r\n")] = '\0';
	if ((st.st_mode & OTHERS) == 0 && line[0] == '\0')
		err_set(err, "%s: its first line is empty", path);
	else if (line[0] != '\0')
		password = mem_strdup(line);
	explicit_bzero(line, sizeof(line));
	return password;
}
