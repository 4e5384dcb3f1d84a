//! What a configuration means when it is read; what is said about broken ones stands in `tests/config`.

use std::net::SocketAddr;
use std::path::Path;

use hookonce_core::consumer::{OnDead, Order};
use hookonce_core::time::SECOND;

use super::meant::{Store, Verification};
use super::{Config, Environment, Flags, Report, parse};

/// Broken forms of each case. Forty times as many were run when the masking was written.
const MUTATIONS: usize = 100;
const SECRET: &str = "canary-of-the-tests";

fn flags<'a>(env: impl IntoIterator<Item = (&'a str, &'a str)>) -> Flags {
    Flags { env: Environment::of(env), ..Flags::default() }
}

fn read(text: &str, flags: &Flags) -> (Config, Report) {
    parse("test.toml", text, Path::new("/srv/shop"), flags).unwrap_or_else(|report| panic!("{}", report.render(false)))
}

fn refused(text: &str, flags: &Flags) -> String {
    parse("test.toml", text, Path::new("/srv/shop"), flags).expect_err("it is refused").render(false)
}

fn address(text: &str) -> SocketAddr {
    text.parse().expect("an address")
}

#[test]
fn flag_before_environment_before_file_before_default() {
    let file = "[ingest]\nlisten = \"127.0.0.1:2\"\nidle = \"2s\"";
    let env = [("HOOKONCE__INGEST__LISTEN", "127.0.0.1:3"), ("HOOKONCE__INGEST__HEAD", "3s")];
    let with = |text: &str, flags: &Flags| read(text, flags).0.ingest;
    assert_eq!(with("", &Flags::default()).listen, address("127.0.0.1:8080"));
    assert_eq!(with(file, &Flags::default()).listen, address("127.0.0.1:2"));
    assert_eq!(with(file, &flags(env)).listen, address("127.0.0.1:3"));
    let both = flags(env).with("--listen", "ingest.listen", Some("127.0.0.1:4"));
    let ingest = with(file, &both);
    assert_eq!(ingest.listen, address("127.0.0.1:4"));
    assert_eq!((ingest.idle.as_secs(), ingest.head.as_secs(), ingest.body.as_secs()), (2, 3, 10));
    let wrong = Flags::default().with("--listen", "ingest.listen", Some("8080"));
    assert!(refused("", &wrong).contains("--> flag --listen"));
}

#[test]
fn relative_paths_start_at_the_configuration_and_those_of_flags_here() {
    let store = |flags: &Flags| read("[store]\nurl = \"sqlite:data/shop.db\"", flags).0.store;
    let files = |work: &str, inbox: &str| Store::Sqlite { work: work.into(), inbox: inbox.into() };
    assert_eq!(store(&Flags::default()), files("/srv/shop/data/shop.db", "/srv/shop/data/shop.inbox.db"));
    let flag = Flags::default().with("--store", "store.url", Some("sqlite:x.db"));
    assert_eq!(store(&flag), files("x.db", "x.inbox.db"));
    let env = flags([("HOOKONCE__STORE__URL", "sqlite:/var/x.db")]);
    assert_eq!(store(&env), files("/var/x.db", "/var/x.inbox.db"));
}

#[test]
fn a_database_is_named_by_a_url_whose_password_nobody_sees() {
    let read_store = |url: &str, flags: &Flags| {
        let (config, report) = read(&format!("[store]\nurl = \"{url}\""), flags);
        let Store::Postgres(database) = config.store.clone() else { panic!("it is a database") };
        let token = config.token_file();
        (database, format!("{:?} {}", config, report.render(false)), token)
    };
    let plain = "postgres://me@host:5433/shop?schema=hookonce";
    let (database, shown, token) = read_store(plain, &Flags::default());
    assert_eq!(
        (database.url(), database.to_string().as_str()),
        ("postgres://me@host:5433/shop", "postgres://me@host:5433/shop")
    );
    assert_eq!(token, Path::new("/srv/shop/hookonce.8081.token"));
    assert!(shown.contains("postgres://me@host:5433/shop"));
    let of_variable = read_store(plain, &flags([("PGPASSWORD", "canary/1")]));
    assert_eq!(of_variable.0.url(), "postgres://me:canary%2F1@host:5433/shop");
    let filled_in = read_store("postgres://me:${PW}@host/shop", &flags([("PW", "canary")]));
    assert_eq!(filled_in.0.url(), "postgres://me:canary@host/shop");
    for (_, shown, _) in [of_variable, filled_in] {
        assert!(!shown.contains("canary"), "{shown}");
    }
    for (url, says) in [
        ("postgres://me:canary@host/shop", "error[config-literal-secret]"),
        ("postgres://host", "names no database"),
        ("postgres://me@host/shop?schema=other", "error[config-not-built]"),
        ("postgres://me@host/shop?sslmod=require", "sslmod"),
        ("postgres://me@host:port/shop", "cannot be used"),
    ] {
        let said = refused(&format!("[store]\nurl = \"{url}\""), &Flags::default());
        assert!(said.contains(says) && !said.contains("canary"), "{url}: {said}");
    }
}

#[test]
fn a_source_without_its_secret_stands_still_and_the_others_run() {
    let text = "[sources.a]\nprovider = \"github\"\nsecret = { env = \"A\" }\n\
                [sources.b]\nprovider = \"github\"\nsecret = { env = \"B\" }";
    for blank in [None, Some(""), Some("   ")] {
        let env = [("A", Some(SECRET)), ("B", blank)].into_iter().filter_map(|(n, v)| Some((n, v?)));
        let (config, report) = read(text, &flags(env.clone()));
        let verification = |name: &str| &config.source(name).expect("it is there").verification;
        assert!(matches!(verification("a"), Verification::Keys(_)));
        assert!(matches!(verification("b"), Verification::Missing { .. }), "{blank:?}");
        assert_eq!((report.has_errors(), report.problems.len()), (false, 1));
        let strict = Flags { strict: true, ..flags(env) };
        assert!(refused(text, &strict).contains("error[config-missing-secret]"), "{blank:?}");
    }
}

/// What the missing key signed would be refused as forged, and a provider does not send a refused event for long.
#[test]
fn one_of_several_secrets_missing_stops_the_source() {
    let text = "[sources.a]\nprovider = \"github\"\nsecrets = [ { name = \"live\", env = \"A\" }, { name = \"old\", env = \"B\" } ]";
    let (config, _) = read(text, &flags([("A", SECRET)]));
    let Verification::Missing { why, .. } = &config.sources[0].verification else { panic!("it verifies") };
    assert_eq!(why, "secret `old` is missing");
    let (config, _) = read(text, &flags([("A", SECRET), ("B", "another")]));
    assert!(matches!(config.sources[0].verification, Verification::Keys(_)));
}

#[test]
fn no_debug_output_carries_a_secret() {
    let text = "[sources.a]\nprovider = \"github\"\nsecret = { env = \"A\" }\n\
                [sources.b]\nverify = { hmac = \"sha256\", header = \"X\" }\nkey = \"$.id\"\nsecret = \"canary-of-the-tests\"\n\
                [consumers.c]\nkind = \"http\"\non = [\"a/*\"]\nurl = \"https://app.example.com\"\nsign = { env = \"C\" }";
    let sign = "whsec_Y2FuYXJ5Y2FuYXJ5";
    let flags = Flags { dev: true, ..flags([("A", SECRET), ("C", sign)]) };
    let (config, report) = read(text, &flags);
    for said in
        [format!("{config:?}"), format!("{report:?}").replace(text, ""), format!("{flags:?}"), report.render(false)]
    {
        let said = said.replace(&format!("{text:?}"), "");
        assert!(!said.contains(SECRET) && !said.contains("Y2FuYXJ5"), "{said}");
    }
}

#[test]
fn defaults_of_a_consumer() {
    let text = "[sources.a]\nverify = \"none\"\nkey = \"$.id\"\n[consumers.c]\nkind = \"http\"\non = [\"a/*\"]\nurl = \"https://app.example.com\"";
    let (config, _) = read(text, &Flags::default());
    let consumer = &config.consumers[0];
    assert_eq!((consumer.order, consumer.on_dead), (Order::Arrival, OnDead::Hold));
    assert_eq!(consumer.retry.first, 5 * SECOND);
    let http = consumer.http().unwrap();
    assert_eq!((http.concurrency, http.timeout.as_secs()), (32, 10));
    let (config, _) = read(&format!("{text}\norder = \"none\""), &Flags::default());
    assert_eq!(config.consumers[0].on_dead, OnDead::Continue, "without lanes there is nothing to hold");
}

#[test]
fn a_provider_brings_its_limits() {
    let (config, _) = read("[sources.gh]\nprovider = \"github\"\nsecret = { env = \"A\" }", &flags([("A", SECRET)]));
    let source = &config.sources[0];
    assert_eq!(source.max_body, 26_214_400);
    assert_eq!(source.ack_deadline.as_secs(), 5);
    let text =
        "[sources.tw]\nprovider = \"twilio\"\nsecret = { env = \"A\" }\nmax_body = \"1KiB\"\nack_deadline = \"2s\"";
    let (config, _) = read(text, &flags([("A", SECRET)]));
    assert_eq!((config.sources[0].max_body, config.sources[0].ack_deadline.as_secs()), (1024, 2));
    assert_eq!(config.sources[0].methods, ["POST", "GET"]);
}

/// Any file: no panic, every place inside its file, no secret shown. The mutations are those of a slipping editor.
#[test]
fn no_broken_file_makes_it_panic_or_print_a_secret() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/config");
    let mut seed = 0x9e37_79b9_7f4a_7c15_u64;
    let mut dice = |below: usize| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        usize::try_from(seed % below.max(1) as u64).expect("it fits")
    };
    let flags = flags([("S", SECRET), ("STRIPE_WHSEC", SECRET), ("CRM_SECRET", SECRET), ("TOKEN", SECRET)]);
    let entries = std::fs::read_dir(folder).expect("the cases");
    let mut cases: Vec<_> = entries.map(|e| e.expect("an entry").path()).collect();
    cases.retain(|path| path.extension().is_some_and(|e| e == "toml"));
    cases.sort();
    for path in cases {
        let text = std::fs::read_to_string(&path).expect("the case").replace("canary", SECRET);
        for round in 0..MUTATIONS {
            let broken = mutated(&text, &mut dice);
            if says_otherwise(&broken) {
                continue;
            }
            let said = match parse("x.toml", &broken, Path::new(folder), &flags) {
                Ok((_, report)) | Err(report) => report.render(round % 2 == 0) + &report.json().to_string(),
            };
            assert!(!said.contains(SECRET), "{} prints a secret:\n{broken}\n{said}", path.display());
        }
    }
}

/// The slip made the secret the value of another key, a name or a path, and so it is shown as what it is called.
fn says_otherwise(text: &str) -> bool {
    text.match_indices(SECRET).any(|(at, _)| {
        let line = text[..at].rsplit_once('\n').map_or(&text[..at], |(_, line)| line);
        let mut keys = line.match_indices('=').map(|(at, _)| line[..at].trim_end());
        keys.any(|key| super::mask::HARMLESS.iter().any(|name| key.ends_with(name)))
    })
}

/// One to three cuts, doublings or insertions at any character.
fn mutated(text: &str, dice: &mut impl FnMut(usize) -> usize) -> String {
    const PIECES: [&str; 16] =
        ["\"", "'", "[", "]", "{", "}", "=", "\n", "#", ",", ".", "\"\"\"", "é\u{202e}", "${", "\0", " = ["];
    let mut chars: Vec<char> = text.chars().collect();
    for _ in 0..=dice(3) {
        let at = dice(chars.len());
        let end = (at + 1 + dice(12)).min(chars.len());
        match dice(3) {
            0 => drop(chars.drain(at..end)),
            1 => {
                let again: Vec<char> = chars[at..end].to_vec();
                chars.splice(at..at, again);
            }
            _ => drop(chars.splice(at..at, PIECES[dice(PIECES.len())].chars())),
        }
    }
    chars.into_iter().collect()
}

#[test]
fn nothing_in_a_report_drives_the_terminal() {
    let text = "[sources.\"a\\u001b[2J\"]\nverify = \"no\\u001b[2Jne\"\nkey = \"$.id\"\n\"k\\u202ey\" = 1\n\
                [sources.billing]\nverify = \"none\"\nkey = \"$.id\"\n[consumers.c]\nkind = \"http\"\nurl = \"https://x.example\"\n\
                on = [\"biling/\\u001b[31m\\u202e\"]";
    let said = refused(text, &Flags::default());
    assert!(!said.contains(['\u{1b}', '\u{202e}']), "{said:?}");
    assert!(said.contains("did you mean `billing/"), "{said}");
}

/// What `docs/CONFIG.md` does not name nobody can know. The reader lists its keys where one is unknown.
#[test]
fn the_documentation_names_every_key() {
    let text = "[store]\nzzzzzzzz = 1\n[ingest]\nzzzzzzzz = 1\n[admin]\nzzzzzzzz = 1\n\
                [sources.a]\nverify = { hmac = \"sha256\", header = \"X\", timestamp = { zzzzzzzz = 1 }, zzzzzzzz = 1 }\n\
                key = \"$.id\"\nrespond = { zzzzzzzz = 1 }\nversion = { zzzzzzzz = 1 }\nsecret = { zzzzzzzz = 1 }\nzzzzzzzz = 1\n\
                [consumers.c]\nkind = \"http\"\nretry = { zzzzzzzz = 1 }\nzzzzzzzz = 1";
    let said = refused(text, &Flags::default());
    let lists: Vec<&str> =
        said.lines().filter_map(|line| line.split_once("hint: known: ")).map(|(_, list)| list).collect();
    assert_eq!(lists.len(), 11, "{said}");
    let document = include_str!("../../../docs/CONFIG.md");
    let words: std::collections::BTreeSet<&str> =
        document.split(|c: char| !(c.is_ascii_alphanumeric() || "_-".contains(c))).collect();
    for key in lists.iter().flat_map(|list| list.split(", ")).map(|key| key.trim_matches('`')) {
        assert!(words.contains(key), "`{key}` is in no table of docs/CONFIG.md");
    }
}
