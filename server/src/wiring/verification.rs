//! What was configured → what verifies: a scheme, its keys, and what it covers. `serve`, `send` and `check` share it, so
//! that they never disagree about a source.

use std::borrow::Cow;

use anyhow::{Context as _, Result, bail};
use hookonce_core::signature::{
    Algorithm, Encoding, Hash, KeyError, KeyForm, Keys, Options, Place, Scheme, Secret, Signed, Timestamp, Unit, Use,
    Variant, catalog,
};
use hookonce_core::time::SECOND;

use crate::config::meant::{self, Carrier, Hmac, HmacHash, Opt, TimeUnit, Verify};
use crate::config::secret::{Purpose, Secrets};

/// The scheme that a source is verified by; `None`: it says `verify = "none"`.
pub fn scheme(source: &meant::Source) -> Result<Option<Cow<'static, Scheme>>> {
    match &source.verify {
        Verify::None => Ok(None),
        Verify::Hmac(hmac) => Ok(Some(Cow::Owned(generic(&source.name, hmac)?))),
        Verify::Provider => {
            let id = source.provider.as_deref().context("a source without provider says how it is verified")?;
            let provider = catalog::provider(id).with_context(|| format!("unknown provider `{id}`"))?;
            let named = match &source.scheme {
                Some(name) => provider.schemes.iter().find(|s| s.name == *name),
                None => provider.schemes.first(),
            };
            let scheme = named.with_context(|| format!("provider `{id}` has no such scheme"))?;
            Ok(Some(Cow::Borrowed(*scheme)))
        }
    }
}

/// The secrets as keys of that scheme. An error means that the source cannot verify: it answers 503 and alarms.
pub fn keys(scheme: &Scheme, secrets: &Secrets) -> Result<Keys, KeyError> {
    let present = secrets.0.iter().filter_map(|s| {
        let value = s.value.clone()?;
        Some(Secret {
            use_: if s.purpose == Purpose::Sign { Use::Sign } else { Use::Handshake },
            id: s.id.as_deref().map(Into::into),
            not_before: s.not_before,
            not_after: s.not_after,
            ..Secret::new(s.name.as_str(), value)
        })
    });
    Keys::new(scheme, &present.collect::<Vec<_>>())
}

pub fn options(source: &meant::Source) -> Options {
    let list = |name: &str| {
        source.options.iter().find(|(n, _)| n == name).and_then(|(_, value)| match value {
            Opt::List(list) => Some(list.clone()),
            _ => None,
        })
    };
    Options {
        tolerance: source.tolerance.and_then(|t| u32::try_from(t / SECOND).ok()),
        allowed_origins: list("allowed_origins").unwrap_or_default(),
    }
}

fn generic(name: &str, hmac: &Hmac) -> Result<Scheme> {
    let hash = match hmac.hash {
        HmacHash::Sha1 => Hash::Sha1,
        HmacHash::Sha256 => Hash::Sha256,
        HmacHash::Sha512 => Hash::Sha512,
        HmacHash::Sha384 => bail!("`hmac = \"sha384\"` of source `{name}` is not built yet"),
    };
    let encoding = match hmac.encoding {
        meant::Encoding::Hex => Encoding::Hex,
        meant::Encoding::Base64 => Encoding::Base64,
        meant::Encoding::Base64Url => bail!("`encoding = \"base64url\"` of source `{name}` is not built yet"),
    };
    let Carrier::Header(header) = &hmac.carrier else {
        bail!("a signature in the query (source `{name}`) is not built yet");
    };
    let variant =
        Variant { prefix: hmac.prefix.clone().into(), algorithm: Algorithm::Hmac(hash), encoding, key: KeyForm::Text };
    Ok(Scheme {
        name: "hmac".into(),
        header: header.clone().into(),
        list: hmac.list.clone().map(Cow::Owned),
        variants: Cow::Owned(vec![variant]),
        signed: Signed::Template(hmac.signed.clone().into()),
        timestamp: hmac.timestamp.as_ref().map(timestamp).transpose()?,
        selector: None,
    })
}

fn timestamp(written: &meant::Timestamp) -> Result<Timestamp> {
    let unit = match written.unit {
        TimeUnit::Seconds => Unit::Seconds,
        TimeUnit::Millis => Unit::Milliseconds,
        TimeUnit::Rfc3339 => Unit::Rfc3339,
        TimeUnit::Micros => bail!("`unit = \"us\"` of a signature's timestamp is not built yet"),
    };
    Ok(Timestamp { place: Place::Header(written.header.clone().into()), unit, past: None, future: None })
}
