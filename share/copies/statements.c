/* statements.c - what PostgreSQL is asked
 *
 * In     nothing
 * Out    texts
 * Spec   statements.h; doc/protocol/share.md section 5
 *
 * SPDX-License-Identifier: ISC
 */
#include "share/copies/statements.h"

#include "base/banned.h"

/* What left this node a moment ago may lie here still: its scheduler has to
 * hear of that before it may come back. */
#define NOT_JUST_LEFT(self) "not exists (select from zm_taken t where " \
	"t.cluster = c.cluster and t.node = " self " and t.id = c.id " \
	"and t.taken_at > now() - interval '10 minutes')"

/* What a row of a page has at most: what is larger is listed without its
 * recipients. */
#define HELD_CONTROL "16384"
#define HELD_FRONT "4096"

/* By the clock of the database alone: its lease is over for so long, and so
 * long we have heard from the database without a break (a node that comes back
 * with the database needs a moment to say so).  A takeover that ended in the
 * middle is whose who began it, as long as he lives.  Who has no lease himself
 * may not ask.  $3 is self, $4 its epoch. */
#define IS_OVERDUE \
	"exists (select from zm_node s where s.cluster = $1 and " \
	"s.name = $3 and s.epoch = $4::bigint and " \
	"s.lease_until > clock_timestamp()) and " \
	"greatest(coalesce(n.lease_until, n.taken_at), " \
	"to_timestamp($5::bigint / 1000000.0)) < clock_timestamp() - " \
	"$6::bigint * interval '1 millisecond' and " \
	"(n.lease_until is not null or n.taken_by = $3 or " \
	"not exists (select from zm_node t where t.cluster = $1 and " \
	"t.name = n.taken_by and t.lease_until >= clock_timestamp() - " \
	"$6::bigint * interval '1 millisecond'))"
#define NOW_US "(extract(epoch from clock_timestamp()) * 1000000)::bigint"

static const char *const texts[SAY_COUNT_OF] = {
	[SAY_PATIENCE] =
	    "select set_config('statement_timeout', $1, false)",
	[SAY_REGISTER] =
	    "insert into zm_node (cluster, name, epoch) values ($1, $2, 1) "
	    "on conflict (cluster, name) do nothing",
	[SAY_GREET] =
	    "update zm_node set lease_until = clock_timestamp() + "
	    "$3::int * interval '1 millisecond' "
	    "where cluster = $1 and name = $2 returning epoch, " NOW_US,
	/* fails in a database of before, which has not all columns */
	[SAY_COLUMNS] =
	    "select offers, move_to from zm_node, zm_copy limit 0",
	[SAY_TIDY] =
	    "delete from zm_taken where cluster = $1 and node = $2 and "
	    "taken_at < now() - interval '30 days'",
	[SAY_RENEW] =
	    "update zm_node set lease_until = clock_timestamp() + "
	    "$3::int * interval '1 millisecond' where cluster = $1 and "
	    "name = $2 and epoch = $4::bigint returning epoch, " NOW_US,
	[SAY_FENCE] =
	    "with n as (select epoch from zm_node where cluster = $1 and "
	    "name = $2 and epoch = $3::bigint for share) "
	    "select 1 / count(*) from n",
	[SAY_HEAD] =
	    "with c as (insert into zm_copy (cluster, node, id, area, "
	    "first_line, body_bytes, control, kept_at) values ($1, $2, $3, "
	    "$4, $5::bytea, $6::bigint, $7::bytea, now()) "
	    "on conflict (cluster, id) do update set area = excluded.area, "
	    "first_line = excluded.first_line, "
	    "body_bytes = excluded.body_bytes, "
	    "control = excluded.control, kept_at = excluded.kept_at "
	    "where zm_copy.node = excluded.node returning 1) "
	    "select 1 / count(*) from c",
	[SAY_CONTROL] =
	    "with c as (update zm_copy set area = 'router', "
	    "control = $4::bytea, kept_at = now() where cluster = $1 and "
	    "node = $2 and id = $3 returning 1) select 1 / count(*) from c",
	[SAY_NO_PARTS] =
	    "delete from zm_part where cluster = $1 and id = $2",
	[SAY_PART] =
	    "insert into zm_part (cluster, id, n, bytes) values ($1, $2, "
	    "$3::int, $4::bytea)",
	[SAY_LINES] =
	    "select id, first_line, body_bytes::text from zm_copy where "
	    "cluster = $1 and node = $2 and id = any($3::text[])",
	[SAY_DONE] =
	    "with gone as (delete from zm_copy where cluster = $1 and "
	    "node = $2 and id = any($3::text[]) returning id) "
	    "delete from zm_part where cluster = $1 and "
	    "id in (select id from gone)",
	[SAY_TAKEN] =
	    "select id, taker from zm_taken t where cluster = $1 and "
	    "node = $2 and taken_at > now() - interval '30 days' and "
	    "not exists (select from zm_copy c where c.cluster = t.cluster "
	    "and c.id = t.id and c.node = t.node)",
	[SAY_LEFT] =
	    "select id, taker from zm_taken t where cluster = $1 and "
	    "node = $2 and id = any($3::text[]) and "
	    "not exists (select from zm_copy c where c.cluster = t.cluster "
	    "and c.id = t.id and c.node = t.node)",
	[SAY_TAKEOVER] =
	    "update zm_node set epoch = epoch + 1, lease_until = null, "
	    "taken_by = $3, taken_at = clock_timestamp() where "
	    "cluster = $1 and name = $2 and (lease_until is null or "
	    "lease_until < clock_timestamp() - "
	    "$4::int * interval '1 millisecond') returning epoch",
	[SAY_OVERDUE] =
	    "select n.name, n.epoch, count(*), sum(c.body_bytes + "
	    "coalesce(length(c.control), 0)) from zm_node n join zm_copy c "
	    "on c.cluster = n.cluster and c.node = n.name where "
	    "n.cluster = $1 and n.name <> $2 and " IS_OVERDUE
	    " group by n.cluster, n.name order by n.name limit 32",
	/* one of several that try it at once: the others see its epoch */
	[SAY_TAKEOVER_OVERDUE] =
	    "update zm_node n set epoch = n.epoch + 1, lease_until = null, "
	    "taken_by = $3, taken_at = clock_timestamp() where "
	    "n.cluster = $1 and n.name = $2 and n.epoch = $7::bigint and "
	    IS_OVERDUE " returning n.epoch",
	[SAY_ALIVE] =
	    "select greatest(1, ceil(extract(epoch from lease_until + "
	    "$3::int * interval '1 millisecond' - clock_timestamp())))::bigint "
	    "from zm_node where cluster = $1 and name = $2",
	[SAY_ALIVE_SELF] =
	    "select count(*) from zm_node where cluster = $1 and name = $2 "
	    "and lease_until is not null",
	[SAY_COUNT] =
	    "select count(*), coalesce(sum(body_bytes + "
	    "coalesce(length(control), 0)), 0) from zm_copy where "
	    "cluster = $1 and node = $2",
	[SAY_GET_PART] =
	    "select bytes from zm_part where cluster = $1 and id = $2 and "
	    "n = $3::int",
	[SAY_BRIEFLY] =
	    "select set_config('statement_timeout', $1, true)",
	[SAY_OWNERS] =
	    "select n.name, n.epoch, case when n.lease_until is not null then "
	    "greatest(0, floor(extract(epoch from "
	    "n.lease_until - clock_timestamp())))::bigint end, count(c.id), "
	    "coalesce(sum(c.body_bytes), 0), case when n.lease_until is null "
	    "then n.taken_by end from zm_node n "
	    "left join zm_copy c on c.cluster = n.cluster and "
	    "c.node = n.name where n.cluster = $1 "
	    "group by n.cluster, n.name order by n.name limit 512",
	[SAY_ROWS] =
	    "select id from zm_copy where cluster = $1 and node = $2 and "
	    "id > $3 and kept_at < now() - interval '10 minutes' and "
	    "move_to is null order by id limit 100",
	[SAY_NOTHING] = "select 1 / 0",
	[SAY_NEW_SERIAL] =
	    "with n as (update zm_node set offers = $4::bigint where "
	    "cluster = $1 and name = $2 and epoch = $3::bigint returning 1) "
	    "select 1 / count(*) from n",
	/* a row whose move_to is its own node is arriving here */
	[SAY_WITHDRAW_ALL] =
	    "update zm_copy set move_to = null where cluster = $1 and "
	    "node = $2 and move_to is not null and move_to <> node",
	[SAY_FENCE_OFFER] =
	    "with n as (select epoch from zm_node where cluster = $1 and "
	    "name = $2 and epoch = $3::bigint and offers = $4::bigint "
	    "for share) select 1 / count(*) from n",
	[SAY_IS_THERE] =
	    "with n as (select name from zm_node where cluster = $1 and "
	    "name = $2 and lease_until > clock_timestamp()) "
	    "select 1 / count(*) from n",
	[SAY_OFFER] =
	    "update zm_copy set move_to = $3 where cluster = $1 and "
	    "node = $2 and id = any($4::text[]) and (move_to is null or "
	    "move_to <> node) returning id",
	[SAY_WITHDRAW] =
	    "update zm_copy set move_to = null where cluster = $1 and "
	    "node = $2 and id = any($3::text[]) and move_to <> node",
	[SAY_OFFERS] =
	    "select node, count(*), sum(body_bytes + "
	    "coalesce(length(control), 0)) from zm_copy c where "
	    "cluster = $1 and move_to = $2 and " NOT_JUST_LEFT("$2")
	    " group by node order by node limit 32",
	/* all in one: no row is taken without its note.  h: a node that was
	 * taken over cannot have a lease again before the end of this */
	[SAY_TAKE] =
	    "with h as (select name from zm_node where cluster = $1 and "
	    "name = $2 and taken_by = $3 and lease_until is null for update), "
	    "l as (select id from zm_copy where cluster = $1 and node = $2 "
	    "and exists (select from h) "
	    "order by id limit 100 for update skip locked), "
	    "o as (select id from zm_copy c where cluster = $1 and "
	    "node = $2 and move_to = $3 and " NOT_JUST_LEFT("$3")
	    " order by id limit 100 for update skip locked), "
	    "m as (update zm_copy c set node = $3, move_to = $3 from "
	    "(select id from l union select id from o) t where "
	    "c.cluster = $1 and c.id = t.id and c.node = $2 "
	    "returning c.id), "
	    "n as (insert into zm_taken (cluster, node, id, taker, taken_at) "
	    "select $1, $2, id, $3, now() from m "
	    "on conflict (cluster, node, id) do update set "
	    "taker = excluded.taker, taken_at = excluded.taken_at), "
	    "u as (delete from zm_taken where cluster = $1 and node = $3 and "
	    "id in (select id from m)) select id from m",
	[SAY_IS_LEFT] =
	    "select count(*) from (select from zm_copy where cluster = $1 "
	    "and node = $2 limit 1) c",
	[SAY_ARRIVING] =
	    "select id, area, body_bytes::text, control, (extract(epoch from "
	    "owned_at) * 1000000)::bigint::text from zm_copy where "
	    "cluster = $1 and node = $2 and move_to = $2 and id > $3 "
	    "order by id limit 1",
	[SAY_ARRIVED] =
	    "update zm_copy set move_to = null, owned_at = "
	    "clock_timestamp() where cluster = $1 and node = $2 and "
	    "move_to = $2 and id = any($3::text[])",
	/* the parts are stored as they are: the front of one is read alone */
	[SAY_HELD] =
	    "select c.id, c.area, c.body_bytes::text, (extract(epoch from "
	    "c.kept_at))::bigint::text, case when length(c.control) <= "
	    HELD_CONTROL " then c.control end, case when c.control is null "
	    "then (select substring(p.bytes from 1 for " HELD_FRONT ") from "
	    "zm_part p where p.cluster = c.cluster and p.id = c.id and "
	    "p.n = 0) end from zm_copy c where c.cluster = $1 and "
	    "c.node = $2 and c.id > $3 order by c.id limit 100",
};

void
sql_begin(struct wire_statement *out, enum copies_statement which)
{
	out->text = texts[which];
	out->count = 0;
	/* bytes come as they are */
	out->wants_binary = which == SAY_LINES ||
	    which == SAY_ARRIVING || which == SAY_GET_PART ||
	    which == SAY_HELD;
}

/* Text is the same in both forms; this one needs no NUL. */
void
sql_add(struct wire_statement *out, struct slice word)
{
	sql_add_bytes(out, word);
}

void
sql_add_digits(struct wire_statement *out, const char *digits)
{
	out->values[out->count++].p = digits;
}

void
sql_add_bytes(struct wire_statement *out, struct slice bytes)
{
	int at = out->count++;

	out->values[at].p = bytes.n > 0 ? bytes.p : "";
	out->values[at].n = bytes.n;
	out->values[at].is_binary = true;
}

void
sql_add_null(struct wire_statement *out)
{
	out->values[out->count++].p = NULL;
}
