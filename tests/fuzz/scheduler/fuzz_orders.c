/* fuzz_orders.c - any bytes as transport/.orders
 *
 * SPDX-License-Identifier: ISC
 */
#include "scheduler/plan/orders.h"
#include "tests/fuzz/fuzz.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct orders first = { .generation = 1 }, second = first;
	struct str once = STR_INIT, twice = STR_INIT;

	orders_parse(&first, fuzz_slice(data, size));
	MUST(first.count <= ORDERS_MAX + SEARCHES_MAX);
	(void)orders_find(&first, ORDER_PIN, SLICE("smtp"), SLICE("a.test"));
	orders_format(&first, &once);
	/* what was written is read as the same */
	orders_parse(&second, str_slice(&once));
	orders_format(&second, &twice);
	MUST(first.count == second.count);
	MUST(first.is_draining == second.is_draining);
	MUST(slice_equal(str_slice(&once), str_slice(&twice)));
	orders_release(&first);
	orders_release(&second);
	str_release(&once);
	str_release(&twice);
	return 0;
}
