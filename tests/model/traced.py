"""An instance whose calls on its spool are recorded, and judged at its end.

SPDX-License-Identifier: ISC
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "crash"))
import nth                                           # noqa: E402
import trace                                         # noqa: E402

is_wanted = bool(os.environ.get("ZMAILER_TRACED"))


def begin(instance):
    """Before its first process starts."""
    if not is_wanted:
        return
    if not os.path.exists(nth.LIBRARY):
        raise SystemExit(f"{nth.LIBRARY} is not made: make {nth.LIBRARY}")
    plan = nth.Nth(instance.top)
    plan.plan(logging=nth.TRACE)
    instance.env.update(plan.env(instance.dir + "/spool"))
    del instance.env["ZM_NTH_GRAVE"]
    instance.traced_log = plan.log


def problems(instance):
    """What does not fit the model; "" when all does."""
    log = getattr(instance, "traced_log", None)
    if log is None:
        return ""
    if not os.path.exists(log) or os.path.getsize(log) == 0:
        return "nothing was recorded" if instance.events() else ""
    found = trace.check(log, instance.dir + "/spool")
    if os.environ.get("ZMAILER_TRACED") == "tell":
        print(f"trace: {found.calls} calls, {found.messages} messages, "
              f"{len(found.misfits)} misfits; " + " ".join(
                  f"{row} {n}" for row, n in sorted(found.rows.items())),
              flush=True)
    return "\n    ".join(found.misfits)
