"""The schemas that `preset` knows, as their programs make them, and what is on
and off in each.  PostfixAdmin's is made by PostfixAdmin; of the others the
tables that mail needs, with the columns of these versions:

mailcow   mailcow-dockerized, data/web/inc/init_db.inc.php, $db_version
          26022024_1433
vmail     iRedMail, samples/iredmail/iredmail.mysql, commit 43f4a62e,
          but for columns whose names need quotes (rank, enablelib-storage)

compared on 27 November 2026.

SPDX-License-Identifier: ISC
"""
import base64
import hashlib
import os
import subprocess

POSTFIXADMIN = "/usr/share/postfixadmin/public"
POSTFIXADMIN_CONF = "/etc/postfixadmin"


# ---- passwords ------------------------------------------------------------

def of_php(kind):
    return subprocess.run(
        ["php", "-r", f"echo password_hash('secret', {kind});"], check=True,
        stdout=subprocess.PIPE).stdout.decode()


def of_openssl(option):
    return subprocess.run(
        ["openssl", "passwd", option, "secret"], check=True,
        stdout=subprocess.PIPE).stdout.decode().strip()


def salted(name):
    salt = os.urandom(8)
    made = hashlib.new(name, b"secret" + salt).digest()
    return base64.b64encode(made + salt).decode()


def passwords():
    """Each is "secret"."""
    return {
        "BCRYPT": "{BLF-CRYPT}" + of_php("PASSWORD_BCRYPT"),
        "BARE": of_php("PASSWORD_BCRYPT"),
        "SHA512": "{SHA512-CRYPT}" + of_openssl("-6"),
        "MD5": of_openssl("-1"),
        "ARGON2": "{ARGON2ID}" + of_php("PASSWORD_ARGON2ID"),
        "SSHA512": "{SSHA512}" + salted("sha512"),
        "SSHA256": "{SSHA256}" + salted("sha256"),
    }


def filled(text):
    for name, entry in passwords().items():
        text = text.replace(f"%{name}%", entry)
    return text


# ---- PostfixAdmin -----------------------------------------------------------

def make_postfixadmin(base):
    """Its own program makes the tables."""
    place = {"pgsql": f"$CONF['database_type'] = 'pgsql';"
                      f"$CONF['database_host'] = '{base.top}';"
                      f"$CONF['database_port'] = '{base.port}';",
             "mysql": "$CONF['database_type'] = 'mysqli';"
                      "$CONF['database_socket'] = "
                      f"'{base.top}/sock';"}[base.kind]
    with open(f"{POSTFIXADMIN_CONF}/dbconfig.inc.php", "w",
              encoding="ascii") as file:
        file.write("<?php $dbtype = $dbuser = $dbpass = $dbname = "
                   "$dbserver = $dbport = '';\n")
    with open(f"{POSTFIXADMIN_CONF}/config.local.php", "w",
              encoding="ascii") as file:
        file.write(f"<?php {place}\n$CONF['configured'] = true;\n"
                   f"$CONF['database_user'] = '{base.user}';\n"
                   "$CONF['database_password'] = '';\n"
                   "$CONF['database_name'] = 'mail';\n")
    done = subprocess.run(
        ["php", "-d", "session.save_path=/tmp", "-d",
         f"include_path={POSTFIXADMIN_CONF}", "upgrade.php"],
        cwd=POSTFIXADMIN, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        check=False)
    assert done.returncode == 0 and b"updating to version 1845" in \
        done.stdout, done.stdout


def yes_no(base, text):
    """PostgreSQL has booleans there."""
    yes, no = ("1", "0") if base.kind == "mysql" else ("true", "false")
    return text.replace("<1>", yes).replace("<0>", no)


def fill_postfixadmin(base):
    make_postfixadmin(base)
    base.sql(yes_no(base, filled("""
INSERT INTO domain (domain, description, transport, backupmx, active) VALUES
    ('ALL', '', '', <0>, <1>), ('v.test', '', 'virtual', <0>, <1>),
    ('old.test', '', 'virtual', <0>, <1>),
    ('older.test', '', 'virtual', <0>, <1>),
    ('c.test', '', 'virtual', <0>, <1>),
    ('off.test', '', 'virtual', <0>, <0>),
    ('backup.test', '', 'virtual', <1>, <1>);
INSERT INTO mailbox (username, password, name, maildir, local_part, domain,
    active) VALUES
    ('alice@v.test', '%BCRYPT%', '', 'v.test/alice/', 'alice', 'v.test', <1>),
    ('bare@v.test', '%BARE%', '', 'v.test/bare/', 'bare', 'v.test', <1>),
    ('bob@v.test', '%SHA512%', '', 'v.test/bob/', 'bob', 'v.test', <1>),
    ('carol@v.test', '%ARGON2%', '', 'v.test/carol/', 'carol', 'v.test', <1>),
    ('dora@c.test', '%MD5%', '', 'c.test/dora/', 'dora', 'c.test', <1>),
    ('o''brien@v.test', '%BCRYPT%', '', 'v.test/ob/', 'o''brien', 'v.test',
     <1>),
    ('gone@v.test', '%BCRYPT%', '', 'v.test/gone/', 'gone', 'v.test', <0>),
    ('zoe@off.test', '%BCRYPT%', '', 'off.test/zoe/', 'zoe', 'off.test', <1>);
INSERT INTO alias (address, goto, domain, active) VALUES
    ('alice@v.test', 'alice@v.test', 'v.test', <1>),
    ('bare@v.test', 'bare@v.test', 'v.test', <1>),
    ('bob@v.test', 'bob@v.test,carol@v.test', 'v.test', <1>),
    ('carol@v.test', 'carol@v.test', 'v.test', <1>),
    ('o''brien@v.test', 'o''brien@v.test', 'v.test', <1>),
    ('gone@v.test', 'gone@v.test', 'v.test', <0>),
    ('team@v.test', 'alice@v.test,carol@v.test', 'v.test', <1>),
    ('off@v.test', 'alice@v.test', 'v.test', <0>),
    ('dora@c.test', 'dora@c.test', 'c.test', <1>),
    ('@c.test', 'alice@v.test', 'c.test', <1>),
    ('zoe@off.test', 'zoe@off.test', 'off.test', <1>);
INSERT INTO alias_domain (alias_domain, target_domain, active) VALUES
    ('old.test', 'v.test', <1>), ('older.test', 'v.test', <0>);
""")))


# ---- mailcow ----------------------------------------------------------------

MAILCOW = """
CREATE TABLE domain (domain VARCHAR(255) NOT NULL PRIMARY KEY,
    description VARCHAR(255), aliases INT(10) NOT NULL DEFAULT 0,
    mailboxes INT(10) NOT NULL DEFAULT 0,
    defquota BIGINT(20) NOT NULL DEFAULT 3072,
    maxquota BIGINT(20) NOT NULL DEFAULT 102400,
    quota BIGINT(20) NOT NULL DEFAULT 102400,
    relayhost VARCHAR(255) NOT NULL DEFAULT 0,
    backupmx TINYINT(1) NOT NULL DEFAULT 0,
    gal TINYINT(1) NOT NULL DEFAULT 1,
    relay_all_recipients TINYINT(1) NOT NULL DEFAULT 0,
    relay_unknown_only TINYINT(1) NOT NULL DEFAULT 0,
    created DATETIME(0) NOT NULL DEFAULT NOW(0), modified DATETIME,
    active TINYINT(1) NOT NULL DEFAULT 1);
CREATE TABLE mailbox (username VARCHAR(255) NOT NULL PRIMARY KEY,
    password VARCHAR(255) NOT NULL, name VARCHAR(255), description
    VARCHAR(255), mailbox_path_prefix VARCHAR(150) DEFAULT '/var/vmail/',
    quota BIGINT(20) NOT NULL DEFAULT 102400,
    local_part VARCHAR(255) NOT NULL, domain VARCHAR(255) NOT NULL,
    attributes JSON, custom_attributes JSON NOT NULL DEFAULT ('{}'),
    kind VARCHAR(100) NOT NULL DEFAULT '',
    multiple_bookings INT NOT NULL DEFAULT -1,
    authsource ENUM('mailcow', 'keycloak', 'generic-oidc', 'ldap')
    DEFAULT 'mailcow',
    created DATETIME(0) NOT NULL DEFAULT NOW(0), modified DATETIME,
    active TINYINT(1) NOT NULL DEFAULT 1);
CREATE TABLE alias (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY,
    address VARCHAR(255) NOT NULL UNIQUE, goto TEXT NOT NULL,
    domain VARCHAR(255) NOT NULL,
    created DATETIME(0) NOT NULL DEFAULT NOW(0), modified DATETIME,
    private_comment TEXT, public_comment TEXT,
    sogo_visible TINYINT(1) NOT NULL DEFAULT 1,
    active TINYINT(1) NOT NULL DEFAULT 1);
CREATE TABLE alias_domain (alias_domain VARCHAR(255) NOT NULL PRIMARY KEY,
    target_domain VARCHAR(255) NOT NULL,
    created DATETIME(0) NOT NULL DEFAULT NOW(0), modified DATETIME,
    active TINYINT(1) NOT NULL DEFAULT 1);
CREATE TABLE spamalias (address VARCHAR(255) NOT NULL PRIMARY KEY,
    goto TEXT NOT NULL, created DATETIME(0) NOT NULL DEFAULT NOW(0),
    modified DATETIME, validity INT(11));
CREATE TABLE sender_acl (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY,
    logged_in_as VARCHAR(255) NOT NULL, send_as VARCHAR(255) NOT NULL,
    external TINYINT(1) NOT NULL DEFAULT 0);
CREATE TABLE recipient_maps (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY,
    old_dest VARCHAR(255) NOT NULL UNIQUE, new_dest VARCHAR(255) NOT NULL,
    created DATETIME(0) NOT NULL DEFAULT NOW(0), modified DATETIME,
    active TINYINT(1) NOT NULL DEFAULT 0);
INSERT INTO domain (domain, backupmx, active) VALUES ('v.test', 0, 1),
    ('c.test', 0, 1), ('off.test', 0, 0), ('backup.test', 1, 1);
INSERT INTO mailbox (username, password, local_part, domain, attributes,
    active) VALUES
    ('alice@v.test', '%BCRYPT%', 'alice', 'v.test',
     '{"force_pw_update":"0","smtp_access":"1"}', 1),
    ('bob@v.test', '%SSHA256%', 'bob', 'v.test', NULL, 1),
    ('dora@c.test', '%ARGON2%', 'dora', 'c.test', '{}', 1),
    ('mail@v.test', '%BCRYPT%', 'mail', 'v.test', '{}', 2),
    ('imap@v.test', '%BCRYPT%', 'imap', 'v.test', '{"smtp_access":"0"}', 1),
    ('new@v.test', '%BCRYPT%', 'new', 'v.test', '{"force_pw_update":"1"}', 1),
    ('gone@v.test', '%BCRYPT%', 'gone', 'v.test', '{}', 0),
    ('zoe@off.test', '%BCRYPT%', 'zoe', 'off.test', '{}', 1);
INSERT INTO alias (address, goto, domain, active)
    SELECT username, username, domain, active FROM mailbox;
INSERT INTO alias (address, goto, domain, active) VALUES
    ('team@v.test', 'alice@v.test,bob@v.test', 'v.test', 1),
    ('off@v.test', 'alice@v.test', 'v.test', 0),
    ('@c.test', 'alice@v.test', 'c.test', 1);
INSERT INTO alias_domain (alias_domain, target_domain, active) VALUES
    ('old.test', 'v.test', 1), ('older.test', 'v.test', 0);
INSERT INTO spamalias (address, goto, validity) VALUES
    ('temp@v.test', 'bob@v.test', 2000000000),
    ('past@v.test', 'bob@v.test', 1000000000);
INSERT INTO sender_acl (logged_in_as, send_as) VALUES
    ('bob@v.test', 'sales@v.test'), ('dora@c.test', '@far.test');
INSERT INTO recipient_maps (old_dest, new_dest, active) VALUES
    ('was@v.test', 'alice@v.test', 1), ('not@v.test', 'alice@v.test', 0);
"""

# ---- ISPmail ----------------------------------------------------------------

ISPMAIL = """
CREATE TABLE virtual_domains (id int(11) NOT NULL AUTO_INCREMENT PRIMARY KEY,
    name varchar(50) NOT NULL);
CREATE TABLE virtual_users (id int(11) NOT NULL AUTO_INCREMENT PRIMARY KEY,
    domain_id int(11) NOT NULL, email varchar(100) NOT NULL UNIQUE,
    password varchar(150) NOT NULL, quota bigint(11) NOT NULL DEFAULT 0,
    FOREIGN KEY (domain_id) REFERENCES virtual_domains(id)
    ON DELETE CASCADE);
CREATE TABLE virtual_aliases (id int(11) NOT NULL AUTO_INCREMENT PRIMARY KEY,
    domain_id int(11) NOT NULL, source varchar(100) NOT NULL,
    destination varchar(100) NOT NULL,
    FOREIGN KEY (domain_id) REFERENCES virtual_domains(id)
    ON DELETE CASCADE);
INSERT INTO virtual_domains (id, name) VALUES (1, 'v.test'), (2, 'c.test');
INSERT INTO virtual_users (domain_id, email, password) VALUES
    (1, 'alice@v.test', '%BCRYPT%'), (1, 'bob@v.test', '%SHA512%'),
    (2, 'dora@c.test', '%ARGON2%'), (1, 'o''brien@v.test', '%BCRYPT%');
INSERT INTO virtual_aliases (domain_id, source, destination) VALUES
    (1, 'team@v.test', 'alice@v.test'), (1, 'team@v.test', 'bob@v.test'),
    (1, 'bob@v.test', 'bob@v.test'), (1, 'bob@v.test', 'alice@v.test'),
    (2, '@c.test', 'alice@v.test');
"""

# ---- vmail, of iRedMail -----------------------------------------------------

SWITCHES = ["smtp", "smtpsecured", "pop3", "pop3secured", "pop3tls", "imap",
            "imapsecured", "imaptls", "deliver", "lda", "managesieve",
            "managesievesecured", "sieve", "sievesecured", "sievetls",
            "internal", "doveadm", "lmtp", "dsync", "sogo"]
DATES = """created <date> NOT NULL DEFAULT '1970-01-01 01:01:01',
    modified <date> NOT NULL DEFAULT '1970-01-01 01:01:01',"""
EXPIRES = "expired <date> NOT NULL DEFAULT '9999-12-31 00:00:00',"
ACTIVE = "active SMALLINT NOT NULL DEFAULT 1"
TEXTS = " ".join(f"{name} VARCHAR(255) NOT NULL DEFAULT ''," for name in (
    "password", "name", "storagebasedirectory", "storagenode", "maildir",
    "domain", "transport", "department", "employeeid"))
VMAIL = f"""
CREATE TABLE alias (address VARCHAR(255) NOT NULL PRIMARY KEY,
    name VARCHAR(255) NOT NULL DEFAULT '',
    accesspolicy VARCHAR(30) NOT NULL DEFAULT '',
    domain VARCHAR(255) NOT NULL DEFAULT '', {DATES} {EXPIRES} {ACTIVE});
CREATE TABLE forwardings (id <serial>,
    address VARCHAR(255) NOT NULL DEFAULT '',
    forwarding VARCHAR(255) NOT NULL DEFAULT '',
    domain VARCHAR(255) NOT NULL DEFAULT '',
    dest_domain VARCHAR(255) NOT NULL DEFAULT '',
    is_maillist SMALLINT NOT NULL DEFAULT 0,
    is_list SMALLINT NOT NULL DEFAULT 0,
    is_forwarding SMALLINT NOT NULL DEFAULT 0,
    is_alias SMALLINT NOT NULL DEFAULT 0, {ACTIVE},
    UNIQUE (address, forwarding));
CREATE TABLE domain (domain VARCHAR(255) NOT NULL PRIMARY KEY,
    description TEXT, disclaimer TEXT, aliases BIGINT NOT NULL DEFAULT 0,
    mailboxes BIGINT NOT NULL DEFAULT 0, maillists BIGINT NOT NULL DEFAULT 0,
    maxquota BIGINT NOT NULL DEFAULT 0, quota BIGINT NOT NULL DEFAULT 0,
    transport VARCHAR(255) NOT NULL DEFAULT 'dovecot',
    backupmx SMALLINT NOT NULL DEFAULT 0, settings TEXT,
    {DATES} {EXPIRES} {ACTIVE});
CREATE TABLE alias_domain (alias_domain VARCHAR(255) NOT NULL PRIMARY KEY,
    target_domain VARCHAR(255) NOT NULL, {DATES} {ACTIVE});
CREATE TABLE mailbox (username VARCHAR(255) NOT NULL PRIMARY KEY, {TEXTS}
    language VARCHAR(5) NOT NULL DEFAULT '',
    mailboxformat VARCHAR(50) NOT NULL DEFAULT 'maildir',
    mailboxfolder VARCHAR(50) NOT NULL DEFAULT 'Maildir',
    quota BIGINT NOT NULL DEFAULT 0, isadmin SMALLINT NOT NULL DEFAULT 0,
    isglobaladmin SMALLINT NOT NULL DEFAULT 0,
    {" ".join(f"enable{name} SMALLINT NOT NULL DEFAULT 1," for name in
              SWITCHES)}
    enablesogowebmail CHAR(1) NOT NULL DEFAULT 'y',
    enablesogocalendar CHAR(1) NOT NULL DEFAULT 'y',
    enablesogoactivesync CHAR(1) NOT NULL DEFAULT 'y',
    allow_nets TEXT DEFAULT NULL, disclaimer TEXT, settings TEXT,
    passwordlastchange <date> NOT NULL DEFAULT '1970-01-01 01:01:01',
    {DATES} {EXPIRES} {ACTIVE});
INSERT INTO domain (domain, backupmx, active) VALUES ('v.test', 0, 1),
    ('c.test', 0, 1), ('off.test', 0, 0), ('backup.test', 1, 1);
INSERT INTO mailbox (username, password, domain, active) VALUES
    ('alice@v.test', '%SSHA512%', 'v.test', 1),
    ('bob@v.test', '%BCRYPT%', 'v.test', 1),
    ('dora@c.test', '%SHA512%', 'c.test', 1),
    ('gone@v.test', '%SSHA512%', 'v.test', 0),
    ('full@v.test', '%SSHA512%', 'v.test', 1),
    ('imap@v.test', '%SSHA512%', 'v.test', 1),
    ('zoe@off.test', '%SSHA512%', 'off.test', 1);
UPDATE mailbox SET enabledeliver = 0 WHERE username = 'full@v.test';
UPDATE mailbox SET enablesmtp = 0, enablesmtpsecured = 0
    WHERE username = 'imap@v.test';
INSERT INTO forwardings (address, forwarding, domain, dest_domain,
    is_forwarding, active)
    SELECT username, username, domain, domain, 1, active FROM mailbox;
INSERT INTO alias (address, domain, active) VALUES ('team@v.test', 'v.test',
    1), ('off@v.test', 'v.test', 0);
INSERT INTO forwardings (address, forwarding, domain, dest_domain, is_list,
    is_alias, active) VALUES
    ('team@v.test', 'alice@v.test', 'v.test', 'v.test', 1, 0, 1),
    ('team@v.test', 'bob@v.test', 'v.test', 'v.test', 1, 0, 1),
    ('off@v.test', 'alice@v.test', 'v.test', 'v.test', 1, 0, 0),
    ('sales@v.test', 'bob@v.test', 'v.test', 'v.test', 0, 1, 1),
    ('c.test', 'alice@v.test', 'c.test', 'v.test', 0, 0, 1);
INSERT INTO alias_domain (alias_domain, target_domain, active) VALUES
    ('old.test', 'v.test', 1), ('older.test', 'v.test', 0);
"""
TYPES = {"pgsql": {"<date>": "TIMESTAMP", "<serial>": "SERIAL PRIMARY KEY"},
         "mysql": {"<date>": "DATETIME", "<serial>":
                   "BIGINT UNSIGNED AUTO_INCREMENT PRIMARY KEY"}}


def fill_vmail(base):
    text = filled(VMAIL)
    for name, kind in TYPES[base.kind].items():
        text = text.replace(name, kind)
    base.sql(text)


# ---- what is on and off -----------------------------------------------------

class Schema:
    """A preset, who fills its tables, and what must come of them."""

    def __init__(self, name, kinds, fill, gets, rcpts, logins):
        self.name, self.fill, self.gets = name, fill, gets
        self.rcpts, self.logins = rcpts, logins
        self.kinds = ["domains", "mailboxes", "aliases", "passwords", *kinds]

    def conf(self, spec, port):
        """spec(kind): of a table with that preset."""
        aliases = " ".join(f"<their-{kind}>" for kind in self.kinds
                           if "alias" in kind)
        return "".join(f"table their-{kind} {spec(kind)}\n"
                       for kind in self.kinds) + \
            "domain <their-domains> { users <their-mailboxes>; " \
            f"aliases {aliases} }}\n" \
            "auth users <their-passwords> clear loopback\n" \
            "limit auth-failures 100\n" \
            f"listen 127.0.0.1:{port} submission\n"


# (address, reply to RCPT); from here any domain that is not ours is 250
COMMON = (("alice@v.test", 250), ("ALICE@V.Test", 250),
          ("bob@v.test", 250), ("team@v.test", 250), ("nobody@v.test", 550),
          ("dora@c.test", 250), ("anybody@c.test", 250),
          ("%@v.test", 550),
          ("x'/**/or/**/'1'='1@v.test", 550))
OF_STATES = (("gone@v.test", 550), ("off@v.test", 550),
             ("alice@old.test", 250), ("team@old.test", 250),
             ("nobody@old.test", 550))
IN = (("alice@v.test", 235), ("bob@v.test", 235), ("dora@c.test", 235))
OUT = (("gone@v.test", 535), ("zoe@off.test", 535), ("nobody@v.test", 535))

# (kind, key, value; None: it has none)
SCHEMAS = {
    "postfixadmin": Schema(
        "postfixadmin", ["alias-domains", "relay-domains", "owners"],
        fill_postfixadmin,
        (("domains", "v.test", "v.test"), ("domains", "off.test", None),
         ("domains", "backup.test", None), ("domains", "x.test", None),
         ("domains", "all", None),
         ("relay-domains", "backup.test", "backup.test"),
         ("relay-domains", "v.test", None),
         ("aliases", "team@v.test", "alice@v.test,carol@v.test"),
         ("alias-domains", "@old.test", "@v.test"),
         ("alias-domains", "@older.test", None),
         ("owners", "gone@v.test", None)),
        COMMON + OF_STATES + (
            ("o'brien@v.test", 250), ("\"o'brien\"@v.test", 250),
            ("alice@older.test", 550), ("\"a b\"@v.test", 550)),
        IN + OUT + (("bare@v.test", 235), ("carol@v.test", 235))),
    "mailcow": Schema(
        "mailcow", ["alias-domains", "relay-domains", "owners",
                    "spam-aliases", "canonical"],
        lambda base: base.sql(filled(MAILCOW)),
        (("domains", "v.test", "v.test"), ("domains", "old.test",
                                           "old.test"),
         ("domains", "off.test", None), ("domains", "older.test", None),
         ("domains", "backup.test", None),
         ("relay-domains", "backup.test", "backup.test"),
         ("aliases", "team@v.test", "alice@v.test,bob@v.test"),
         ("alias-domains", "@old.test", "@v.test"),
         ("canonical", "was@v.test", "alice@v.test"),
         ("canonical", "not@v.test", None),
         ("owners", "alice@v.test", "alice@v.test"),
         ("owners", "sales@v.test", "bob@v.test"),
         ("owners", "any@far.test", "dora@c.test"),
         ("owners", "any@c.test", "alice@v.test"),
         ("owners", "dora@c.test", "dora@c.test"),
         ("owners", "bob@old.test", "bob@v.test"),
         ("owners", "bob@older.test", None),
         ("owners", "gone@v.test", None)),
        COMMON + OF_STATES + (
            ("mail@v.test", 250), ("imap@v.test", 250),
            ("temp@v.test", 250), ("past@v.test", 550)),
        IN + OUT + (("mail@v.test", 535), ("imap@v.test", 535),
                    ("new@v.test", 535))),
    "ispmail": Schema(
        "ispmail", [], lambda base: base.sql(filled(ISPMAIL)),
        (("domains", "v.test", "v.test"), ("domains", "x.test", None),
         ("aliases", "team@v.test", "alice@v.test, bob@v.test")),
        COMMON + (("o'brien@v.test", 250),), IN + OUT[2:]),
    "vmail": Schema(
        "vmail", ["alias-domains", "relay-domains"], fill_vmail,
        (("domains", "v.test", "v.test"), ("domains", "old.test",
                                           "old.test"),
         ("domains", "off.test", None), ("domains", "older.test", None),
         ("domains", "backup.test", None),
         ("relay-domains", "backup.test", "backup.test"),
         ("aliases", "sales@v.test", "bob@v.test"),
         ("aliases", "c.test", None), ("aliases", "@c.test", "alice@v.test"),
         ("alias-domains", "@old.test", "@v.test")),
        COMMON + OF_STATES + (("sales@v.test", 250), ("full@v.test", 550),
                              ("imap@v.test", 250)),
        IN + OUT + (("imap@v.test", 535), ("full@v.test", 235))),
}
# the base in which each is kept
KEPT_IN = (("postfixadmin", "pgsql"), ("postfixadmin", "mysql"),
           ("mailcow", "mysql"), ("ispmail", "mysql"), ("vmail", "pgsql"),
           ("vmail", "mysql"))
