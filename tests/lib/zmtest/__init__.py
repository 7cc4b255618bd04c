"""Actors for tests: a server, a client, a DNS server, an MTA instance.

SPDX-License-Identifier: ISC
"""
