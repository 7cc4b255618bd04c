/* helper.c - a router over a configuration written in the test
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "helper.h"

static void
with_dir(struct str *out, const char *text, const char *dir)
{
	const char *at;

	while ((at = strstr(text, "DIR")) != NULL) {
		str_add(out, text, (size_t)(at - text));
		str_adds(out, dir);
		text = at + 3;
	}
	str_adds(out, text);
}

void
fixture_write(struct fixture *fixture, const char *name, const char *text)
{
	struct str path = STR_INIT, bytes = STR_INIT;
	int fd;

	str_addf(&path, "%s/%s", fixture->dir, name);
	with_dir(&bytes, text, fixture->dir);
	fd = open(path.buf, O_WRONLY | O_CREAT | O_TRUNC, 0644);
	cr_assert(fd >= 0, "%s", path.buf);
	cr_assert_eq(write(fd, bytes.buf, bytes.len), (ssize_t)bytes.len);
	fchmod(fd, 0644);
	close(fd);
	str_release(&path);
	str_release(&bytes);
}

void
fixture_open(struct fixture *fixture, const char *conf_text,
    const char *aliases, const char *routes, const char *people)
{
	struct str text = STR_INIT, complaint = STR_INIT;
	struct conf_report report;

	memset(fixture, 0, sizeof(*fixture));
	snprintf(fixture->dir, sizeof(fixture->dir), "/tmp/zm-router.XXXXXX");
	cr_assert(mkdtemp(fixture->dir) != NULL);
	if (aliases != NULL)
		fixture_write(fixture, "aliases", aliases);
	if (routes != NULL)
		fixture_write(fixture, "routes", routes);
	if (people != NULL)
		fixture_write(fixture, "people", people);
	fixture->arena = arena_new();
	with_dir(&text, conf_text, fixture->dir);
	fixture->conf = conf_parse("test.conf", str_slice(&text),
	    fixture->arena, &report);
	if (fixture->conf == NULL)
		conf_report_print(&report, "test.conf", &complaint);
	cr_assert(fixture->conf != NULL, "%s", complaint.buf);
	fixture->router = router_new(fixture->conf);
	rcpts_init(&fixture->rcpts, fixture->arena);
	str_release(&text);
}

void
fixture_close(struct fixture *fixture)
{
	char command[128];

	rcpts_release(&fixture->rcpts);
	router_free(&fixture->router);
	conf_free(&fixture->conf);
	arena_free(&fixture->arena);
	snprintf(command, sizeof(command), "rm -rf '%s'", fixture->dir);
	cr_assert_eq(system(command), 0);
}

const char *
fixture_route(struct fixture *fixture, const char *address)
{
	static struct str text = STR_INIT;
	struct rcpts *rcpts = &fixture->rcpts;
	size_t first = rcpts->count;
	struct given_rcpt given = { .notify = 0 };
	struct slice rest;
	struct err err = { "" };

	str_reset(&text);
	cr_assert_eq(path_parse(slice_of(address), PATH_BARE_OK |
	    PATH_LOCAL_OK | PATH_UTF8 | PATH_POSTMASTER_OK, &given.path,
	    &rest, &err), 0, "%s: %s", address, err.text);
	if (router_address(fixture->router, rcpts, &given,
	    &err) != ROUTE_ROUTED) {
		str_addf(&text, "trouble: %s", rcpts->trouble);
		return text.buf;
	}
	for (size_t i = first; i < rcpts->count; i++) {
		const struct draft_rcpt *p = &rcpts->list[i];

		str_addf(&text, "%s" SLICE_FMT " " SLICE_FMT " " SLICE_FMT,
		    i > first ? "; " : "", SLICE_ARG(p->channel),
		    SLICE_ARG(p->host), SLICE_ARG(p->user));
	}
	return text.buf;
}
