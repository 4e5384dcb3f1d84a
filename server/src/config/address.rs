//! The url of a database, taken apart as far as we have to know it: who asks, with what password, for which database.
//! Everything else is the driver's to read.

use std::fmt::Write as _;

pub const FORM: &str = "`postgres://user@host:5432/database`";

#[derive(Clone, PartialEq, Eq)]
pub struct Address {
    user: Option<String>,
    /// As it is written: with what cannot stand in a url as `%2F`.
    pub password: Option<String>,
    /// One or several, with their ports.
    hosts: String,
    database: String,
    options: Vec<(String, String)>,
}

impl Address {
    /// `None`: it has not the form, or names no database.
    pub fn read(url: &str) -> Option<Address> {
        let rest = url.split_once("://")?.1;
        let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (authority, database) = rest.split_once('/')?;
        let (user, hosts) = authority.rsplit_once('@').map_or((None, authority), |(user, hosts)| (Some(user), hosts));
        let (user, password) = match user.map(|user| user.split_once(':').unwrap_or((user, ""))) {
            Some((user, password)) => (Some(user), Some(password).filter(|p| !p.is_empty())),
            None => (None, None),
        };
        let pair = |pair: &str| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            (name.to_owned(), value.to_owned())
        };
        let address = Address {
            user: user.map(str::to_owned),
            password: password.map(str::to_owned),
            hosts: hosts.to_owned(),
            database: database.to_owned(),
            options: query.split('&').filter(|pair| !pair.is_empty()).map(pair).collect(),
        };
        (!address.database.is_empty()).then_some(address)
    }

    /// An option that is ours and not the driver's.
    pub fn take(&mut self, name: &str) -> Option<String> {
        let at = self.options.iter().position(|(option, _)| option == name)?;
        Some(self.options.remove(at).1)
    }

    pub fn put(&mut self, name: &str, value: String) {
        self.options.push((name.to_owned(), value));
    }

    /// For the driver.
    pub fn whole(&self) -> String {
        let options: Vec<String> = self.options.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let query = if options.is_empty() { String::new() } else { format!("?{}", options.join("&")) };
        format!("{}{query}", self.with(self.password.as_deref()))
    }

    /// For people: without its password and options, which may hold another.
    pub fn shown(&self) -> String {
        self.with(None)
    }

    fn with(&self, password: Option<&str>) -> String {
        let password = password.map_or_else(String::new, |password| format!(":{password}"));
        let user = self.user.as_ref().map_or_else(String::new, |user| format!("{user}{password}@"));
        format!("postgres://{user}{}/{}", self.hosts, self.database)
    }
}

/// As it may stand in a url.
pub fn encoded(text: &str) -> String {
    text.bytes().fold(String::new(), |mut out, byte| {
        match byte {
            b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' | b'-' | b'.' | b'_' | b'~' => out.push(byte.into()),
            // Writing to a text cannot fail.
            _ => drop(write!(out, "%{byte:02X}")),
        }
        out
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shown_has_no_password() {
        for (url, shown) in [
            ("postgres://me:pw@host/db", "postgres://me@host/db"),
            ("postgresql://me:p:w@a:1,b:2/db?sslmode=disable&password=pw", "postgres://me@a:1,b:2/db"),
            ("postgres://host/db", "postgres://host/db"),
            ("postgres://me@%2Frun%2Fpostgresql/db", "postgres://me@%2Frun%2Fpostgresql/db"),
        ] {
            let address = Address::read(url).expect("it has the form");
            assert_eq!(address.shown(), shown);
            assert_eq!(address.whole(), url.replacen("postgresql:", "postgres:", 1));
        }
        for url in ["postgres:db", "postgres://host", "postgres://host/", "postgres://me:pw@host/?a=b"] {
            assert!(Address::read(url).is_none(), "{url}");
        }
    }

    #[test]
    fn a_password_from_elsewhere_is_written_as_a_url_has_it() {
        let mut address = Address::read("postgres://me@host/db?schema=hookonce").expect("it has the form");
        assert_eq!((address.take("schema").as_deref(), address.take("schema")), (Some("hookonce"), None));
        address.password = Some(encoded("p/w@:ä"));
        assert_eq!(address.whole(), "postgres://me:p%2Fw%40%3A%C3%A4@host/db");
    }
}
