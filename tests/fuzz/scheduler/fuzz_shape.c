/* fuzz_shape.c - RUN/scheduler.shape and RUN/scheduler.arrivals as somebody
 * may have left them
 *
 * SPDX-License-Identifier: ISC
 */
#include "base/mem.h"
#include "scheduler/plan/arrivals/arrivals.h"
#include "scheduler/plan/arrivals/objectives.h"
#include "scheduler/plan/shaping/shape.h"
#include "scheduler/plan/shaping/zone.h"
#include "tests/fuzz/fuzz.h"

static void
fuzz_arrivals(struct slice text)
{
	struct arrivals arrivals = { .size = 0 };
	struct str first = STR_INIT, second = STR_INIT;

	arrivals_open(&arrivals, "");
	arrivals_read(&arrivals, text, 1000);
	MUST(arrivals.count <= ARRIVALS_MAX);
	arrivals_add_lines(&arrivals, &first);
	arrivals_release(&arrivals);
	/* what was written is read as the same */
	arrivals_open(&arrivals, "");
	arrivals_read(&arrivals, str_slice(&first), 1000);
	arrivals_add_lines(&arrivals, &second);
	MUST(first.len == second.len);
	arrivals_release(&arrivals);
	str_release(&first);
	str_release(&second);
}

static void
fuzz_objectives(struct slice text)
{
	static struct conf_objective stated[] = {
		{ .pattern = "*@far.example", .percent = 90, .span_s = 60 },
		{ .pattern = "*", .percent = 50, .span_s = 300 }
	};
	static struct conf conf = { .objectives = stated,
	    .objective_count = 2 };
	struct objectives first = { .slots = NULL }, second = first;
	struct str once = STR_INIT, twice = STR_INIT;

	objectives_set(&first, &conf);
	objectives_read(&first, text, 1000);
	objectives_add_lines(&first, 1000, &once);
	objectives_set(&second, &conf);
	objectives_read(&second, str_slice(&once), 1000);
	objectives_add_lines(&second, 1000, &twice);
	MUST(slice_equal(str_slice(&once), str_slice(&twice)));
	for (unsigned i = 1; i <= 2; i++) {
		struct objective_piece sum = objective_sum(
		    objectives_at(&first, i), 1000);

		(void)objective_is_met(objectives_at(&first, i), &sum, 7);
	}
	objectives_release(&first);
	objectives_release(&second);
	str_release(&once);
	str_release(&twice);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct slice text = fuzz_slice(data, size);
	struct provider_table providers = { .size = 0 };
	struct warm_table warms = { .size = 0 };
	struct shape_table table = { .size = 16, .providers = &providers };
	struct str first = STR_INIT, second = STR_INIT;

	fuzz_arrivals(text);
	fuzz_objectives(text);
	table.buckets = mem_alloc(table.size, sizeof(*table.buckets));
	shape_read(&table, text, 1000);
	warm_read(&warms, text, 1000);
	shape_add_remembered(&table, &first);
	warm_add_lines(&warms, &first);
	shape_release(&table);
	warm_release(&warms);
	/* what was written is read as the same */
	table = (struct shape_table){ .size = 16, .providers = &providers };
	table.buckets = mem_alloc(table.size, sizeof(*table.buckets));
	shape_read(&table, str_slice(&first), 1000);
	warm_read(&warms, str_slice(&first), 1000);
	shape_add_remembered(&table, &second);
	warm_add_lines(&warms, &second);
	MUST(first.len == second.len);
	shape_release(&table);
	warm_release(&warms);
	str_release(&first);
	str_release(&second);
	return 0;
}
