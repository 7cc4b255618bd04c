/* steps.h - what a session can be doing, one row each
 *
 * STEP(SYMBOL, name, "next steps", text)
 * Each row has a function step_NAME (step.h) that handles what has come
 * and returns the next step, or STEP_WAIT when it can do no more now.
 *
 * SPDX-License-Identifier: ISC
 */
STEP(TLS, tls, "greet command end", "let the TLS handshake come to its end")
STEP(KNOCK, knock, "command last",
    "wait for what filters say of the client")
STEP(GREET, greet, "knock command last",
    "say 220, after a pause; 421 while we stop")
STEP(COMMAND, command, "tls auth skip ask data last end",
    "answer one command line")
STEP(AUTH, auth, "ask pause command skip last",
    "hear what belongs to AUTH")
STEP(PAUSE, pause, "command last", "hold a refusal of AUTH back")
STEP(HOLD, hold, "command last", "keep a refusal back for a while")
STEP(ASK, ask, "command auth", "wait for the answer of a helper process")
STEP(SKIP, skip, "command last end", "drop the rest of an overlong line")
STEP(DATA, data, "filter origin expect store stored end",
    "take in the message")
STEP(CHUNK, chunk, "filter origin expect store stored command last",
    "take in a chunk of BDAT")
STEP(FILTER, filter, "origin expect store stored",
    "wait for what filters say of it")
STEP(ORIGIN, origin, "expect store stored",
    "wait for whose mail it is judged to be")
STEP(EXPECT, expect, "store stored",
    "announce a message whose client waits for the next hop's word")
STEP(STORE, store, "copying verdict stored",
    "wait until the message is durable; publish it")
STEP(COPY, copying, "verdict stored",
    "wait until another machine has it, too; then publish it")
STEP(VERDICT, verdict, "stored", "wait for the next hop's word")
STEP(STORED, stored, "command last", "answer the end of data")
STEP(LAST, last, "linger end", "get the last reply out")
STEP(LINGER, linger, "end", "let the client read it: wait for its end")
STEP(END, end, "", "over: the worker lets the session go")
