#!/usr/bin/env python3
"""The checker of who owns a message takes lives as they should be, and none in
which one rule is broken.

SPDX-License-Identifier: ISC
"""
import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import whose                                         # noqa: E402

ID = "01a"


def at(seconds):
    return f"2026-11-27T12:{int(seconds) // 60:02}:{seconds % 60:06.3f}Z"


class Story:
    """What was written down, with the moment of each."""

    def __init__(self):
        self.words, self.journals = [], {"mx1": [], "mx2": []}
        self.row, self.nodes, self.transaction = None, {}, 0
        for name in self.journals:
            self.lease(0, name)

    def word(self, when, by, table, old, new, same=False):
        self.transaction += not same
        self.words.append({
            "at": at(when), "pid": by, "is_ours": by is not None,
            "transaction": str(self.transaction), "of": table, "old": old,
            "new": new})

    def node(self, when, by, name, **members):
        new = dict(self.nodes.get(name, {"name": name, "epoch": 1}),
                   **members)
        self.word(when, by, "zm_node", self.nodes.get(name), new)
        self.nodes[name] = new

    def lease(self, when, name):
        self.node(when, name, name, lease_until=at(when + 15))

    def over(self, when, name, taker):
        self.node(when, taker, name, lease_until=None, taken_by=taker,
                  epoch=self.nodes[name]["epoch"] + 1)

    def copy(self, when, by, **members):
        """The row becomes so; None: it goes."""
        new = None if members.get("node", 0) is None else dict(
            self.row or {"id": ID, "move_to": None, "control": None,
                         "kept_at": at(when)}, **members)
        self.word(when, by, "zm_copy", self.row, new)
        self.row = new

    def take(self, when, by, note=True):
        owner = self.row["node"]
        self.copy(when, by, node=by, move_to=by)
        if note:
            self.word(when, by, "zm_taken", None, {
                "node": owner, "id": ID, "taker": by}, same=True)

    def event(self, when, here, kind, **members):
        self.journals[here].append(dict(members, ev=kind, id=ID, t=at(when)))

    def accept(self, when=3.0):
        self.copy(when, "mx1", node="mx1")
        self.event(when + 0.1, "mx1", "message.accepted")

    def deliver(self, when, node):
        self.event(when, node, "rcpt.ok", to="b@far.test", ms=20)

    def end(self, when, node):
        self.event(when, node, "message.done")
        self.copy(when + 0.5, node, node=None)

    def bad(self):
        return whose.judge(self.words, self.journals)


def arrive(story, when):
    story.copy(when, "mx2", move_to=None)
    story.event(when + 0.1, "mx2", "message.taken-over", node="mx1")


def plain(story):
    story.accept()
    story.deliver(4, "mx1")
    story.end(4.1, "mx1")


def taken_over(story):
    story.accept()
    story.lease(20, "mx2")
    story.lease(31, "mx2")
    story.over(31, "mx1", "mx2")
    story.take(32, "mx2")
    arrive(story, 33)
    story.deliver(35, "mx2")
    story.end(35.1, "mx2")
    story.node(40, "mx1", "mx1", lease_until=at(55))
    story.event(41, "mx1", "message.taken", node="mx2")


def moved(story):
    story.accept()
    story.copy(5, "mx1", move_to="mx2")
    story.take(9, "mx2")
    arrive(story, 10)
    story.event(13, "mx1", "message.taken", node="mx2")
    story.lease(14, "mx2")
    story.deliver(17, "mx2")
    story.end(17.1, "mx2")


def withdrawn(story):
    story.accept()
    story.copy(4, "mx1", move_to="mx2")
    story.copy(8, "mx1", move_to=None)
    story.event(8.1, "mx1", "move.withdrawn", node="mx2")
    story.deliver(12, "mx1")
    story.end(12.1, "mx1")


def without_a_copy(story):
    story.event(3, "mx1", "copy.missing", reason="away")
    story.event(3.1, "mx1", "message.accepted")
    story.deliver(4, "mx1")
    story.event(4.1, "mx1", "message.done")


def untold(story):
    """Delivered, and nobody told: the survivor delivers again."""
    story.accept()
    story.deliver(4, "mx1")
    story.lease(31, "mx2")
    story.over(31, "mx1", "mx2")
    story.take(32, "mx2")
    arrive(story, 33)
    story.deliver(35, "mx2")


def told(story, when=8):
    story.copy(when, "mx1", control="one is done")


# ---- planted: what is broken, and what has to be said -----------------------

def delivery_before_take(story):
    story.accept()
    story.deliver(6, "mx2")
    story.copy(10, "mx1", move_to="mx2")
    story.take(14, "mx2")


def two_owners(story):
    story.accept()
    story.take(6, "mx2")            # neither offered nor lost


def delivery_after_left(story):
    moved(story)
    story.lease(21, "mx1")
    story.deliver(22, "mx1")


def delivery_of_what_is_another_ones(story):
    story.accept()
    story.copy(4, "mx1", move_to="mx2")
    story.take(6, "mx2")
    story.deliver(10, "mx1")


def delivery_of_what_is_offered(story):
    story.accept()
    story.copy(4, "mx1", move_to="mx2")
    story.deliver(8, "mx1")


def delivery_without_a_lease(story):
    story.accept()
    story.deliver(19, "mx1")


def takeover_of_who_lives(story):
    story.accept()
    story.over(20, "mx1", "mx2")


def a_zombie_writes(story):
    story.accept()
    story.lease(31, "mx2")
    story.over(31, "mx1", "mx2")
    told(story, 33)


def no_note(story):
    story.accept()
    story.copy(4, "mx1", move_to="mx2")
    story.take(6, "mx2", note=False)


def accepted_without_a_copy(story):
    story.event(3, "mx1", "message.accepted")
    story.copy(8, "mx1", node="mx1")


def the_row_of_another_goes(story):
    story.accept()
    story.copy(5, "mx2", node=None)


def the_row_goes_before_the_end(story):
    story.accept()
    story.copy(7, "mx1", node=None)
    story.event(11, "mx1", "message.done")


def twice_though_told(story):
    story.accept()
    story.deliver(4, "mx1")
    told(story)
    story.lease(31, "mx2")
    story.over(31, "mx1", "mx2")
    story.take(32, "mx2")
    story.deliver(35, "mx2")


def given_up_to_nobody(story):
    story.accept()
    story.event(5, "mx1", "message.taken", node="mx2")


def arriving_and_not_taken(story):
    story.accept()
    story.event(5, "mx2", "message.taken-over", node="mx1")


def offered_to_the_dead(story):
    story.accept()
    story.lease(14, "mx1")
    story.copy(20, "mx1", move_to="mx2")


LIVES = (plain, taken_over, moved, withdrawn, without_a_copy, untold)
PLANTED = (
    (delivery_before_take, "mx2 delivers what it has not taken"),
    (two_owners, "neither offered nor lost"),
    (delivery_after_left, "mx1 delivers what has left"),
    (delivery_of_what_is_another_ones, "mx1 delivers what is mx2's"),
    (delivery_of_what_is_offered, "what is offered to mx2"),
    (delivery_without_a_lease, "without a lease"),
    (takeover_of_who_lives, "while its lease went on"),
    (a_zombie_writes, "was taken over, and does not know it"),
    (no_note, "no note for mx1"),
    (accepted_without_a_copy, "there was no copy"),
    (the_row_of_another_goes, "the row is mx1's, and mx2 changes it"),
    (the_row_goes_before_the_end, "it is there still"),
    (twice_though_told, "gets it twice"),
    (given_up_to_nobody, "nobody took it"),
    (arriving_and_not_taken, "did not take it"),
    (offered_to_the_dead, "no lease"),
)


class WhoseTest(unittest.TestCase):
    def test_a_life_fits(self):
        for life in LIVES:
            with self.subTest(life.__name__):
                story = Story()
                life(story)
                self.assertEqual(story.bad(), [])

    def test_a_broken_rule_does_not(self):
        for plant, says in PLANTED:
            with self.subTest(plant.__name__):
                story = Story()
                plant(story)
                self.assertIn(says, " ".join(story.bad()))

    def test_a_clock_that_is_wrong(self):
        story = Story()
        moved(story)
        for row in story.journals["mx2"]:
            minute, rest = int(row["t"][14:16]), row["t"][16:]
            row["t"] = f"{row['t'][:14]}{minute + 5:02}{rest}"
        self.assertNotEqual(story.bad(), [])
        self.assertEqual(whose.judge(story.words, story.journals,
                                     shifts={"mx2": -300}), [])

    def test_a_hand_is_believed(self):
        story = Story()
        story.accept()
        story.copy(4, None, node=None)
        story.deliver(5, "mx1")
        self.assertEqual(story.bad(), [])


if __name__ == "__main__":
    unittest.main(verbosity=1)
