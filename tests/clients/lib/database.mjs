// A database of the test's on the server that tests are given, and a role that may do nothing but what it was granted.
import pg from "pg";

const SERVER = process.env.HOOKONCE_TEST_POSTGRES ?? "postgres://postgres@127.0.0.1:5432";

async function within(url, run) {
  const client = new pg.Client(url);
  await client.connect();
  try {
    return await run(client);
  } finally {
    await client.end();
  }
}

export async function startDatabase() {
  const name = `hookonce_clients_${process.pid}`;
  await within(`${SERVER}/postgres`, async (db) => {
    await db.query(`create database ${name}`);
    await db.query(`create role ${name} login`);
  });
  const url = `${SERVER}/${name}`;
  const limited = new URL(url);
  [limited.username, limited.password] = [name, ""];
  return {
    url,
    role: name,
    /** As the role, in the form of each driver. */
    worker: limited.href,
    jdbc: `jdbc:postgresql://${limited.host}/${name}?user=${name}`,
    query: async (sql, args) => (await within(url, (db) => db.query(sql, args))).rows,
    stop: () =>
      within(`${SERVER}/postgres`, async (db) => {
        await db.query(`drop database ${name} with (force)`);
        await db.query(`drop role ${name}`);
      }),
  };
}
