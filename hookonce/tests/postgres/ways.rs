//! Ways to the database: a pooler that lends sessions by the transaction, and an encrypted line.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

use futures_util::future::join_all;
use hookonce::postgres::bed::{Database, server};
use hookonce::postgres::{Options, PostgresStore};
use hookonce::store::Store as _;
use hookonce::view::{Page, Query};
use hookonce_core::admit::Verdict;
use hookonce_core::claim::Ask;
use hookonce_core::consumer::Order;
use hookonce_core::delivery::Outcome;
use hookonce_core::settle::{Settled, plan};
use hookonce_core::time::SECOND;
use hookonce_judge::rig::Cluster;
use tokio::runtime::Runtime;
use tokio_postgres::NoTls;

use crate::sent::{consumer, sent};

const EVENTS: usize = 60;

/// Everything that a node does, once, by two of them.
async fn works(url: &str) {
    let open = || async { Arc::new(PostgresStore::open(url, Options::default()).await.unwrap()) };
    let (one, other) = (open().await, open().await);
    let routing = one.configure(vec![consumer("app", Order::Arrival)]).await.unwrap();
    let app = routing.consumers[0].clone();
    other.configure(vec![consumer("app", Order::Arrival)]).await.unwrap();
    let sends = (0..EVENTS).map(|n| [&one, &other][n % 2].admit(sent(&format!("{}-{n}", n % 7), "x")));
    join_all(sends).await.into_iter().for_each(|admission| drop(admission.unwrap()));
    assert!(matches!(other.admit(sent("0-0", "x")).await.unwrap().verdicts[..], [Verdict::Duplicate { .. }]));
    assert!(matches!(one.admit(sent("0-0", "y")).await.unwrap().verdicts[..], [Verdict::Conflict { .. }]));
    while one.route(&routing).await.unwrap().more {}
    let mut done = 0;
    for round in 0_u8.. {
        let ask =
            |who| Ask { consumer: app.id, tokens: vec![[round; 16]; 9], lease: 60 * SECOND, owner: who, quiet: false };
        let runs = other.claim(ask(2)).await.unwrap();
        if runs.is_empty() {
            break;
        }
        let leases = runs.iter().map(|run| run.claimed.lease).collect();
        assert!(other.renew(leases, 60 * SECOND).await.unwrap().is_empty());
        let endings = runs.iter().map(|run| plan(&run.claimed, &Outcome::Done, &app, 0, 0)).collect();
        let settled = other.settle(endings, None).await.unwrap().0;
        assert!(settled.iter().all(|settled| *settled == Settled::Kept), "{settled:?}");
        done += settled.len();
    }
    assert_eq!(done, EVENTS);
    one.beat(routing.config).await.unwrap();
    assert!(one.sweep().await.unwrap().headless.is_empty());
    one.ready().await.unwrap();
    assert!(matches!(one.read(Query::Consumers).await.unwrap(), Page::Consumers(rows) if rows.len() == 1));
    one.close().await.unwrap();
    other.close().await.unwrap();
}

/// A pooler of the test's own, gone with it.
struct Pooler {
    child: Child,
    host: String,
    _folder: tempfile::TempDir,
}

impl Pooler {
    /// Fewer sessions than each node has connections: they are lent on behind every transaction.
    fn start(server: &str) -> Pooler {
        let folder = tempfile::tempdir().unwrap();
        let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let behind = server.rsplit('@').next().unwrap();
        let (host, of) = behind.split_once(':').unwrap_or((behind, "5432"));
        let file = folder.path().join("pooler.ini");
        let text = format!(
            "[databases]\n* = host={host} port={of} user=postgres\n[pgbouncer]\nlisten_addr = 127.0.0.1\n\
             listen_port = {port}\nunix_socket_dir =\nauth_type = any\npool_mode = transaction\ndefault_pool_size = 3\n"
        );
        std::fs::write(&file, text).unwrap();
        let child =
            pgbouncer(&file).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("pgbouncer is installed");
        Pooler { child, host: format!("127.0.0.1:{port}"), _folder: folder }
    }

    async fn url(&self, database: &str) -> String {
        let url = format!("postgres://postgres@{}/{database}", self.host);
        while tokio_postgres::connect(&url, NoTls).await.is_err() {
            tokio::task::yield_now().await;
        }
        url
    }
}

impl Drop for Pooler {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

/// It refuses to run as root, and so may not read what root alone may.
fn pgbouncer(file: &Path) -> Command {
    let folder = file.parent().unwrap();
    std::fs::set_permissions(folder, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let root = Command::new("id").arg("-u").output().is_ok_and(|said| said.stdout.starts_with(b"0\n"));
    let mut command = Command::new(if root { "setpriv" } else { "/usr/sbin/pgbouncer" });
    if root {
        command.args(["--reuid=postgres", "--regid=postgres", "--clear-groups", "/usr/sbin/pgbouncer"]);
    }
    command.arg(file);
    command
}

/// Seen to fail without `pooler=transaction`: the pooler refuses our settings, and without them statements that another
/// session has prepared are not found.
#[test]
fn sessions_may_be_lent_by_the_transaction() {
    let database = Database::default();
    let pooler = Pooler::start(&server());
    database.runtime.block_on(async {
        let url = pooler.url(database.name()).await;
        works(&format!("{url}?pooler=transaction")).await;
        assert!(
            PostgresStore::open(&url, Options::default()).await.is_err(),
            "this pooler lends sessions to everybody"
        );
    });
}

#[test]
fn the_line_is_encrypted_and_the_server_is_who_it_says() {
    let cluster = Cluster::start().unwrap();
    let keys = cluster.data();
    let (certificate, key) = (keys.join("server.crt"), keys.join("server.key"));
    let line = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "30", "-subj", "/CN=localhost"];
    let ca = ["-addext", "subjectAltName=DNS:localhost", "-addext", "basicConstraints=critical,CA:FALSE"];
    let mut made = Command::new("openssl");
    made.args(line).args(ca).arg("-out").arg(&certificate).arg("-keyout").arg(&key).stderr(Stdio::null());
    assert!(made.status().is_ok_and(|status| status.success()), "openssl makes a key");
    std::fs::set_permissions(&key, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    cluster.own(&[&certificate, &key]).unwrap();
    cluster.set("ssl = on").unwrap();
    std::fs::write(keys.join("pg_hba.conf"), "hostssl all all 127.0.0.1/32 trust\n").unwrap();
    cluster.end().unwrap();
    cluster.begin().unwrap();
    let runtime = Runtime::new().unwrap();
    runtime.block_on(async {
        let port = cluster.host().split_once(':').unwrap().1.to_owned();
        let at = |host: &str, query: &str| format!("postgres://postgres@{host}:{port}/postgres?{query}");
        let root = format!("sslmode=verify-full&sslrootcert={}", certificate.display());
        works(&at("localhost", &root)).await;
        for (url, opens) in [
            (at("127.0.0.1", "sslmode=require"), true),
            (at("127.0.0.1", ""), true),
            // The server takes nobody who does not encrypt.
            (at("127.0.0.1", "sslmode=disable"), false),
            // Another name than the certificate's, and a certificate of nobody.
            (at("127.0.0.1", &root), false),
            (at("localhost", "sslmode=verify-full"), false),
        ] {
            let opened = PostgresStore::open(&url, Options::default()).await;
            assert_eq!(opened.is_ok(), opens, "{url}: {:?}", opened.err().map(|error| error.to_string()));
        }
    });
}
