// For the tests: where a worker stands, said on its output. At a step that `WAIT_AT` names it waits for its input.
const { WAIT_AT } = process.env;

export function step(name) {
  console.log(name);
  if (name !== WAIT_AT) return;
  return new Promise((done) => process.stdin.once("data", (_) => (process.stdin.pause(), done())));
}
