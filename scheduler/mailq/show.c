/* show.c - the scheduler's lines of JSON in ZMailer's words
 *
 * In     lines of the control protocol
 * Out    lines of the mailq protocol
 * Holds  counts while a report goes along
 * Trusts nothing in the lines: addresses and words of remote hosts are in
 *        them
 * Spec   doc/protocol/mailq.md section 5
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "base/json.h"
#include "scheduler/mailq/show.h"

#include "base/banned.h"

void
show_add_line(struct str *out, struct slice text)
{
	if (slice_starts(text, "."))
		str_addc(out, '.');
	for (size_t i = 0; i < text.n; i++)
		str_addc(out, (unsigned char)text.p[i] < ' ' &&
		    text.p[i] != '\t' ? ' ' : text.p[i]);
	str_addc(out, '\n');
}

static int64_t
number_of(struct slice line, const char *key)
{
	struct str text = STR_INIT;
	uint64_t number = 0;

	if (json_get(line, key, &text))
		(void)slice_number(str_slice(&text), 0, INT64_MAX, &number);
	str_release(&text);
	return (int64_t)number;
}

static bool
is_true(struct slice line, const char *key)
{
	struct str text = STR_INIT;
	bool is = json_get(line, key, &text) &&
	    slice_is(str_slice(&text), "true");

	str_release(&text);
	return is;
}

/* A value as a part of a line: no tab, no end of it. */
static void
add_text(struct str *out, struct slice line, const char *key)
{
	size_t from = out->len;

	(void)json_get(line, key, out);
	for (; from < out->len; from++)
		if ((unsigned char)out->buf[from] < ' ')
			out->buf[from] = ' ';
}

static int64_t
messages_of(struct slice line)
{
	return number_of(line, "ready") + number_of(line, "waiting") +
	    number_of(line, "flight");
}

/* What keeps a thread; "" for nothing. */
static const char *
pending(struct slice line)
{
	if (is_true(line, "suspended"))
		return "suspended";
	if (number_of(line, "troubles") > 0 &&
	    number_of(line, "held_until") > 0)
		return "host-down";
	if (is_true(line, "suspended_by_rule"))
		return "rule";
	if (is_true(line, "waits_for_provider"))
		return "provider";
	if (number_of(line, "ready") > 0 && number_of(line, "agents") > 0 &&
	    number_of(line, "agents") >= number_of(line, "limit"))
		return "limit";
	return "";
}

/* Seconds until the next attempt; 0: now, or nobody knows. */
static int64_t
wait_of(const struct show *show, struct slice line)
{
	int64_t at = number_of(line, "held_until");

	return at > show->now_s ? at - show->now_s : 0;
}

/* The name of a thread: channel, host and, where there is one, zone. */
static bool
is_thread(struct slice line)
{
	struct str text = STR_INIT;
	bool is = json_get(line, "channel", &text);

	str_release(&text);
	return is;
}

static void
add_name(struct str *out, struct slice line, char between)
{
	add_text(out, line, "channel");
	str_addc(out, between);
	add_text(out, line, "host");
	str_addc(out, between);
	add_text(out, line, "zone");
}

void
show_thread(struct show *show, struct slice line, struct str *out)
{
	struct str text = STR_INIT;
	const char *why = pending(line);

	if (is_thread(line)) {
		show->threads++;
		add_name(&text, line, '/');
		str_addf(&text, " R=%lld A=%lld P=%lld OF=%lld UF=%lld "
		    "S=%s W=%llds", (long long)messages_of(line),
		    (long long)number_of(line, "troubles"),
		    (long long)number_of(line, "agents"),
		    (long long)number_of(line, "flight"),
		    (long long)number_of(line, "ready"),
		    number_of(line, "flight") > 0 ? "active" :
		    *why != '\0' ? "stopped" : "idle",
		    (long long)wait_of(show, line));
		if (*why != '\0')
			str_addf(&text, " pend=%s", why);
		show_add_line(out, str_slice(&text));
	}
	str_release(&text);
}

void
show_thread2(struct show *show, struct slice line, struct str *out)
{
	struct str text = STR_INIT;

	if (is_thread(line)) {
		show->threads++;
		add_name(&text, line, '\t');
		str_addf(&text, "\t%lld\t%lld\t%lld\t%lld\t%lld\t%lld\t%s",
		    (long long)messages_of(line),
		    (long long)number_of(line, "troubles"),
		    (long long)number_of(line, "agents"),
		    (long long)number_of(line, "flight"),
		    (long long)number_of(line, "ready"),
		    (long long)wait_of(show, line), pending(line));
		show_add_line(out, str_slice(&text));
	}
	str_release(&text);
}

void
show_totals(struct show *show, struct slice line, struct str *out)
{
	struct str text = STR_INIT;
	int64_t agents = number_of(line, "agents");

	if (is_thread(line)) {
		show->threads++;
		return;
	}
	str_addf(&text, "Kids: %lld  Idle: %lld  Msgs: %lld  Thrds: %llu  "
	    "Rcpnts: %llu  Uptime: %llds", (long long)agents,
	    (long long)(agents - number_of(line, "busy")),
	    (long long)number_of(line, "messages"),
	    (unsigned long long)show->threads,
	    (unsigned long long)show->recipients,
	    (long long)number_of(line, "up_s"));
	show_add_line(out, str_slice(&text));
	str_release(&text);
}

void
show_counters(struct show *show, struct slice line, struct str *out)
{
	static const struct { const char *name, *key; } rows[] = {
		{ "SC.StoredMessages-G", "messages" },
		{ "SC.UnreadMessages-G", "unread" },
		{ "SC.TransportAgentsActive-G", "busy" },
		{ "SC.DeliveredRecipients", "delivered" },
		{ "SC.DeferredRecipients", "deferred" },
		{ "SC.FailedRecipients", "failed" },
		{ "SC.Uptime-s", "up_s" },
	};

	if (is_thread(line)) {
		show->threads++;
		return;
	}
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		str_addf(out, "%-30s %10lld\n", rows[i].name,
		    (long long)number_of(line, rows[i].key));
	str_addf(out, "%-30s %10lld\n", "SC.TransportAgentsIdle-G",
	    (long long)(number_of(line, "agents") -
	    number_of(line, "busy")));
	str_addf(out, "%-30s %10llu\n", "SC.StoredThreads-G",
	    (unsigned long long)show->threads);
	str_addf(out, "%-30s %10llu\n", "SC.StoredRecipients-G",
	    (unsigned long long)show->recipients);
}

void
show_group(struct show *show, struct slice line, struct str *out)
{
	struct str text = STR_INIT;

	add_text(&text, line, "group");
	str_addf(&text, "  Threads: %lld  Msgs: %lld  Procs: %lld  Idle: "
	    "%lld  Plim: %lld  Flim: %lld  Tlim: %lld",
	    (long long)number_of(line, "threads"),
	    (long long)number_of(line, "messages"),
	    (long long)number_of(line, "agents"),
	    (long long)number_of(line, "idle"),
	    (long long)number_of(line, "limit"),
	    (long long)number_of(line, "overfeed"),
	    (long long)number_of(line, "parallel"));
	show_add_line(out, str_slice(&text));
	str_release(&text);
}

static bool
is_asked_for(const struct show *show, struct slice line)
{
	struct str channel = STR_INIT, host = STR_INIT;
	bool is = json_get(line, "channel", &channel) &&
	    json_get(line, "host", &host) &&
	    slice_is_nocase(str_slice(&channel), show->channel) &&
	    slice_is_nocase(str_slice(&host), show->host);

	str_release(&channel);
	str_release(&host);
	return is;
}

void
show_thread_head(struct show *show, struct slice line, struct str *out)
{
	struct str text = STR_INIT;

	if (is_asked_for(show, line)) {
		show_thread(show, line, &text);
		str_addc(out, '#');
		str_add_slice(out, str_slice(&text));
	}
	str_release(&text);
}

void
show_rcpt(struct show *show, struct slice line, struct str *out)
{
	struct str text = STR_INIT;

	add_text(&text, line, "file");
	str_addc(&text, '\t');
	add_text(&text, line, "id");
	str_addc(&text, '\t');
	add_text(&text, line, "from");
	str_addf(&text, "\t%lld\t%lld\t%lld\t%lld\t",
	    (long long)number_of(line, "offset"),
	    (long long)number_of(line, "expires"),
	    (long long)number_of(line, "next"),
	    (long long)number_of(line, "tries"));
	add_text(&text, line, "state");
	str_addc(&text, '\t');
	add_text(&text, line, "code");
	str_addc(&text, ' ');
	add_text(&text, line, "text");
	show_add_line(out, str_slice(&text));
	str_release(&text);
}
