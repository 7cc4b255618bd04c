/* fuzz_operator.c - lines on the operator's socket
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdlib.h>

#include "scheduler/control.h"
#include "tests/fuzz/fuzz.h"

/* A scheduler with one thread and one job, as far as answers look. */
static struct scheduler *
scheduler_make(void)
{
	static struct scheduler scheduler;
	static struct conf conf;
	static struct conf_schedule clause = { .channel = "*", .host = "*",
	    .parallel = 1 };
	struct job *job = job_new(1, 1);

	conf.schedules = &clause;
	conf.schedule_count = 1;
	scheduler.conf = &conf;
	plan_init(&scheduler.plan);
	thread_table_init(&scheduler.threads);
	job_table_init(&scheduler.jobs);
	job->inode = 4711;
	job->rcpts[0].offset = 100;
	job->vertices[0].rcpt_count = 1;
	job->vertices[0].thread = thread_get(&scheduler.threads, &conf,
	    SLICE("smtp"), SLICE("x\"\n\xff"), 1);
	job_table_add(&scheduler.jobs, job);
	plan_wait(&scheduler.plan, &job->vertices[0], 1000);
	return &scheduler;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct scheduler *scheduler;
	struct slice rest = { (const char *)data, size }, line;
	struct str out = STR_INIT;

	if (scheduler == NULL)
		scheduler = scheduler_make();
	while (slice_cut(&rest, '\n', &line)) {
		str_reset(&out);
		control_answer(scheduler, line, &out);
		if (!slice_ends(str_slice(&out), "}\n\n"))
			abort();	/* lines of JSON, then an empty one */
	}
	str_release(&out);
	return 0;
}
