/* spool.pml - doc/INTERNALS.md section 2 as a model: the life of one message
 *
 * In     -DCUTS=n failures (4); -DBREAK=n one rule broken, see check.py;
 *        -DHALVES=0 nobody works before both halves of recovery are over
 * Out    spin's verdict: no state in which a PROPERTY is false, and none in
 *        which all stands still but a row of the table
 * Holds  what processes see (m, k, r: where the message file, the control file
 *        and a report are) and what the disk may have after a power cut
 *        (m_disk ...: a set of places; m_safe ...: are its bytes durable)
 *
 * The disk.  A change of a name is whole (both ends of a rename), becomes
 * durable by itself at any moment or never, and those of different files in
 * any order.  fsync of a file makes its bytes and the name it has then
 * durable, fdatasync its bytes (and some name), fsync of a directory the
 * changes that have one end in it, syncfs everything.  Bytes that are not
 * durable may be torn.  A rename may also leave both names (row T1).  The
 * death of processes alone loses nothing.
 *
 * Left out: several messages at once and inode numbers that come again (F1
 * against P4), priorities, hash directories, hooks, milters (L, W), other
 * users' submissions (S4), imports (I), orders, trash (D5 to D7), reroute of
 * a part (D9), expiry, bytes that rot, calls that fail, `sync strict`.  A
 * report is followed until it is in router/; from there it is a message.  Two
 * recipients.  People do nothing but resubmit from deferred/.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef BREAK
#define BREAK 0
#endif
#ifndef CUTS
#define CUTS 4
#endif
#ifndef HALVES
#define HALVES 1
#endif
#define BROKEN(n) (BREAK == n)
#define BIT(x) (1 << (x))

/* Places.  Of M: public/, router/N, router/N-PID, queue/N, set aside (D1), in
 * postman/ (D4).  Of K: plans/..N-PID, transport/N, postman/N.why.control. */
#define NONE 0
#define PUBLIC 1
#define ROUTER 2
#define CLAIM 3
#define QUEUE 4
#define DEFERRED 5
#define POSTMAN 6
#define PLAN 1
#define TRANSPORT 2
#define BESIDE 3

byte m, m_twin, m_disk = BIT(NONE), k, k_disk = BIT(NONE), r,
    r_disk = BIT(NONE);
bool m_full, m_safe, k_full, k_safe, r_full, r_safe; /* bytes: all, durable */

/* Records of K and recipients: bits 0 and 1. */
byte ok, ok_safe, bad, bad_safe;	/* outcome delivered, failed */
byte marked, marked_safe;		/* `reported` */
byte marks, marks_safe;			/* how many marks: k of dsn-ID-k */
byte r_for, r_number;			/* whom r tells of, its k */
byte answer, refusal;			/* in flight, from agent to record */
byte grouped;				/* the group interval is over for them */

/* What really happened: the books. */
bool said;				/* 250 */
byte got, told;				/* delivered; sender told */
byte window;				/* INTERNALS section 5 allows a copy */
bool was_cut, rerouted, adopted;	/* power; D8 was begun; S1 of the dead */

byte sub, rou, sch, rep, rec;		/* where each program is; 0: not begun */
bool up;				/* the first half of recovery is over */
bool known;				/* the second one, too */
bool come;				/* notify told the scheduler of K */
bool m_new, k_new;	/* until known: changed (ctime) since the start */
bool saw_m, saw_k;	/* by the second half, in queue/, in transport/ */
bool again;		/* D3 since it looked into router/: a second one takes a
			 * minute */
byte cuts;

#define ALL 3
#define K_AWAY (k == NONE || k == BESIDE)
#define FINAL ((ok | bad) == ALL && (bad & ~marked) == 0)
#define M_TO(p) m = p; m_disk = m_disk | BIT(p)
#define K_TO(p) k = p; k_disk = k_disk | BIT(p)
#define R_TO(p) r = p; r_disk = r_disk | BIT(p)
#define M_FSYNC m_safe = m_full; m_disk = BIT(m)
#define M_GOES(p) M_TO(p); m_new = !known
#define K_COMES K_TO(TRANSPORT); k_new = !known; come = !known
#define K_SAYS k_new = !known
#define K_SAFE k_safe = k_full; ok_safe = ok; bad_safe = bad; \
	marked_safe = marked; marks_safe = marks
#define R_FSYNC r_safe = r_full; r_disk = BIT(r)
#define SYNCFS M_FSYNC; K_SAFE; k_disk = BIT(k); R_FSYNC
#define K_EMPTY k_full = 0; ok = 0; bad = 0; marked = 0; marks = 0; K_SAFE; \
	k_safe = 0; grouped = 0
#define K_NEW K_EMPTY; k_disk = BIT(NONE); K_TO(PLAN)
#define R_NEW r_full = 0; r_safe = 0; r_disk = BIT(NONE); R_TO(PUBLIC)
/* of an agent that died, and of a record that the disk forgot */
#define AGENTS_DIE window = window | answer; answer = 0; refusal = 0


/* PROPERTIES.  lost: what was answered 250 is on disk, or each recipient has
 * it, or its sender a report.  row: files are where the table lets them be.
 * torn: nothing passes on what is not whole.  twice: a recipient gets a second
 * copy in the windows of section 5 alone.  told: a sender hears of a failure
 * twice after a power cut alone.  stuck: a life ends in a row that stays. */
#define HAS(i) (((got | told) & BIT(i)) || (r && r_full && (r_for & BIT(i))))
#define LOST (said && m == NONE && !(HAS(0) && HAS(1)))
#define BAD_S2 (m >= ROUTER && !(m_full && m_safe) && (said || !adopted || \
	(!m_full && !was_cut)))
#define BAD_P4 (k == TRANSPORT && !k_full && !was_cut)
#define BAD_P5 (k == TRANSPORT && (m == ROUTER || m == CLAIM) && \
	!was_cut && !rerouted)
#define BAD_P6 (m == QUEUE && K_AWAY && !was_cut)
#define ENDED (r == NONE && ((m == NONE && K_AWAY) || m == POSTMAN))

bool lost, row, torn, twice, told_twice, stuck;

active proctype properties()
{
end:	do
	:: d_step { LOST && !lost -> lost = 1; assert(!lost) }
	:: d_step { (BAD_S2 || BAD_P4 || BAD_P5 || BAD_P6) && !row ->
		row = 1; assert(!row) }
	od
}

#define IDLE(i) ((m_full || BROKEN(23)) && \
	!((answer | refusal | ok | bad) & BIT(i)))
#define DELIVER(i) torn = torn || !m_full || !k_full; assert(!torn); \
	twice = twice || (got & BIT(i) && !(window & BIT(i))); \
	assert(!twice); \
	got = got | BIT(i); window = window & ~BIT(i)
#define ANSWERED(i) (answer & BIT(i))
#define REFUSED(i) (refusal & BIT(i))
#define OLD (known || (BROKEN(29) && up))
#define LONE_K (k == TRANSPORT && saw_k && !saw_m && \
	(BROKEN(30) || (m != QUEUE && !k_new)))
#define OWED (k != TRANSPORT || !k_full || marks > r_number || BROKEN(20))

/* One place of those that the disk may have. */
inline choose(set, out)
{
	if
	:: set & BIT(0) -> out = 0
	:: set & BIT(1) -> out = 1
	:: set & BIT(2) -> out = 2
	:: set & BIT(3) -> out = 3
	:: set & BIT(4) -> out = 4
	:: set & BIT(5) -> out = 5
	:: set & BIT(6) -> out = 6
	fi
}

inline all_die()
{
	AGENTS_DIE; sub = 5; rou = 0; sch = 0; rep = 0; rec = 0; up = 0;
	changed = 0; known = 0; come = 0; m_new = 0; k_new = 0;
	saw_m = 0; saw_k = 0; again = 0
}

/* What was not durable may be there or not, each file for itself. */
inline power_cut()
{
	window = window | (ok & ~grouped);
	choose(m_disk, m);
	m_twin = NONE;
	if
	:: true
	:: m > PUBLIC && m_disk & (BIT(m) - 1) & ~BIT(NONE) ->	/* T1 */
		choose((m_disk & (BIT(m) - 1) & ~BIT(NONE)), m_twin)
	fi;
	if :: m_safe -> skip :: !m_safe -> m_full = 0 :: !m_safe -> skip fi;
	m_safe = m_full;
	m_disk = BIT(m) | (m_twin -> BIT(m_twin) : 0);
	choose(k_disk, k);
	if
	:: k == NONE -> K_EMPTY
	:: k && !k_safe -> K_EMPTY
	:: k -> if :: true :: ok = ok_safe fi;
		if :: true :: bad = bad_safe fi;
		if :: true :: marked = marked_safe; marks = marks_safe fi;
		K_SAFE; grouped = grouped & ok
	fi;
	k_disk = BIT(k);
	choose(r_disk, r);
	if :: r_safe -> skip :: !r_safe -> r_full = 0 :: !r_safe -> skip fi;
	r_safe = r_full; r_disk = BIT(r);
	if :: r == NONE -> r_for = 0; r_number = 0; r_full = 0; r_safe = 0
	:: r -> skip fi;
	was_cut = 1
}

active proctype life()
{
	bool changed;

	do
	/* ---- submitter ---- */
	:: atomic { sub == 0 -> up = 1; known = 1; M_TO(PUBLIC); sub = 1 }	/* S0 */
	:: atomic { sub == 1 ->
		if :: BROKEN(4) -> M_TO(ROUTER) :: else -> m_full = 1 fi;
		said = said || BROKEN(2); sub = 2 }
	:: atomic { sub == 2 ->					/* S0 -> S1 */
		if :: BROKEN(1) -> M_TO(ROUTER)
		:: BROKEN(3) -> skip
		:: BROKEN(4) -> m_full = 1
		:: else -> M_FSYNC fi; sub = 3 }
	:: atomic { sub == 3 ->					/* S1 -> S2 */
		if :: BROKEN(1) || BROKEN(4) -> M_FSYNC
		:: else -> M_TO(ROUTER) fi; sub = 4 }
	:: atomic { sub == 4 -> said = 1; sub = 5 }		/* 250 */

	/* ---- router ---- */
	:: atomic { up && rou == 0 && m == ROUTER && !m_twin -> /* S2 -> C1 */
		M_GOES(CLAIM); rou = 1 }
	:: atomic { rou == 1 && k == TRANSPORT ->		/* P5: not yet */
		M_GOES(ROUTER); rou = 0 }
	:: atomic { rou == 1 -> M_GOES(DEFERRED); rou = 0 }	/* D1 */
	:: atomic { up && m == DEFERRED && !m_twin && !again ->	/* D3 */
		M_GOES(ROUTER); again = rec > 4 }
	:: atomic { rou == 1 && K_AWAY && m_full ->		/* P1 */
		K_NEW; rou = 2 }
	:: atomic { rou == 2 ->					/* P2 */
		if :: BROKEN(5) -> skip :: else -> k_full = 1 fi; rou = 3 }
	:: atomic { rou == 3 ->					/* P2 -> P3 */
		if :: BROKEN(6) -> K_COMES
		:: else -> M_GOES(QUEUE) fi; rou = 4 }
	:: atomic { rou == 4 ->					/* P3 -> P4 */
		if :: BROKEN(6) -> M_GOES(QUEUE)
		:: else -> K_COMES fi;
		rou = (BROKEN(5) -> 5 : 0) }
	:: atomic { rou == 5 -> k_full = 1; rou = 0 }
	/* each minute, and when a worker died: what no lock holds */
	:: atomic { up && k == PLAN && (rou == 1 || (rou == 0 &&
		m != QUEUE)) -> K_TO(NONE) }			/* P1 */
	:: atomic { up && rou == 0 && m == CLAIM -> M_GOES(ROUTER) } /* C1 */
	:: atomic { up && rou == 0 && m == QUEUE && k == PLAN ->   /* P3 */
		if :: k_full -> K_COMES :: else -> K_TO(NONE) fi }
	:: atomic { up && sub == 5 && m == PUBLIC ->		/* S0, S1 */
		if :: m_full -> M_GOES(ROUTER); adopted = 1
		:: else -> M_TO(NONE) fi }

	/* ---- scheduler and its agents ---- */
	:: atomic { up && sch == 0 && m == QUEUE && k == TRANSPORT &&
		(OLD || come) && !answer && !refusal ->		/* P4, P6 */
		if :: k_full || BROKEN(7) -> sch = 1
		:: else -> K_TO(NONE) fi }
	:: atomic { up && sch == 0 && rou == 0 && m == QUEUE && OLD &&
		K_AWAY && !BROKEN(18) -> M_TO(ROUTER) }		/* P6 */
	:: atomic { sch == 1 && IDLE(0) -> DELIVER(0);
		if :: BROKEN(8) -> skip :: else -> answer = answer | 1 fi }
	:: atomic { sch == 1 && IDLE(1) -> DELIVER(1); answer = answer | 2 }
	:: atomic { sch == 1 && IDLE(0) -> refusal = refusal | 1;
		ok = ok | (BROKEN(9) -> 1 : 0) }
	:: atomic { sch == 1 && IDLE(1) -> refusal = refusal | 2 }
	:: atomic { ANSWERED(0) -> answer = answer & ~1; ok = ok | 1; K_SAYS }
	:: atomic { ANSWERED(1) -> answer = answer & ~2; ok = ok | 2; K_SAYS }
	:: atomic { REFUSED(0) -> refusal = refusal & ~1; bad = bad | 1; K_SAYS }
	:: atomic { REFUSED(1) -> refusal = refusal & ~2; bad = bad | 2; K_SAYS }
	:: atomic { sch == 1 && !FINAL &&			/* the group */
		(ok != grouped || bad != bad_safe || marked != marked_safe) ->
		if :: BROKEN(10) -> skip
		:: else -> K_SAFE; if
			:: !(k_disk & BIT(NONE)) && BROKEN(27) -> skip
			:: else -> k_disk = BIT(k) fi
		fi; grouped = ok }

	/* ---- reports ---- */
	:: atomic { sch == 1 && rep == 0 && (bad & ~marked) &&
		(r == NONE || (r == PUBLIC && !OWED)) ->	/* S3 */
		R_NEW; r_for = bad & ~marked; r_number = marks; rep = 1 }
	:: atomic { rep == 1 -> r_full = 1; rep = 2 }
	:: atomic { rep == 2 ->
		if :: BROKEN(11) -> skip
		:: BROKEN(12) -> marked = marked | r_for; marks++
		:: else -> R_FSYNC fi; rep = 3 }
	:: atomic { rep == 3 ->
		if :: BROKEN(12) -> R_FSYNC
		:: else -> marked = marked | r_for; marks++ fi; rep = 4 }
	:: atomic { rep == 4 -> R_TO(ROUTER); rep = 0 }
	:: atomic { up && rep == 0 && r == PUBLIC && r_full && OWED ->
		R_TO(ROUTER) }					/* S3 */
	:: atomic { up && rep == 0 && r == PUBLIC && !r_full ->	/* S0 */
		R_TO(NONE) }
	:: atomic { up && rep == 0 && r == ROUTER ->	/* a message's life */
		told_twice = told_twice || ((told & r_for) && !was_cut);
		assert(!told_twice);
		told = told | r_for;
		R_TO(NONE); r_disk = BIT(NONE); r_for = 0; r_number = 0;
		r_full = 0; r_safe = 0 }

	/* ---- the end of a message ---- */
	:: atomic { sch == 1 && !answer && !refusal && rep == 0 &&
		(FINAL || (BROKEN(13) && (ok | bad) == ALL)) -> /* F0 -> F1 */
		if :: BROKEN(14) -> K_TO(NONE) :: else -> M_TO(NONE) fi;
		sch = 2 }
	:: atomic { BROKEN(15) && sch == 1 && refusal &&
		(ok | bad | answer | refusal) == ALL -> M_TO(NONE); sch = 2 }
	:: atomic { sch == 2 ->					/* F1 -> F2 */
		if :: BROKEN(16) -> skip
		:: BROKEN(14) -> M_TO(NONE)
		:: else -> m_disk = BIT(NONE) fi; sch = 3 }
	:: atomic { sch == 3 -> K_TO(NONE); sch = 0 }		/* F2 -> F3 */
	:: atomic { up && sch == 0 && OLD && m == NONE && k == TRANSPORT &&
		!answer && !refusal -> sch = 2 }		/* F1 */
	/* D4: damaged; a report that nobody can be sent */
	:: atomic { sch == 1 && !answer && !refusal && rep == 0 &&
		(!m_full || ((ok | bad) == ALL && (bad & ~marked))) ->
		M_TO(POSTMAN); sch = 4 }
	:: atomic { sch == 4 ->
		if :: BROKEN(24) -> skip :: else -> M_FSYNC fi; sch = 5 }
	:: atomic { sch == 5 -> K_TO(BESIDE); sch = 7 }
	:: atomic { sch == 7 -> K_SAFE; k_disk = BIT(k); M_FSYNC; sch = 0 }
	:: atomic { up && sch == 0 && OLD && m == POSTMAN && k == TRANSPORT ->
		sch = 4 }
	/* D8: routed again, of which nobody has anything */
	:: atomic { sch == 1 && !(ok | bad | answer | refusal) ->
		if :: BROKEN(17) -> K_TO(NONE)
		:: else -> M_GOES(ROUTER) fi; rerouted = 1; sch = 6 }
	:: atomic { sch == 6 ->
		if :: BROKEN(17) -> M_TO(ROUTER)
		:: else -> K_TO(NONE) fi; sch = 0 }
	:: atomic { up && sch == 0 && OLD && k == TRANSPORT &&
		(m == ROUTER || m == CLAIM) -> K_TO(NONE) }

	/* ---- recovery, the first half: then mail is taken and routed ---- */
	:: atomic { sub && !up && rec == 0 ->			/* T1 */
		if
		:: m_twin == PUBLIC || m_twin == CLAIM || (m_twin && m == CLAIM)
			-> m_twin = NONE; changed = 1
		:: else -> skip
		fi; rec = 1 }
	:: atomic { rec == 1 ->					/* P1 to P3 */
		if
		:: k == PLAN && m == QUEUE && k_full ->
			K_TO(TRANSPORT); k_new = 1; changed = 1
		:: k == PLAN && !(m == QUEUE && k_full) ->
			K_TO(NONE); changed = 1
		:: else -> skip
		fi; rec = 2 }
	:: atomic { rec == 2 ->					/* C1 */
		if :: m == CLAIM -> M_GOES(ROUTER); changed = 1
		:: else -> skip fi; rec = 3 }
	:: atomic { rec == 3 ->					/* S0, S1 */
		if
		:: m == PUBLIC && (m_full || BROKEN(19)) && !BROKEN(21) ->
			M_GOES(ROUTER); adopted = 1; changed = 1
		:: m == PUBLIC && !((m_full || BROKEN(19)) && !BROKEN(21)) ->
			M_TO(NONE); changed = 1
		:: BROKEN(28) && r == PUBLIC && !(r_full && OWED) ->
			R_TO(NONE); changed = 1		/* S3, too early */
		:: else -> skip
		fi;
		if :: changed -> SYNCFS :: else -> skip fi;
		changed = 0; up = HALVES; rec = 4 }

	/* ---- the second half, beside all the others; then the scheduler hears
	 * of what lay there ---- */
	:: atomic { rec == 4 -> saw_m = m == QUEUE; again = 0; rec = 5 }
	:: atomic { rec == 5 -> saw_k = k == TRANSPORT;
		changed = changed || m_twin; m_twin = NONE;	/* T1 */
		rec = (saw_m == saw_k -> 11 : (saw_m -> 10 : 6)) }
	/* a control file that is alone: router/, what is aside, and both again,
	 * because the message goes on meanwhile */
	:: atomic { (rec == 6 || rec == 8) && LONE_K && m == ROUTER -> /* P5 */
		if
		:: k_full && !BROKEN(22) -> M_TO(QUEUE)
		:: else -> K_TO(NONE)
		fi; changed = 1; rec = 11 }
	:: atomic { (rec == 6 || rec == 8) && (!LONE_K || (m != ROUTER &&
		m != CLAIM) || BROKEN(32)) -> rec++ }
	:: atomic { BROKEN(34) && rec == 8 && LONE_K && (m == DEFERRED ||
		m == NONE) -> SYNCFS; K_TO(NONE); changed = 1; rec = 11 }
	:: atomic { (rec == 7 || rec == 9) && LONE_K && m == DEFERRED &&
		!BROKEN(25) ->					/* P5 */
		if :: k_full -> M_TO(QUEUE) :: else -> K_TO(NONE) fi;
		changed = 1; rec = 11 }
	:: atomic { (rec == 7 || rec == 9) && LONE_K && m == POSTMAN -> /* D4 */
		M_FSYNC; K_TO(BESIDE); changed = 1; rec = 11 }
	:: atomic { rec == 7 && !(LONE_K && (m == POSTMAN || (m == DEFERRED &&
		!BROKEN(25)))) -> rec = (BROKEN(33) -> 9 : 8) }
	:: atomic { rec == 9 && !(LONE_K && (m == POSTMAN || (m == DEFERRED &&
		!BROKEN(25)))) ->
		if
		:: LONE_K && m != QUEUE ->			/* F1 */
			if :: BROKEN(26) -> skip :: else -> SYNCFS fi;
			K_TO(NONE); changed = 1
		:: else -> skip
		fi; rec = 11 }
	:: atomic { rec == 10 ->				/* P6 */
		if
		:: m == QUEUE && k != TRANSPORT && !BROKEN(18) &&
			(BROKEN(31) || (!m_new && rou == 0)) ->
			M_TO(ROUTER); changed = 1
		:: else -> skip
		fi; rec = 11 }
	:: atomic { rec == 11 ->				/* S3 */
		if
		:: r == PUBLIC && rep == 0 && r_full && OWED ->
			R_TO(ROUTER); changed = 1
		:: r == PUBLIC && rep == 0 && !(r_full && OWED) ->
			R_TO(NONE); changed = 1
		:: else -> skip
		fi;
		if :: changed -> SYNCFS :: else -> skip fi;
		changed = 0; rec = 0; up = 1; known = 1; come = 0; m_new = 0;
		k_new = 0; saw_m = 0; saw_k = 0; again = 0 }

	/* ---- failures ---- */
	:: atomic { cuts < CUTS && sub && sub < 5 -> sub = 5; cuts++ }
	:: atomic { cuts < CUTS && rou -> rou = 0; cuts++ }
	:: atomic { cuts < CUTS && rec >= 4 -> rec = 4; changed = 0; cuts++ }
	:: atomic { cuts < CUTS && (sch || rep) -> sch = 0; rep = 0; come = 0;
		cuts++ }
	:: atomic { cuts < CUTS && (answer | refusal) -> AGENTS_DIE; cuts++ }
	:: atomic { cuts < CUTS && sub -> all_die(); cuts++ }
	:: atomic { cuts < CUTS && sub -> all_die(); power_cut(); cuts++ }

	:: timeout -> stuck = !ENDED; assert(!stuck); break
	od
}
