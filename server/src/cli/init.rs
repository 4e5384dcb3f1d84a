//! `hookonce init`: a first configuration and secrets to try it with. Never overwrites anything.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use clap::ValueHint;
use hookonce_core::signature::{KeyForm, catalog};
use serde_json::json;

use super::{Context, Exit, Failure};
use crate::config::address::{self, Address};
use crate::config::dev::{DevSecrets, SECRETS_FILE};
use crate::config::{catalogue, locate, source};

/// Write hookonce.toml and secrets to try it with, and say what to do next
#[derive(Debug, clap::Args)]
#[command(before_help = "Examples:
  hookonce init --source stripe --yes            one source, named after its provider
  hookonce init --source billing=stripe --yes    the same under a name of your own
  hookonce init --source stripe --store postgres://me@localhost/shop --yes")]
pub struct Args {
    /// A source to begin with: a provider's name, NAME=PROVIDER, or a name of your own
    #[arg(long = "source", value_name = "NAME")]
    sources: Vec<String>,
    /// Where events are kept: a file, or a database that several nodes share
    #[arg(long, value_name = "URL", default_value = "sqlite:hookonce.db")]
    store: String,
    /// Ask nothing
    #[arg(long)]
    yes: bool,
    /// The folder to write to
    #[arg(long, value_name = "DIR", default_value = ".", value_hint = ValueHint::DirPath)]
    dir: PathBuf,
}

/// A source as `init` writes it.
struct First {
    name: String,
    provider: Option<String>,
}

pub fn run(args: Args, ctx: &Context) -> Result<(), Failure> {
    let path = args.dir.join(locate::FILE_NAME);
    if path.exists() {
        return Err(Failure::new(Exit::Precondition, format!("`{}` exists; nothing was written", path.display()))
            .next("add a `[sources.NAME]` to it, or choose another folder with `--dir`"));
    }
    let store = store(&args.store)?;
    let firsts = firsts(&args, ctx)?;
    std::fs::create_dir_all(args.dir.join(".hookonce")).map_err(|e| cannot("create", &args.dir, &e))?;
    let generated = write_secrets(&args.dir, &firsts)?;
    write_new(&args.dir.join(".hookonce/.gitignore"), "*\n", 0o644, true)?;
    write_new(&path, &configuration(store, &firsts), 0o644, false)?;
    say(ctx, &firsts, generated)
}

/// What is written stays in a file that people show each other: no password.
fn store(url: &str) -> Result<&str, Failure> {
    let database = ["postgres:", "postgresql:"].iter().any(|scheme| url.starts_with(scheme));
    match Address::read(url) {
        _ if url.starts_with("sqlite:") => Ok(url),
        Some(address) if database && address.password.is_none() => Ok(url),
        Some(_) if database => Err(Failure::usage("a password is no part of the configuration")
            .next("leave it out of the url and set `PGPASSWORD` where hookonce runs")),
        _ => Err(Failure::usage(format!("`{}` is no store", url.split('@').next_back().unwrap_or_default()))
            .next(format!("`sqlite:hookonce.db` or {}", address::FORM))),
    }
}

fn firsts(args: &Args, ctx: &Context) -> Result<Vec<First>, Failure> {
    let mut named = args.sources.clone();
    if named.is_empty() && !args.yes {
        let providers = catalogue::names().collect::<Vec<_>>().join(", ");
        named.push(ctx.ask(&format!("Who sends? ({providers}, or a name of your own)"), "--source NAME")?);
    }
    let firsts: Vec<First> = named.iter().map(|text| first(text)).collect::<Result<_, _>>()?;
    for (at, source) in firsts.iter().enumerate() {
        if firsts.iter().take(at).any(|other| other.name == source.name) {
            return Err(Failure::usage(format!("two sources are named `{}`", source.name)));
        }
    }
    Ok(firsts)
}

fn first(text: &str) -> Result<First, Failure> {
    let known = |p: &str| catalogue::names().any(|name| name == p);
    let (name, provider) = match text.split_once('=') {
        Some((name, provider)) if known(provider) => (name, Some(provider.to_owned())),
        Some((_, provider)) => {
            let all = catalogue::names().collect::<Vec<_>>().join(", ");
            return Err(Failure::usage(format!("unknown provider `{provider}`")).next(format!("known: {all}")));
        }
        None => (text, known(text).then(|| text.to_owned())),
    };
    if !source::good_name(name) {
        return Err(Failure::usage(format!("`{name}` cannot name a source")).next(source::NAME_FORM));
    }
    Ok(First { name: name.to_owned(), provider })
}

/// The variable that carries the secret in production; the generated one stands under the same name.
fn variable(name: &str) -> String {
    format!("{}_WEBHOOK_SECRET", name.to_uppercase().replace('-', "_"))
}

fn configuration(store: &str, firsts: &[First]) -> String {
    let mut text = format!(
        "# Check it with `hookonce check`. Everything left out has a safe default.\n\n[store]\nurl = {}\n",
        json!(store)
    );
    for first in firsts {
        text.push_str(&format!("\n[sources.{}]\n", first.name));
        match &first.provider {
            Some(provider) => text.push_str(&format!("provider = \"{provider}\"\n")),
            None => text.push_str(
                "verify = { hmac = \"sha256\", header = \"X-Signature\", prefix = \"sha256=\", signed = \"{body}\" }\nkey = \"$.id\"\ntype = \"$.type\"\n",
            ),
        }
        text.push_str(&format!("secret = {{ env = \"{}\" }}\n", variable(&first.name)));
    }
    let example = firsts.first().map_or("NAME", |f| f.name.as_str());
    text.push_str(&format!(
        "\n# Who must handle the events, any HTTP endpoint of yours:\n# [consumers.app]\n# kind = \"http\"\n# on = [\"{example}/*\"]\n# url = \"http://127.0.0.1:3000/hook\"\n# allow_private = true\n",
    ));
    text
}

/// Adds what is not there yet; how many were made.
fn write_secrets(dir: &Path, firsts: &[First]) -> Result<usize, Failure> {
    let path = dir.join(SECRETS_FILE);
    let old = DevSecrets::beside(dir);
    let missing: Vec<&First> = firsts.iter().filter(|f| old.get(&variable(&f.name)).is_none()).collect();
    let mut lines = String::new();
    for first in &missing {
        lines.push_str(&format!("{}={}\n", variable(&first.name), generate(first.provider.as_deref())?));
    }
    if !lines.is_empty() {
        let header = if path.exists() {
            ""
        } else {
            "# For trying things out: taken by `--dev` where the environment has no such variable.\n"
        };
        append(&path, &format!("{header}{lines}")).map_err(|e| cannot("write", &path, &e))?;
    }
    Ok(missing.len())
}

/// In the form that the provider gives them out, so that its own tools take them too.
fn generate(provider: Option<&str>) -> Result<String, Failure> {
    let mut bytes = [0u8; 32];
    getrandom::fill(&mut bytes).map_err(|e| Failure::new(Exit::Failed, format!("no randomness: {e}")))?;
    let scheme = provider.and_then(catalog::provider).and_then(|p| p.schemes.first());
    let forms = scheme.map_or(&[][..], |s| &s.variants);
    let base64 = forms.iter().find_map(|variant| match variant.key {
        KeyForm::Base64 { prefix } => Some(prefix),
        _ => None,
    });
    Ok(match base64 {
        Some(prefix) => format!("{prefix}{}", STANDARD.encode(bytes)),
        None => bytes.iter().map(|b| format!("{b:02x}")).collect(),
    })
}

fn private(options: &mut OpenOptions, mode: u32) -> &mut OpenOptions {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(options, mode);
    #[cfg(not(unix))]
    let _ = mode;
    options
}

fn append(path: &Path, text: &str) -> std::io::Result<()> {
    private(OpenOptions::new().append(true).create(true), 0o600).open(path)?.write_all(text.as_bytes())
}

/// `create_new` decides, not the look before: two `init` at once cannot overwrite each other.
fn write_new(path: &Path, text: &str, mode: u32, may_exist: bool) -> Result<(), Failure> {
    match private(OpenOptions::new().write(true).create_new(true), mode).open(path) {
        Ok(mut file) => file.write_all(text.as_bytes()).map_err(|e| cannot("write", path, &e)),
        Err(e) if may_exist && e.kind() == std::io::ErrorKind::AlreadyExists => Ok(()),
        Err(e) => Err(cannot("write", path, &e)),
    }
}

fn cannot(what: &str, path: &Path, error: &std::io::Error) -> Failure {
    Failure::new(Exit::Failed, format!("cannot {what} `{}`", path.display())).why(error.to_string())
}

fn say(ctx: &Context, firsts: &[First], generated: usize) -> Result<(), Failure> {
    let names: Vec<&str> = firsts.iter().map(|f| f.name.as_str()).collect();
    let counted = match names.len() {
        0 => "no source yet".to_owned(),
        1 => format!("1 source ({})", names.join(", ")),
        n => format!("{n} sources ({})", names.join(", ")),
    };
    let secrets = match generated {
        1 => "generated signing secret, mode 0600 (git-ignored)".to_owned(),
        n => format!("{n} generated signing secrets, mode 0600 (git-ignored)"),
    };
    let next = if firsts.is_empty() {
        "add [sources.NAME] to hookonce.toml, then: hookonce serve --dev"
    } else {
        "hookonce serve --dev"
    };
    let value = json!({ "config": locate::FILE_NAME, "secrets": (generated > 0).then_some(SECRETS_FILE), "sources": names, "next": next });
    ctx.output.thing(&value, || {
        let mut text = format!("wrote  {:<24} {counted}, store ./hookonce.db\n", locate::FILE_NAME);
        if generated > 0 {
            text.push_str(&format!("wrote  {SECRETS_FILE:<24} {secrets}\n"));
        }
        text + &format!("next   {next}")
    })
}
