"""nginx as the other side of the http agent: TLS, the bodies it took as
files, and what it says by itself when it does not take one.

SPDX-License-Identifier: ISC
"""
import base64
import os
import socket

import privateroot
from hop import BIG, EIGHT, PLAIN, NextHop, send
from zmtest import mta

HOST = "127.0.0.3"           # what has a password is not the others' host
LOG = "/var/log/nginx/mail.log"
KEY = base64.b64encode(b"agent:sesame").decode()
# path, what nginx does there, the event, its code, the words
REFUSALS = [
    ("small", "client_max_body_size 100k;", "rcpt.fail", "5.3.4", "413"),
    ("gone", "return 410;", "rcpt.fail", "5.1.6", "410"),
    ("none", "root /nonexistent;", "rcpt.fail", "5.1.1", "404"),
    ("static", "alias /etc/hostname;", "rcpt.fail", "5.5.1", "405"),
    ("moved", "return 301 /mail;", "rcpt.defer", "4.3.5", "301"),
    ("closed", "deny all;", "rcpt.defer", "4.7.1", "403"),
    ("login", "auth_basic x; auth_basic_user_file /etc/nginx/others;",
     "rcpt.defer", "4.7.8", "401"),
    ("busy", "limit_req zone=one; limit_req_status 429;", "rcpt.defer",
     "4.4.5", "429"),
    ("down", "proxy_pass http://127.0.0.1:1;", "rcpt.defer", "4.3.0", "502"),
    ("hangs_up", "return 444;", "rcpt.defer", "4.4.2", "connection"),
]
# The body goes to a file; a second server behind says that it is well.
KEEP = f"""client_body_in_file_only on;
    proxy_pass_request_body off;
    proxy_set_header Content-Length "";
    proxy_pass http://127.0.0.1:2705;"""


class Nginx(NextHop):
    domain, port, packages = "hook.test", 2704, privateroot.NGINX
    bodies = "/var/bodies"

    @staticmethod
    def configuration(instance):
        with open(f"{instance.top}/hosts", "w") as file:
            file.write(f"{HOST} agent sesame\n")
        os.chmod(f"{instance.top}/hosts", 0o644)
        url = f"https://{HOST}:2704"
        return (
            f"table web file:{instance.top}/hosts\nauth-to <web>\n"
            f"domain hook.test {{ users any; deliver http {url}/mail }}\n"
            + "".join(f"domain {name.replace('_', '-')}.test {{ users any; "
                      f"deliver http {url}/{name} }}\n"
                      for name, *_ in REFUSALS)
            + "schedule http/* { retry 1h; parallel 1; agents 1 }\n")

    def start(self):
        self.root.run("install", "-d", "-o", "www-data", self.bodies)
        self.root.write("/etc/nginx/mail-users", "agent:{PLAIN}sesame\n")
        self.root.write("/etc/nginx/others", "somebody:{PLAIN}else\n")
        places = "".join(f"""
  location /{name} {{
    {what}{'' if what.startswith(('return', 'proxy', 'root', 'alias'))
           else KEEP}
  }}""" for name, what, *_ in REFUSALS)
        self.root.write("/etc/nginx/mail.conf", f"""
events {{ }}
http {{
limit_req_zone $binary_remote_addr zone=one:1m rate=1r/m;
log_format mail "$status $connection $connection_requests "
  "$http_x_envelope_from $http_x_envelope_to $http_idempotency_key";
server {{
  listen {HOST}:{self.port} ssl;
  ssl_protocols TLSv1.2 TLSv1.3;
  ssl_certificate /etc/mx.pem;
  ssl_certificate_key /etc/mx.key;
  access_log {LOG} mail;
  client_max_body_size 8m;
  client_body_temp_path {self.bodies};
  keepalive_requests 50;
  location /mail {{
    auth_basic mail;
    auth_basic_user_file /etc/nginx/mail-users;
    {KEEP}
  }}{places}
}}
server {{
  listen 127.0.0.1:2705;
  access_log off;
  return 204;
}}
}}
""")
        self.daemon = self.root.start(
            "/usr/sbin/nginx", "-c", "/etc/nginx/mail.conf",
            "-g", "daemon off;")
        # mail that comes too early would wait an hour for its next try
        mta.wait_for("nginx to listen", self.is_listening)

    def is_listening(self):
        with socket.socket() as peer:
            return peer.connect_ex((HOST, self.port)) == 0

    def messages(self):
        found = []
        top = self.root.root + self.bodies
        for name in os.listdir(top):
            with open(os.path.join(top, name), "rb") as file:
                found.append(file.read().replace(b"\r\n", b"\n"))
        return found

    def log(self):
        """Of each request: status, connection, its number there, sender,
        recipient, key."""
        with open(self.root.root + LOG) as file:
            return [line.split() for line in file]

    def extra(self, instance):
        done = [r for r in self.log() if r[0] == "204"]
        assert len({r[5] for r in done}) == len(done), "a key came twice"
        used = {r[1] for r in done}
        assert len(used) <= len(done) // 50 + 6, f"{len(used)} connections"
        self.refusals(instance)
        self.idle_connection_died(instance)

    def refusals(self, instance):
        """What nginx does not take, in its words, and nothing waits for
        ever: 413 comes while the message is still on its way."""
        for name, _, event, code, words in REFUSALS:
            domain = name.replace("_", "-") + ".test"
            if name == "busy":          # the first one is taken
                send(instance, [f"u0@{domain}"], PLAIN)
                mta.wait_for("the one a minute", lambda: [
                    e for e in instance.events() if e["ev"] == "rcpt.ok"
                    and e["to"] == f"u0@{domain}"])
            send(instance, [f"u1@{domain}"],
                 BIG if name == "small" else PLAIN)

            def heard():
                return [e for e in instance.events() if e["ev"] in (
                    "rcpt.ok", "rcpt.defer", "rcpt.fail")
                    and e.get("to") == f"u1@{domain}"]
            mta.wait_for(f"what becomes of {name}", heard)
            first = heard()[0]
            assert first["ev"] == event and first["code"] == code and \
                words in first["reply"], first

    def idle_connection_died(self, instance):
        """A reload ends the connections that wait: the next message finds
        out and goes by a new one, in the same try."""
        before = len(self.log())
        self.root.run("/usr/sbin/nginx", "-c", "/etc/nginx/mail.conf", "-s",
                      "reload")
        text = EIGHT.replace(b"eight", b"after the reload")
        send(instance, ["u7@hook.test"], text)
        mta.wait_for("mail after the reload", lambda: [
            r for r in self.log()[before:] if r[0] == "204"
            and r[4] == "u7@hook.test"])
        assert not [e for e in instance.events() if e["ev"] == "rcpt.defer"
                    and e["to"] == "u7@hook.test"], "it took a second try"
