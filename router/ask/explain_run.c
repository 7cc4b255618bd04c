/* explain_run.c - router --route: what people ask
 *
 * In     options and addresses; two configurations and a file of addresses
 * Out    explanations; or only what one configuration does otherwise
 * Holds  nothing
 * Trusts nobody: an address is anybody's
 * Spec   zmailer-route(8)
 *
 * SPDX-License-Identifier: ISC
 */
#include "router/ask/explain.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sysexits.h>

#include "base/json.h"
#include "base/mem.h"
#include "io/dns/dns.h"

#include "base/banned.h"

struct asked {
	struct explain_as	as;
	const char		*old, *fresh;	/* --diff */
	const char		*addresses;	/* a file, or "-" */
};

bool
explain_is_meant(int argc, char **argv)
{
	return argc > 1 && strcmp(argv[1], "--route") == 0;
}

/* How many words the option takes; "--" at their end is one, too. */
static int
explain_take_option(struct asked *asked, int left, char **argv)
{
	struct explain_as *as = &asked->as;
	const struct { const char *name; struct slice *value; } rows[] = {
		{ "--from", &as->from }, { "--as", &as->user },
		{ "--ip", &as->ip },
	};

	if (strcmp(argv[0], "--json") == 0)
		as->is_json = true;
	if (strcmp(argv[0], "--mx") == 0)
		as->asks_mx = true;
	if (strcmp(argv[0], "--diff") == 0 && left > 2) {
		asked->old = argv[1];
		asked->fresh = argv[2];
		return 3;
	}
	if (strcmp(argv[0], "--addresses") == 0 && left > 1) {
		asked->addresses = argv[1];
		return 2;
	}
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (strcmp(argv[0], rows[i].name) == 0 && left > 1) {
			*rows[i].value = slice_of(argv[1]);
			return 2;
		}
	return 1;
}

/* Call fn for each address: the words, then the lines of the file. */
typedef void address_fn(void *context, struct slice address);

static int
explain_each_address(const struct asked *asked, char **argv, int count,
    address_fn *fn, void *context)
{
	bool is_stdin = asked->addresses != NULL &&
	    strcmp(asked->addresses, "-") == 0;
	size_t capacity = 0;
	char *line = NULL;
	FILE *file;
	ssize_t n;

	for (int i = 0; i < count; i++)
		fn(context, slice_of(argv[i]));
	if (asked->addresses == NULL)
		return 0;
	file = is_stdin ? stdin : fopen(asked->addresses, "re");
	if (file == NULL) {
		fprintf(stderr, "zmailer: route: %s: %s\n",
		    asked->addresses, strerror(errno));
		return EX_NOINPUT;
	}
	while ((n = getline(&line, &capacity, file)) > 0) {
		struct slice address = slice_trim((struct slice){ line,
		    (size_t)n });

		if (address.n > 0 && address.p[0] != '#')
			fn(context, address);
	}
	mem_release(line);
	if (!is_stdin)
		(void)fclose(file);
	return 0;
}

/* ---- one configuration ------------------------------------------------ */

struct telling {
	const struct asked	*asked;
	struct router		*router;
	struct arena		*arena;
	struct str		 out;
	int			 status;
};

static void
explain_tell_address(void *context, struct slice address)
{
	struct telling *telling = context;
	int status;

	str_reset(&telling->out);
	status = explain_address(telling->router, telling->arena,
	    &telling->asked->as, address, &telling->out);
	if (status > telling->status)
		telling->status = status;
	fputs(telling->out.buf, stdout);
	arena_reset(telling->arena);
}

static int
explain_tell_all(const struct conf *conf, const struct asked *asked,
    char **argv,
    int count)
{
	struct telling telling = { .asked = asked, .out = STR_INIT };
	struct err err;
	int status = 0;

	if (asked->as.asks_mx && dns_use(conf->dns_server, &err) != 0) {
		fprintf(stderr, "zmailer: route: %s\n", err.text);
		return EX_CONFIG;
	}
	telling.router = router_new(conf);
	telling.arena = arena_new();
	status = explain_each_address(asked, argv, count, explain_tell_address,
	    &telling);
	str_release(&telling.out);
	arena_free(&telling.arena);
	router_free(&telling.router);
	return status != 0 ? status : telling.status;
}

/* ---- two of them ------------------------------------------------------ */

enum { DIFF_SAME = 0, DIFF_OTHER = 1 };

struct comparing {
	struct telling	sides[2];
	int		status;
};

static void
compare_say_side(const struct comparing *comparing, int side)
{
	struct slice rest = str_slice(&comparing->sides[side].out), line;

	while (rest.n > 0 && slice_cut(&rest, '\n', &line))
		printf("%c " SLICE_FMT "\n", side == 0 ? '-' : '+',
		    SLICE_ARG(slice_trim(line)));
}

static void
compare_say_json(const struct comparing *comparing, struct slice address)
{
	struct str out = STR_INIT;

	json_open_answer(&out);
	json_text(&out, "address", address);
	json_text(&out, "old", slice_trim(str_slice(
	    &comparing->sides[0].out)));
	json_text(&out, "new", slice_trim(str_slice(
	    &comparing->sides[1].out)));
	json_close(&out);
	fputs(out.buf, stdout);
	str_release(&out);
}

static void
compare_address(void *context, struct slice address)
{
	struct comparing *comparing = context;
	struct explain_as as = comparing->sides[0].asked->as;
	bool is_json = as.is_json;

	as.is_json = false;
	as.is_brief = true;
	for (int side = 0; side < 2; side++) {
		struct telling *telling = &comparing->sides[side];

		str_reset(&telling->out);
		(void)explain_address(telling->router, telling->arena, &as,
		    address, &telling->out);
		arena_reset(telling->arena);
	}
	if (slice_equal(str_slice(&comparing->sides[0].out),
	    str_slice(&comparing->sides[1].out)))
		return;
	comparing->status = DIFF_OTHER;
	if (is_json) {
		compare_say_json(comparing, address);
		return;
	}
	printf(SLICE_FMT "\n", SLICE_ARG(address));
	compare_say_side(comparing, 0);
	compare_say_side(comparing, 1);
}

static int
compare_addresses(const struct asked *asked, char **argv, int count)
{
	const char *paths[2] = { asked->old, asked->fresh };
	struct comparing comparing = { .status = DIFF_SAME };
	struct conf *confs[2] = { NULL, NULL };
	int status = 0;

	for (int side = 0; side < 2; side++) {
		confs[side] = conf_load_or_tell(paths[side]);
		if (confs[side] == NULL)
			status = EX_CONFIG;
	}
	for (int side = 0; status == 0 && side < 2; side++)
		comparing.sides[side] = (struct telling){ .asked = asked,
		    .router = router_new(confs[side]), .arena = arena_new(),
		    .out = STR_INIT };
	if (status == 0)
		status = explain_each_address(asked, argv, count,
		    compare_address,
		    &comparing);
	for (int side = 0; side < 2; side++) {
		router_free(&comparing.sides[side].router);
		if (comparing.sides[side].arena != NULL) {
			arena_free(&comparing.sides[side].arena);
			str_release(&comparing.sides[side].out);
		}
		conf_free(&confs[side]);
	}
	return status != 0 ? status : comparing.status;
}

int
explain_run(int argc, char **argv)
{
	struct asked asked = { .old = NULL };
	struct conf *conf;
	int at = 0, status = EX_CONFIG;
	bool is_over = false;

	while (at < argc && strncmp(argv[at], "--", 2) == 0 && !is_over) {
		is_over = argv[at][2] == '\0';
		at += explain_take_option(&asked, argc - at, argv + at);
	}
	if (asked.old != NULL)
		return compare_addresses(&asked, argv + at, argc - at);
	conf = conf_load_or_tell(NULL);
	if (conf != NULL)
		status = explain_tell_all(conf, &asked, argv + at, argc - at);
	conf_free(&conf);
	return status;
}
