//! What may be connected to. A webhook consumer's address comes from a configuration that many may write to, and names
//! are answered by servers that nobody here controls: so every address is judged, and the judged one is connected to.
//!
//! Here: the table of addresses, hosts written as numbers, ports, names. Start at [`Guard::target`]; the look-up that a
//! connector must use is [`Guard::addresses`].

use std::fmt;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::{Arc, LazyLock};

use futures_util::future::BoxFuture;
use ipnet::{Ipv4Net, Ipv6Net};
use url::{Host, Url};

/// Addresses of one name that are looked at; more is no answer for a receiver.
pub const ADDRESSES_MAX: usize = 64;

/// Which addresses are open.
#[derive(Clone)]
pub struct Guard {
    allow_private: bool,
    lookup: Arc<dyn Lookup>,
}

/// Asks for the addresses of a name. A seam: tests answer differently each time.
pub trait Lookup: Send + Sync {
    fn lookup(&self, name: &str) -> BoxFuture<'static, io::Result<Vec<IpAddr>>>;
}

/// What kind of address it is that is not open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    Loopback,
    Private,
    LinkLocal,
    Metadata,
    Unspecified,
    Multicast,
    Reserved,
}

impl Class {
    /// Whether `allow_private` opens it. The rest is never a receiver: metadata services hand out credentials.
    fn opened_by_permission(self) -> bool {
        matches!(self, Class::Loopback | Class::Private)
    }
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Class::Loopback => "a loopback address",
            Class::Private => "a private address",
            Class::LinkLocal => "a link-local address",
            Class::Metadata => "the address of a metadata service",
            Class::Unspecified => "no address of a host",
            Class::Multicast => "a multicast or broadcast address",
            Class::Reserved => "a reserved address",
        })
    }
}

/// Why nothing is sent there.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    #[error("`{0}` is no URL")]
    Url(String),
    #[error("`{0}` is not sent to: only http and https are")]
    Scheme(String),
    #[error("the URL carries a user or a password")]
    Credentials,
    #[error("the URL has a fragment, which is never sent")]
    Fragment,
    #[error("port {0} belongs to another service")]
    Port(u16),
    #[error("`{host}` is {class}{}", hint(.class))]
    Address { host: String, class: Class },
    #[error("`{0}` has no address")]
    NoAddress(String),
    #[error("the address of `{name}` was not found: {why}")]
    Lookup { name: String, why: String },
}

fn hint(class: &Class) -> &'static str {
    if class.opened_by_permission() { "\nhint: set `allow_private = true` on the consumer to send there" } else { "" }
}

impl fmt::Debug for Guard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Guard").field("allow_private", &self.allow_private).finish_non_exhaustive()
    }
}

impl Guard {
    pub fn new(allow_private: bool) -> Guard {
        Guard::with_lookup(allow_private, Arc::new(SystemLookup))
    }

    pub fn with_lookup(allow_private: bool, lookup: Arc<dyn Lookup>) -> Guard {
        Guard { allow_private, lookup }
    }

    /// Judges a configured URL, and its host where it is written as a number: a connector asks no resolver for those.
    /// The parser is the browsers' one, which reads `0x7f.1`, `2130706433` and `１２７.0.0.1` for what they are.
    pub fn target(&self, text: &str) -> Result<Url, Refused> {
        let url = Url::parse(text).map_err(|_| Refused::Url(text.to_owned()))?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(Refused::Scheme(url.scheme().to_owned()));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(Refused::Credentials);
        }
        if url.fragment().is_some() {
            return Err(Refused::Fragment);
        }
        let host = match url.host() {
            None => return Err(Refused::Url(text.to_owned())),
            Some(Host::Domain(_)) => None,
            Some(Host::Ipv4(ip)) => Some(IpAddr::V4(ip)),
            Some(Host::Ipv6(ip)) => Some(IpAddr::V6(ip)),
        };
        if let Some(ip) = host {
            self.judge(&ip.to_string(), ip)?;
        }
        self.port(url.port_or_known_default().unwrap_or_default())?;
        Ok(url)
    }

    /// The addresses of a name, each judged: one bad one among good ones refuses the whole answer, because whoever
    /// mixes them means us to connect to the bad one. Nothing is remembered, every connection asks again.
    pub async fn addresses(&self, name: &str) -> Result<Vec<SocketAddr>, Refused> {
        let found = self.lookup.lookup(name).await;
        let found = found.map_err(|e| Refused::Lookup { name: name.to_owned(), why: e.to_string() })?;
        if found.is_empty() || found.len() > ADDRESSES_MAX {
            return Err(Refused::NoAddress(name.to_owned()));
        }
        found.iter().try_for_each(|ip| self.judge(&format!("{name} ({ip})"), *ip))?;
        // The connector puts the URL's port in place of 0.
        Ok(found.into_iter().map(|ip| SocketAddr::new(ip, 0)).collect())
    }

    fn judge(&self, host: &str, ip: IpAddr) -> Result<(), Refused> {
        match class(ip) {
            None => Ok(()),
            Some(class) if self.allow_private && class.opened_by_permission() => Ok(()),
            Some(class) => Err(Refused::Address { host: host.to_owned(), class }),
        }
    }

    /// Ports of public hosts: those of the web, and those that any program may listen on. Inside, anything.
    fn port(&self, port: u16) -> Result<(), Refused> {
        let open = self.allow_private || matches!(port, 80 | 443) || (port >= 1_024 && !OTHER_SERVICES.contains(&port));
        if open && port != 0 { Ok(()) } else { Err(Refused::Port(port)) }
    }
}

/// From the Fetch standard's list of bad ports, those above 1023: services that would act on a request's text.
const OTHER_SERVICES: [u16; 16] =
    [1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6667, 6669, 6697, 10080];

/// The system's resolver, on the runtime's threads for blocking work.
struct SystemLookup;

impl Lookup for SystemLookup {
    fn lookup(&self, name: &str) -> BoxFuture<'static, io::Result<Vec<IpAddr>>> {
        let name = name.to_owned();
        Box::pin(async move { Ok(tokio::net::lookup_host((name, 0)).await?.map(|address| address.ip()).collect()) })
    }
}

/// What stands in the way of an address; `None`: it is a public host's.
pub fn class(ip: IpAddr) -> Option<Class> {
    match ip {
        IpAddr::V4(ip) => class_v4(ip),
        IpAddr::V6(ip) => class_v6(ip),
    }
}

/// First match wins, so the narrow ones stand first.
const V4: &[(&str, Class)] = &[
    ("169.254.169.254/32", Class::Metadata),
    ("169.254.170.2/32", Class::Metadata),
    ("100.100.100.200/32", Class::Metadata),
    ("168.63.129.16/32", Class::Metadata),
    ("192.0.0.192/32", Class::Metadata),
    ("0.0.0.0/8", Class::Unspecified),
    ("10.0.0.0/8", Class::Private),
    ("100.64.0.0/10", Class::Private),
    ("127.0.0.0/8", Class::Loopback),
    ("169.254.0.0/16", Class::LinkLocal),
    ("172.16.0.0/12", Class::Private),
    ("192.0.0.0/24", Class::Reserved),
    ("192.0.2.0/24", Class::Reserved),
    ("192.88.99.0/24", Class::Reserved),
    ("192.168.0.0/16", Class::Private),
    ("198.18.0.0/15", Class::Reserved),
    ("198.51.100.0/24", Class::Reserved),
    ("203.0.113.0/24", Class::Reserved),
    ("224.0.0.0/4", Class::Multicast),
    ("255.255.255.255/32", Class::Multicast),
    ("240.0.0.0/4", Class::Reserved),
];

/// Beside these, whatever lies outside `2000::/3` is reserved.
const V6: &[(&str, Class)] = &[
    ("fd00:ec2::254/128", Class::Metadata),
    ("fd20:ce::254/128", Class::Metadata),
    ("::/128", Class::Unspecified),
    ("::1/128", Class::Loopback),
    ("fc00::/7", Class::Private),
    ("fe80::/10", Class::LinkLocal),
    ("fec0::/10", Class::Reserved),
    ("ff00::/8", Class::Multicast),
    ("2001::/23", Class::Reserved),
    ("2001:db8::/32", Class::Reserved),
    ("3fff::/20", Class::Reserved),
];

static NETS_V4: LazyLock<Vec<(Ipv4Net, Class)>> = LazyLock::new(|| nets(V4));
static NETS_V6: LazyLock<Vec<(Ipv6Net, Class)>> = LazyLock::new(|| nets(V6));

fn nets<N: std::str::FromStr<Err: fmt::Debug>>(written: &[(&str, Class)]) -> Vec<(N, Class)> {
    written.iter().map(|(net, class)| (net.parse().expect("a constant of this file"), *class)).collect()
}

fn class_v4(ip: Ipv4Addr) -> Option<Class> {
    NETS_V4.iter().find(|(net, _)| net.contains(&ip)).map(|(_, class)| *class)
}

fn class_v6(ip: Ipv6Addr) -> Option<Class> {
    if let Some(inner) = inner_v4(ip) {
        return class_v4(inner);
    }
    let listed = NETS_V6.iter().find(|(net, _)| net.contains(&ip)).map(|(_, class)| *class);
    let global = ip.segments()[0] & 0xe000 == 0x2000;
    listed.or((!global).then_some(Class::Reserved))
}

/// The IPv4 address that a packet to such an address ends at: mapped, NAT64, 6to4. Deprecated or local forms of the
/// same idea (compatible, `64:ff9b:1::/48`, Teredo) are reserved as a whole.
fn inner_v4(ip: Ipv6Addr) -> Option<Ipv4Addr> {
    let s = ip.segments();
    let join = |high: u16, low: u16| Ipv4Addr::from(u32::from(high) << 16 | u32::from(low));
    match s {
        [0, 0, 0, 0, 0, 0xffff, high, low] => Some(join(high, low)),
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] => Some(join(high, low)),
        [0x2002, high, low, ..] => Some(join(high, low)),
        _ => None,
    }
}

#[cfg(test)]
#[path = "guard_tests.rs"]
mod tests;
