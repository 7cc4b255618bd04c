/* cluster.pml - doc/CLUSTER.md as a model: whose is a message that has a copy
 *
 * In     -DCUTS=n failures (3); -DBREAK=n one rule broken, see check.py;
 *        -DMOVES=0 without moves (1)
 * Out    spin's verdict: no state in which a PROPERTY is false
 * Holds  the rows of the database that concern one message of node mx1, what
 *        mx1 has of it, what mx2 has of it, and what each believes
 *
 * Time.  A lease is LIVE while mx1 may count on it, then FADES (the database
 * counts it still, mx1 does not), then is OVER for 15 s.  mx1 counts from
 * before its question, so that the order is always this one, whoever stands
 * still meanwhile.  A delivery that outlasts what is between the last two is a
 * window that doc/CLUSTER.md names.
 *
 * Any process may stand still at any moment: that is a step not taken.  What
 * may be killed: mx1 (also with its disk), the tool and the daemons of mx2
 * (not its disk: then mx2 is the lost node).  A question to the database is one
 * step; its answer may be lost (the asker is killed after it, or was told
 * "away" although it was done).
 *
 * A takeover begins by an order, or without one (`takeover after`): here it may
 * begin whenever the lease is over, and what `takeover after` asks besides
 * (for how long, a lease of mx2's own, the epoch that was seen) only makes that
 * less often.  So each of its runs is one of these.
 *
 * Left out: more messages, records (a message is delivered or not), the
 * database's own death (it answers, or nobody knows), `lease go-on`.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef BREAK
#define BREAK 0
#endif
#ifndef CUTS
#define CUTS 3
#endif
#ifndef MOVES
#define MOVES 1
#endif
#define BROKEN(n) (BREAK == n)

/* The database. */
#define NOBODY 0
#define MX1 1
#define MX2 2
byte owner;			/* whose row it is; NOBODY: there is none */
#define OVER 0
#define FADES 1
#define LIVE 2
byte lease;			/* of mx1 */
bool taken_over;		/* lease_until is null, taken_by is mx2 */
bool noted;			/* zm_taken: mx2 has it */
bool offered, arriving;		/* move_to is mx2; the owner's own name */

/* mx1 */
#define NONE 0
#define DRAFT 1			/* public/, complete; of mx2 also durable */
#define QUEUE 2
#define TRASH 3
byte one;			/* the message there */
bool accepting;			/* a session waits for the next three */
bool asked, copied;		/* the commit is under way; share said ok */
bool synced;			/* its fsync has ended */
bool undo;			/* 451: the row is to be deleted */
bool fresh;			/* its disk is another one */
#define NOT_YET 0
#define KNOWN 1
#define STALE 2
byte one_epoch;			/* that of the database, as mx1 has it */
bool one_listed;		/* it heard what others have, of that epoch, */
bool one_named;			/* and this message was in that list when it
				 * was not in the queue: `left` is asked */
byte one_busy;			/* an agent has it; 2: still, though the
				 * lease is over */
bool one_done;			/* delivered, and not told yet */
byte moving;			/* 1: to be offered, 2: offered, 3: it is told
				 * to withdraw */

/* mx2 */
byte two;			/* the message there */
bool line;			/* in `imported` */
byte tool;			/* where it is; 0: nowhere */
bool two_busy, two_done;		/* as of mx1 */

/* What really happened: the books. */
bool said;			/* 250 */
byte got;			/* deliveries */
byte window;			/* so many more doc/CLUSTER.md allows */
byte cuts;

#define FENCE (one_epoch == KNOWN)
#define MAY_DELIVER (lease == LIVE && FENCE && one_listed)

/* PROPERTIES.  lost: what was answered 250 was delivered, or somebody has it
 * who will find it.  twice: delivered again outside of the windows. */
#define HELD (one == QUEUE || one == DRAFT || owner == MX1 || \
	(owner == MX2 && arriving) || two == QUEUE || \
	(two == DRAFT && (line || tool)))
bool lost, twice;

active proctype properties()
{
end:	do
	:: d_step { said && got == 0 && !HELD && !lost -> lost = 1;
		assert(!lost) }
	od
}

#define DELIVER twice = twice || (got > 0 && !window); assert(!twice); \
	window = window - (got > 0); got++

/* What an agent has in flight comes to nothing, or the hop had it already and
 * there is no record of that. */
inline agent_dies(busy)
{
	if
	:: busy -> busy = 0; DELIVER; window++
	:: busy = 0
	fi
}

/* S1c: the commit may be done all the same; what is durable is adopted, what
 * is not may be, unless the power went. */
inline accept_dies()
{
	if
	:: asked && !copied && owner == NOBODY && FENCE -> owner = MX1
	:: 1
	fi;
	if
	:: one == DRAFT -> one = QUEUE
	:: (one == DRAFT || one == QUEUE) && !synced -> one = NONE
	:: one != DRAFT
	fi;
	accepting = 0; asked = 0; copied = 0; undo = 0
}

inline one_dies()
{
	accept_dies();
	agent_dies(one_busy);
	one_done = 0; one_epoch = NOT_YET; one_listed = 0; one_named = 0;
	moving = 0
}

inline two_dies()
{
	agent_dies(two_busy);
	two_done = 0;
	tool = 0;
	if :: two == DRAFT && !line -> two = NONE	/* I1, at the start */
	:: else -> skip fi
}

active proctype life()
{
	/* ---- mx1: accept ---- */
	atomic { one = DRAFT; one_epoch = KNOWN; lease = LIVE; one_listed = 1;
		accepting = 1; asked = 1 };
	do
	/* the commit and the fsync, whichever ends first */
	:: atomic { asked && owner == NOBODY && FENCE -> owner = MX1;
		asked = 0; copied = accepting }
	:: atomic { accepting && !synced -> synced = 1 }
	:: atomic { accepting && (copied || BROKEN(1)) &&
		(synced || BROKEN(12)) -> one = QUEUE; said = 1;
		accepting = 0; copied = 0; asked = 0 }
	/* the fsync failed, or nobody knows of the commit: 451 */
	:: atomic { accepting -> accepting = 0; one = NONE; copied = 0;
		undo = 1 }
	:: atomic { undo && FENCE -> undo = 0; asked = 0;
		if :: owner == MX1 -> owner = NOBODY
		:: else -> skip fi }
	:: atomic { undo -> undo = 0; asked = 0 }	/* a word that is lost */
	/* the sweep: what is its own, and not here */
	:: atomic { FENCE && one == NONE && owner == MX1 && (!fresh ||
		BROKEN(14)) && !asked && !undo && !one_done ->
		owner = NOBODY }

	/* ---- mx1: the lease ---- */
	:: atomic { FENCE && lease != LIVE -> lease = LIVE }
	:: atomic { BROKEN(2) && one_epoch == STALE -> lease = LIVE;
		one_epoch = KNOWN; taken_over = 0 }
	:: atomic { !FENCE -> one_epoch = KNOWN; one_listed = BROKEN(3);
		lease = LIVE; taken_over = 0 }
	:: atomic { lease == LIVE -> lease = FADES }
	:: atomic { lease == FADES -> lease = OVER;
		window = window + (one_busy == 1);
		one_busy = (one_busy -> 2 : 0) }

	/* ---- mx1: what others have ---- */
	:: atomic { FENCE && !one_listed ->
		offered = (BROKEN(4) -> offered : 0);
		if :: noted && owner != MX1 && one == QUEUE && !one_busy ->
			one = TRASH
		:: else -> one_named = noted && one != QUEUE && !BROKEN(13)
		fi;
		one_listed = !one_busy }
	:: atomic { FENCE && one == QUEUE && one_named -> one_named = 0;
		if :: owner != MX1 -> one = TRASH :: else -> skip fi }

	/* ---- mx1: delivery ---- */
	:: atomic { one == QUEUE && !one_busy && !one_done && (!moving ||
		BROKEN(5)) && !one_named && (MAY_DELIVER || (BROKEN(6) && one_epoch)) ->
		one_busy = 1 }
	:: atomic { one_busy -> one_busy = 0; DELIVER; one_done = 1;
		one = NONE }
	:: atomic { one_done && FENCE -> one_done = 0;
		if :: owner == MX1 -> owner = NOBODY
		:: else -> skip fi }
	/* not a word of it comes through: the copy is older than that */
	:: atomic { one_done && !FENCE -> one_done = 0 }

	/* ---- mx1: a move ---- */
	:: atomic { MOVES && one == QUEUE && !one_busy && !moving &&
		MAY_DELIVER -> moving = 1 }
	:: atomic { moving == 1 && FENCE -> moving = 2;
		if :: owner == MX1 -> offered = 1 :: else -> skip fi }
	:: atomic { moving == 1 -> moving = 2 }		/* nobody knows */
	:: atomic { moving == 2 && FENCE && owner == MX2 ->	/* left */
		one = TRASH; moving = 0 }
	:: atomic { moving == 2 && FENCE && owner == MX1 -> offered = 0;
		moving = 0 }				/* withdrawn */
	:: atomic { BROKEN(7) && moving == 2 -> moving = 0 }
	:: atomic { moving && !FENCE -> moving = 0 }	/* a new epoch asks */

	/* ---- mx2: take over, or take what is offered ---- */
	:: atomic { tool == 0 && two == NONE && owner == MX1 &&
		(lease == OVER || BROKEN(8)) && !taken_over ->
		one_epoch = (one_epoch == KNOWN -> STALE : one_epoch);
		taken_over = 1; lease = OVER; tool = 1 }
	:: atomic { tool == 0 && two == NONE && owner == MX1 && taken_over ->
		tool = 1 }
	:: atomic { MOVES && tool == 0 && two == NONE && owner == MX1 &&
		offered -> tool = 1 }
	:: atomic { tool == 1 ->				/* `take` */
		if
		:: owner == MX1 && (offered || taken_over || BROKEN(10)) ->
			owner = MX2; noted = 1; offered = 0; arriving = 1;
			window = window + (got > 0)	/* nobody told */
		:: else -> skip
		fi; tool = 0 }
	:: atomic { tool == 0 && arriving && two == NONE && owner == MX2 &&
		(!line || BROKEN(11)) ->
		two = DRAFT; tool = 2 }				/* I1 */
	:: atomic { tool == 2 ->				/* I2 */
		if :: BROKEN(9) -> skip :: else -> line = 1 fi; tool = 3 }
	:: atomic { tool == 3 -> arriving = 0; tool = 4 }	/* `arrived` */
	:: atomic { tool == 3 -> tool = 4 }		/* nobody knows */
	:: atomic { tool == 4 -> two = QUEUE; tool = 0 }
	/* what was left in public/: the start */
	:: atomic { tool == 0 && two == DRAFT && line -> two = QUEUE }
	:: atomic { tool == 0 && two == DRAFT && !line -> two = NONE }
	/* it was taken before, by the line; only the row does not say so */
	:: atomic { tool == 0 && arriving && line && two != DRAFT &&
		!BROKEN(11) -> arriving = 0 }

	/* ---- mx2: delivery; it has a lease of its own ---- */
	:: atomic { two == QUEUE && !two_busy -> two_busy = 1 }
	:: atomic { two_busy -> two_busy = 0; DELIVER; two = NONE;
		two_done = 1 }
	:: atomic { two_done -> two_done = 0;
		if :: owner == MX2 -> owner = NOBODY; arriving = 0
		:: else -> skip fi }

	/* ---- failures ---- */
	:: atomic { cuts < CUTS && one_epoch -> one_dies(); cuts++ }
	:: atomic { cuts < CUTS && one != TRASH -> one_dies();
		one = NONE; fresh = 1; cuts++ }		/* and its disk */
	:: atomic { cuts < CUTS -> two_dies(); cuts++ }
	od
}
