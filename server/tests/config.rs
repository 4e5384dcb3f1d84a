//! Broken configurations and what `hookonce check` says about each: `tests/config/NAME.toml` and the snapshot beside
//! it. A first comment line `# env NAME=value` or `# args --dev` sets the scene. New snapshots: `INSTA_UPDATE=always`.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// Stand in many of the files as values of secrets, plain and in base64; nothing may ever print them.
const CANARIES: [&str; 2] = ["canary", "Y2FuYXJ5"];
/// The bar of the design.
const LEAST_CASES: usize = 30;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/config")
}

fn cases() -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder()).expect("the folder of cases");
    let mut files: Vec<PathBuf> = entries.map(|e| e.expect("an entry").path()).collect();
    files.retain(|f| f.extension().is_some_and(|e| e == "toml"));
    files.sort();
    files
}

/// `# env A=1` and `# args --dev` of the head of a file.
fn scene<'a>(text: &'a str, what: &str) -> Vec<&'a str> {
    text.lines().take_while(|l| l.starts_with('#')).filter_map(|l| l.strip_prefix(what)).collect()
}

/// The repository does not carry modes.
#[cfg(unix)]
fn set_modes() {
    use std::os::unix::fs::PermissionsExt;
    for (name, mode) in [("blank", 0o600), ("tight", 0o600), ("loose", 0o644)] {
        let file = folder().join("secrets").join(name);
        std::fs::set_permissions(file, std::fs::Permissions::from_mode(mode)).expect("the mode is set");
    }
}

fn check(file: &Path, more: &[&str]) -> Output {
    set_modes();
    let text = String::from_utf8_lossy(&std::fs::read(file).expect("the case")).into_owned();
    let mut command = Command::new(env!("CARGO_BIN_EXE_hookonce"));
    command.current_dir(folder()).env_clear().stdin(Stdio::null());
    command.envs(scene(&text, "# env ").into_iter().filter_map(|l| l.split_once('=')));
    let name = file.file_name().expect("a name");
    command.arg("check").arg(name).args(scene(&text, "# args ").iter().flat_map(|l| l.split(' '))).args(more);
    command.output().expect("the binary runs")
}

fn shown(output: &Output) -> String {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("UTF-8");
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    let code = output.status.code().expect("an exit code");
    format!("exit {code}\n--- stdout\n{out}--- stderr\n{err}")
}

#[test]
fn every_broken_file_says_what_is_wrong() {
    let cases = cases();
    let broken = cases.iter().filter(|case| {
        let output = check(case, &[]);
        let text = shown(&output);
        assert!(!CANARIES.iter().any(|c| text.contains(c)), "{} prints a secret:\n{text}", case.display());
        let name = case.file_stem().expect("a stem").to_string_lossy().into_owned();
        insta::with_settings!({
            snapshot_path => folder(), prepend_module_to_snapshot => false, omit_expression => true
        }, {
            insta::assert_snapshot!(name, text);
        });
        output.status.code() == Some(3)
    });
    let broken = broken.count();
    assert!(broken >= LEAST_CASES, "only {broken} broken files");
}

#[test]
fn programs_get_the_same_as_one_object() {
    for case in cases() {
        let output = check(&case, &["--json"]);
        let name = case.display();
        match output.status.code() {
            Some(0) => {
                let value: serde_json::Value = serde_json::from_slice(&output.stdout).expect("one JSON document");
                assert!(value["sources"].is_array(), "{name}");
            }
            Some(3) => {
                assert!(output.stdout.is_empty(), "{name}: talk on stdout");
                let stderr = String::from_utf8(output.stderr).expect("UTF-8");
                let last = stderr.lines().last().expect("a last line");
                let value: serde_json::Value = serde_json::from_str(last).expect("a problem-details object");
                assert_eq!(value["type"], "config", "{name}");
                let errors = value["errors"].as_array().expect("errors");
                assert!(errors.iter().all(|e| e["code"].is_string() && e["at"].is_string()), "{name}: {value}");
                assert!(!CANARIES.iter().any(|c| stderr.contains(c)), "{name} prints a secret");
            }
            code => panic!("{name}: exit {code:?}"),
        }
    }
}
