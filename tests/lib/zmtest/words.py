"""What nodes say to the database about whose a message is, written down by the
database itself, and judged with the journals of the nodes: tests/model/whose.py.

SPDX-License-Identifier: ISC
"""
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "model"))
import whose                                         # noqa: E402

# what has no effect is not written down: it goes with its transaction
WATCH = """
CREATE TABLE IF NOT EXISTS zm_words (n bigserial PRIMARY KEY, at timestamptz,
    pid text, is_ours boolean, transaction text, "of" text, old jsonb,
    new jsonb);
CREATE OR REPLACE FUNCTION zm_word() RETURNS trigger LANGUAGE plpgsql
    SECURITY DEFINER SET search_path = public AS $$ BEGIN
    INSERT INTO zm_words (at, pid, is_ours, transaction, "of", old, new)
    VALUES (clock_timestamp(), pg_backend_pid() || '/' ||
        pg_postmaster_start_time(), session_user = 'zm',
        pg_current_xact_id()::text, TG_TABLE_NAME,
        CASE WHEN TG_OP <> 'INSERT' THEN to_jsonb(OLD) END,
        CASE WHEN TG_OP <> 'DELETE' THEN to_jsonb(NEW) END);
    RETURN NULL; END $$;
"""
TRIGGER = """CREATE OR REPLACE TRIGGER zm_word AFTER INSERT OR UPDATE OR DELETE
    ON {} FOR EACH ROW EXECUTE FUNCTION zm_word();
"""


def watch(base):
    """From now on, also when the tables are made anew."""
    base.is_watched = True
    base.sql(WATCH + "".join(TRIGGER.format(table) for table in (
        "zm_node", "zm_copy", "zm_taken")))


def read(base):
    rows = base.sql("SELECT row_to_json(w) FROM zm_words w ORDER BY n")
    return [json.loads(line) for line in rows.split("\n") if line]


def judge(base, nodes, **more):
    """All so far is a behaviour of the model, or an AssertionError says which
    message is not."""
    words = read(base)
    bad = whose.judge(words, {node.name: node.instance.events()
                              for node in nodes}, **more)
    assert words, "the database wrote nothing down"
    assert not bad, "no behaviour of cluster.pml:\n" + "\n".join(bad[:10])
