"""An Exim in a private root that puts all its mail into one box.

SPDX-License-Identifier: ISC
"""
import os

CONF = "/etc/exim4/exim4.conf"
HEAD = """primary_hostname = {name}
domainlist local_domains = exim.test : *-e.test
spool_directory = /var/spool/exim4
log_file_path = /var/log/exim4/%slog
acl_smtp_rcpt = all
acl_smtp_data = all
never_users =
"""
BODY = """begin acl
all:
  accept
begin routers
here:
  driver = accept
  transport = box
begin transports
box:
  driver = appendfile
  user = mail
  group = mail
"""


def configure(root, name, box, tls=None, more=""):
    """box: lines of its appendfile transport; tls: certificate, key; more:
    lines of the main part."""
    text = HEAD.format(name=name) + more
    if tls:
        text += "tls_advertise_hosts = *\ntls_certificate = {}\n" \
            "tls_privatekey = {}\n".format(*tls)
    text += BODY + "".join(f"  {line}\n" for line in box)
    root.write(CONF, text)
    os.chmod(root.root + CONF, 0o644)
