"""The cases of a test program: functions, in the order they are written.

    case = Cases()

    @case
    def mail_arrives(site): ...

    sys.exit(case.run("real", site))

SPDX-License-Identifier: ISC
"""
import signal
import sys
import time
import traceback


CASE_S = 600        # no case takes a tenth of it


def out_of_time(_signal, _frame):
    raise TimeoutError(f"the case is not over after {CASE_S} s")


class Cases(list):
    """Keeps the functions it decorates."""

    def __call__(self, function):
        self.append(function)
        return function

    def chosen(self, words):
        """The cases whose names have one of the words; without words, all."""
        return [function for function in self if not words or
                any(word in function.__name__ for word in words)]

    def run(self, title, *args, tell=None, judge=None):
        """Call each that the command line chooses with args, whatever became
        of the one before.  judge() looks at what each left; tell() says more
        about one that failed.  The exit status."""
        chosen, failed = self.chosen(sys.argv[1:]), 0
        signal.signal(signal.SIGALRM, out_of_time)
        for function in chosen:
            began = time.monotonic()
            signal.alarm(CASE_S)
            try:
                function(*args)
                if judge is not None:
                    judge()
                print(f"ok   {function.__name__} "
                      f"({time.monotonic() - began:.1f} s)", flush=True)
            except Exception as error:      # the next one is worth a try
                failed += 1
                if tell is not None:
                    tell()
                out = getattr(error, "output", None) or b""
                print(f"FAIL {function.__name__}\n"
                      f"{out.decode('utf-8', 'replace')[-1500:]}")
                traceback.print_exc(file=sys.stdout)
                sys.stdout.flush()
        signal.alarm(0)
        print(f"{title}: {len(chosen) - failed} passed, {failed} failed")
        return 0 if chosen and not failed else 1


def tell_events(instance, count=12):
    """The last events of an instance, a line each."""
    for event in instance.events()[-count:]:
        print("    " + " ".join(f"{key}={value}"[:300]
                                for key, value in event.items()
                                if key not in ("t", "pid")))
