/* wire.c - a connection to the PostgreSQL, on which one job is under way
 *
 * In     statements of the job; readiness of a socket; answers
 * Out    answers, and how the job ended
 * Holds  one connection
 * Trusts libpq; words of the server are bounded and in one line
 * Spec   wire.h; PostgreSQL 15, sections 34.4 (asynchronous), 34.5 (pipeline)
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "share/copies/bounds.h"
#include "share/copies/wire.h"

#ifdef HAVE_PGSQL
#include <libpq-fe.h>

#endif

#include "base/banned.h"

#ifdef HAVE_PGSQL

enum { WIRE_PLACE_BYTES = 128, WIRE_TLS_READS = 3 };

struct wire {
	struct loop			*loop;
	const struct copies_goal	*goal;
	const struct wire_kind		*kind;
	void				*context;
	PGconn				*link;	/* NULL: none */
	struct watch			*watch;
	bool				 is_open;	/* else it connects */
	struct timer			 timer;
	size_t				 place, tried;
	int64_t				 probe_ms;
	bool				 was_useful, did_connect;
	const struct wire_job		*job;	/* NULL: none */
	void				*job_context;
	size_t				 said, heard;	/* statements */
	bool				 is_said;	/* all, and the end */
	bool				 has_result;	/* of statement heard */
	bool				 is_refused;
	struct wire_trouble		 trouble;
	char				 place_text[WIRE_PLACE_BYTES];
};

static void wire_try(void *context);

/* ---- the end of a connection ------------------------------------------- */

static void
wire_drop(struct wire *wire)
{
	watch_free(&wire->watch);
	timer_clear(&wire->timer);
	PQfinish(wire->link);		/* NULL is harmless */
	wire->link = NULL;
	wire->is_open = false;
}

static void
wire_on_retry(void *context)
{
	struct wire *wire = context;

	wire->tried = 0;
	wire_try(wire);
}

/* One line, without what a terminal obeys. */
static void
wire_words(const char *said, char *out, size_t bytes)
{
	struct slice rest = slice_trim(slice_of(said)), line;

	if (!slice_cut(&rest, '\n', &line))
		line = slice_of("no reason");
	line = slice_trim(line);
	if (slice_starts(line, "ERROR:") || slice_starts(line, "FATAL:"))
		line = slice_trim(slice_from(line, 6));
	snprintf(out, bytes, SLICE_FMT, SLICE_ARG(line));
	for (char *p = out; *p != '\0'; p++)
		if ((unsigned char)*p < ' ' || *p == 0x7f)
			*p = ' ';
}

static void
wire_end_job(struct wire *wire, enum wire_end end)
{
	const struct wire_job *job = wire->job;
	struct wire_trouble trouble = wire->trouble;

	wire->job = NULL;
	timer_clear(&wire->timer);
	job->end(wire->job_context, end, &trouble);
}

/* The next place of this round; after the last one a while later. */
static void
wire_fail(struct wire *wire, const char *said)
{
	char why[ERR_TEXT_BYTES];
	bool was_open = wire->is_open;

	wire_words(said, why, sizeof(why));
	wire_drop(wire);
	if (wire->job != NULL) {
		strlcpy(wire->trouble.text, why, sizeof(wire->trouble.text));
		wire->trouble.code[0] = '\0';
		wire_end_job(wire, WIRE_LOST);
	}
	if (!was_open && wire->tried < wire->goal->place_count) {
		timer_set(wire->loop, &wire->timer, clock_steady_ms(),
		    wire_try, wire);
		return;
	}
	wire->probe_ms = bounds_probe_ms(wire->probe_ms, wire->was_useful,
	    wire->did_connect);
	wire->was_useful = wire->did_connect = false;
	timer_set(wire->loop, &wire->timer, clock_steady_ms() +
	    wire->probe_ms, wire_on_retry, wire);
	wire->kind->lost(wire->context, why);
}

static void
wire_on_time(void *context)
{
	struct wire *wire = context;

	wire_fail(wire, wire->is_open ? "it does not answer" :
	    "it does not answer while we connect");
}

/* ---- what is said ------------------------------------------------------ */

static bool
wire_say(struct wire *wire, const struct wire_statement *statement)
{
	const char *values[WIRE_VALUES_MAX];
	int lengths[WIRE_VALUES_MAX], formats[WIRE_VALUES_MAX];

	for (int i = 0; i < statement->count; i++) {
		values[i] = statement->values[i].p;
		lengths[i] = (int)statement->values[i].n;
		formats[i] = statement->values[i].is_binary;
	}
	wire->said++;
	return PQsendQueryParams(wire->link, statement->text,
	    statement->count, NULL, values, lengths, formats,
	    statement->wants_binary) == 1;
}

/* As much as the socket takes.  One that was refused is at its end: the server
 * reads no further statement of it. */
static bool
wire_pump(struct wire *wire)
{
	struct wire_statement statement;
	int left;

	while ((left = PQflush(wire->link)) == 0 && wire->job != NULL &&
	    !wire->is_said) {
		memset(&statement, 0, sizeof(statement));
		if (!wire->is_refused && wire->job->next(wire->job_context,
		    &statement)) {
			if (!wire_say(wire, &statement))
				return false;
			continue;
		}
		wire->is_said = true;
		if (PQpipelineSync(wire->link) != 1)
			return false;
	}
	if (left < 0)
		return false;
	watch_set(wire->watch, left > 0 ? LOOP_READ | LOOP_WRITE : LOOP_READ);
	return true;
}

/* ---- what is answered -------------------------------------------------- */

static void
wire_refuse(struct wire *wire, const PGresult *result)
{
	const char *code = PQresultErrorField(result, PG_DIAG_SQLSTATE);
	const char *text = PQresultErrorField(result,
	    PG_DIAG_MESSAGE_PRIMARY);

	if (wire->is_refused)
		return;
	wire->is_refused = true;
	wire->trouble.index = wire->heard;
	strlcpy(wire->trouble.code, code != NULL ? code : "",
	    sizeof(wire->trouble.code));
	wire_words(text != NULL ? text : PQresultErrorMessage(result),
	    wire->trouble.text, sizeof(wire->trouble.text));
}

/* It is committed here, and perhaps nowhere else: a standby that should have
 * it was not waited for to the end. */
static void
wire_on_notice(void *context, const PGresult *result)
{
	const char *severity = PQresultErrorField(result,
	    PG_DIAG_SEVERITY_NONLOCALIZED);
	struct wire *wire = context;

	if (wire->job != NULL && severity != NULL &&
	    strcmp(severity, "WARNING") == 0)
		wire_refuse(wire, result);
}

/* One result.  false: the job is over. */
static bool
wire_hear(struct wire *wire, const PGresult *result)
{
	switch (PQresultStatus(result)) {
	case PGRES_PIPELINE_SYNC:
		return false;
	case PGRES_TUPLES_OK:
	case PGRES_COMMAND_OK:
		wire->has_result = true;
		if (!wire->is_refused && wire->job->rows != NULL)
			wire->job->rows(wire->job_context, wire->heard,
			    (const struct wire_rows *)result);
		break;
	case PGRES_PIPELINE_ABORTED:
		wire->has_result = true;
		break;
	default:
		wire->has_result = true;
		wire_refuse(wire, result);
		break;
	}
	return true;
}

static void
wire_take_answers(struct wire *wire)
{
	PGresult *result;
	bool goes_on;

	while (wire->job != NULL && !PQisBusy(wire->link)) {
		result = PQgetResult(wire->link);
		if (result == NULL && !wire->has_result)
			return;
		if (result == NULL) {
			wire->has_result = false;
			wire->heard++;
			continue;
		}
		goes_on = wire_hear(wire, result);
		PQclear(result);
		if (!goes_on) {
			wire_end_job(wire, wire->is_refused ? WIRE_REFUSED :
			    WIRE_DONE);
			return;
		}
	}
}

/* What TLS has read of the socket is not seen there any more, and libpq reads
 * as much as it has room for. */
static void
wire_on_ready(void *context, unsigned ready)
{
	struct wire *wire = context;
	int reads = PQsslInUse(wire->link) ? WIRE_TLS_READS : 1;

	for (int i = 0; i < reads; i++) {
		if (PQconsumeInput(wire->link) != 1 ||
		    PQstatus(wire->link) != CONNECTION_OK) {
			wire_take_answers(wire);	/* its last words */
			if (wire->link != NULL)
				wire_fail(wire, PQerrorMessage(wire->link));
			return;
		}
		wire_take_answers(wire);
		if (wire->link == NULL)
			return;
	}
	if (!wire_pump(wire))
		wire_fail(wire, PQerrorMessage(wire->link));
}

/* ---- connecting -------------------------------------------------------- */

static void
wire_open(struct wire *wire)
{
	timer_clear(&wire->timer);
	(void)PQsetNoticeReceiver(wire->link, wire_on_notice, wire);
	if (PQsetnonblocking(wire->link, 1) != 0 ||
	    PQenterPipelineMode(wire->link) != 1) {
		wire_fail(wire, PQerrorMessage(wire->link));
		return;
	}
	wire->is_open = wire->did_connect = true;
	wire->tried = 0;
	wire->watch = loop_watch(wire->loop, PQsocket(wire->link), LOOP_READ,
	    wire_on_ready, wire);
	wire->kind->open(wire->context);
}

static void wire_on_connecting(void *context, unsigned ready);

/* libpq may close its socket and open another one meanwhile. */
static void
wire_poll(struct wire *wire)
{
	PostgresPollingStatusType status;

	watch_free(&wire->watch);
	status = PQconnectPoll(wire->link);
	if (status == PGRES_POLLING_OK)
		wire_open(wire);
	else if (status == PGRES_POLLING_FAILED)
		wire_fail(wire, PQerrorMessage(wire->link));
	else
		wire->watch = loop_watch(wire->loop, PQsocket(wire->link),
		    status == PGRES_POLLING_WRITING ? LOOP_WRITE : LOOP_READ,
		    wire_on_connecting, wire);
}

static void
wire_on_connecting(void *context, unsigned ready)
{
	wire_poll(context);
}

static void
wire_no_notice(void *context, const PGresult *result)
{
}

static void
wire_start(struct wire *wire)
{
	const struct copies_goal *goal = wire->goal;
	const struct goal_place *place = &goal->places[wire->place];
	const char *keywords[GOAL_WORDS_MAX + 4], *values[GOAL_WORDS_MAX + 4];
	size_t count = goal->word_count;

	memcpy(keywords, goal->keywords, count * sizeof(keywords[0]));
	memcpy(values, goal->values, count * sizeof(values[0]));
	keywords[count] = "host";
	values[count++] = place->host;
	keywords[count] = "hostaddr";
	values[count++] = place->address;
	keywords[count] = "port";
	values[count++] = place->port;
	keywords[count] = values[count] = NULL;
	snprintf(wire->place_text, sizeof(wire->place_text), "%s%s%s",
	    place->address[0] != '\0' ? place->address : place->host,
	    place->port[0] != '\0' ? ":" : "", place->port);
	wire->link = PQconnectStartParams(keywords, values, 0);
}

static void
wire_try(void *context)
{
	struct wire *wire = context;

	if (wire->tried > 0)
		wire->place = (wire->place + 1) % wire->goal->place_count;
	wire->tried++;
	wire_start(wire);
	if (wire->link == NULL || PQstatus(wire->link) == CONNECTION_BAD) {
		wire_fail(wire, wire->link == NULL ? "no memory" :
		    PQerrorMessage(wire->link));
		return;
	}
	(void)PQsetNoticeReceiver(wire->link, wire_no_notice, NULL);
	timer_set(wire->loop, &wire->timer, clock_steady_ms() +
	    WIRE_CONNECT_MS, wire_on_time, wire);
	wire->watch = loop_watch(wire->loop, PQsocket(wire->link),
	    LOOP_WRITE, wire_on_connecting, wire);
}

/* ---- public ------------------------------------------------------------ */

static void
wire_on_begin(void *context)
{
	struct wire *wire = context;

	if (wire->goal->place_count > 0)
		wire_try(wire);
}

struct wire *
wire_new(struct loop *loop, const struct copies_goal *goal,
    const struct wire_kind *kind, void *context)
{
	struct wire *wire = mem_alloc(1, sizeof(*wire));

	wire->loop = loop;
	wire->goal = goal;
	wire->kind = kind;
	wire->context = context;
	strlcpy(wire->place_text, "-", sizeof(wire->place_text));
	timer_set(loop, &wire->timer, clock_steady_ms(), wire_on_begin, wire);
	return wire;
}

void
wire_free(struct wire **pwire)
{
	if (*pwire == NULL)
		return;
	wire_drop(*pwire);
	mem_free(pwire);
}

bool
wire_is_free(const struct wire *wire)
{
	return wire->is_open && wire->job == NULL;
}

void
wire_run(struct wire *wire, const struct wire_job *job, void *context,
    int64_t until_ms)
{
	wire->job = job;
	wire->job_context = context;
	wire->said = wire->heard = 0;
	wire->is_said = wire->has_result = wire->is_refused = false;
	memset(&wire->trouble, 0, sizeof(wire->trouble));
	timer_set(wire->loop, &wire->timer, until_ms, wire_on_time, wire);
	/* in the next turn: who runs it may be called by what fails */
	watch_set(wire->watch, LOOP_READ | LOOP_WRITE);
}

void
wire_praise(struct wire *wire)
{
	wire->was_useful = true;
}

void
wire_give_up(struct wire *wire, const char *why)
{
	if (wire->is_open)
		wire_fail(wire, why);
}

const char *
wire_place(const struct wire *wire)
{
	return wire->place_text;
}

/* ---- rows -------------------------------------------------------------- */

size_t
wire_row_count(const struct wire_rows *rows)
{
	return (size_t)PQntuples((const PGresult *)rows);
}

bool
wire_is_null(const struct wire_rows *rows, int row, int column)
{
	const PGresult *result = (const PGresult *)rows;

	return row >= PQntuples(result) || column >= PQnfields(result) ||
	    PQgetisnull(result, row, column);
}

struct slice
wire_value(const struct wire_rows *rows, int row, int column)
{
	const PGresult *result = (const PGresult *)rows;

	if (wire_is_null(rows, row, column))
		return (struct slice){ "", 0 };
	return (struct slice){ PQgetvalue(result, row, column),
	    (size_t)PQgetlength(result, row, column) };
}

#else

/* Without libpq there is none; the configuration refuses `postgres`. */
struct wire {
	char	place[2];
};

struct wire *
wire_new(struct loop *loop, const struct copies_goal *goal,
    const struct wire_kind *kind, void *context)
{
	struct wire *wire = mem_alloc(1, sizeof(*wire));

	wire->place[0] = '-';
	return wire;
}

void
wire_free(struct wire **pwire)
{
	mem_free(pwire);
}

bool
wire_is_free(const struct wire *wire)
{
	return false;
}

void
wire_run(struct wire *wire, const struct wire_job *job, void *context,
    int64_t until_ms)
{
}

void
wire_praise(struct wire *wire)
{
}

void
wire_give_up(struct wire *wire, const char *why)
{
}

const char *
wire_place(const struct wire *wire)
{
	return wire->place;
}

size_t
wire_row_count(const struct wire_rows *rows)
{
	return 0;
}

bool
wire_is_null(const struct wire_rows *rows, int row, int column)
{
	return true;
}

struct slice
wire_value(const struct wire_rows *rows, int row, int column)
{
	return (struct slice){ "", 0 };
}

#endif

bool
wire_number(const struct wire_rows *rows, int row, int column,
    uint64_t *out)
{
	return slice_number(wire_value(rows, row, column), 0, INT64_MAX, out);
}
