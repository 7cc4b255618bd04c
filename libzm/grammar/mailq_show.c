/* mailq_show.c - the scheduler's lines of JSON in the words of ZMailer's mailq
 *
 * In     lines of the control protocol
 * Out    lines of the mailq protocol
 * Holds  counts while a report goes along
 * Trusts nothing in the lines: addresses and words of remote hosts are in
 *        them
 * Spec   doc/protocol/mailq.md section 5
 *
 *   thread = channel "/" host "/" [ zone ] *( SP letters "=" value )
 *   value  = 1*DIGIT [ "s" ] / word / "{" [ item *( "," item ) ] "}"
 *   item   = 1*DIGIT [ "s" ] / "-"
 *
 * SPDX-License-Identifier: ISC
 */
#include "base/json.h"
#include "grammar/mailq_show.h"

#include "base/banned.h"

enum { DEL = 0x7f };

/* No count is negative, and sums of some fit. */
#define COUNT_MAX	(INT64_MAX / 8)

static bool
is_control(char c)
{
	return (unsigned char)c < ' ' || c == DEL;
}

/* Text of one line of an answer: controls are blanks, a dot at its beginning
 * is doubled. */
static void
show_add_line(struct str *out, struct slice text)
{
	if (slice_starts(text, "."))
		str_addc(out, '.');
	for (size_t i = 0; i < text.n; i++)
		str_addc(out, is_control(text.p[i]) && text.p[i] != '\t' ?
		    ' ' : text.p[i]);
	str_addc(out, '\n');
}

/* A value as a part of a line: no tab, no end of it. */
static void
show_add_text(struct str *out, struct slice line, const char *key)
{
	struct str value = STR_INIT;

	(void)json_get(line, key, &value);
	for (size_t i = 0; i < value.len; i++)
		str_addc(out, is_control(value.buf[i]) ? ' ' : value.buf[i]);
	str_release(&value);
}

static int64_t
count_of(struct slice line, const char *key)
{
	int64_t count = json_get_number(line, key);

	return count < 0 ? 0 : count > COUNT_MAX ? COUNT_MAX : count;
}

static int64_t
messages_of(struct slice line)
{
	return count_of(line, "ready") +
	    count_of(line, "waiting") +
	    count_of(line, "flight");
}

/* What keeps a thread; "" for nothing. */
static const char *
mailq_show_pending(struct slice line)
{
	if (json_is(line, "suspended", "true"))
		return "suspended";
	if (count_of(line, "troubles") > 0 &&
	    count_of(line, "held_until") > 0)
		return "host-down";
	if (json_is(line, "suspended_by_rule", "true"))
		return "rule";
	if (json_is(line, "waits_for_provider", "true"))
		return "provider";
	if (count_of(line, "ready") > 0 &&
	    count_of(line, "agents") > 0 &&
	    count_of(line, "agents") >= count_of(line, "limit"))
		return "limit";
	return "";
}

/* Seconds until the next attempt; 0: now, or nobody knows. */
static int64_t
wait_of(const struct show *show, struct slice line)
{
	int64_t at = count_of(line, "held_until");

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
show_add_name(struct str *out, struct slice line, char between)
{
	show_add_text(out, line, "channel");
	str_addc(out, between);
	show_add_text(out, line, "host");
	str_addc(out, between);
	show_add_text(out, line, "zone");
}

/* "12,40" of the key as ZMailer wrote it, {12s,40s}; -: it never was. */
static void
add_braced(struct str *out, struct slice line, const char *key,
    const char *unit)
{
	struct str text = STR_INIT;
	struct slice rest, one;
	uint64_t number;

	str_addc(out, '{');
	if (json_get(line, key, &text) && text.len > 0) {
		rest = str_slice(&text);
		for (size_t i = 0; slice_cut(&rest, ',', &one); i++) {
			str_adds(out, i > 0 ? "," : "");
			if (slice_number(one, 0, INT64_MAX, &number))
				str_addf(out, "%llu%s",
				    (unsigned long long)number, unit);
			else
				str_addc(out, '-');
		}
	}
	str_addc(out, '}');
	str_release(&text);
}

/* Who is at it, and since when; nothing where nobody is. */
static void
show_add_agents(struct str *out, struct slice line)
{
	str_addf(out, " A=%lld P=",
	    (long long)count_of(line, "troubles"));
	add_braced(out, line, "pids", "");
	str_adds(out, " HA=");
	add_braced(out, line, "hungry_s", "s");
	str_adds(out, " FA=");
	add_braced(out, line, "fed_s", "s");
}

static void
add_thread(const struct show *show, struct slice line, struct str *out)
{
	const char *why = mailq_show_pending(line);

	show_add_name(out, line, '/');
	str_addf(out, " R=%lld", (long long)messages_of(line));
	show_add_agents(out, line);
	str_addf(out, " OF=%lld UF=%lld S=%s W=%llds",
	    (long long)count_of(line, "flight"),
	    (long long)count_of(line, "ready"),
	    count_of(line, "flight") > 0 ? "active" :
	    *why != '\0' ? "stopped" : "idle",
	    (long long)wait_of(show, line));
	if (*why != '\0')
		str_addf(out, " pend=%s", why);
	str_addf(out, " QA=%llds", (long long)count_of(line, "oldest_s"));
}

void
show_thread(struct show *show, struct slice line, struct str *out)
{
	struct str text = STR_INIT;

	if (is_thread(line)) {
		show->threads++;
		add_thread(show, line, &text);
		show_add_line(out, str_slice(&text));
	}
	str_release(&text);
}

/* What came to the line later stands at its end. */
static void
add_tabbed(struct str *out, struct slice line)
{
	static const char *const keys[] = { "pids", "hungry_s", "fed_s" };

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		str_addc(out, '\t');
		show_add_text(out, line, keys[i]);
	}
	str_addf(out, "\t%lld", (long long)count_of(line,
	    "oldest_s"));
}

void
show_thread2(struct show *show, struct slice line, struct str *out)
{
	struct str text = STR_INIT;

	if (is_thread(line)) {
		show->threads++;
		show_add_name(&text, line, '\t');
		str_addf(&text, "\t%lld\t%lld\t%lld\t%lld\t%lld\t%lld\t%s",
		    (long long)messages_of(line),
		    (long long)count_of(line, "troubles"),
		    (long long)count_of(line, "agents"),
		    (long long)count_of(line, "flight"),
		    (long long)count_of(line, "ready"),
		    (long long)wait_of(show, line), mailq_show_pending(line));
		add_tabbed(&text, line);
		show_add_line(out, str_slice(&text));
	}
	str_release(&text);
}

void
show_totals(struct show *show, struct slice line, struct str *out)
{
	struct str text = STR_INIT;
	int64_t agents = count_of(line, "agents");

	if (is_thread(line)) {
		show->threads++;
		return;
	}
	str_addf(&text, "Kids: %lld  Idle: %lld  Msgs: %lld  Thrds: %llu  "
	    "Rcpnts: %llu  Uptime: %llds", (long long)agents,
	    (long long)(agents - count_of(line, "busy")),
	    (long long)count_of(line, "messages"),
	    (unsigned long long)show->threads,
	    (unsigned long long)show->recipients,
	    (long long)count_of(line, "up_s"));
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
		    (long long)count_of(line, rows[i].key));
	str_addf(out, "%-30s %10lld\n", "SC.TransportAgentsIdle-G",
	    (long long)(count_of(line, "agents") -
	    count_of(line, "busy")));
	str_addf(out, "%-30s %10llu\n", "SC.StoredThreads-G",
	    (unsigned long long)show->threads);
	str_addf(out, "%-30s %10llu\n", "SC.StoredRecipients-G",
	    (unsigned long long)show->recipients);
}

void
show_group(struct show *show, struct slice line, struct str *out)
{
	struct str text = STR_INIT;

	show_add_text(&text, line, "group");
	str_addf(&text, "  Threads: %lld  Msgs: %lld  Procs: %lld  Idle: "
	    "%lld  Plim: %lld  Flim: %lld  Tlim: %lld",
	    (long long)count_of(line, "threads"),
	    (long long)count_of(line, "messages"),
	    (long long)count_of(line, "agents"),
	    (long long)count_of(line, "idle"),
	    (long long)count_of(line, "limit"),
	    (long long)count_of(line, "overfeed"),
	    (long long)count_of(line, "parallel"));
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
		show->threads++;
		str_addc(&text, '#');
		add_thread(show, line, &text);
		show_add_line(out, str_slice(&text));
	}
	str_release(&text);
}

void
show_rcpt(struct show *show, struct slice line, struct str *out)
{
	struct str text = STR_INIT;

	show_add_text(&text, line, "file");
	str_addc(&text, '\t');
	show_add_text(&text, line, "id");
	str_addc(&text, '\t');
	show_add_text(&text, line, "from");
	str_addf(&text, "\t%lld\t%lld\t%lld\t%lld\t",
	    (long long)count_of(line, "offset"),
	    (long long)count_of(line, "expires"),
	    (long long)count_of(line, "next"),
	    (long long)count_of(line, "tries"));
	show_add_text(&text, line, "state");
	str_addc(&text, '\t');
	show_add_text(&text, line, "code");
	str_addc(&text, ' ');
	show_add_text(&text, line, "text");
	show_add_line(out, str_slice(&text));
	str_release(&text);
}
