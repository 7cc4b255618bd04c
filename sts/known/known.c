/* known.c - what is known of the policies of domains, and how it is had
 *
 * In     domains; what look-ups found; time
 * Out    answers; files for the next start; events
 * Holds  a bounded number of domains, and who waits for them
 * Trusts nothing a domain says beyond what the grammar let through
 * Spec   known.h; RFC 8461 sections 3.1, 3.3, 5.1, 10.2
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>
#include <sys/queue.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/siphash.h"
#include "journal/event.h"
#include "sts/known/known.h"
#include "sts/known/looks.h"
#include "sts/known/shelf.h"

#include "base/banned.h"

struct known_wait {
	struct domain		*domain;
	known_answer_fn		*fn;
	void			*context;
	LIST_ENTRY(known_wait)	 entry;
};

struct domain {
	char			 name[STS_DOMAIN_BYTES];
	struct sts_policy	*policy;	/* NULL: none */
	int64_t			 fetched_s;	/* wall */
	int64_t			 asked_s;	/* wall, the last time */
	int64_t			 again_ms;	/* steady; 0: never looked */
	bool			 is_looked;	/* a look-up is under way, */
	bool			 is_queued;	/* or waits for its turn */
	bool			 needs_file;	/* whatever its id */
	struct str		 trouble;	/* of the last look; "" none */
	LIST_HEAD(, known_wait)	 waits;
	LIST_ENTRY(domain)	 node;		/* of its bucket */
	TAILQ_ENTRY(domain)	 entry;		/* longest not asked first */
	TAILQ_ENTRY(domain)	 turn;
};

enum { KNOWN_BUCKETS = 4096 };

LIST_HEAD(domain_bucket, domain);
TAILQ_HEAD(domain_list, domain);

struct known {
	struct process		*process;
	struct looks		*looks;
	struct tls_client	*tls;
	int			 shelf;
	struct domain_bucket	 buckets[KNOWN_BUCKETS];
	size_t			 count;
	struct domain_list	 bare, held;	/* without policy, with one */
	struct domain_list	 turns;		/* of look-ups */
	struct timer		 sweep;
};

/* Names are strangers': nobody can have them all in one bucket. */
static struct domain_bucket *
known_bucket(struct known *known, const char *name)
{
	struct siphash sum = siphash(siphash_process_key(), slice_of(name));

	return &known->buckets[sum.low % KNOWN_BUCKETS];
}

static struct domain_list *
known_list_of(struct known *known, const struct domain *domain)
{
	return domain->policy != NULL ? &known->held : &known->bare;
}

/* ---- domains ----------------------------------------------------------- */

static void
domain_free(struct known *known, struct domain *domain)
{
	TAILQ_REMOVE(known_list_of(known, domain), domain, entry);
	LIST_REMOVE(domain, node);
	known->count--;
	mem_release(domain->policy);
	str_release(&domain->trouble);
	mem_free(&domain);
}

static bool
domain_is_idle(const struct domain *domain)
{
	return !domain->is_looked && !domain->is_queued &&
	    LIST_EMPTY(&domain->waits);
}

/* Room for one more: who has no policy goes first. */
static void
known_make_room(struct known *known)
{
	struct domain_list *lists[] = { &known->bare, &known->held };
	struct domain *domain;

	if (known->count < KNOWN_DOMAINS_MAX)
		return;
	for (size_t i = 0; i < 2; i++)
		TAILQ_FOREACH(domain, lists[i], entry) {
			if (!domain_is_idle(domain))
				continue;
			if (domain->policy != NULL && known->shelf >= 0)
				shelf_remove(known->shelf, domain->name);
			domain_free(known, domain);
			return;
		}
}

static struct domain *
known_domain(struct known *known, const char *name)
{
	struct domain_bucket *bucket = known_bucket(known, name);
	struct domain *domain;

	LIST_FOREACH(domain, bucket, node)
		if (strcmp(domain->name, name) == 0)
			return domain;
	known_make_room(known);
	domain = mem_alloc(1, sizeof(*domain));
	strlcpy(domain->name, name, sizeof(domain->name));
	str_init(&domain->trouble);
	LIST_INIT(&domain->waits);
	LIST_INSERT_HEAD(bucket, domain, node);
	TAILQ_INSERT_TAIL(&known->bare, domain, entry);
	known->count++;
	return domain;
}

/* Another policy, or none (NULL). */
static void
domain_set(struct known *known, struct domain *domain,
    const struct sts_policy *policy, int64_t fetched_s)
{
	TAILQ_REMOVE(known_list_of(known, domain), domain, entry);
	mem_release(domain->policy);
	domain->policy = NULL;
	if (policy != NULL) {
		domain->policy = mem_alloc(1, sizeof(*domain->policy));
		*domain->policy = *policy;
	}
	domain->fetched_s = fetched_s;
	TAILQ_INSERT_TAIL(known_list_of(known, domain), domain, entry);
}

static void
domain_forget_policy(struct known *known, struct domain *domain)
{
	if (domain->policy != NULL && known->shelf >= 0)
		shelf_remove(known->shelf, domain->name);
	domain_set(known, domain, NULL, 0);
}

/* Seconds that are left of the policy. */
static int64_t
domain_left_s(const struct domain *domain)
{
	return domain->fetched_s + domain->policy->max_age_s - clock_wall_s();
}

static void
domain_expire(struct known *known, struct domain *domain)
{
	if (domain->policy != NULL && domain_left_s(domain) <= 0)
		domain_forget_policy(known, domain);
}

/* Time to have the file whatever the record says. */
static bool
domain_is_due(const struct domain *domain)
{
	int64_t age_s, after_s;

	if (domain->policy == NULL)
		return true;
	age_s = clock_wall_s() - domain->fetched_s;
	after_s = domain->policy->max_age_s / 2;
	return age_s >= (after_s < KNOWN_FRESH_S ? after_s : KNOWN_FRESH_S);
}

/* ---- answers ----------------------------------------------------------- */

static void
domain_add_policy(const struct domain *domain, struct str *out)
{
	struct sts_policy *policy = domain->policy;
	int64_t max_age_s = policy->max_age_s;

	policy->max_age_s = domain_left_s(domain);
	sts_policy_add_words(out, policy);
	policy->max_age_s = max_age_s;
}

static void
domain_add_answer(const struct domain *domain, struct str *out)
{
	if (domain->policy != NULL) {
		str_adds(out, "policy ");
		domain_add_policy(domain, out);
	} else if (domain->trouble.len > 0) {
		str_addf(out, "trouble %s", domain->trouble.buf);
	} else {
		str_adds(out, "none");
	}
}

static void
domain_answer_all(struct known *known, struct domain *domain)
{
	struct str answer = STR_INIT;
	struct known_wait *wait;

	domain_expire(known, domain);
	domain_add_answer(domain, &answer);
	while ((wait = LIST_FIRST(&domain->waits)) != NULL) {
		LIST_REMOVE(wait, entry);
		wait->fn(wait->context, str_slice(&answer));
		mem_free(&wait);
	}
	str_release(&answer);
}

/* ---- what look-ups found ----------------------------------------------- */

static bool
domain_has_same(const struct domain *domain, const struct sts_policy *policy)
{
	const struct sts_policy *old = domain->policy;

	return old != NULL && old->mode == policy->mode &&
	    strcmp(old->id, policy->id) == 0 &&
	    old->mx_bytes == policy->mx_bytes &&
	    memcmp(old->mx, policy->mx, policy->mx_bytes) == 0 &&
	    old->max_age_s == policy->max_age_s;
}

static void
domain_tell(const struct domain *domain, const struct sts_policy *policy)
{
	event(EV_STS_POLICY, NULL, "domain", slice_of(domain->name), "mode",
	    slice_of(sts_mode_word(policy->mode)), "policy",
	    slice_of(policy->id), "max-age",
	    event_number(policy->max_age_s), "hosts",
	    event_number(policy->mx_count), NULL);
}

static void
domain_take_policy(struct known *known, struct domain *domain,
    const struct sts_policy *policy)
{
	bool is_news = !domain_has_same(domain, policy) &&
	    (domain->policy != NULL || policy->mode != STS_NONE);
	struct err err;

	if (is_news)
		domain_tell(domain, policy);
	if (policy->mode == STS_NONE || policy->max_age_s == 0) {
		domain_forget_policy(known, domain);
		return;
	}
	domain_set(known, domain, policy, clock_wall_s());
	if (known->shelf >= 0 && shelf_put(known->shelf, domain->name,
	    domain->fetched_s, policy, &err) < 0)
		warning("the policy of %s is not kept: %s", domain->name,
		    err.text);
}

static void
domain_take_trouble(struct domain *domain, struct slice type,
    struct slice words)
{
	if (!slice_equal(str_slice(&domain->trouble), words))
		event(EV_STS_TROUBLE, NULL, "domain", slice_of(domain->name),
		    "result", type, "reason", words, "known",
		    slice_of(domain->policy != NULL ?
		    sts_mode_word(domain->policy->mode) : ""), NULL);
	str_reset(&domain->trouble);
	str_add_slice(&domain->trouble, words);
}

static void
known_advance(struct known *known)
{
	struct fetch_order order = { .tls = known->tls,
	    .port = known->process->conf->sts.port,
	    .for_ms = known->process->conf->sts.timeout_ms };
	struct domain *domain;

	while ((domain = TAILQ_FIRST(&known->turns)) != NULL) {
		order.is_due = domain->needs_file ||
		    domain_is_due(domain);
		strlcpy(order.domain, domain->name, sizeof(order.domain));
		strlcpy(order.id, domain->policy != NULL ?
		    domain->policy->id : "", sizeof(order.id));
		if (!looks_begin(known->looks, &order, domain))
			return;		/* the sweep, or an end, comes back */
		TAILQ_REMOVE(&known->turns, domain, turn);
		domain->is_queued = domain->needs_file = false;
		domain->is_looked = true;
	}
}

/* looks_done_fn */
static void
known_on_look(void *context, void *about, struct slice line)
{
	struct known *known = context;
	struct domain *domain = about;
	struct sts_policy policy;
	struct slice type, words;

	domain->is_looked = false;
	domain->again_ms = clock_steady_ms() + KNOWN_AGAIN_MS;
	switch (fetch_line_read(line, &policy, &type, &words)) {
	case FETCH_POLICY:
		str_reset(&domain->trouble);
		domain_take_policy(known, domain, &policy);
		break;
	case FETCH_TROUBLE:
		domain_take_trouble(domain, type, words);
		break;
	case FETCH_NONE:
	case FETCH_SAME:
		str_reset(&domain->trouble);
		break;
	}
	domain_answer_all(known, domain);
	known_advance(known);
}

static void
known_look(struct known *known, struct domain *domain, bool is_fresh)
{
	if (domain->is_looked)		/* that one will do */
		return;
	domain->needs_file = domain->needs_file || is_fresh;
	if (domain->is_queued)
		return;
	domain->is_queued = true;
	TAILQ_INSERT_TAIL(&known->turns, domain, turn);
	known_advance(known);
}

/* ---- questions --------------------------------------------------------- */

static struct known_wait *
domain_wait(struct domain *domain, known_answer_fn *fn, void *context)
{
	struct known_wait *wait = mem_alloc(1, sizeof(*wait));

	wait->domain = domain;
	wait->fn = fn;
	wait->context = context;
	LIST_INSERT_HEAD(&domain->waits, wait, entry);
	return wait;
}

struct known_wait *
known_ask(struct known *known, const char *name, bool is_refresh,
    known_answer_fn *fn, void *context)
{
	struct domain *domain = known_domain(known, name);
	bool is_stale = domain->again_ms == 0 ||
	    clock_steady_ms() >= domain->again_ms;
	struct str answer = STR_INIT;

	domain->asked_s = clock_wall_s();
	TAILQ_REMOVE(known_list_of(known, domain), domain, entry);
	TAILQ_INSERT_TAIL(known_list_of(known, domain), domain, entry);
	domain_expire(known, domain);
	if (is_refresh || is_stale)
		known_look(known, domain, is_refresh);
	if (is_refresh || (domain->policy == NULL &&
	    (domain->is_looked || domain->is_queued)))
		return domain_wait(domain, fn, context);
	domain_add_answer(domain, &answer);
	fn(context, str_slice(&answer));
	str_release(&answer);
	return NULL;
}

void
known_forget(struct known_wait **pwait)
{
	struct known_wait *wait = *pwait;

	if (wait == NULL)
		return;
	LIST_REMOVE(wait, entry);
	mem_free(pwait);
}

void
known_list(struct known *known, struct str *out)
{
	struct domain *domain, *next;

	TAILQ_FOREACH_SAFE(domain, &known->held, entry, next) {
		domain_expire(known, domain);
		if (domain->policy == NULL)
			continue;
		str_addf(out, "%s ", domain->name);
		domain_add_policy(domain, out);
		str_addc(out, '\n');
	}
}

/* ---- life -------------------------------------------------------------- */

/* Policies are had again before they end, also when nobody asks for a
 * while. */
static void
known_on_sweep(void *context)
{
	struct known *known = context;
	int64_t now_s = clock_wall_s(), now_ms = clock_steady_ms();
	struct domain *domain, *next;

	timer_set(known->process->loop, &known->sweep, now_ms +
	    KNOWN_SWEEP_MS, known_on_sweep, known);
	TAILQ_FOREACH_SAFE(domain, &known->held, entry, next) {
		domain_expire(known, domain);
		if (domain->policy != NULL && domain_is_due(domain) &&
		    now_ms >= domain->again_ms &&
		    now_s - domain->asked_s < KNOWN_IDLE_S)
			known_look(known, domain, false);
	}
	known_advance(known);
}

/* shelf_take_fn; a clock that was set back makes no policy last longer. */
static void
known_take_kept(void *context, const char *name, int64_t fetched_s,
    const struct sts_policy *policy)
{
	struct known *known = context;
	struct domain *domain = known_domain(known, name);
	int64_t now_s = clock_wall_s();

	domain_set(known, domain, policy, fetched_s < now_s ? fetched_s :
	    now_s);
	domain->asked_s = now_s;
	domain_expire(known, domain);
}

struct known *
known_new(struct process *process, int shelf, struct tls_client *tls)
{
	struct known *known = mem_alloc(1, sizeof(*known));

	known->process = process;
	known->shelf = shelf;
	known->tls = tls;
	TAILQ_INIT(&known->bare);
	TAILQ_INIT(&known->held);
	TAILQ_INIT(&known->turns);
	known->looks = looks_new(process, KNOWN_LOOKS_MAX, known_on_look,
	    known);
	if (shelf >= 0)
		shelf_read(shelf, KNOWN_DOMAINS_MAX, known_take_kept, known);
	timer_set(process->loop, &known->sweep, clock_steady_ms() +
	    KNOWN_SWEEP_MS, known_on_sweep, known);
	return known;
}

void
known_free(struct known **pknown)
{
	struct known *known = *pknown;
	struct domain_list *lists[] = { &known->bare, &known->held };
	struct domain *domain;
	struct known_wait *wait;

	looks_free(&known->looks);
	timer_clear(&known->sweep);
	for (size_t i = 0; i < 2; i++)
		while ((domain = TAILQ_FIRST(lists[i])) != NULL) {
			while ((wait = LIST_FIRST(&domain->waits)) != NULL)
				known_forget(&wait);
			domain_free(known, domain);
		}
	if (known->shelf >= 0)
		close(known->shelf);
	mem_free(pknown);
}
