//! Why a request is not authentic. The names are those of the providers' vectors; outside they all look the same (S10).

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, thiserror::Error)]
#[error("{}", self.name())]
pub enum Refusal {
    MissingHeader,
    MissingField,
    MalformedHeader,
    MalformedSignature,
    MalformedTimestamp,
    MalformedBody,
    SignatureMismatch,
    StaleTimestamp,
    FutureTimestamp,
    BodyHashMismatch,
    UnsupportedAlgorithm,
    UnknownKey,
    UntrustedCertUrl,
    UntrustedCertificate,
    TokenMismatch,
    ClaimMismatch,
    ChallengeRefused,
}

impl Refusal {
    pub const ALL: [Refusal; 17] = [
        Refusal::MissingHeader,
        Refusal::MissingField,
        Refusal::MalformedHeader,
        Refusal::MalformedSignature,
        Refusal::MalformedTimestamp,
        Refusal::MalformedBody,
        Refusal::SignatureMismatch,
        Refusal::StaleTimestamp,
        Refusal::FutureTimestamp,
        Refusal::BodyHashMismatch,
        Refusal::UnsupportedAlgorithm,
        Refusal::UnknownKey,
        Refusal::UntrustedCertUrl,
        Refusal::UntrustedCertificate,
        Refusal::TokenMismatch,
        Refusal::ClaimMismatch,
        Refusal::ChallengeRefused,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Refusal::MissingHeader => "missing_header",
            Refusal::MissingField => "missing_field",
            Refusal::MalformedHeader => "malformed_header",
            Refusal::MalformedSignature => "malformed_signature",
            Refusal::MalformedTimestamp => "malformed_timestamp",
            Refusal::MalformedBody => "malformed_body",
            Refusal::SignatureMismatch => "signature_mismatch",
            Refusal::StaleTimestamp => "stale_timestamp",
            Refusal::FutureTimestamp => "future_timestamp",
            Refusal::BodyHashMismatch => "body_hash_mismatch",
            Refusal::UnsupportedAlgorithm => "unsupported_algorithm",
            Refusal::UnknownKey => "unknown_key",
            Refusal::UntrustedCertUrl => "untrusted_cert_url",
            Refusal::UntrustedCertificate => "untrusted_certificate",
            Refusal::TokenMismatch => "token_mismatch",
            Refusal::ClaimMismatch => "claim_mismatch",
            Refusal::ChallengeRefused => "challenge_refused",
        }
    }

    pub fn parse(name: &str) -> Option<Refusal> {
        Self::ALL.into_iter().find(|r| r.name() == name)
    }
}
