"""A worker in Python. Each event is one effect, whatever is sent twice and whoever dies in between."""
import json
import os
import time

import psycopg
from psycopg.rows import namedtuple_row
from steps import step

CONSUMER, LEASE, ONCE = os.environ["CONSUMER"], os.environ.get("LEASE", "30 seconds"), os.environ.get("ONCE")


def handle(db, event):
    step("claimed")
    paid = json.loads(event.body)["data"]
    try:
        with db.transaction():
            db.execute(
                "update account set paid = paid + %s, times = times + 1 where id = %s", (paid["amount"], paid["customer"])
            )
            db.execute("select hookonce.done(%s)", (event.lease,))
            step("before commit")
    except psycopg.Error as error:
        if error.sqlstate != "KO001":
            db.execute("select hookonce.fail(%s, %s)", (event.lease, str(error)))
            return
        step("lost")  # Somebody else has it: our effect is rolled back.


with psycopg.connect(os.environ["DATABASE_URL"], autocommit=True, row_factory=namedtuple_row) as db:
    while True:
        # Commits by itself: the lease is durable before anything is done.
        events = db.execute("select * from hookonce.claim(%s, 10, %s::interval)", (CONSUMER, LEASE)).fetchall()
        for event in events:
            handle(db, event)
        if not events and ONCE:
            break
        if not events:
            time.sleep(1)
