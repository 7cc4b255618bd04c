#!/usr/bin/env python3
"""Run flow files against the real programs.

    runner.py [-v] [-k] [-j N] [--real] [--traced] [FLOW ...]

A FLOW is a folder of tests/flow, the name of a flow, folder/name, or the
path of a file; without one all run.
-v shows each line as it runs; -k keeps the instances' directories.

A flow that moves the clock has one that can be moved; the daemons of all
others run on the clock of the machine, as they do for users; --real runs
only those.  --traced: the calls of each instance on its spool have to be a
behaviour of the model (tests/model).
Exit status 0 only if every flow passed.

SPDX-License-Identifier: ISC
"""
import argparse
import concurrent.futures
import os
import re
import signal
import sys
import time
import traceback

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "lib"))
sys.path.insert(0, HERE)
sys.path.insert(1, os.path.join(HERE, "..", "model"))
import language                                      # noqa: E402
import replies                                       # noqa: E402
import rows                                          # noqa: E402
import traced                                        # noqa: E402
from choice import chosen, short_name                # noqa: E402
from client import Client, Failure                   # noqa: E402
from zmtest import control, dns, httpserver, mta      # noqa: E402
from zmtest import report, sasl                       # noqa: E402
from zmtest import smtpserver, tls                    # noqa: E402

# The folders whose daemons a sanitizer searches for leaks: what they do for
# clients and next hops of every kind is here.
SEEKS_LEAKS = ("session", "client")

VARIABLES = {
    "src": os.path.dirname(os.path.dirname(HERE)),
    "plain": "From: a@src.test\nTo: b@example.net\nSubject: plain\n"
             "Date: Fri, 20 Nov 2026 12:00:00 +0000\n"
             "Message-Id: <plain@src.test>\n\nhello\n",
}


class Flow:
    def __init__(self, path, verbose=False, keep=False):
        self.path, self.verbose, self.keep = path, verbose, keep
        self.name = short_name(path)
        self.actors, self.clock = {}, None
        self.unaudited = set()
        with open(path, encoding="utf-8") as file:
            self.lines = language.parse(file.read(), path)

    # ---- running ---------------------------------------------------

    def run(self):
        self.clock_dir = mta.tempfile.mkdtemp(prefix="zmailer-clock-")
        if language.moves_clock(self.lines):
            self.clock = mta.Clock(os.path.join(self.clock_dir, "clock"))
        failed = True
        try:
            for line in self.lines:
                if self.verbose:
                    print(f"  {line.number:3} {' '.join(line.words)}",
                          flush=True)
                try:
                    getattr(self, "do_" + line.words[0])(line)
                except (AssertionError, Failure, OSError) as error:
                    raise Failure(f"{self.path}:{line.number}: "
                                  f"{' '.join(line.words)}\n    {error}"
                                  + self.story()) from error
            self.audit()
            failed = False
        finally:
            for actor in self.actors.values():
                if isinstance(actor, mta.Mta):
                    actor.close(self.keep)
                    if self.keep:
                        print(f"{self.name}: kept {actor.dir}")
                else:
                    actor.close()
            mta.shutil.rmtree(self.clock_dir, ignore_errors=True)
        return not failed

    def audit(self):
        """Whatever a flow is about, its books balance at the end."""
        for name, actor in self.actors.items():
            if not isinstance(actor, mta.Mta):
                continue
            actor.stop()
            misfits = traced.problems(actor)
            if misfits:
                raise Failure(f"{self.path}: {name}: {misfits}")
            if name in self.unaudited:
                continue
            try:
                actor.audit()
            except AssertionError as error:
                raise Failure(f"{self.path}: {name}: {error}" +
                              self.story()) from error

    def do_audit(self, line):
        if line.words[2:3] != ["-not"] or line.words[1] not in self.actors:
            raise Failure("audit MTA -not \"why\"")
        self.unaudited.add(line.words[1])

    def story(self):
        """The journal of every instance, for a failure's report."""
        out = []
        for actor in self.actors.values():
            if isinstance(actor, mta.Mta):
                for row in actor.events()[-25:]:
                    out.append("    " + " ".join(
                        f"{k}={v}" for k, v in row.items()
                        if k not in ("t", "pid")))
        return "\n" + "\n".join(out) if out else ""

    def fill(self, text):
        def value(match):
            name = match.group(1)
            if name in VARIABLES:
                return VARIABLES[name]
            actor, _, field = name.partition(".")
            if actor in ("scram", "crypt"):
                return getattr(sasl, actor + "_entry")(field)
            if actor not in self.actors or not field:
                raise Failure(f"there is no ${{{name}}}")
            return str(getattr(self.actors[actor], field))
        return re.sub(r"\$\{([a-z0-9_.]+)\}", value, text)

    def mta_of(self, name):
        actor = self.actors.get(name)
        if not isinstance(actor, mta.Mta):
            raise Failure(f"{name} is no mta")
        return actor

    # ---- actors ----------------------------------------------------

    def do_flow(self, line):
        self.sentence = line.words[1]

    def do_needs(self, line):
        language.needs(line.words[1:], mta.BUILD)

    def do_server(self, line):
        name = line.words[1]
        if "expect" in line.words:
            return self.expect_server(self.actors[name], line.words[3:])
        if "-hangup" in line.words:
            return self.actors[name].hang_up()
        rules, extensions, lmtp, context = [], None, False, None
        host, port = "127.0.0.1", 0
        for item in language.items(line.block):
            if item[0] == "at":
                host, port = item[1], int(self.fill(item[2]))
            elif item[0] == "ehlo":
                extensions = item[1:]
            elif item[0] in ("tls", "smtps"):
                cert = self.actors[item[1]]
                context = tls.serving(cert)
                implicit = item[0] == "smtps"
            elif item[0] == "lmtp":
                lmtp = True
            elif item[0] == "unix":
                host, port = self.fill(item[1]), None
            else:
                rules.append(self.rule(item))
        self.actors[name] = smtpserver.Server(
            rules, extensions, lmtp, host, port, tls=context,
            implicit=bool(context) and implicit)
        return None

    def do_http(self, line):
        name = line.words[1]
        if "expect" in line.words:
            return self.expect_server(self.actors[name], line.words[3:])
        items = language.items(self.fill(line.block))
        of = {words[0]: words[1:] for words in items if words[0] != "for"}
        rules = [httpserver.rule(w) for w in items if w[0] == "for"]
        if name in self.actors:
            self.actors[name].rules = rules
            return None
        self.actors[name] = httpserver.Server(
            rules, tls.serving(self.actors[of["tls"][0]]) if "tls" in of
            else None, *(of["at"][0], int(of["at"][1])) if "at" in of else ())
        return None

    @staticmethod
    def rule(words):
        """on VERB [for TEXT] reply CODE TEXT | drop | silence | drip | flood
        [once|N times]"""
        if words[0] != "on" or len(words) < 3:
            raise Failure(f"not a rule: {' '.join(words)}")
        verb, rest, times, match = words[1], words[2:], None, None
        if rest[0] == "for":
            match, rest = rest[1], rest[2:]
        if rest[-1] == "once":
            times, rest = 1, rest[:-1]
        elif rest[-1] == "times":
            times, rest = int(rest[-2]), rest[:-2]
        if rest[0] == "reply":
            action = ("reply", int(rest[1]), " ".join(rest[2:]))
        else:
            action = (rest[0],)
        return smtpserver.Rule(verb, action, times, match)

    def settle(self):
        """Wait before a flow says that something did not happen."""
        for actor in self.actors.values():
            if isinstance(actor, mta.Mta):
                actor.settle()

    def expect_server(self, server, words):
        kind, value = words[0], words[1]
        if value == "0":
            self.settle()
        if kind == "messages":
            mta.wait_for(f"{value} messages at the server (it has "
                         f"{len(server.messages)})",
                         lambda: len(server.messages) >= int(value))
            if len(server.messages) != int(value):
                raise Failure(f"the server has {len(server.messages)} "
                              "messages")
        elif kind == "sessions":
            mta.wait_for(f"{value} sessions (there were {server.sessions})",
                         lambda: server.sessions >= int(value))
            if server.sessions != int(value):
                raise Failure(f"the server saw {server.sessions} sessions")
        elif kind == "data":
            mta.wait_for(f"a message with {value!r}", lambda: any(
                value.encode() in m.data for m in server.messages))
        elif kind == "command":
            mta.wait_for(f"a command with {value!r} in {server.commands}",
                         lambda: any(value in c for c in server.commands))
        elif kind == "commands":
            mta.wait_for(f"{value} commands with {words[2]!r} in "
                         f"{server.commands}", lambda: sum(
                             words[2] in c for c in server.commands)
                         == int(value))
        else:
            raise Failure(f"a server has no {kind}")

    def dns_expect(self, words):
        domain, times = words[4], int(words[5])

        def asked():
            return self.actors[words[1]].questions.count((domain, 1))
        mta.wait_for(f"{domain} to be asked for {times} times",
                     lambda: asked() >= times)
        if words[3] != "asked" or asked() != times:
            raise Failure(f"{domain} was asked for {asked()} times")

    def do_dns(self, line):
        if "expect" in line.words:
            self.dns_expect(line.words)
            return
        rows = dns.rows_of(language.items(self.fill(line.block)))
        if line.words[1] in self.actors:
            self.actors[line.words[1]].rows = rows
        else:
            self.actors[line.words[1]] = dns.Dns(rows)

    def do_mta(self, line):
        name = line.words[1]
        if name not in self.actors:
            self.actors[name] = mta.Mta(
                name, self.clock,
                seeks_leaks=self.name.split("/")[0] in SEEKS_LEAKS)
            traced.begin(self.actors[name])
            self.actors[name].configure(self.fill(line.block or ""))
        elif line.block is not None:
            raise Failure("an mta gets its lines once; use file")
        instance = self.actors[name]
        for flag in line.words[2:]:
            if flag == "-start":
                instance.start()
            elif flag == "-stop":
                instance.stop()
            elif flag == "-kill":
                instance.kill()
            elif flag == "-restart":
                instance.stop()
                instance.start()
            elif flag == "-reload":
                instance.zmailer("reload")

    def address(self, words, instance):
        """at PORT, at /PATH; else the instance's own port."""
        if "at" not in words:
            return "127.0.0.1", instance.port
        place = self.fill(words[words.index("at") + 1])
        return place if place.startswith("/") else ("127.0.0.1", int(place))

    def do_client(self, line):
        words = line.words
        target = words[words.index("of") + 1] if "of" in words else \
            next(n for n, a in self.actors.items() if isinstance(a, mta.Mta))
        source = words[words.index("from") + 1] if "from" in words else None
        with rows.connect(self.address(words, self.mta_of(target)),
                          source) as peer:
            Client(peer, self.actors,
                   lambda span: self.clock.move(language.span(span)),
                   self.signal).run(language.items(line.block), self.fill)

    def do_cert(self, line):
        if line.words[2:] == ["-spoil"]:
            self.actors[line.words[1]].spoil()
            return
        wants = {words[0]: words[1:]
                 for words in language.items(self.fill(line.block))}
        self.actors.setdefault(line.words[1], tls.Cert()).make(
            wants.get("names", ["mx.test"]), wants.get("kind", ["p256"])[0],
            int(wants.get("days", ["90"])[0]), "ca" in wants)

    def do_memory(self, line):
        """memory MTA PROCESS expect [-not] CERT; who may not look into a
        process (yama, another account) has been shown that, too."""
        instance, name = self.mta_of(line.words[1]), line.words[2]
        wanted = line.words[4] != "-not"
        secrets = self.actors[line.words[-1]].secrets()
        for pid in mta.named(instance, name):
            has = tls.memory_has(pid, secrets)
            if has is None and os.geteuid() == 0 and \
                    mta.process_name(pid):
                raise Failure(f"cannot look into {name}")
            if has is not None and has != wanted:
                raise Failure(f"{name} ({pid}) has " +
                              ("not " if wanted else "") + "the key")

    def do_rows(self, line):
        """rows MTA [at PORT|PATH] {...}"""
        address = self.address(line.words, self.mta_of(line.words[1]))
        problems = rows.run(rows.parse(line.block, line.number), address)
        if problems:
            raise Failure("\n    ".join(problems))

    def do_replies(self, line):
        """replies NAME {...} | replies NAME met by MTA"""
        name = line.words[1]
        if line.block is not None:
            self.actors[name] = replies.Table(line.block, line.number)
            return
        try:
            self.actors[name].met_by(self.mta_of(line.words[4]), self.clock)
        except rows.RowError as error:
            raise Failure(str(error)) from error

    def do_file(self, line):
        instance = self.mta_of(line.words[1])
        path = os.path.join(instance.dir, line.words[2])
        os.makedirs(os.path.dirname(path), exist_ok=True)
        text = self.fill(line.block or "").lstrip("\n")
        with open(path + ".new", "w", encoding="utf-8") as file:
            file.write("\n".join(x.strip() if not x.startswith("  ")
                                 else x for x in text.splitlines()) + "\n")
        os.rename(path + ".new", path)

    def do_path(self, line):
        """path MTA PATH expect there | text PART | count N PART (lines)"""
        path = os.path.join(self.mta_of(line.words[1]).dir, line.words[2])
        words = [self.fill(word) for word in line.words[4:]]

        def fits():
            if words[0] == "there":
                return os.path.exists(path)
            try:
                with open(path, encoding="utf-8", errors="replace") as file:
                    rows = file.read().splitlines()
            except FileNotFoundError:
                return False
            return sum(words[-1] in row for row in rows) >= (
                int(words[1]) if words[0] == "count" else 1)
        mta.wait_for(f"{' '.join(words)} in {path}", fits)

    def do_run(self, line):
        instance = self.mta_of(line.words[1])
        at = line.words.index("expect")
        command = language.shlex.split(self.fill(line.block))
        status, out, errors = instance.command(*command)
        if status != int(line.words[at + 1]):
            raise Failure(f"exit {status}\n{out}{errors}")
        for part in line.words[at + 2:]:
            if not language.has_part(out + errors, self.fill(part)):
                raise Failure(f"no {part!r} in:\n{out}{errors}")

    def do_ask(self, line):
        instance = self.mta_of(line.words[1])
        words = language.shlex.split(self.fill(line.block))
        op, fields = words[0], dict(w.split("=", 1) for w in words[1:])
        for key, value in fields.items():
            if value.isdigit() and key not in ("id", "select"):
                fields[key] = int(value)
            elif value in ("true", "false"):
                fields[key] = value == "true"
        want = [self.fill(w).split("=", 1) for w in line.words[3:]]
        last = []
        if line.words[2] == "until":
            return self.ask_until(instance, op, fields, want)

        def fits():
            answer = control.ask(instance.dir + "/run", op, **fields)
            last[:] = answer or []
            return answer is not None and any(
                all(str(row.get(k, "")).lower() == v.lower() for k, v in want)
                for row in last)
        if op in ("list", "count", "why", "destinations", "orders"):
            try:
                mta.wait_for("the answer", fits)
            except Exception as error:
                raise Failure(f"{error}: {last}") from error
            return
        # a scheduler that was killed is not back at once
        mta.wait_for("the scheduler", lambda: fits() or last)
        if not any(all(str(row.get(k, "")).lower() == v.lower()
                       for k, v in want) for row in last):
            raise Failure(f"answered {last}")

    @staticmethod
    def ask_until(instance, op, fields, want):
        """Read until a line has all of `want`; for answers that do not end."""
        stream = control.Control(instance.dir + "/run", mta.WAIT_S)
        try:
            stream.send({"v": 1, "op": op, **fields})
            for row in stream.lines():
                if all(v in str(row.get(k, "")) for k, v in want):
                    return
        except OSError as error:
            raise Failure(f"no such line: {error}") from error
        finally:
            stream.close()
        raise Failure("the answer ended without such a line")

    def do_signal(self, line):
        """A process is known by its name (comm), as ps and /proc show it."""
        self.signal(*line.words[1:4])

    def signal(self, instance, name, word):
        instance = self.mta_of(instance)
        number = getattr(signal, "SIG" + word)
        pids = mta.named(instance, name)
        for pid in pids:
            os.kill(pid, number)
        if word == "STOP":              # a thread may be at something yet
            mta.wait_for(f"{name} to stand still",
                         lambda: all(map(mta.is_still, pids)))

    def do_clock(self, line):
        """Wait for deliveries first: one under way would run out of time.
        What is set back is the wall clock alone."""
        for actor in self.actors.values():
            if isinstance(actor, mta.Mta):
                actor.wait_idle()
        word = line.words[1]
        if word.startswith("-"):
            self.clock.set_back(language.span(word[1:]))
        else:
            self.clock.move(language.span(word))

    def do_log(self, line):
        instance, words = self.mta_of(line.words[1]), line.words[3:]
        is_not = "-not" in words
        words = [w for w in words if w != "-not"]
        count = None
        if "count" in words:
            at = words.index("count")
            count, words = int(words[at + 1]), words[:at] + words[at + 2:]
        want = [w.split("=", 1) for w in words[1:]]

        def hits():
            return [e for e in instance.events() if e["ev"] == words[0] and
                    all(self.fill(v) in str(e.get(k, "")) for k, v in want)]
        if is_not:
            instance.settle()
            if hits():
                raise Failure(f"the journal has {hits()[0]}")
            return
        mta.wait_for("the event", lambda: len(hits()) >= (count or 1))
        instance.wait_heard(hits())
        if count is not None and len(hits()) != count:
            raise Failure(f"the journal has it {len(hits())} times")

    def do_mailbox(self, line):
        instance, user = self.mta_of(line.words[1]), line.words[2]
        kind, value = line.words[4], self.fill(line.words[5])
        if kind in ("report", "reports"):
            return self.check_reports(instance, user, line.words[4:])
        if kind == "messages":
            if value == "0":
                instance.settle()
            mta.wait_for(f"{value} messages of {user} (there are "
                         f"{len(instance.mailbox(user))})",
                         lambda: len(instance.mailbox(user)) == int(value))
        else:
            mta.wait_for(f"{value!r} in a message of {user}", lambda: any(
                value.encode() in m for m in instance.mailbox(user)))

    def check_reports(self, instance, user, words):
        """All reports that the user has are held to the RFCs; one recipient
        of one of them has all of key=value."""
        def found():
            return [m for m in instance.mailbox(user)
                    if b"multipart/report" in m]
        count = int(words[1]) if words[0] == "reports" else 1
        want = [self.fill(w).split("=", 1) for w in
                words[2 if words[0] == "reports" else 1:]]
        mta.wait_for(f"{count} reports", lambda: len(found()) >= count)

        def fits():     # it may be another one that came first
            rows = [row for raw in found() for row in report.rows(raw)]
            assert any(all(v in row.get(k, "") for k, v in want)
                       for row in rows), f"no such recipient in {rows}"
        mta.wait_to_hold(fits)

    def do_spool(self, line):
        instance = self.mta_of(line.words[1])
        if line.words[3] == "empty":
            mta.wait_for("an empty spool", instance.is_empty)
        else:
            area, number = line.words[3], int(line.words[4])
            mta.wait_for(f"{number} files in {area} (there are "
                         f"{instance.count(area)})",
                         lambda: instance.count(area) == number)


def run_file(path, options):
    began = time.monotonic()
    try:
        flow = Flow(path, options.verbose, options.keep)
        flow.run()
        problem = None
    except language.Skipped as why:
        problem = why
    except (Failure, language.FlowError) as error:
        problem = str(error)
    except Exception as error:           # a defect of the runner itself
        problem = f"{type(error).__name__}: {error}\n" + \
            traceback.format_exc()
    return path, problem, time.monotonic() - began


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("-v", dest="verbose", action="store_true")
    parser.add_argument("-k", dest="keep", action="store_true")
    parser.add_argument("-j", dest="jobs", type=int,
                        default=2 * (os.cpu_count() or 1))
    parser.add_argument("--real", action="store_true")
    parser.add_argument("--traced", action="store_true")
    parser.add_argument("flows", nargs="*")
    options = parser.parse_args()
    traced.is_wanted |= options.traced
    paths = []
    for path in chosen(options.flows):   # the whole syntax first
        with open(path, encoding="utf-8") as file:
            lines = language.parse(file.read(), path)
        if not options.real or not language.moves_clock(lines):
            paths.append(path)
    counts = {"ok  ": 0, "FAIL": 0, "skip": 0}
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for path, problem, took in pool.map(
                lambda p: run_file(p, options), paths):
            name = short_name(path)
            kind = "ok  " if not problem else "skip" if isinstance(
                problem, language.Skipped) else "FAIL"
            counts[kind] += 1
            print(f"{kind} {name} ({took:.1f} s)" +
                  (f"\n{problem}" if problem else ""), flush=True)
    print("flow: {ok  } passed, {FAIL} failed, {skip} skipped"
          .format(**counts))
    return 1 if counts["FAIL"] else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except language.FlowError as error:
        sys.exit(f"runner.py: {error}")
