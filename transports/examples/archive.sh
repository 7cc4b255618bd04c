#!/bin/sh
# archive.sh - an agent in shell: each message becomes a file
#
#	route archive.example via channel archive/srv-mail
#	schedule archive/* { command "kit /usr/local/lib/archive.sh" }
#
# Arguments: host (here: the name of a directory below ARCHIVE_TOP) and the
# recipient.  Standard input: the message.  SENDER and ZMAILER_ID are in the
# environment.  Exit status: 0 delivered, 75 try later, another fails.
#
# SPDX-License-Identifier: ISC

: "${ARCHIVE_TOP:=/var/tmp/archive}"
host=$1 rcpt=$2

# What a sender can choose never becomes a path unseen.
case $host in
'' | .* | */* | *[!a-z0-9-]*)
	echo "no archive is called $host"
	exit 67
	;;
esac
case $rcpt in
closed@*)
	echo "this archive is closed"
	exit 77
	;;
esac

umask 077
mkdir -p "$ARCHIVE_TOP/$host" || exit 75
file=$ARCHIVE_TOP/$host/$ZMAILER_ID
new=$ARCHIVE_TOP/$host/.$ZMAILER_ID.$$

# Another name first, of this process alone: nobody sees half a message, and a
# second try, or recipient, of the same message takes the place of the first.
cat >"$new" || { rm -f "$new"; exit 75; }
sync "$new" 2>/dev/null
mv "$new" "$file" || exit 75
echo "kept as $host/$ZMAILER_ID"
