//! What holds for every command of the tree, found by asking the binary for its own help, so that a new command cannot
//! be left out.

use std::io::Read;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc;
use std::time::Duration;

/// A command that is still running by then hangs.
const PATIENCE: Duration = Duration::from_secs(60);

/// Commands that do their work until they are stopped, where they find what they need.
const BUSY: [&str; 2] = ["serve", "demo"];

fn hookonce(folder: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hookonce"));
    command.args(args).current_dir(folder).env_clear().env("HOME", folder).stdin(Stdio::null());
    command
}

fn run(folder: &Path, args: &[&str]) -> Output {
    let child = hookonce(folder, args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    ended(child, args)
}

/// The output, or a panic that names the command which never ends.
fn ended(mut child: Child, args: &[&str]) -> Output {
    let (mut out, mut err) = (child.stdout.take().expect("piped"), child.stderr.take().expect("piped"));
    let (done, ready) = mpsc::channel();
    let reader = std::thread::spawn(move || {
        let errors = std::thread::spawn(move || {
            let mut bytes = Vec::new();
            err.read_to_end(&mut bytes).map(|_| bytes)
        });
        let mut bytes = Vec::new();
        let read = out.read_to_end(&mut bytes).map(|_| bytes);
        let _ = done.send(());
        (read, errors.join().expect("the reader ends"))
    });
    if ready.recv_timeout(PATIENCE).is_err() {
        child.kill().expect("it can be ended");
        panic!("`hookonce {}` never ends", args.join(" "));
    }
    let (stdout, stderr) = reader.join().expect("the readers end");
    let status = child.wait().expect("it has ended");
    Output { status, stdout: stdout.expect("stdout"), stderr: stderr.expect("stderr") }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("UTF-8")
}

/// The commands under `path`, from the help.
fn commands(folder: &Path, path: &[String]) -> Vec<Vec<String>> {
    let words: Vec<&str> = path.iter().map(String::as_str).chain(["--help"]).collect();
    let help = run(folder, &words);
    assert_eq!(help.status.code(), Some(0), "{words:?}");
    let help = text(&help.stdout);
    let names = help.lines().skip_while(|l| *l != "Commands:").skip(1).take_while(|l| !l.trim().is_empty());
    let names =
        names.filter(|l| l.starts_with("  ") && !l.starts_with("   ")).filter_map(|l| l.split_whitespace().next());
    let mut all = Vec::new();
    for name in names.filter(|n| *n != "help") {
        let path: Vec<String> = path.iter().cloned().chain([name.to_owned()]).collect();
        all.push(path.clone());
        all.extend(commands(folder, &path));
    }
    all
}

fn words(path: &[String]) -> Vec<&str> {
    path.iter().map(String::as_str).collect()
}

#[test]
fn every_command_keeps_the_contract() {
    let folder = tempfile::tempdir().expect("a folder");
    let all = commands(folder.path(), &[]);
    assert!(all.iter().any(|path| path == &["check"]), "the help lists no commands: {all:?}");
    let served = tempfile::tempdir().expect("a folder");
    let free = std::net::TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("its address");
    let configuration = format!(
        "[admin]\nlisten = \"{free}\"\n[ingest]\nlisten = \"127.0.0.1:1\"\n[sources.evt_1]\nverify = \"none\"\nkey = \"$.id\"\n"
    );
    std::fs::write(served.path().join("hookonce.toml"), configuration).expect("it is written");
    let mut unreachable = 0;
    for path in &all {
        unknown_format_is_a_usage_error(folder.path(), path);
        help_is_data(folder.path(), path);
        if path != &["demo"] {
            ends_and_says_why(folder.path(), &words(path));
        }
        if !BUSY.contains(&path[0].as_str()) {
            let wanted = arguments(folder.path(), path);
            let code = ends_and_says_why(served.path(), &[words(path), words(&wanted)].concat());
            unreachable += i32::from(code == 7);
        }
    }
    assert!(unreachable >= 15, "only {unreachable} commands say that no server answers");
}

/// Something in the place of each argument that the usage line asks for.
fn arguments(folder: &Path, path: &[String]) -> Vec<String> {
    let help = text(&run(folder, &[&words(path)[..], &["--help"]].concat()).stdout);
    let usage = help.lines().find(|line| line.starts_with("Usage: ")).unwrap_or_default().to_owned();
    let wanted =
        usage.split(' ').filter(|word| (word.starts_with('<') && *word != "<COMMAND>") || word.starts_with("--"));
    wanted.map(|word| if word.starts_with('<') { "evt_1" } else { word }.to_owned()).collect()
}

fn unknown_format_is_a_usage_error(folder: &Path, path: &[String]) {
    let output = run(folder, &[&words(path)[..], &["-o", "yaml"]].concat());
    let stderr = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{path:?}: {stderr}");
    assert!(output.stdout.is_empty(), "{path:?}: talk on stdout");
    assert!(stderr.contains("[possible values: table, json, jsonl, csv, id]"), "{path:?}: {stderr}");
}

fn help_is_data(folder: &Path, path: &[String]) {
    let output = run(folder, &[&words(path)[..], &["--help"]].concat());
    let stdout = text(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{path:?}");
    assert!(stdout.starts_with("Examples:\n"), "{path:?}: {stdout}");
    assert!(output.stderr.is_empty(), "{path:?}");
}

/// With nobody to ask: an exit code of the contract, JSON or nothing on stdout, and where it failed a problem-details
/// object as the last line.
fn ends_and_says_why(folder: &Path, path: &[&str]) -> i32 {
    let output = run(folder, &[path, &["--json"]].concat());
    let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
    let code = output.status.code().unwrap_or_else(|| panic!("{path:?} died: {stderr}"));
    assert!((0..=10).contains(&code), "{path:?}: exit {code}");
    if !stdout.is_empty() {
        serde_json::from_str::<serde_json::Value>(&stdout).unwrap_or_else(|e| panic!("{path:?}: {e}: {stdout}"));
    }
    if code != 0 {
        let last = stderr.lines().last().unwrap_or_default();
        let object: serde_json::Value =
            serde_json::from_str(last).unwrap_or_else(|e| panic!("{path:?}: {e}: {stderr}"));
        assert_eq!(object["exit"], code, "{path:?}");
        assert!(object["type"].is_string() && object["title"].is_string(), "{path:?}: {object}");
    }
    code
}

#[test]
fn a_pipe_that_nobody_reads_is_no_failure() {
    let folder = tempfile::tempdir().expect("a folder");
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    let args = ["completions", "bash"];
    let output = hookonce(folder.path(), &args).stdout(writer).stderr(Stdio::piped()).output().expect("it starts");
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(text(&output.stderr), "");
}

#[test]
fn init_writes_a_configuration_that_runs_and_never_overwrites() {
    let folder = tempfile::tempdir().expect("a folder");
    let output = run(folder.path(), &["init", "--source", "stripe", "--source", "orders", "--yes"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert_eq!(
        text(&output.stdout),
        "wrote  hookonce.toml            2 sources (stripe, orders), store ./hookonce.db\n\
         wrote  .hookonce/dev.secrets    2 generated signing secrets, mode 0600 (git-ignored)\n\
         next   hookonce serve --dev\n"
    );
    let secrets = std::fs::read_to_string(folder.path().join(".hookonce/dev.secrets")).expect("the secrets");
    let values: Vec<&str> = secrets.lines().filter_map(|l| l.split_once('=')).map(|(_, value)| value).collect();
    assert_eq!(values.len(), 2);
    assert!(values.iter().all(|v| v.len() >= 40) && values[0] != values[1]);
    assert_eq!(std::fs::read_to_string(folder.path().join(".hookonce/.gitignore")).expect("it is there"), "*\n");
    only_the_owner_reads(&folder.path().join(".hookonce/dev.secrets"));

    let checked = run(folder.path(), &["check", "--dev", "--json"]);
    assert_eq!(checked.status.code(), Some(0), "{}", text(&checked.stderr));
    assert!(values.iter().all(|v| !text(&checked.stdout).contains(v)), "a secret is printed");
    assert_eq!(run(folder.path(), &["check"]).status.code(), Some(3), "without --dev the secrets are missing");

    let before = std::fs::read(folder.path().join("hookonce.toml")).expect("the configuration");
    let again = run(folder.path(), &["init", "--source", "github", "--yes"]);
    assert_eq!(again.status.code(), Some(6));
    assert_eq!(std::fs::read(folder.path().join("hookonce.toml")).expect("the configuration"), before);
    assert_eq!(std::fs::read_to_string(folder.path().join(".hookonce/dev.secrets")).expect("the secrets"), secrets);
}

#[cfg(unix)]
fn only_the_owner_reads(file: &Path) {
    use std::os::unix::fs::PermissionsExt;
    let mode = std::fs::metadata(file).expect("it is there").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[cfg(not(unix))]
fn only_the_owner_reads(_: &Path) {}

#[test]
fn a_question_without_terminal_names_the_flag() {
    let folder = tempfile::tempdir().expect("a folder");
    let output = run(folder.path(), &["init"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("--source NAME"), "{}", text(&output.stderr));
    assert!(!folder.path().join("hookonce.toml").exists());
}

#[test]
fn the_configuration_is_looked_for_in_order() {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |path: &str, port: u16| {
        let path = folder.path().join(path);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("it is made");
        std::fs::write(path, format!("[ingest]\nlisten = \"127.0.0.1:{port}\"\n")).expect("it is written");
    };
    let ingest = |args: &[&str], env: &[(&str, &str)]| {
        let mut command = hookonce(folder.path(), &[args, &["check", "--json"]].concat());
        let output = command.envs(env.iter().copied()).output().expect("it runs");
        let value: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
        (output.status.code(), value["ingest"].as_str().unwrap_or_default().to_owned())
    };
    let found = |port: u16| (Some(0), format!("127.0.0.1:{port}"));
    write(".config/hookonce/hookonce.toml", 1001);
    assert_eq!(ingest(&[], &[]), found(1001));
    write("hookonce.toml", 1002);
    assert_eq!(ingest(&[], &[]), found(1002));
    write("other/named.toml", 1003);
    assert_eq!(ingest(&[], &[("HOOKONCE_CONFIG", "other/named.toml")]), found(1003));
    write("flag.toml", 1004);
    assert_eq!(ingest(&["--config", "flag.toml"], &[("HOOKONCE_CONFIG", "other/named.toml")]), found(1004));
    assert_eq!(ingest(&[], &[("HOOKONCE__INGEST__LISTEN", "127.0.0.1:1005")]), found(1005));
    assert_eq!(ingest(&["--config", "gone.toml"], &[]).0, Some(3));
}

#[test]
fn drop_ins_add_and_do_not_override() {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |path: &str, content: &str| std::fs::write(folder.path().join(path), content).expect("it is written");
    std::fs::create_dir(folder.path().join("conf.d")).expect("it is made");
    write("hookonce.toml", "[ingest]\nlisten = \"127.0.0.1:1001\"\n");
    write("conf.d/10-open.toml", "[sources.open]\nverify = \"none\"\nkey = \"$.id\"\n[ingest]\nidle = \"20s\"\n");
    let output = run(folder.path(), &["check"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert!(text(&output.stdout).contains("http://127.0.0.1:1001/in/open"));

    write("conf.d/20-twice.toml", "[ingest]\nlisten = \"127.0.0.1:1002\"\n");
    let output = run(folder.path(), &["check"]);
    let stderr = text(&output.stderr);
    assert_eq!(output.status.code(), Some(3));
    assert!(stderr.contains("conf.d/20-twice.toml:2:1"), "{stderr}");
    assert!(stderr.contains("first set here: hookonce.toml:2:1"), "{stderr}");
}

/// A server that answers one request with these bytes, and its address.
fn answering(bytes: &'static [u8]) -> (std::net::SocketAddr, std::thread::JoinHandle<()>) {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("its address");
    let thread = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("a caller");
        let mut seen = Vec::new();
        let mut chunk = [0; 1024];
        while !seen.ends_with(b"\r\n\r\n") {
            let read = stream.read(&mut chunk).expect("a request");
            seen.extend_from_slice(&chunk[..read]);
        }
        std::io::Write::write_all(&mut stream, bytes).expect("the answer leaves");
    });
    (address, thread)
}

#[test]
fn healthcheck_has_an_exit_code_for_each_end() {
    let folder = tempfile::tempdir().expect("a folder");
    let ask = |address: std::net::SocketAddr| {
        let configuration = format!("[admin]\nlisten = \"{address}\"\n");
        std::fs::write(folder.path().join("hookonce.toml"), configuration).expect("it is written");
        let output = run(folder.path(), &["healthcheck"]);
        (output.status.code(), text(&output.stderr))
    };
    for (answer, healthy) in [
        (&b"HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\nready\n"[..], true),
        (&b"HTTP/1.1 503 Service Unavailable\r\ncontent-length: 9\r\n\r\ndraining\n"[..], false),
    ] {
        let (address, server) = answering(answer);
        let (code, stderr) = ask(address);
        // Before the join: a command that never called would leave the server waiting.
        assert_eq!(code == Some(0), healthy, "{stderr}");
        server.join().expect("the server ends");
    }
    let free = std::net::TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("its address");
    let (code, stderr) = ask(free);
    assert_eq!(code, Some(7), "{stderr}");
}
