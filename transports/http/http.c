/* http.c - the agent of channel http: each recipient's message is a POST
 *
 * In     jobs of the frame; their host is the URL
 * Out    verdicts
 * Holds  one connection, until another host comes or it is idle too long
 * Spec   zmailer-http(8); doc/AGENT.md
 *
 * SPDX-License-Identifier: ISC
 */
#include "base/clock.h"
#include "transports/http/http.h"

#include "base/banned.h"

static int
http_start(struct agent_run *run, struct err *err)
{
	struct http *http = mem_alloc(1, sizeof(*http));

	client_init(&http->client, run->conf, false);
	run->state = http;
	if (client_start(&http->client, err) < 0)
		return -1;
	run->sandbox.readable_count = client_token_directories(&http->client,
	    run->sandbox.readable, SANDBOX_PATHS_MAX);
	return 0;
}

static void
http_fail_all(struct control_job *job, struct verdict verdicts[],
    enum verdict_kind kind, const char *status, const struct err *err)
{
	for (size_t i = 0; i < job->rcpt_count; i++)
		verdict_set(&verdicts[i], kind, status, "http", "%s",
		    err->text);
}

/* How the connection was protected, for the journal. */
static void
http_tell_tls(struct agent_run *run, const struct smtp_client *client)
{
	struct str words = STR_INIT;

	if (client->tls.version[0] == '\0')
		return;
	tls_info_add(&words, &client->tls);
	run->tls = slice_copy(run->arena, str_slice(&words));
	str_release(&words);
}

/* Whoever is addressed, it would be in vain: the others are not asked for.
 * returns how long the server asks us to wait; 0: it does not. */
static int64_t
http_post_all(struct http *http, const struct http_url *url,
    const struct control_job *job, const struct http_message *message,
    struct verdict verdicts[])
{
	struct http_answer answer;
	int64_t wait_s = 0;

	for (size_t i = 0; i < job->rcpt_count; i++) {
		http_post(http, url, job, &job->rcpts[i], message, &answer,
		    &verdicts[i]);
		str_release(&answer.words);
		if (verdicts[i].kind == VERDICT_DEFERRED &&
		    answer.wait_s > wait_s)
			wait_s = answer.wait_s;
		if (verdicts[i].kind != VERDICT_DEFERRED ||
		    !verdicts[i].host_trouble)
			continue;
		for (size_t k = i + 1; k < job->rcpt_count; k++)
			verdicts[k] = verdicts[i];
		break;
	}
	return wait_s;
}

static int
http_job(struct agent_run *run, struct control_job *job, int body_fd,
    struct verdict verdicts[])
{
	struct http *http = run->state;
	struct http_message message;
	struct http_url url;
	int64_t wait_s = 0;
	struct err err;

	if (http_url_parse(job->host, &url, &err) < 0) {
		http_fail_all(job, verdicts, VERDICT_FAILED, "5.3.5", &err);
		return 0;
	}
	http->client.messages_max = conf_schedule_for(run->conf,
	    slice_of(run->agent->channel), job->host)->connection_messages;
	if (http->client.zone != run->zone)
		http_close(http);
	http->client.zone = run->zone;
	if (http_message_load(&message, job, body_fd, &err) < 0)
		http_fail_all(job, verdicts, VERDICT_DEFERRED, "4.3.0", &err);
	else
		wait_s = http_post_all(http, &url, job, &message, verdicts);
	http_message_release(&message);
	http->client.used_at_ms = clock_steady_ms();
	http_tell_tls(run, &http->client);
	return (int)wait_s;
}

static void
http_idle(struct agent_run *run)
{
	struct http *http = run->state;
	const struct conf_schedule *schedule = conf_schedule_for(run->conf,
	    slice_of(run->agent->channel), SLICE("-"));

	if (clock_steady_ms() - http->client.used_at_ms >= schedule->idle_ms)
		http_close(http);
}

static void
http_finish(struct agent_run *run)
{
	struct http *http = run->state;

	http_close(http);
	client_release(&http->client);
	mem_free(&http);
	run->state = NULL;
}

static const struct agent_kind http = {
	.name = "http",
	.purpose = "posts mail to URLs",
	.channel = "http",
	.is_confined = true,
	.start = http_start,
	.job = http_job,
	.idle = http_idle,
	.finish = http_finish,
};

int
main(int argc, char **argv)
{
	return agent_main(argc, argv, &http);
}
