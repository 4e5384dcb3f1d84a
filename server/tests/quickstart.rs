//! `docs/QUICKSTART.md` as a test: every command is run by a shell in one folder, every line of its answer compared.
//!
//! Three things differ from a reader's machine: the ports are free ones, `^C` goes to the server by its process, and
//! what is done in the background (forwarding) is asked for again until it is there.

use std::fs;
use std::io::{BufRead as _, BufReader, Read};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// When to give up, not how long anything should take.
const PATIENCE: Duration = Duration::from_secs(60);

/// One `$ command` and the lines that should follow.
#[derive(Debug, Default)]
struct Step {
    command: String,
    want: Vec<String>,
}

/// The commands of all `console` blocks. A line that begins with `> ` goes on with the command before.
fn steps(text: &str) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    let mut inside = false;
    for line in text.lines() {
        match (inside, line) {
            (false, "```console") => inside = true,
            (true, "```") => inside = false,
            (true, line) if line.starts_with("$ ") => {
                steps.push(Step { command: line[2..].to_owned(), want: Vec::new() });
            }
            (true, line) => {
                let step = steps.last_mut().expect("a block begins with a command");
                match line.strip_prefix('>') {
                    Some(more) if step.want.is_empty() && step.command.contains("<<") => {
                        step.command.push('\n');
                        step.command.push_str(more.strip_prefix(' ').unwrap_or(more));
                    }
                    _ => step.want.push(line.to_owned()),
                }
            }
            _ => {}
        }
    }
    steps
}

/// `[..]` is any text within a line. Blanks are compared as one: columns grow with their contents.
fn line_matches(want: &str, got: &str) -> bool {
    let squeeze = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let (want, got) = (squeeze(want), squeeze(got));
    let mut rest = got.as_str();
    let mut parts = want.split("[..]").peekable();
    if let Some(first) = parts.next() {
        let Some(after) = rest.strip_prefix(first) else { return false };
        rest = after;
    }
    while let Some(part) = parts.next() {
        let last = parts.peek().is_none();
        match if last { rest.rfind(part) } else { rest.find(part) } {
            Some(at) if !last || at + part.len() == rest.len() => rest = &rest[at + part.len()..],
            _ => return false,
        }
    }
    rest.is_empty() || want.ends_with("[..]")
}

/// A line of three dots is any number of lines, at the end.
fn all_match(want: &[String], got: &[String]) -> bool {
    let open = want.last().is_some_and(|w| w == "...");
    let fixed = if open { &want[..want.len() - 1] } else { want };
    let long_enough = if open { got.len() >= fixed.len() } else { got.len() == fixed.len() };
    long_enough && fixed.iter().zip(got).all(|(w, g)| line_matches(w, g))
}

struct Shell {
    folder: TempDir,
    ports: Vec<(String, String)>,
    path: String,
    background: Vec<(Child, Receiver<String>)>,
}

impl Shell {
    fn new() -> Shell {
        let held: Vec<TcpListener> = (0..3).map(|_| TcpListener::bind("127.0.0.1:0").expect("a port")).collect();
        let free = held.iter().map(|l| l.local_addr().expect("an address").port().to_string());
        let ports = ["8080", "8081", "3000"].iter().map(|p| (*p).to_owned()).zip(free).collect();
        let bin = Path::new(env!("CARGO_BIN_EXE_hookonce")).parent().expect("a folder").display().to_string();
        let path = format!("{bin}:{}", std::env::var("PATH").unwrap_or_default());
        Shell { folder: TempDir::new().expect("a folder"), ports, path, background: Vec::new() }
    }

    /// The reader's ports → the free ones.
    fn here(&self, text: &str) -> String {
        self.ports.iter().fold(text.to_owned(), |text, (known, free)| text.replace(known.as_str(), free))
    }

    fn command(&self, text: &str) -> Command {
        let mut command = Command::new("bash");
        command
            .args(["-c", &format!("exec 2>&1; {}", self.here(text))])
            .current_dir(self.folder.path())
            .env("PATH", &self.path)
            .env("HOOKONCE__INGEST__LISTEN", self.here("127.0.0.1:8080"))
            .env("HOOKONCE__ADMIN__LISTEN", self.here("127.0.0.1:8081"))
            .stdin(Stdio::null());
        command
    }

    fn foreground(&self, text: &str) -> Vec<String> {
        let out = self.command(text).output().expect("bash");
        String::from_utf8_lossy(&out.stdout).lines().map(str::to_owned).collect()
    }

    /// Starts it and waits for what it should say; whatever else it says between is its own affair.
    fn start(&mut self, step: &Step) {
        let text = step.command.trim_end_matches('&').trim_end();
        let mut child = self.command(&format!("exec {text}")).stdout(Stdio::piped()).spawn().expect("bash");
        let said = lines(child.stdout.take().expect("a pipe"));
        let wanted = step.want.iter().map(|w| self.here(w)).collect::<Vec<_>>();
        for want in &wanted {
            wait_for(&said, want);
        }
        self.background.push((child, said));
    }

    /// Ctrl-C for the server, which was started first of all that still runs.
    fn interrupt(&mut self, step: &Step) {
        let at = self.background.iter().position(|(_, _)| true).expect("something runs");
        let (mut child, said) = self.background.remove(at);
        let status = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill");
        assert!(status.success());
        for want in &step.want {
            wait_for(&said, want);
        }
        assert!(child.wait().expect("an end").success(), "the server ends with 0");
    }

    fn check(&self, step: &Step) {
        let want: Vec<String> = step.want.iter().map(|w| self.here(w)).collect();
        let end = Instant::now() + PATIENCE;
        loop {
            let got = self.foreground(&step.command);
            if all_match(&want, &got) {
                return;
            }
            // Only questions are asked twice: what changes something has one answer.
            let question = ["list", "why", "get"].iter().any(|q| step.command.contains(q));
            assert!(question && Instant::now() < end, "$ {}\nwant {want:#?}\ngot {got:#?}", step.command);
        }
    }
}

impl Drop for Shell {
    fn drop(&mut self) {
        for (child, _) in &mut self.background {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

fn lines(pipe: impl Read + Send + 'static) -> Receiver<String> {
    let (send, receive) = channel();
    std::thread::spawn(move || {
        for line in BufReader::new(pipe).lines().map_while(Result::ok) {
            if send.send(line).is_err() {
                return;
            }
        }
    });
    receive
}

fn wait_for(said: &Receiver<String>, want: &str) {
    let end = Instant::now() + PATIENCE;
    let mut all = Vec::new();
    while let Ok(line) = said.recv_timeout(end.saturating_duration_since(Instant::now())) {
        if line_matches(want, &line) {
            return;
        }
        all.push(line);
    }
    panic!("waited for `{want}`, got {all:#?}");
}

#[test]
fn the_quickstart_is_true() {
    let text = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/QUICKSTART.md")).expect("the document");
    let steps = steps(&text);
    assert!(steps.len() > 10, "the document has its commands");
    let mut shell = Shell::new();
    for step in &steps {
        match step.command.as_str() {
            "^C" => shell.interrupt(step),
            command if command.ends_with('&') => shell.start(step),
            _ => shell.check(step),
        }
    }
}

#[test]
fn lines_are_compared_with_their_gaps() {
    for (want, got, holds) in [
        ("a [..] c", "a b b c", true),
        ("a [..] c", "a b d", false),
        ("ready in [..] ms", "ready in 12 ms", true),
        ("ready", "ready now", false),
        ("x  y", "x y", true),
        ("[..] accepted", "2026 accepted", true),
        ("[..] accepted", "2026 refused", false),
        ("at [..]", "at 3s", true),
    ] {
        assert_eq!(line_matches(want, got), holds, "{want} / {got}");
    }
}
