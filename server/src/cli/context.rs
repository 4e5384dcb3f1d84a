//! What every command gets: the global flags, decided once.

use std::io::{BufRead, IsTerminal, Write};
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum, ValueHint};

use super::output::{Format, Output};
use super::{Exit, Failure};
use crate::config::{self, Config, Environment, Flags, Report, locate};

#[derive(Debug, Args)]
pub struct Global {
    /// How results are written: for people, programs, spreadsheets, or one id per line
    #[arg(short, long, global = true, value_enum, value_name = "FORMAT", help_heading = "Global")]
    output: Option<Format>,
    /// The same as -o json
    #[arg(long, global = true, conflicts_with = "output", help_heading = "Global")]
    json: bool,
    /// When to use colour (NO_COLOR and CLICOLOR_FORCE are honoured)
    #[arg(long, global = true, value_enum, default_value = "auto", value_name = "WHEN", help_heading = "Global")]
    color: Color,
    /// The configuration (else $HOOKONCE_CONFIG, ./hookonce.toml, the user's folder, /etc/hookonce)
    #[arg(long, global = true, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Global")]
    config: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Color {
    Auto,
    Always,
    Never,
}

#[derive(Debug)]
pub struct Context {
    pub output: Output,
    pub env: Environment,
    config: Option<PathBuf>,
}

impl Context {
    pub fn new(global: &Global) -> Context {
        let env = Environment::of_process();
        let format = if global.json { Format::Json } else { global.output.unwrap_or(Format::Table) };
        let color = |terminal| coloured(global.color, &env, terminal);
        let output = Output::new(format, color(std::io::stderr().is_terminal()));
        Context { output, config: global.config.clone(), env }
    }

    /// The configuration's path by the lookup order, or what was looked at.
    pub fn config_path(&self) -> Result<PathBuf, Failure> {
        locate::locate(self.config.as_deref(), &self.env).map_err(|places| {
            let looked = places.iter().map(|p| p.display().to_string()).collect::<Vec<_>>().join(", ");
            Failure::new(Exit::Config, "no configuration found")
                .why(format!("looked at {looked}"))
                .next("`hookonce init` writes a first one; `--config FILE` names another place")
        })
    }

    pub fn load(&self, path: &Path, flags: &Flags) -> Result<(Config, Report), Failure> {
        config::load(path, flags).map_err(Failure::config)
    }

    /// The configuration for a command that is about the store alone: secrets have nothing to do with it.
    pub fn of_store(&self) -> Result<Config, Failure> {
        let flags = Flags { dev: true, env: self.env.clone(), ..Flags::default() };
        self.load(&self.config_path()?, &flags).map(|(config, _)| config)
    }

    /// Asks a person. Without a terminal nobody would answer: then it is a usage error that names the flag to give.
    pub fn ask(&self, question: &str, flag: &str) -> Result<String, Failure> {
        if !(std::io::stdin().is_terminal() && std::io::stderr().is_terminal()) {
            return Err(Failure::usage(format!("{flag} is needed: there is no terminal to ask on")));
        }
        let mut stderr = std::io::stderr();
        write!(stderr, "{question} ").and_then(|()| stderr.flush())?;
        let mut line = String::new();
        std::io::stdin().lock().read_line(&mut line)?;
        Ok(line.trim().to_owned())
    }
}

fn coloured(wish: Color, env: &Environment, terminal: bool) -> bool {
    let set = |name: &str| env.get(name).is_some_and(|v| !v.is_empty() && v != "0");
    match wish {
        Color::Always => true,
        Color::Never => false,
        Color::Auto if env.get("NO_COLOR").is_some_and(|v| !v.is_empty()) => false,
        Color::Auto if set("CLICOLOR_FORCE") => true,
        Color::Auto => terminal && env.get("TERM") != Some("dumb"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colour_by_wish_then_environment_then_terminal() {
        for (wish, env, terminal, expect) in [
            (Color::Auto, vec![], true, true),
            (Color::Auto, vec![], false, false),
            (Color::Auto, vec![("NO_COLOR", "1")], true, false),
            (Color::Auto, vec![("NO_COLOR", "")], true, true),
            (Color::Auto, vec![("CLICOLOR_FORCE", "1")], false, true),
            (Color::Auto, vec![("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")], false, false),
            (Color::Auto, vec![("TERM", "dumb")], true, false),
            (Color::Always, vec![("NO_COLOR", "1")], false, true),
            (Color::Never, vec![("CLICOLOR_FORCE", "1")], true, false),
        ] {
            assert_eq!(coloured(wish, &Environment::of(env.clone()), terminal), expect, "{wish:?} {env:?} {terminal}");
        }
    }
}
