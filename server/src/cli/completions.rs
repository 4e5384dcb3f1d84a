//! `hookonce completions`: the script for a shell.

use clap_complete::Shell;

use super::{Context, Failure, tree};

/// Print the completion script for a shell
#[derive(Debug, clap::Args)]
#[command(before_help = "Examples:
  hookonce completions bash > /etc/bash_completion.d/hookonce
  hookonce completions zsh > \"${fpath[1]}/_hookonce\"
  hookonce completions fish > ~/.config/fish/completions/hookonce.fish")]
pub struct Args {
    #[arg(value_enum)]
    shell: Shell,
}

pub fn run(args: Args, ctx: &Context) -> Result<(), Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut tree(), "hookonce", &mut script);
    ctx.output.bytes(&script)
}
