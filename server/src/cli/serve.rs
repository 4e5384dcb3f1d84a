//! `hookonce serve`: the server itself.

use std::time::Duration;

use super::{Context, Exit, Failure};
use crate::config::meant::Store;
use crate::config::{Flags, units};
use crate::wiring::roles::Roles;
use crate::wiring::serve::{self, Ended, Options};

/// Run the inbox: take webhooks, store them, hand them on
#[derive(Debug, clap::Args)]
#[command(before_help = "Examples:
  hookonce serve --dev                       with the generated secrets of `hookonce init`
  hookonce serve --config /etc/hookonce/hookonce.toml
  hookonce serve --roles worker,janitor      one of several nodes on a database")]
pub struct Args {
    /// Take literal and generated secrets; end at once when told to
    #[arg(long)]
    dev: bool,
    /// Where webhooks are taken, instead of `[ingest] listen`
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<String>,
    /// Where the API listens, instead of `[admin] listen`
    #[arg(long, value_name = "ADDRESS")]
    admin_listen: Option<String>,
    /// The store, instead of `[store] url`
    #[arg(long, value_name = "URL")]
    store: Option<String>,
    /// What this node does, where several share a database (default: all)
    #[arg(long, value_name = "ROLES", value_delimiter = ',', env = "HOOKONCE_ROLES")]
    roles: Vec<Role>,
    /// A source without its secret is an error, not a source that answers 503
    #[arg(long)]
    strict: bool,
    /// After SIGTERM go on taking requests for so long, not ready any more (default 5s, 0s with --dev)
    #[arg(long, value_name = "TIME", value_parser = duration)]
    drain_delay: Option<Duration>,
    /// Then let requests and attempts end for so long
    #[arg(long, value_name = "TIME", value_parser = duration, default_value = "25s")]
    shutdown_timeout: Duration,
    /// What is logged: error, warn, info, debug, or a filter such as `info,hookonce::sqlite=debug`
    #[arg(long, value_name = "LEVEL", env = "HOOKONCE_LOG", default_value = "info")]
    log_level: String,
    /// Logs as JSON lines
    #[arg(long)]
    log_json: bool,
}

/// The router runs with the workers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Role {
    /// Take webhooks
    Ingest,
    /// Route events and hand them on
    Worker,
    /// Answer commands
    Admin,
    /// Look after what is left lying
    Janitor,
}

fn roles(written: &[Role]) -> Roles {
    let has = |role| written.contains(&role);
    match written {
        [] => Roles::ALL,
        _ => Roles {
            ingest: has(Role::Ingest),
            worker: has(Role::Worker),
            admin: has(Role::Admin),
            janitor: has(Role::Janitor),
        },
    }
}

pub fn duration(text: &str) -> Result<Duration, String> {
    let micros = units::duration(text).and_then(|micros| u64::try_from(micros).ok());
    micros.map(Duration::from_micros).ok_or_else(|| format!("`{text}` is no time. hint: `5s`, `1m 30s`"))
}

pub fn run(args: Args, ctx: &Context) -> Result<(), Failure> {
    let flags = Flags { dev: args.dev, strict: args.strict, env: ctx.env.clone(), ..Flags::default() }
        .with("--listen", "ingest.listen", args.listen.as_deref())
        .with("--admin-listen", "admin.listen", args.admin_listen.as_deref())
        .with("--store", "store.url", args.store.as_deref());
    let (config, report) = ctx.load(&ctx.config_path()?, &flags)?;
    if !report.problems.is_empty() {
        ctx.output.say_rendered(&report.render(ctx.output.styled_talk()));
    }
    let roles = roles(&args.roles);
    if roles != Roles::ALL && matches!(config.store, Store::Sqlite { .. }) {
        return Err(Failure::usage("roles are for nodes that share a database")
            .next("leave `--roles` away, or name a database: `[store] url = \"postgres://…\"`"));
    }
    let delay = args.drain_delay.unwrap_or(if args.dev { Duration::ZERO } else { Duration::from_secs(5) });
    let options = Options {
        roles,
        drain_delay: delay,
        shutdown_timeout: args.shutdown_timeout,
        log_level: args.log_level,
        log_json: args.log_json,
        colour: ctx.output.styled_talk(),
    };
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let ended = runtime.block_on(serve::run(config, flags, options, &|line| ctx.output.say(line)))?;
    runtime.shutdown_background();
    match ended {
        Ended::Drained => Ok(()),
        Ended::StoreFailed(why) => {
            Err(Failure::new(Exit::StoreFailed, "the store failed; nothing is answered 2xx any more")
                .why(why)
                .next("mend the disk and start again: what was answered 2xx before is in the store"))
        }
    }
}
