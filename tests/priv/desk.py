"""Who may what on the scheduler's socket (doc/protocol/control.md section 2):
root and the admins' group, the operators' group, everybody else.

SPDX-License-Identifier: ISC
"""
from zmtest import control, mta
from zmtest.cases import Cases

case = Cases()


def submit(site, user, rcpt):
    """A message of a user that will wait; its id."""
    code, out = site.run_as(user, "sendmail", rcpt,
                            input=b"Subject: desk\n\nhello\n")
    assert code == 0, out

    def routed():
        return [row["id"] for row in site.events()
                if row["ev"] == "message.routed" and any(
                    other.get("id") == row["id"] and
                    other.get("to") == rcpt for other in site.events())]
    found = mta.wait_for(f"{rcpt} to be routed", routed)[0]
    mta.wait_for(f"the scheduler to have {rcpt}", lambda: [
        row for row in control.ask(site.dir + "/run", "list", id=found) or ()
        if row.get("to") == rcpt])
    return found


def refused(answer, *words):
    code, out = answer
    assert code != 0 and all(word in out for word in words), (code, out)


def done(answer, *words):
    code, out = answer
    assert code == 0 and all(word in out for word in words), (code, out)


@case
def the_socket_knows_who_asks(site):
    """The groups are those named after victor (admins) and wanda
    (operators); ursula asks, with and without them."""
    gid = site.accounts.gid
    site.conf_write("control admins victor\ncontrol operators wanda\n")
    site.zmailer("reload")
    mta.wait_for("the scheduler to know the groups", lambda: site.run_as(
        "ursula", "zmailer", "queue",
        groups=[gid["ursula"], gid["wanda"]])[0] == 0)
    site.zmailer("suspend", "smtp/*")
    hers = submit(site, "ursula", "hers@desk.test")
    his = submit(site, "victor", "his@desk.test")

    def ursula(*words, group=None):
        more = [gid["ursula"]] + ([gid[group]] if group else [])
        return site.run_as("ursula", "zmailer", *words, groups=more)
    # her own mail, and not that there is anything else
    done(ursula("why", hers), "hers@desk.test", "suspended")
    refused(ursula("why", his), "no such message")
    refused(ursula("queue"), "you may not")
    refused(ursula("resume", "all"), "you may not")
    refused(ursula("etrn", "desk.test"), "you may not")
    # operators look
    done(ursula("why", his, group="wanda"), "his@desk.test")
    done(ursula("queue", group="wanda"), "smtp/")
    done(ursula("orders", group="wanda"), "suspend")
    refused(ursula("resume", "all", group="wanda"), "you may not")
    # admins do; what was refused is in the journal
    assert any(row["ev"] == "order.refused" and row["by"] == "ursula" and
               row["op"] == "resume" for row in site.events())
    done(ursula("resume", "all", group="victor"), "orders 1")
    mta.wait_for("their mail to go", site.is_delivered)
    assert any(row["ev"] == "order" and row["op"] == "resume" and
               "ursula" in row["by"] for row in site.events())
