// Every payload of @octokit/webhooks-examples, signed by @octokit/webhooks, sent twice in shuffled order.
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { after, before, test } from "node:test";
import { randomUUID } from "node:crypto";
import { Webhooks } from "@octokit/webhooks";
import { Webhook } from "standardwebhooks";
import { startReceiver } from "./lib/receiver.mjs";
import { post, shuffled, startServer, until } from "./lib/server.mjs";

const examples = createRequire(import.meta.url)("@octokit/webhooks-examples");
const SECRET = "field-test-secret-A-0123456789abcdef";
const FORWARD = "whsec_ZmllbGQtc3cta2V5LUEtMDEyMzQ1Njc4OWFiY2RlZiE=";
const SEED = Number(process.env.SEED ?? 20261130);
/** Pairs of the package that are the same to the byte. Another id over the same signed bytes is what a replay looks like. */
const TWINS = [
  ["github_app_authorization#0", "github_app_authorization#1"],
  ["membership#0", "membership#2"],
  ["org_block#0", "org_block#1"],
  ["organization#0", "organization#1"],
  ["sponsorship#0", "sponsorship#2"],
];

let server, receiver;
const github = new Webhooks({ secret: SECRET });

before(async () => {
  receiver = await startReceiver();
  server = await startServer({
    config: `[sources.gh]\nprovider = "github"\nsecret = { env = "GH" }\n
[consumers.app]\nkind = "http"\non = ["gh/*"]\nurl = "${receiver.url}"\nallow_private = true\norder = "none"\nsign = { env = "FORWARD" }\n`,
    env: { GH: SECRET, FORWARD },
  });
});

after(async () => {
  await server?.stop();
  await receiver?.stop();
});

async function deliveries() {
  const all = [];
  for (const { name, examples: payloads } of examples) {
    for (const [n, payload] of payloads.entries()) {
      const body = JSON.stringify(payload);
      all.push({ label: `${name}#${n}`, name, body, id: randomUUID(), signature: await github.sign(body) });
    }
  }
  return all;
}

const send = (d) =>
  post(
    `${server.ingest}/in/gh`,
    {
      "content-type": "application/json",
      "x-github-event": d.name,
      "x-github-delivery": d.id,
      "x-hub-signature-256": d.signature,
    },
    d.body,
  );

/** Sends in parallel, a bounded number at a time. */
async function sendAll(list) {
  const answers = new Map();
  const rest = [...list];
  const lane = async () => {
    for (let d; (d = rest.pop()); ) answers.set(d.label, await send(d));
  };
  await Promise.all(Array.from({ length: 16 }, lane));
  return answers;
}

test(`all examples twice, shuffled (SEED=${SEED})`, async () => {
  const all = await deliveries();
  assert.ok(all.length > 300, `the package holds ${all.length} payloads`);

  const first = await sendAll(shuffled(all, SEED));
  for (const [label, answer] of first) {
    assert.deepEqual([answer.status, answer.verdict], [200, "accepted"], label);
  }
  const second = await sendAll(shuffled(all, SEED + 1));
  for (const [label, answer] of second) {
    assert.deepEqual([answer.status, answer.verdict], [200, "duplicate"], label);
  }

  await theGuardHoldsOneOfEachTwin(all);
  await whatIsForwardedIsWhatWasSent(all);
});

async function theGuardHoldsOneOfEachTwin(all) {
  const byId = new Map(all.map((d) => [d.id, d]));
  const held = await until("the router to hold the twins", async () => {
    const rows = await server.all("/v1/held");
    return rows.length >= TWINS.length && rows;
  });
  assert.deepEqual(new Set(held.map((h) => h.reason)), new Set(["suspected_replay"]));
  const labels = held.map((h) => byId.get(h.key).label);
  assert.equal(labels.length, TWINS.length, `held: ${labels}`);
  for (const pair of TWINS) {
    const which = pair.filter((label) => labels.includes(label));
    assert.equal(which.length, 1, `of ${pair} exactly one is held, not ${which}`);
  }
}

async function whatIsForwardedIsWhatWasSent(all) {
  const want = all.length - TWINS.length;
  await until(`${want} deliveries`, () => receiver.got.length >= want);
  const sent = new Map(all.map((d) => [d.id, d]));
  const ours = new Webhook(FORWARD);
  for (const { headers, body } of receiver.got) {
    const d = sent.get(headers["x-github-delivery"]);
    assert.ok(body.equals(Buffer.from(d.body)), `${d.label}: forwarded bytes are the sent ones`);
    assert.ok(await github.verify(body.toString(), headers["x-hub-signature-256"]), `${d.label}: @octokit/webhooks`);
    assert.doesNotThrow(() => ours.verify(body.toString(), headers), `${d.label}: standardwebhooks`);
    assert.equal(headers["hookonce-source"], "gh");
  }
  assert.equal(new Set(receiver.got.map((g) => g.headers["webhook-id"])).size, want, "one message id each");
  assert.equal(receiver.got.length, want, "nothing was forwarded twice");
}
