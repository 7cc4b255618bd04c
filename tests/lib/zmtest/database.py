#!/usr/bin/python3
"""A small database of names, for flows.

    database.py make FILE        domains, users, aliases, enemies of v.test
    database.py add FILE DOMAIN  one more domain, with its alias team

SPDX-License-Identifier: ISC
"""
import sqlite3
import sys


def make(path):
    link = sqlite3.connect(path)
    link.executescript("""
        CREATE TABLE users (name TEXT, domain TEXT);
        CREATE TABLE aliases (address TEXT, goto TEXT);
        CREATE TABLE domains (name TEXT, active INTEGER);
        INSERT INTO domains VALUES ('v.test', 1), ('off.test', 0);
        CREATE TABLE enemies (address TEXT);
        INSERT INTO users VALUES ('alice', 'v.test'), ('bob', 'v.test');
        INSERT INTO aliases VALUES ('team@v.test', 'alice@localhost'),
            ('team@v.test', 'bob@localhost'),
            ('info@v.test', 'bob@localhost'),
            ('pipe@v.test', '|/bin/false'),
            ('file@v.test', '/tmp/zm-never-written'),
            ('list@v.test', ':include:/etc/passwd');
        INSERT INTO enemies VALUES ('@evil.test');
    """)
    link.commit()
    link.close()


def add(path, domain):
    link = sqlite3.connect(path)
    link.execute("INSERT INTO domains VALUES (?, 1)", (domain,))
    link.execute("INSERT INTO aliases VALUES (?, 'alice@localhost')",
                 ("team@" + domain,))
    link.commit()
    link.close()


if __name__ == "__main__":
    {"make": make, "add": add}[sys.argv[1]](*sys.argv[2:])
