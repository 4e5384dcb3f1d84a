// Workers in other languages: effect and `done` commit together in their own database, so an event is one effect however
// often it is sent, wherever a worker dies, and whoever comes late.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { after, before, test } from "node:test";
import { Webhook } from "standardwebhooks";
import { startDatabase } from "./lib/database.mjs";
import { post, startServer, until } from "./lib/server.mjs";

const KEY = "whsec_ZmllbGQtc3cta2V5LUEtMDEyMzQ1Njc4OWFiY2RlZiE=";
const JDBC = "/usr/share/java/postgresql.jar";
const file = (name) => fileURLToPath(new URL(`sql/${name}`, import.meta.url));
/** Python and Java with the drivers that the system's packages bring. */
const LANGUAGES = [
  ["node", "node", [file("worker.mjs")]],
  ["python", "/usr/bin/python3", [file("worker.py")]],
  ["java", "java", ["-cp", JDBC, file("Worker.java")]],
];
const AMOUNT = 7;

let database, server;

before(async () => {
  database = await startDatabase();
  const consumer = ([name]) =>
    `[sources.${name}]\nprovider = "standard-webhooks"\nsecret = { env = "KEY" }\n
[consumers.${name}]\nkind = "pull"\non = ["${name}/*"]\n`;
  server = await startServer({ store: database.url, config: LANGUAGES.map(consumer).join("\n"), env: { KEY } });
  await database.query(`create table account (id text primary key, paid bigint not null, times bigint not null)`);
  // Everything that a worker needs, and nothing more.
  await database.query(`grant select, update on account to ${database.role}`);
  await database.query(`grant usage on schema hookonce to ${database.role}`);
  await database.query(`grant execute on function hookonce.claim, hookonce.done, hookonce.fail to ${database.role}`);
});

after(async () => {
  await server?.stop();
  await database?.stop();
});

/** Signed as a provider does, and sent three times. */
async function send(source, customer) {
  const [id, at] = [`msg_${randomUUID()}`, new Date()];
  const body = JSON.stringify({ type: "invoice.paid", timestamp: at.toISOString(), data: { customer, amount: AMOUNT } });
  const headers = {
    "content-type": "application/json",
    "webhook-id": id,
    "webhook-timestamp": String(Math.floor(at / 1000)),
    "webhook-signature": new Webhook(KEY).sign(id, at, body),
  };
  for (const verdict of ["accepted", "duplicate", "duplicate"]) {
    const answer = await post(`${server.ingest}/in/${source}`, headers, body);
    assert.deepEqual([answer.status, answer.verdict], [200, verdict]);
  }
}

const account = (id) => database.query("insert into account values ($1, 0, 0)", [id]);
const paid = async (id) => {
  const [row] = await database.query("select paid::int, times::int from account where id = $1", [id]);
  return [row.paid, row.times];
};
const states = async (consumer) => {
  const rows = await database.query("select state from hookonce.v_deliveries where consumer = $1", [consumer]);
  return rows.map((row) => row.state);
};
const ready = (consumer, count) =>
  until(`${count} of ${consumer} to be ready`, async () => {
    return (await states(consumer)).filter((state) => state === "ready").length === count;
  });

/** A transaction of somebody who was killed holds its locks until the server has noticed. */
async function sessions() {
  const [row] = await database.query("select count(*)::int from pg_stat_activity where usename = $1", [database.role]);
  return row.count;
}

/** A worker that ends when there is nothing more, or where it is told to stand still. */
function start([name, program, args], env = {}) {
  const child = spawn(program, args, {
    env: { PATH: process.env.PATH, DATABASE_URL: database.worker, JDBC_URL: database.jdbc, CONSUMER: name, ONCE: "1", ...env },
    stdio: ["pipe", "pipe", "pipe"],
  });
  let [said, wrong] = ["", ""];
  child.stdout.on("data", (chunk) => (said += chunk));
  child.stderr.on("data", (chunk) => (wrong += chunk));
  const gone = once(child, "exit");
  return {
    reached: (step) =>
      until(`${name} to say "${step}"`, () => {
        if (child.exitCode !== null) throw new Error(`${name} has ended: ${said}${wrong}`);
        return said.split("\n").includes(step);
      }),
    // Closed as well: an open one would keep Node alive.
    go: () => child.stdin.end("\n"),
    async killed() {
      child.kill("SIGKILL");
      await gone;
    },
    async ended() {
      const [code] = await gone;
      assert.equal(code, 0, wrong);
      return said;
    },
  };
}

for (const language of LANGUAGES) {
  const [name] = language;

  test(`${name}: two workers, every event sent three times, one effect each`, async () => {
    await account(`${name}-many`);
    for (let n = 0; n < 20; n++) await send(name, `${name}-many`);
    await ready(name, 20);
    await Promise.all([start(language).ended(), start(language).ended()]);
    assert.deepEqual(await paid(`${name}-many`), [20 * AMOUNT, 20]);
    assert.deepEqual(new Set(await states(name)), new Set(["succeeded"]));
  });

  test(`${name}: killed between effect and commit, and once more: one effect, both losses in the history`, async () => {
    await account(`${name}-crash`);
    await send(name, `${name}-crash`);
    await ready(name, 1);
    for (let n = 0; n < 2; n++) {
      const worker = start(language, { WAIT_AT: "before commit", LEASE: "100 milliseconds" });
      await worker.reached("before commit");
      await worker.killed();
      await until("its session to end", async () => (await sessions()) === 0);
      await ready(name, 1);
    }
    assert.deepEqual(await paid(`${name}-crash`), [0, 0]);
    await start(language).ended();
    assert.deepEqual(await paid(`${name}-crash`), [AMOUNT, 1]);
    const history = await database.query(
      `select outcome from hookonce.v_attempts where number = (select max(number) from hookonce.v_deliveries
         where consumer = $1) order by no`,
      [name],
    );
    assert.deepEqual(history.map((row) => row.outcome), ["lost", "lost", "done"]);
  });

  test(`${name}: overtaken while it was away: its effect is rolled back`, async () => {
    await account(`${name}-late`);
    await send(name, `${name}-late`);
    await ready(name, 1);
    const late = start(language, { WAIT_AT: "claimed", LEASE: "1 millisecond" });
    await late.reached("claimed");
    await ready(name, 1);
    await start(language).ended();
    assert.deepEqual(await paid(`${name}-late`), [AMOUNT, 1]);
    late.go();
    assert.match(await late.ended(), /^lost$/m);
    assert.deepEqual(await paid(`${name}-late`), [AMOUNT, 1]);
  });
}
