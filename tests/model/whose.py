"""Is what nodes and database said of each message a behaviour of cluster.pml?

In     the words of the database, in its own order (tests/lib/zmtest/words.py: a
       trigger writes down each change of a row), and the journals of the nodes
Out    for each message the first thing that no order of these explains

The words are judged one by one: whose connection it was, which epoch it knew,
what it may change.  The journals are merged with them: what is further apart
than SLACK_S came in the order of its time, what is closer in any order, and
those of one node in theirs.  There must be one such order in which each step
is one of the model.

What a test does by hand is believed.  Not seen: files (trace.py sees them),
and what a node that was killed had not written to its journal.

SPDX-License-Identifier: ISC
"""
import collections
import datetime

SLACK_S = 2.0           # an event is written after what it tells
OVER_S = 15             # a lease is over for so long: share/copies/bounds.h
SWEPT_S = 600           # rows that are younger are not swept
ENDS = {"message.done", "message.deleted", "message.vanished"}
TOLD = ENDS | {"message.accepted", "copy.missing", "rcpt.ok", "message.taken",
               "message.taken-over", "move.withdrawn"}


class Misfit(Exception):
    pass


def seconds(text):
    """Of a moment as the journal or the database writes it."""
    return datetime.datetime.fromisoformat(
        text.replace("Z", "+00:00")).timestamp()


class Word:
    """A change of a row: of what table, what it was and is (None: no row)."""

    def __init__(self, row):
        self.at = seconds(row["at"])
        self.place, self.is_ours = row["pid"], row["is_ours"]
        self.transaction, self.table = row["transaction"], row["of"]
        self.old, self.new = row["old"], row["new"]
        self.actor = None       # the node whose connection it was
        row = self.new or self.old
        self.id = row.get("id")
        self.name = row.get("name")

    def was(self, key):
        return (self.old or {}).get(key)

    def now(self, key):
        return (self.new or {}).get(key)

    def __str__(self):
        kind = "+" if self.old is None else "-" if self.new is None else "="
        row = self.new or self.old
        said = " ".join(f"{key}={row[key]}" for key in (
            "node", "move_to", "epoch", "lease_until", "taken_by", "taker")
            if row.get(key) is not None)
        return f"{kind}{self.table} {self.id or self.name} {said} by " \
            f"{self.actor or 'hand'}"


# ---- the words, by themselves -----------------------------------------------

class Books:
    """What the database has, word by word."""

    def __init__(self):
        self.nodes = {}                 # name: its row
        self.actors, self.epochs = {}, {}   # by connection
        self.leases = collections.defaultdict(list)  # name: (at, until)
        self.rows = collections.defaultdict(list)   # id: words of its row
        self.notes = set()              # (transaction, node, id, taker)
        self.bad = []

    def read(self, words):
        for word in words:
            if word.table == "zm_taken" and word.new is not None:
                self.notes.add((word.transaction, word.now("node"), word.id,
                                word.now("taker")))
        for word in words:
            try:
                self.one(word)
            except Misfit as why:
                self.bad.append(f"{word.id or word.name}: {word}\n    {why}")
        return self

    def one(self, word):
        try:
            if word.table == "zm_node":
                self.node(word)
            elif word.table == "zm_copy":
                word.actor = self.actors.get(word.place)
                self.rows[word.id].append(word)
                if word.is_ours:
                    self.copy(word)
        finally:
            if word.table == "zm_node" and word.new is not None:
                self.nodes[word.name] = word.new

    def node(self, word):
        name, until = word.name, word.now("lease_until")
        if not word.is_ours or word.new is None:
            return
        if until is not None and until != word.was("lease_until"):
            self.actors[word.place] = word.actor = name
            self.epochs[word.place] = word.now("epoch")
            self.leases[name].append((word.at, seconds(until)))
            if word.old is not None and word.now("epoch") != word.was("epoch"):
                raise Misfit("a lease does not change the epoch")
        word.actor = self.actors.get(word.place)
        if word.old is None or word.now("epoch") == word.was("epoch"):
            return
        was = word.was("lease_until")
        if word.now("taken_by") in (None, name):
            raise Misfit("nobody took it over, and its epoch grew")
        if was is not None and seconds(was) + OVER_S > word.at:
            raise Misfit("it was taken over while its lease went on")
        if word.now("epoch") != word.was("epoch") + 1:
            raise Misfit("its epoch did not grow by one")

    def copy(self, word):
        """A change by a node: what it may do with whose row."""
        me, owner = word.actor, word.was("node") or word.now("node")
        if me is None:
            raise Misfit("a row is changed by who has had no lease")
        if self.epochs[word.place] != self.nodes[me]["epoch"]:
            raise Misfit(f"{me} was taken over, and does not know it")
        if word.new is not None and word.old is not None and \
                word.now("node") != owner:
            self.take(word, me, owner)
        elif me != owner:
            raise Misfit(f"the row is {owner}'s, and {me} changes it")
        elif word.now("move_to") not in (None, word.was("move_to"), me):
            if word.was("move_to") == me:
                raise Misfit("what is arriving is offered")
            until = (self.nodes.get(word.now("move_to")) or {}).get(
                "lease_until")
            if until is None or seconds(until) < word.at:
                raise Misfit("it is offered to who has no lease")

    def take(self, word, me, owner):
        node = self.nodes.get(owner, {})
        if word.now("node") != me or word.now("move_to") != me:
            raise Misfit("who takes a row makes it its own, and arriving")
        if word.was("move_to") != me and (node.get("taken_by") != me or
                                          node.get("lease_until") is not None):
            raise Misfit(f"it is {owner}'s, and neither offered nor lost")
        if (word.transaction, owner, word.id, me) not in self.notes:
            raise Misfit(f"there is no note for {owner} who has it")


# ---- one message ------------------------------------------------------------

class State:
    """Of one message, between two steps."""
    __slots__ = ("owner", "move_to", "could", "gone", "missing", "ended",
                 "got", "untold", "window", "had_row", "taken", "accepted")

    def __init__(self):
        self.owner = self.move_to = None
        self.could = frozenset()    # nodes that may have it
        self.gone = frozenset()     # nodes that gave it up
        self.missing = frozenset()  # nodes that accepted it without a copy
        self.ended = frozenset()    # nodes where it came to its end
        self.got = frozenset()      # recipients
        self.untold = frozenset()   # (recipient, node): no copy says so yet
        self.window = frozenset()   # recipients who may get it once more
        self.had_row = False
        self.taken = frozenset()    # (from, to)
        self.accepted = frozenset()

    def key(self):
        return tuple(getattr(self, name) for name in self.__slots__)

    def but(self, **members):
        fresh = State()
        for name in self.__slots__:
            setattr(fresh, name, members.get(name, getattr(self, name)))
        return fresh


class Event:
    def __init__(self, node, row, shift):
        self.node, self.row, self.kind = node, row, row["ev"]
        self.at = seconds(row["t"]) + shift

    def __str__(self):
        return f"{self.node} {self.kind} " + " ".join(
            f"{key}={self.row[key]}" for key in ("to", "node", "from")
            if key in self.row)


def step_word(state, word):
    """The row changed."""
    node, owner = word.now("node"), word.was("node")
    if node is None:
        if word.actor is not None and word.actor in state.accepted and \
                word.actor not in state.ended and not \
                is_old(word):
            raise Misfit("its row goes, and it is there still")
        return state.but(owner=None, move_to=None)
    fresh = state.but(owner=node, move_to=word.now("move_to"), had_row=True,
                      could=state.could | {node})
    if owner is None:
        return fresh
    if node == owner:
        if word.now("control") != word.was("control"):
            fresh.untold = frozenset(
                pair for pair in state.untold if pair[1] != node)
        return fresh
    fresh.taken = state.taken | {(owner, node)}
    fresh.gone = state.gone - {node}
    fresh.ended = state.ended - {node}
    # delivered, and no copy said so: the survivor does not know
    fresh.window = state.window | {
        rcpt for rcpt, who in state.untold if who == owner}
    return fresh


def is_old(word):
    """A row that the sweep looks at."""
    return word.was("kept_at") is not None and \
        seconds(word.was("kept_at")) + SWEPT_S < word.at


def lease_covers(leases, at):
    """Had it one then?  None: nothing is known."""
    known = [until for begun, until in leases if begun <= at]
    return None if not known else max(known) >= at


def step_delivery(state, event, leases):
    node, rcpt = event.node, event.row.get("to", "")
    begun = event.at - float(event.row.get("ms") or 0) / 1000
    if node in state.gone:
        raise Misfit(f"{node} delivers what has left")
    if state.had_row and node not in state.could:
        raise Misfit(f"{node} delivers what it has not taken")
    if state.owner not in (None, node):
        raise Misfit(f"{node} delivers what is {state.owner}'s")
    if state.move_to not in (None, node):
        raise Misfit(f"{node} delivers what is offered to {state.move_to}")
    if leases is not None and lease_covers(
            leases, begun - SLACK_S) is False and \
            lease_covers(leases, begun) is False:
        raise Misfit(f"{node} delivers without a lease")
    if rcpt in state.got and rcpt not in state.window:
        raise Misfit(f"{rcpt} gets it twice")
    return state.but(got=state.got | {rcpt}, window=state.window - {rcpt},
                     untold=state.untold | {(rcpt, node)})


def step_event(state, event, leases):
    node, kind = event.node, event.kind
    if kind == "rcpt.ok":
        return step_delivery(state, event, leases)
    if kind == "copy.missing":
        return state.but(missing=state.missing | {node})
    if kind == "message.accepted":
        if leases is not None and node not in state.could | state.missing \
                and "uid" not in event.row:
            raise Misfit("250 was said, and there was no copy")
        return state.but(could=state.could | {node},
                         accepted=state.accepted | {node})
    if kind == "message.taken-over":
        if not any(to == node for _, to in state.taken):
            raise Misfit(f"{node} has it and did not take it")
        return state
    if kind == "message.taken":
        if (node, event.row.get("node")) not in state.taken or \
                state.owner == node:
            raise Misfit(f"{node} gives it up, and nobody took it")
        return state.but(gone=state.gone | {node})
    if kind == "move.withdrawn":
        if state.owner not in (None, node):
            raise Misfit(f"it goes on at {node}, and is {state.owner}'s")
        return state
    return state.but(ended=state.ended | {node})


def step(state, what, leases):
    if isinstance(what, Word):
        return step_word(state, what)
    return step_event(state, what, leases.get(what.node))


def first_misfit(streams, leases):
    """None if there is an order of all of them; else where the order that gets
    furthest ends."""
    seen, far, why = set(), -1, None
    stack = [((0,) * len(streams), State())]
    while stack:
        at, state = stack.pop()
        if (at, state.key()) in seen:
            continue
        seen.add((at, state.key()))
        heads = [(i, streams[i][n]) for i, n in enumerate(at)
                 if n < len(streams[i])]
        if not heads:
            return None
        first = min(what.at for _, what in heads)
        # the earliest is tried first: it is pushed last
        for i, what in sorted(heads, key=lambda head: -head[1].at):
            if what.at > first + SLACK_S:
                continue
            try:
                fresh = step(state, what, leases)
            except Misfit as found:
                if sum(at) > far:
                    far, why = sum(at), f"{what}\n    {found}"
                continue
            stack.append((at[:i] + (at[i] + 1,) + at[i + 1:], fresh))
    return why


# ---- all of them ------------------------------------------------------------

def judge(words, journals, shifts=None, goes_on=()):
    """What does not fit, a text each.  words: rows of tests/lib/zmtest/words.py;
    journals: {node: its events}; shifts: {node: seconds to be added to its
    times}; goes_on: nodes that deliver without a lease."""
    books = Books().read([Word(row) for row in words])
    leases = {name: books.leases[name] for name in journals
              if name in books.leases and name not in goes_on}
    events = collections.defaultdict(dict)
    for node, rows in journals.items():
        shift = (shifts or {}).get(node, 0)
        for row in rows:
            if row.get("ev") in TOLD and row.get("id"):
                events[row["id"]].setdefault(node, []).append(
                    Event(node, row, shift))
    bad = list(books.bad)
    for id in sorted(set(events) | set(books.rows)):
        streams = [books.rows.get(id, [])] + [
            sorted(rows, key=lambda event: event.at)
            for rows in events[id].values()]
        why = first_misfit([rows for rows in streams if rows], leases)
        if why is not None:
            bad.append(f"{id}: {why}")
    return bad
