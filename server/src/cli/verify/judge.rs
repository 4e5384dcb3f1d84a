//! A request as a form → what comes of it. Everything that decides is in core.

use hookonce_core::provider::Provider;
use hookonce_core::signature::handshake::{self, Answer, Handshake};
use hookonce_core::signature::{KeyError, Keys, Refusal, Scheme, Verified, catalog, verify};
use serde_json::{Value, json};

use super::Form;
use crate::cli::{Exit, Failure};

#[derive(Debug)]
pub struct Verdict {
    refusal: Option<Refusal>,
    pub secret: Option<String>,
    /// Of an endpoint verification.
    pub response: Option<Value>,
}

/// Why nothing can be said.
#[derive(Debug, thiserror::Error)]
pub enum CannotJudge {
    #[error("neither a provider nor a scheme is named")]
    Nameless,
    #[error("unknown provider `{0}`")]
    Provider(String),
    #[error("unsupported scheme `{0}`")]
    Scheme(String),
    #[error(transparent)]
    Keys(#[from] KeyError),
}

impl CannotJudge {
    pub fn failure(&self) -> Failure {
        match self {
            CannotJudge::Nameless => Failure::usage(self.to_string()).next("name one with `--provider NAME`"),
            CannotJudge::Provider(_) => {
                Failure::new(Exit::NotFound, self.to_string()).next("`hookonce providers` lists those that are built")
            }
            CannotJudge::Scheme(_) => Failure::new(Exit::NotFound, self.to_string())
                .next("`hookonce providers NAME` lists a provider's schemes"),
            CannotJudge::Keys(KeyError::Missing) => {
                Failure::usage(self.to_string()).next("give it with `--secret-file FILE` or `--secret-stdin`")
            }
            CannotJudge::Keys(_) => Failure::new(Exit::Config, self.to_string()),
        }
    }
}

impl Verdict {
    pub fn valid(&self) -> bool {
        self.refusal.is_none()
    }

    pub fn reason(&self) -> Option<&'static str> {
        self.refusal.map(Refusal::name)
    }
}

pub fn judge(form: &Form) -> Result<Verdict, CannotJudge> {
    let named = form.scheme.as_deref();
    let provider = form.provider.as_deref().map(|id| find_provider(id, named)).transpose()?;
    match named.and_then(handshake::find) {
        Some(kind) => challenge(form, provider, kind),
        None if form.challenge => Err(CannotJudge::Scheme(named.unwrap_or("challenge").to_owned())),
        None => {
            let found = verify(&keys(form, scheme(provider, named)?)?, &form.request, &form.options, form.now);
            let secret = found.as_ref().ok().and_then(Verified::secret).map(|name| name.to_string());
            Ok(Verdict { refusal: found.err(), secret, response: None })
        }
    }
}

fn find_provider(id: &str, scheme: Option<&str>) -> Result<&'static Provider, CannotJudge> {
    catalog::provider(id).ok_or_else(|| match scheme {
        Some(name) => CannotJudge::Scheme(name.to_owned()),
        None => CannotJudge::Provider(id.to_owned()),
    })
}

/// Named, else the provider's first.
pub fn scheme(provider: Option<&Provider>, named: Option<&str>) -> Result<&'static Scheme, CannotJudge> {
    match (provider, named) {
        (Some(provider), Some(name)) => {
            let own = provider.schemes.iter().copied().find(|scheme| scheme.name == name);
            own.ok_or_else(|| CannotJudge::Scheme(name.to_owned()))
        }
        (Some(provider), None) => {
            provider.schemes.first().copied().ok_or_else(|| CannotJudge::Scheme(provider.id.to_owned()))
        }
        (None, Some(name)) => catalog::scheme(name).ok_or_else(|| CannotJudge::Scheme(name.to_owned())),
        (None, None) => Err(CannotJudge::Nameless),
    }
}

pub fn keys(form: &Form, scheme: &Scheme) -> Result<Keys, CannotJudge> {
    Ok(Keys::new(scheme, &form.secrets)?)
}

/// A challenge that is signed is signed as the provider signs its events.
fn challenge(form: &Form, provider: Option<&Provider>, kind: &Handshake) -> Result<Verdict, CannotJudge> {
    let keys = if kind.signed { Some(keys(form, scheme(provider, None)?)?) } else { None };
    let proof = || match &keys {
        Some(keys) => verify(keys, &form.request, &form.options, form.now),
        None => Ok(Verified::unsigned()),
    };
    let none = kind.asked(&form.request).err().unwrap_or(Refusal::ChallengeRefused);
    Ok(match handshake::answer(&[kind], &form.request, &form.options, proof) {
        Some(Ok(answer)) => Verdict { refusal: None, secret: None, response: Some(response(&answer)) },
        Some(Err(no)) => {
            Verdict { refusal: Some(no.reason), secret: None, response: Some(json!({ "status": no.status })) }
        }
        None => Verdict { refusal: Some(none), secret: None, response: None },
    })
}

fn response(answer: &Answer) -> Value {
    json!({ "status": answer.status, "headers": answer.headers, "body": answer.body })
}
