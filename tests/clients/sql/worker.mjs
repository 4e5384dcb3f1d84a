// A worker in Node. Each event is one effect, whatever is sent twice and whoever dies in between.
import { setTimeout as pause } from "node:timers/promises";
import pg from "pg";
import { step } from "./steps.mjs";

const { DATABASE_URL, CONSUMER, LEASE = "30 seconds", ONCE } = process.env;
const db = new pg.Client(DATABASE_URL);
await db.connect();

for (;;) {
  // Commits by itself: the lease is durable before anything is done.
  const { rows } = await db.query("select * from hookonce.claim($1, 10, $2::interval)", [CONSUMER, LEASE]);
  for (const event of rows) await handle(event);
  if (ONCE && rows.length === 0) break;
  if (rows.length === 0) await pause(1000);
}
await db.end();

async function handle({ lease, body }) {
  await step("claimed");
  const { customer, amount } = JSON.parse(body).data;
  await db.query("begin");
  try {
    await db.query("update account set paid = paid + $1, times = times + 1 where id = $2", [amount, customer]);
    await db.query("select hookonce.done($1)", [lease]);
    await step("before commit");
    await db.query("commit");
  } catch (error) {
    await db.query("rollback");
    if (error.code !== "KO001") return db.query("select hookonce.fail($1, $2)", [lease, error.message]);
    await step("lost"); // Somebody else has it: our effect is rolled back.
  }
}
