use std::collections::VecDeque;
use std::sync::Mutex;

use super::*;

/// Answers in the order written; the last one for ever.
struct Scripted(Mutex<VecDeque<io::Result<Vec<&'static str>>>>);

impl Lookup for Scripted {
    fn lookup(&self, _: &str) -> BoxFuture<'static, io::Result<Vec<IpAddr>>> {
        let answer = self.0.lock().unwrap().pop_front().expect("more look-ups than answers");
        Box::pin(async move { answer.map(|ips| ips.iter().map(|ip| ip.parse().unwrap()).collect()) })
    }
}

fn scripted(allow_private: bool, answers: Vec<io::Result<Vec<&'static str>>>) -> Guard {
    Guard::with_lookup(allow_private, Arc::new(Scripted(Mutex::new(answers.into()))))
}

/// S21: every way to write a host that is inside.
#[test]
fn s21_hosts_inside_are_refused_however_they_are_written() {
    let guard = Guard::new(false);
    for (url, class) in [
        ("http://127.0.0.1/", Class::Loopback),
        ("http://127.1/", Class::Loopback),
        ("http://127.255.255.254/", Class::Loopback),
        ("http://2130706433/", Class::Loopback),
        ("http://0x7f000001/", Class::Loopback),
        ("http://0x7f.1/", Class::Loopback),
        ("http://0177.0.0.1/", Class::Loopback),
        ("http://127.0.0.1./", Class::Loopback),
        ("http://１２７.0.0.1/", Class::Loopback),
        ("http://%31%32%37.0.0.1/", Class::Loopback),
        ("http://[::1]/", Class::Loopback),
        ("http://[0:0:0:0:0:0:0:1]/", Class::Loopback),
        ("http://[::ffff:127.0.0.1]/", Class::Loopback),
        ("http://[::ffff:7f00:1]/", Class::Loopback),
        ("http://[64:ff9b::127.0.0.1]/", Class::Loopback),
        ("http://[2002:7f00:1::]/", Class::Loopback),
        ("http://10.1.2.3/", Class::Private),
        ("http://172.16.0.1/", Class::Private),
        ("http://172.31.255.255/", Class::Private),
        ("http://192.168.0.1/", Class::Private),
        ("http://100.64.0.1/", Class::Private),
        ("http://[fc00::1]/", Class::Private),
        ("http://[fdff::1]/", Class::Private),
        ("http://[::ffff:10.0.0.1]/", Class::Private),
        ("http://[64:ff9b::a00:1]/", Class::Private),
        ("http://169.254.1.1/", Class::LinkLocal),
        ("http://[fe80::1]/", Class::LinkLocal),
        ("http://169.254.169.254/latest/meta-data", Class::Metadata),
        ("http://0xa9fea9fe/", Class::Metadata),
        ("http://[::ffff:169.254.169.254]/", Class::Metadata),
        ("http://[64:ff9b::a9fe:a9fe]/", Class::Metadata),
        ("http://[2002:a9fe:a9fe::]/", Class::Metadata),
        ("http://[fd00:ec2::254]/", Class::Metadata),
        ("http://100.100.100.200/", Class::Metadata),
        ("http://168.63.129.16/", Class::Metadata),
        ("http://0.0.0.0/", Class::Unspecified),
        ("http://0/", Class::Unspecified),
        ("http://0.1.2.3/", Class::Unspecified),
        ("http://[::]/", Class::Unspecified),
        ("http://224.0.0.1/", Class::Multicast),
        ("http://255.255.255.255/", Class::Multicast),
        ("http://[ff02::1]/", Class::Multicast),
        ("http://192.0.2.1/", Class::Reserved),
        ("http://198.18.0.1/", Class::Reserved),
        ("http://240.0.0.1/", Class::Reserved),
        ("http://[::127.0.0.1]/", Class::Reserved),
        ("http://[64:ff9b:1::1]/", Class::Reserved),
        ("http://[2001:0:7f00:1::]/", Class::Reserved),
        ("http://[2001:db8::1]/", Class::Reserved),
        ("http://[fec0::1]/", Class::Reserved),
        ("http://[100::1]/", Class::Reserved),
        ("http://[4000::1]/", Class::Reserved),
    ] {
        match guard.target(url) {
            Err(Refused::Address { class: found, .. }) => assert_eq!(found, class, "{url}"),
            other => panic!("{url}: {other:?}"),
        }
    }
}

#[test]
fn s21_what_is_no_target_at_all() {
    let guard = Guard::new(false);
    for (url, want) in [
        ("ftp://example.com/", Refused::Scheme("ftp".into())),
        ("file:///etc/passwd", Refused::Scheme("file".into())),
        ("unix:/run/x", Refused::Scheme("unix".into())),
        ("http://user@example.com/", Refused::Credentials),
        ("http://user:pw@example.com/", Refused::Credentials),
        ("http://example.com@127.0.0.1/", Refused::Credentials),
        ("http://example.com/#x", Refused::Fragment),
        ("http://example.com:22/", Refused::Port(22)),
        ("http://example.com:25/", Refused::Port(25)),
        ("http://example.com:6000/", Refused::Port(6000)),
        ("http://example.com:0/", Refused::Port(0)),
        ("http://", Refused::Url("http://".into())),
        ("http://256.256.256.256/", Refused::Url("http://256.256.256.256/".into())),
        ("", Refused::Url("".into())),
    ] {
        assert_eq!(guard.target(url), Err(want), "{url}");
    }
}

#[test]
fn public_hosts_are_open_and_permission_opens_only_what_it_names() {
    let closed = Guard::new(false);
    let open = Guard::new(true);
    for url in [
        "https://example.com/hook?a=b",
        "http://example.com:8080/",
        "http://93.184.216.34/",
        "https://[2606:2800:220:1::1]/",
        "http://[64:ff9b::5db8:d822]/",
        "http://172.32.0.1/",
        "http://100.128.0.1/",
    ] {
        assert!(closed.target(url).is_ok(), "{url}: {:?}", closed.target(url));
    }
    for url in [
        "http://127.0.0.1:3000/hook",
        "http://10.0.0.1/",
        "http://[::1]:25/",
        "http://[fc00::1]/",
        "http://100.64.0.1/",
    ] {
        assert!(open.target(url).is_ok(), "{url}: {:?}", open.target(url));
    }
    for url in [
        "http://169.254.169.254/",
        "http://[fd00:ec2::254]/",
        "http://0.0.0.0/",
        "http://[fe80::1]/",
        "http://224.0.0.1/",
    ] {
        assert!(matches!(open.target(url), Err(Refused::Address { .. })), "{url}");
    }
}

#[test]
fn the_refusal_of_a_private_target_says_how_to_open_it() {
    let said = Guard::new(false).target("http://127.0.0.1:3000/").unwrap_err().to_string();
    assert_eq!(
        said,
        "`127.0.0.1` is a loopback address\nhint: set `allow_private = true` on the consumer to send there"
    );
    let said = Guard::new(true).target("http://169.254.169.254/").unwrap_err().to_string();
    assert_eq!(said, "`169.254.169.254` is the address of a metadata service");
}

/// S22: what a name server says is judged every time, whole, and a failed look-up is a failure.
#[tokio::test]
async fn s22_a_rebinding_name_is_judged_at_every_look_up() {
    let guard = scripted(
        false,
        vec![
            Ok(vec!["93.184.216.34"]),
            Ok(vec!["127.0.0.1"]),
            Ok(vec!["93.184.216.34", "10.0.0.1"]),
            Ok(vec!["::ffff:169.254.169.254"]),
            Err(io::Error::other("no such name")),
            Ok(vec![]),
        ],
    );
    let class_of = |answer: Result<Vec<SocketAddr>, Refused>| match answer {
        Err(Refused::Address { class, .. }) => class,
        other => panic!("{other:?}"),
    };
    assert_eq!(guard.addresses("x").await, Ok(vec!["93.184.216.34:0".parse().unwrap()]));
    assert_eq!(class_of(guard.addresses("x").await), Class::Loopback);
    assert_eq!(class_of(guard.addresses("x").await), Class::Private);
    assert_eq!(class_of(guard.addresses("x").await), Class::Metadata);
    assert!(matches!(guard.addresses("x").await, Err(Refused::Lookup { .. })));
    assert_eq!(guard.addresses("x").await, Err(Refused::NoAddress("x".into())));
}
