// What a company has behind the inbox: takes what is forwarded and keeps the exact bytes.
import { createServer } from "node:http";

export async function startReceiver() {
  const got = [];
  const server = createServer((request, response) => {
    const chunks = [];
    request.on("data", (chunk) => chunks.push(chunk));
    request.on("end", () => {
      got.push({ headers: request.headers, body: Buffer.concat(chunks) });
      response.writeHead(204).end();
    });
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  return {
    url: `http://127.0.0.1:${server.address().port}/hook`,
    got,
    stop: () => new Promise((done) => (server.closeAllConnections(), server.close(done))),
  };
}
