// Official packages sign; the server takes the first copy, absorbs the second, refuses an altered one.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { randomUUID } from "node:crypto";
import Stripe from "stripe";
import { Webhook as StandardWebhook } from "standardwebhooks";
import { Webhook as SvixWebhook } from "svix";
import twilio from "twilio";
import { startReceiver } from "./lib/receiver.mjs";
import { post, startServer, until } from "./lib/server.mjs";

const KEY = "whsec_ZmllbGQtc3cta2V5LUEtMDEyMzQ1Njc4OWFiY2RlZiE=";
const FORWARD = "whsec_ZmllbGQtc3cta2V5LUItMDEyMzQ1Njc4OWFiY2RlZiE=";
const STRIPE = "whsec_field_test_secret_A";
const TWILIO = "field-test-twilio-token-0123456789";
const PUBLIC = "https://hooks.example.com/in/tw";

let server, receiver;

before(async () => {
  receiver = await startReceiver();
  server = await startServer({
    config: `[sources.st]\nprovider = "stripe"\nsecret = { env = "STRIPE" }\n
[sources.sw]\nprovider = "standard-webhooks"\nsecret = { env = "KEY" }\n
[sources.tw]\nprovider = "twilio"\nsecret = { env = "TWILIO" }\npublic_url = "${PUBLIC}"\n
[consumers.app]\nkind = "http"\non = ["st/*", "sw/*", "tw/*"]\nurl = "${receiver.url}"\nallow_private = true\nsign = { env = "FORWARD" }\n`,
    env: { STRIPE, KEY, TWILIO, FORWARD },
  });
});

after(async () => {
  await server?.stop();
  await receiver?.stop();
});

const stripe = new Stripe("sk_test_nothing");

function stripeRequest() {
  const id = `evt_${randomUUID()}`;
  const object = { id: `in_${id}`, object: "invoice", amount: 4900.5, note: "é 😀 \u2028" };
  const body = JSON.stringify({ id, object: "event", type: "invoice.paid", created: Math.floor(Date.now() / 1000), data: { object } });
  const signature = stripe.webhooks.generateTestHeaderString({ payload: body, secret: STRIPE });
  return { source: "st", body, headers: { "content-type": "application/json", "stripe-signature": signature } };
}

/** Standard Webhooks by two packages: their header names differ only in who made them. */
function standardRequest(Signer) {
  const id = `msg_${randomUUID()}`;
  const at = new Date();
  const body = JSON.stringify({ type: "order.paid", timestamp: at.toISOString(), data: { id: randomUUID() } });
  const headers = {
    "content-type": "application/json",
    "webhook-id": id,
    "webhook-timestamp": String(Math.floor(at / 1000)),
    "webhook-signature": new Signer(KEY).sign(id, at, body),
  };
  return { source: "sw", body, headers };
}

function twilioRequest() {
  const fields = { AccountSid: "AC1", MessageSid: `SM${randomUUID()}`, MessageStatus: "delivered", Body: "a b+c & d é" };
  const body = new URLSearchParams(fields).toString();
  const headers = {
    "content-type": "application/x-www-form-urlencoded",
    "i-twilio-idempotency-token": randomUUID(),
    "x-twilio-signature": twilio.getExpectedTwilioSignature(TWILIO, PUBLIC, fields),
  };
  return { source: "tw", body, headers };
}

const SENDERS = [
  ["stripe", stripeRequest],
  ["standardwebhooks", () => standardRequest(StandardWebhook)],
  ["svix", () => standardRequest(SvixWebhook)],
  ["twilio", twilioRequest],
];

for (const [name, request] of SENDERS) {
  test(`${name}: accepted, duplicate, altered refused, forwarded as it was`, async () => {
    const { source, headers, body } = request();
    const url = `${server.ingest}/in/${source}`;
    const altered = await post(url, headers, body.replace(/.$/, "x"));
    assert.equal(altered.status, 401, "an altered body");
    const first = await post(url, headers, body);
    assert.deepEqual([first.status, first.verdict], [200, "accepted"]);
    const second = await post(url, headers, body);
    assert.deepEqual([second.status, second.verdict], [200, "duplicate"]);
    const mine = await until("the delivery", () => receiver.got.find((g) => g.body.equals(Buffer.from(body))));
    for (const Verifier of [StandardWebhook, SvixWebhook]) {
      // The parsed body is not what is asked for: a form is no JSON, and both packages parse after they have verified.
      const verdict = attempt(() => new Verifier(FORWARD).verify(mine.body.toString(), mine.headers));
      assert.ok(verdict === undefined || verdict instanceof SyntaxError, `${Verifier.name}: ${verdict}`);
    }
  });
}

function attempt(call) {
  try {
    call();
  } catch (error) {
    return error;
  }
}
