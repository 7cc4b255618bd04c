/* orders.c - what operators ordered about destinations, kept on disk
 *
 * In     orders; the file transport/.orders
 * Out    the file, whole or as it was; threads suspended or pinned
 * Holds  at most ORDERS_MAX orders, and SEARCHES_MAX searches
 * Trusts the file as far as each line makes sense
 * Spec   doc/protocol/control.md section 6
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "journal/event.h"
#include "base/fd.h"
#include "base/json.h"
#include "base/mem.h"
#include "grammar/units.h"
#include "scheduler/plan/orders.h"
#include "scheduler/plan/plan.h"

#include "base/banned.h"

/* What a line calls it and its texts. */
static const struct {
	const char	*name, *channel, *host, *reason;
} order_words[ORDER_KINDS] = {
	[ORDER_SUSPEND] = { "suspend", "channel", "host", "reason" },
	[ORDER_PIN] = { "pin", "channel", "host", "reason" },
	[ORDER_DRAIN] = { "drain", "channel", "host", "reason" },
	[ORDER_SEARCH] = { "search", "owner", "name", "select" },
};

/* ---- the list ---------------------------------------------------- */

static void
order_release(struct order *order)
{
	mem_free(&order->channel);
	mem_free(&order->host);
	mem_free(&order->by);
	mem_free(&order->reason);
}

void
orders_release(struct orders *orders)
{
	for (size_t i = 0; i < orders->count; i++)
		order_release(&orders->all[i]);
	mem_free(&orders->all);
	memset(orders, 0, sizeof(*orders));
}

static char *
order_dup_text(const char *text)
{
	return mem_strdup(text != NULL ? text : "");
}

static void
orders_add(struct orders *orders, const struct order *order)
{
	if (orders->count == orders->capacity) {
		orders->capacity = orders->capacity ? orders->capacity * 2 : 16;
		orders->all = mem_grow(orders->all, orders->capacity,
		    sizeof(*orders->all));
	}
	orders->all[orders->count++] = (struct order){ .kind = order->kind,
	    .serial = order->serial > 0 ? order->serial : ++orders->serial,
	    .channel = order_dup_text(order->channel),
	    .host = order_dup_text(order->host),
	    .by = order_dup_text(order->by),
	    .reason = order_dup_text(order->reason),
	    .limit = order->limit, .since_s = order->since_s,
	    .until_s = order->until_s };
}

static bool
order_is_about(const struct order *order, enum order_kind kind,
    const char *channel, const char *host)
{
	return order->kind == kind && (channel == NULL ||
	    (slice_equal_nocase(slice_of(order->channel), slice_of(channel)) &&
	    slice_equal_nocase(slice_of(order->host), slice_of(host))));
}

/* All of *from but those about these globs. */
static void
orders_copy(struct orders *to, const struct orders *from,
    enum order_kind kind, const char *channel, const char *host)
{
	*to = (struct orders){ .generation = from->generation,
	    .serial = from->serial };
	for (size_t i = 0; i < from->count; i++)
		if (!order_is_about(&from->all[i], kind, channel, host))
			orders_add(to, &from->all[i]);
}

static void
orders_settle(struct orders *orders)
{
	orders->generation++;
	orders->is_draining = orders_find(orders, ORDER_DRAIN, SLICE("*"),
	    SLICE("*")) != NULL;
}

const struct order *
orders_find(const struct orders *orders, enum order_kind kind,
    struct slice channel, struct slice host)
{
	const struct order *found = NULL;

	for (size_t i = 0; i < orders->count; i++) {
		const struct order *order = &orders->all[i];

		if (order->kind == kind &&
		    glob_match(slice_of(order->channel), channel) &&
		    glob_match(slice_of(order->host), host))
			found = order;	/* the latest one counts */
	}
	return found;
}

const struct order *
orders_for(const struct orders *orders, enum order_kind kind,
    const struct thread *thread)
{
	const struct order *order = orders_find(orders, kind,
	    slice_of(thread->channel), slice_of(thread->host));

	if (order == NULL && thread->zone[0] != '\0')
		order = orders_find(orders, kind, SLICE("zone"),
		    slice_of(thread->zone));
	return order;
}

void
orders_apply(const struct orders *orders, struct thread *thread)
{
	const struct order *pin;

	if (thread->orders_seen == orders->generation)
		return;
	thread->orders_seen = orders->generation;
	pin = orders_for(orders, ORDER_PIN, thread);
	thread->pin = pin != NULL ? pin->limit : 0;
	plan_suspend(thread,
	    orders_for(orders, ORDER_SUSPEND, thread) != NULL);
}

/* ---- the file's lines -------------------------------------------- */

void
order_format(const struct order *order, struct str *out)
{
	json_open(out);
	json_text(out, "order", slice_of(order_words[order->kind].name));
	json_text(out, order_words[order->kind].channel,
	    slice_of(order->channel));
	json_text(out, order_words[order->kind].host, slice_of(order->host));
	json_number(out, "limit", order->limit);
	json_number(out, "since", order->since_s);
	json_number(out, "until", order->until_s);
	json_text(out, "by", slice_of(order->by));
	json_text(out, order_words[order->kind].reason,
	    slice_of(order->reason));
	json_close(out);
}

void
orders_format(const struct orders *orders, struct str *out)
{
	for (size_t i = 0; i < orders->count; i++)
		order_format(&orders->all[i], out);
}

static char *
order_add_member(struct slice line, const char *key)
{
	struct str value = STR_INIT;
	char *text = NULL;

	if (json_get(line, key, &value) &&
	    memchr(value.buf, '\0', value.len) == NULL)
		text = mem_strdup(value.buf);
	str_release(&value);
	return text;
}

/* ORDER_KINDS: it is none. */
static enum order_kind
order_parse_kind(struct slice line)
{
	char *name = order_add_member(line, "order");
	int kind = 0;

	while (kind < ORDER_KINDS && (name == NULL ||
	    strcmp(name, order_words[kind].name) != 0))
		kind++;
	mem_free(&name);
	return (enum order_kind)kind;
}

static bool
order_parse(struct slice line, struct order *out)
{
	enum order_kind kind = order_parse_kind(line);

	*out = (struct order){ .kind = kind };
	if (kind == ORDER_KINDS)
		return false;
	out->channel = order_add_member(line, order_words[kind].channel);
	out->host = order_add_member(line, order_words[kind].host);
	out->by = order_add_member(line, "by");
	out->reason = order_add_member(line, order_words[kind].reason);
	out->since_s = json_get_number(line, "since");
	out->until_s = json_get_number(line, "until");
	if (json_get_number(line, "limit") <= ORDER_PIN_MAX)
		out->limit = (unsigned)json_get_number(line, "limit");
	return out->channel != NULL && out->host != NULL &&
	    (kind != ORDER_PIN || out->limit > 0) &&
	    (kind != ORDER_SEARCH || out->reason != NULL);
}

/* Is there no room for one more like it?  Searches take none from orders. */
static bool
orders_are_full(const struct orders *orders, enum order_kind kind)
{
	size_t count = 0;

	for (size_t i = 0; i < orders->count; i++)
		count += (orders->all[i].kind == ORDER_SEARCH) ==
		    (kind == ORDER_SEARCH);
	return count >= (kind == ORDER_SEARCH ? SEARCHES_MAX : ORDERS_MAX);
}

/* How many searches are this person's? */
static size_t
orders_count_searches(const struct orders *orders, const char *owner)
{
	size_t count = 0;

	for (size_t i = 0; i < orders->count; i++)
		count += orders->all[i].kind == ORDER_SEARCH &&
		    slice_equal_nocase(slice_of(orders->all[i].channel),
		    slice_of(owner));
	return count;
}

void
orders_parse(struct orders *orders, struct slice text)
{
	struct order order = { 0 };
	struct slice line;

	while (slice_cut(&text, '\n', &line)) {
		if (slice_trim(line).n == 0)
			continue;
		if (order_parse(line, &order) &&
		    !orders_are_full(orders, order.kind))
			orders_add(orders, &order);
		else
			event(EV_ORDER_BAD, NULL, "file",
			    SLICE("transport/" SPOOL_ORDERS), "line",
			    slice_first(line, ORDER_WORDS_BYTES), NULL);
		order_release(&order);
	}
	orders_settle(orders);
}

/* ---- the file ---------------------------------------------------- */

static int
orders_write_file(struct orders_change *change)
{
	int fd = openat(change->dir_fd, SPOOL_ORDERS ".new", O_WRONLY |
	    O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0640), result;

	change->call = "create transport/" SPOOL_ORDERS ".new";
	if (fd < 0)
		return -1;
	change->call = "write transport/" SPOOL_ORDERS ".new";
	result = fd_write_all(fd, change->text.buf, change->text.len);
	if (result == 0)
		result = fsync(fd);
	change->error = errno;
	close(fd);
	errno = change->error;
	return result;
}

/* Row O1: whole or as before. */
void
orders_change_write(struct orders_change *change)
{
	int result = orders_write_file(change);

	if (result == 0) {
		change->call = "rename transport/" SPOOL_ORDERS;
		result = renameat(change->dir_fd, SPOOL_ORDERS ".new",
		    change->dir_fd, SPOOL_ORDERS);
	}
	if (result == 0) {
		change->call = "fsync transport/";
		result = fsync(change->dir_fd);
	}
	change->error = result == 0 ? 0 : errno;
}

int
orders_open(struct orders *orders, const struct spool *spool,
    struct err *err)
{
	int fd = openat(spool_dir_fd(spool, AREA_TRANSPORT, 0), SPOOL_ORDERS,
	    O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct str text = STR_INIT;
	int result;

	memset(orders, 0, sizeof(*orders));
	orders->generation = 1;
	if (fd < 0 && errno == ENOENT)
		return 0;
	if (fd < 0)
		return err_sys(err, "open transport/" SPOOL_ORDERS);
	result = fd_read_all(fd, ORDERS_FILE_BYTES_MAX, &text);
	if (result < 0)
		err_sys(err, "read transport/" SPOOL_ORDERS);
	else
		orders_parse(orders, str_slice(&text));
	close(fd);
	str_release(&text);
	return result;
}

static void
orders_prepare(struct orders *orders, const struct spool *spool,
    struct orders_change *change)
{
	change->dir_fd = spool_dir_fd(spool, AREA_TRANSPORT, 0);
	change->call = NULL;
	change->error = 0;
	str_init(&change->text);
	orders_format(&change->fresh, &change->text);
	orders->is_changing = true;
}

int
orders_give(struct orders *orders, const struct spool *spool,
    const struct order *order, struct orders_change *out, struct err *err)
{
	orders_copy(&out->fresh, orders, order->kind, order->channel,
	    order->host);
	if (order->kind == ORDER_SEARCH && orders_count_searches(&out->fresh,
	    order->channel) >= SEARCHES_OF_ONE_MAX) {
		orders_release(&out->fresh);
		return err_set(err, "you have %d saved searches: remove one "
		    "first", SEARCHES_OF_ONE_MAX);
	}
	if (orders_are_full(&out->fresh, order->kind)) {
		orders_release(&out->fresh);
		return err_set(err, "there are %d %s already: take some "
		    "back first", order->kind == ORDER_SEARCH ? SEARCHES_MAX :
		    ORDERS_MAX, order->kind == ORDER_SEARCH ?
		    "saved searches" : "orders");
	}
	orders_add(&out->fresh, order);
	out->count = 1;
	orders_prepare(orders, spool, out);
	return 0;
}

bool
orders_take_back(struct orders *orders, const struct spool *spool,
    enum order_kind kind, const char *channel, const char *host,
    struct orders_change *out)
{
	orders_copy(&out->fresh, orders, kind, channel, host);
	out->count = orders->count - out->fresh.count;
	if (out->count == 0) {
		orders_release(&out->fresh);
		return false;
	}
	orders_prepare(orders, spool, out);
	return true;
}

int
orders_change_end(struct orders *orders, struct orders_change *change,
    struct err *err)
{
	str_release(&change->text);
	orders->is_changing = false;
	if (change->error != 0) {
		orders_release(&change->fresh);
		errno = change->error;
		return err_sys(err, "%s", change->call);
	}
	/* some may have ended meanwhile: their moment is over here, too */
	change->fresh.generation = orders->generation;
	orders_release(orders);
	*orders = change->fresh;
	orders_settle(orders);
	return 0;
}

int
orders_set(struct orders *orders, const struct spool *spool,
    const struct order *order, struct err *err)
{
	struct orders_change change;

	if (orders_give(orders, spool, order, &change, err) < 0)
		return -1;
	orders_change_write(&change);
	return orders_change_end(orders, &change, err);
}

int
orders_clear(struct orders *orders, const struct spool *spool,
    enum order_kind kind, const char *channel, const char *host,
    struct err *err)
{
	struct orders_change change;

	if (!orders_take_back(orders, spool, kind, channel, host, &change))
		return 0;
	orders_change_write(&change);
	return orders_change_end(orders, &change, err) < 0 ? -1 :
	    (int)change.count;
}

/* ---- time -------------------------------------------------------- */

bool
orders_expire(struct orders *orders, int64_t now_s)
{
	size_t kept = 0, count = orders->count;

	for (size_t i = 0; i < count; i++) {
		struct order *order = &orders->all[i];

		if (order->until_s != 0 && order->until_s <= now_s)
			order_release(order);
		else
			orders->all[kept++] = *order;
	}
	orders->count = kept;
	if (kept < count)
		orders_settle(orders);
	return kept < count;
}

int64_t
orders_next_s(const struct orders *orders)
{
	int64_t next_s = 0;

	for (size_t i = 0; i < orders->count; i++) {
		int64_t until_s = orders->all[i].until_s;

		if (until_s != 0 && (next_s == 0 || until_s < next_s))
			next_s = until_s;
	}
	return next_s;
}
