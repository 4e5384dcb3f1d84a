// Starts the real binary in a folder of its own and waits until it says that it is ready.
import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

const BINARY = process.env.HOOKONCE_BIN;
if (!BINARY) throw new Error("HOOKONCE_BIN names no binary: run these tests with `cargo xtask test clients`");

/** A port that was free a moment ago. */
export async function freePort() {
  const server = createServer();
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  const { port } = server.address();
  await new Promise((done) => server.close(done));
  return port;
}

/** `config` is the TOML behind the head, `env` the secrets, `store` a url of its own. Answers what a test needs of it. */
export async function startServer({ config, env, store }) {
  const folder = await mkdtemp(join(tmpdir(), "hookonce-clients-"));
  const [ingest, admin] = [await freePort(), await freePort()];
  const head = `[store]\nurl = "${store ?? `sqlite:${folder}/hookonce.db`}"\n[ingest]\nlisten = "127.0.0.1:${ingest}"\n[admin]\nlisten = "127.0.0.1:${admin}"\n`;
  await writeFile(join(folder, "hookonce.toml"), head + config);
  const child = spawn(BINARY, ["serve", "--config", join(folder, "hookonce.toml")], {
    env: { PATH: process.env.PATH, ...env },
    cwd: folder,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const said = [];
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => said.push(chunk));
  const gone = new Promise((done) => child.on("exit", done));
  const server = {
    ingest: `http://127.0.0.1:${ingest}`,
    admin: `http://127.0.0.1:${admin}`,
    said: () => Buffer.concat(said).toString(),
    async stop() {
      child.kill("SIGTERM");
      await gone;
      await rm(folder, { recursive: true, force: true });
    },
    async api(path) {
      const token = (await readFile(join(folder, "hookonce.token"), "utf8")).trim();
      const answer = await fetch(server.admin + path, { headers: { authorization: `Bearer ${token}` } });
      if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
      return answer.json();
    },
    /** Every item of a list, page by page. */
    async all(path) {
      const items = [];
      for (let after = ""; ; ) {
        const page = await server.api(`${path}${path.includes("?") ? "&" : "?"}limit=500${after}`);
        items.push(...page.items);
        if (!page.next) return items;
        after = `&after=${page.next}`;
      }
    },
  };
  await until("the server is ready", async () => {
    if (child.exitCode !== null) throw new Error(`hookonce exited with ${child.exitCode}:\n${server.said()}`);
    return (await fetch(`${server.admin}/readyz`).catch(() => null))?.ok;
  });
  return server;
}

/** Asks again until it is so; the limit only says when to give up, never how long it should take. */
export async function until(what, ask, limit = 60_000) {
  for (const end = Date.now() + limit; ; ) {
    const answer = await ask();
    if (answer) return answer;
    if (Date.now() > end) throw new Error(`waited for ${what}, in vain`);
    await new Promise((done) => setTimeout(done, 20));
  }
}

/** Sends bytes as they are. */
export async function post(url, headers, body) {
  const answer = await fetch(url, { method: "POST", headers, body });
  return { status: answer.status, verdict: answer.headers.get("hookonce-verdict"), text: await answer.text() };
}

/** A shuffle that a seed repeats. */
export function shuffled(list, seed) {
  const order = [...list];
  let state = seed >>> 0;
  const next = () => (state = (Math.imul(state, 1664525) + 1013904223) >>> 0) / 2 ** 32;
  for (let i = order.length - 1; i > 0; i--) {
    const j = Math.floor(next() * (i + 1));
    [order[i], order[j]] = [order[j], order[i]];
  }
  return order;
}
