/* house.c - a worker with a spool of its own, for tests and the fuzzer
 *
 * SPDX-License-Identifier: ISC
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "house.h"

#include "base/banned.h"

enum { QUIET_TURNS = 2 };

/* No table and no domain has the system's file, whatever host this is. */
static void
house_forget_aliases(struct conf *conf)
{
	for (size_t i = 0; i < conf->domain_count; i++)
		if (conf->domains[i].alias_count == 1 &&
		    strcmp(conf->domains[i].aliases[0], "aliases") == 0)
			conf->domains[i].alias_count = 0;
	if (conf->table_count > 0 && strstr(
	    conf->tables[conf->table_count - 1].spec, "/etc/aliases") != NULL)
		conf->table_count--;
}

static struct conf *
house_conf(const char *text)
{
	struct str all = STR_INIT, report_text = STR_INIT;
	struct arena *arena = arena_new();
	struct conf_report report;
	struct conf *conf;

	str_addf(&all, "host mx.example.org; verify off\n"
	    "domain example.org\n%s\n", text);
	conf = conf_parse("test.conf", str_slice(&all), arena, &report);
	if (conf == NULL) {
		conf_report_print(&report, "test.conf", &report_text);
		fatal("%s", report_text.buf);
	}
	house_forget_aliases(conf);
	str_release(&all);
	str_release(&report_text);
	arena_free(&arena);
	return conf;
}

static void
house_dir(struct house *house)
{
	const char *base = getenv("TMPDIR");

	snprintf(house->dir, sizeof(house->dir), "%s/smtpserver.XXXXXX",
	    base != NULL && *base != '\0' ? base : "/tmp");
	if (mkdtemp(house->dir) == NULL)
		fatal("mkdtemp %s: %s", house->dir, strerror(errno));
}

/* Not by SPOOL_CREATE, which gives them to accounts when run by root. */
static void
house_make_areas(struct house *house)
{
	char path[192];

	for (int i = 0; i < AREA_COUNT; i++) {
		snprintf(path, sizeof(path), "%s/%s", house->dir,
		    spool_area_names[i]);
		if (mkdir(path, 0700) != 0)
			fatal("%s: %s", path, strerror(errno));
	}
	for (int i = 1; i < SPOOL_PRIORITIES; i++) {
		snprintf(path, sizeof(path), "%s/router.%d", house->dir, i);
		if (mkdir(path, 0700) != 0)
			fatal("%s: %s", path, strerror(errno));
	}
}

static void
house_begin(struct house *house, const char *conf_text)
{
	struct err err;

	house->conf = house_conf(conf_text);
	house_make_areas(house);
	if (spool_open(house->dir, 0, 0, &house->spool, &err) != 0)
		fatal("%s", err.text);
	house->loop = loop_new();
	house->worker = worker_new(house->loop, house->spool,
	    settings_new(house->conf, false));
}

void
house_open(struct house *house, const char *conf_text)
{
	memset(house, 0, sizeof(*house));
	house_dir(house);
	house_begin(house, conf_text);
}

void
house_open_clocked(struct house *house, const char *conf_text)
{
	char path[160];
	int fd;

	memset(house, 0, sizeof(*house));
	house_dir(house);
	snprintf(path, sizeof(path), "%s/clock", house->dir);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0 || ftruncate(fd, sizeof(*house->clock)) != 0)
		fatal("%s: %s", path, strerror(errno));
	house->clock = mmap(NULL, sizeof(*house->clock),
	    PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (house->clock == MAP_FAILED)
		fatal("%s: %s", path, strerror(errno));
	setenv("ZMAILER_TEST_CLOCK", path, 1);
	house_begin(house, conf_text);
}

/* Directories are one level deep: areas with files, hash levels 0. */
static void
remove_below(const char *dir)
{
	DIR *d = opendir(dir);
	struct dirent *entry;
	char path[512];

	while (d != NULL && (entry = readdir(d)) != NULL) {
		if (strcmp(entry->d_name, ".") == 0 ||
		    strcmp(entry->d_name, "..") == 0)
			continue;
		snprintf(path, sizeof(path), "%s/%s", dir, entry->d_name);
		if (unlink(path) != 0) {
			remove_below(path);
			rmdir(path);
		}
	}
	if (d != NULL)
		closedir(d);
}

void
house_close(struct house *house)
{
	worker_free(&house->worker);
	loop_free(&house->loop);
	spool_close(&house->spool);
	conf_free(&house->conf);
	if (house->clock != NULL)
		munmap(house->clock, sizeof(*house->clock));
	remove_below(house->dir);
	rmdir(house->dir);
}

int
house_connect(struct house *house, const char *address)
{
	struct client client;
	int ends[2];
	struct err err;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK,
	    0, ends) != 0)
		fatal("socketpair: %s", strerror(errno));
	if (house->send_bytes > 0)
		(void)setsockopt(ends[1], SOL_SOCKET, SO_SNDBUF,
		    &house->send_bytes, sizeof(house->send_bytes));
	if (client_parse(slice_of(address), SLICE("127.0.0.1:25"), &client,
	    &err) < 0)
		fatal("%s", err.text);
	worker_open(house->worker, ends[1], 1, &client);
	return ends[0];
}

/* returns 1 got some, 0 nothing, -1 closed */
static int
hear_once(int client, struct str *out)
{
	char bytes[65536];
	ssize_t n = read(client, bytes, sizeof(bytes));

	if (n > 0 && out != NULL)
		str_add(out, bytes, (size_t)n);
	return n > 0 ? 1 : n < 0 && errno == EAGAIN ? 0 : -1;
}

bool
house_hear(struct house *house, int client, struct str *out)
{
	int quiet = 0;

	while (quiet < QUIET_TURNS) {
		int got;

		loop_turn(house->loop, 0);
		got = hear_once(client, out);
		if (got < 0)
			return false;
		quiet = got > 0 ? 0 : quiet + 1;
	}
	return true;
}

void
house_send(struct house *house, int client, const char *bytes, size_t n,
    size_t piece, struct str *out)
{
	while (n > 0) {
		ssize_t done = send(client, bytes, n < piece ? n : piece,
		    MSG_NOSIGNAL);

		if (done < 0 && errno != EAGAIN)
			return;		/* the server has closed */
		if (done > 0) {
			bytes += done;
			n -= (size_t)done;
		}
		loop_turn(house->loop, 0);
		if (done < 0)
			(void)hear_once(client, out);
	}
}

void
replies_short(struct slice replies, struct str *out)
{
	struct slice line;

	while (replies.n > 0 && slice_cut(&replies, '\n', &line)) {
		struct slice status = slice_from(line, 4);

		if (line.n < 5 || line.p[3] != ' ')
			continue;
		str_addf(out, "%s%.3s", out->len ? " " : "", line.p);
		status = slice_first(status, slice_find(status, ' '));
		if (status.n >= 5 && status.p[1] == '.')
			str_addf(out, "/" SLICE_FMT, SLICE_ARG(status));
	}
}

static DIR *
area_dir(struct house *house, const char *area, char *path, size_t size)
{
	snprintf(path, size, "%s/%s", house->dir, area);
	return opendir(path);
}

unsigned
house_count(struct house *house, const char *area)
{
	char path[256];
	DIR *d = area_dir(house, area, path, sizeof(path));
	struct dirent *entry;
	unsigned count = 0;

	while (d != NULL && (entry = readdir(d)) != NULL)
		count += entry->d_name[0] != '.';
	if (d != NULL)
		closedir(d);
	return count;
}

void
house_first(struct house *house, const char *area, struct str *out)
{
	char path[256], file[520];
	DIR *d = area_dir(house, area, path, sizeof(path));
	struct dirent *entry;
	int fd = -1;

	while (d != NULL && fd < 0 && (entry = readdir(d)) != NULL)
		if (entry->d_name[0] != '.') {
			snprintf(file, sizeof(file), "%s/%s", path,
			    entry->d_name);
			fd = open(file, O_RDONLY | O_CLOEXEC);
		}
	if (d != NULL)
		closedir(d);
	if (fd < 0)
		return;
	while (hear_once(fd, out) > 0)
		;
	close(fd);
}

void
house_empty(struct house *house, const char *area)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%s", house->dir, area);
	remove_below(path);
}

/* ---- one for a whole process -------------------------------------- */

static struct house *only_house;

static void
only_house_close(void)
{
	house_close(only_house);
}

void
house_open_once(struct house *house, const char *conf_text)
{
	if (only_house != NULL)
		return;
	only_house = house;
	if (getenv("TMPDIR") == NULL && access("/dev/shm", W_OK) == 0)
		setenv("TMPDIR", "/dev/shm", 1);
	house_open(house, conf_text);
	atexit(only_house_close);
}
