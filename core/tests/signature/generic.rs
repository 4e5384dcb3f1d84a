//! `verify = { hmac = … }`: what a configuration can write and no provider of the catalog needs.

use bytes::Bytes;
use hookonce_core::request::{Headers, Request};
use hookonce_core::signature::{
    Carrier, Encoding, Hash, Keys, Options, Parts, Refusal, Scheme, Secret, SignError, sign, verify,
};

fn request(target: &str) -> Request {
    let body = Bytes::from_static(br#"{"id":"7"}"#);
    Request {
        received: 0,
        method: http::Method::POST,
        target: target.to_owned(),
        url: format!("https://hooks.example.com{target}"),
        headers: Headers::default(),
        decoded: body.clone(),
        body,
    }
}

fn keys(hash: Hash, carrier: Carrier, encoding: Encoding) -> Keys {
    let scheme = Scheme::hmac("own".into(), hash, carrier, "".into(), encoding, "{body}".into());
    Keys::new(&scheme, &[Secret::new("a", "generic-secret")]).expect("keys")
}

/// Computed with Python's `hmac` over the same body and secret.
const EXPECTED: [(Hash, [&str; 3]); 4] = [
    (
        Hash::Sha1,
        ["8190698d9bf593b5c603840623fc0f2ac39fce59", "gZBpjZv1k7XGA4QGI/wPKsOfzlk=", "gZBpjZv1k7XGA4QGI_wPKsOfzlk"],
    ),
    (
        Hash::Sha256,
        [
            "b85d89276c76db26c2dfb8b653ef5785de3aaf67501f55733d71c2349c93cf40",
            "uF2JJ2x22ybC37i2U+9Xhd46r2dQH1VzPXHCNJyTz0A=",
            "uF2JJ2x22ybC37i2U-9Xhd46r2dQH1VzPXHCNJyTz0A",
        ],
    ),
    (
        Hash::Sha384,
        [
            "9e5d9d76d47bae568fd2ebdc1d17cee7222e8fd77a636180e86499b5a79e062009c0b717cd11864eb0a8fb8e8cfdf260",
            "nl2ddtR7rlaP0uvcHRfO5yIuj9d6Y2GA6GSZtaeeBiAJwLcXzRGGTrCo+46M/fJg",
            "nl2ddtR7rlaP0uvcHRfO5yIuj9d6Y2GA6GSZtaeeBiAJwLcXzRGGTrCo-46M_fJg",
        ],
    ),
    (
        Hash::Sha512,
        [
            "41e99fe702436704ec4faecdf3bec74e09615fad604a5e3b1f48237b5c842b7becb7469ca10a37574580c286cf349ad4b00ee2c516b466fdc269b920eca55eed",
            "Qemf5wJDZwTsT67N877HTglhX61gSl47H0gje1yEK3vst0acoQo3V0WAwobPNJrUsA7ixRa0Zv3Cabkg7KVe7Q==",
            "Qemf5wJDZwTsT67N877HTglhX61gSl47H0gje1yEK3vst0acoQo3V0WAwobPNJrUsA7ixRa0Zv3Cabkg7KVe7Q",
        ],
    ),
];

#[test]
fn every_hash_in_every_encoding() {
    let encodings = [Encoding::Hex, Encoding::Base64, Encoding::Base64Url];
    for (hash, texts) in EXPECTED {
        for (encoding, text) in encodings.into_iter().zip(texts) {
            let keys = keys(hash, Carrier::Header("X-Signature".into()), encoding);
            let mut signed = request("/in/x");
            let headers = sign(&keys, &Parts::of(&signed), 0).expect("a signature");
            assert_eq!(headers, [("x-signature".parse().expect("a name"), text.parse().expect("a value"))]);
            signed.headers.0.extend(headers);
            assert!(verify(&keys, &signed, &Options::default(), 0).is_ok());
            for (other, others) in EXPECTED.iter().filter(|(other, _)| *other != hash) {
                signed.headers.0[0].1 = others[0].parse().expect("a value");
                assert!(verify(&keys, &signed, &Options::default(), 0).is_err(), "{other:?} for {hash:?}");
            }
        }
    }
}

#[test]
fn a_signature_in_the_query_stands_there_once() {
    let keys = keys(Hash::Sha1, Carrier::Query("sig".into()), Encoding::Base64);
    let found = |target: &str| verify(&keys, &request(target), &Options::default(), 0).map(|_| ());
    assert_eq!(found("/in/x?a=1&sig=gZBpjZv1k7XGA4QGI%2FwPKsOfzlk%3D&b=2"), Ok(()));
    assert_eq!(found("/in/x?sig=gZBpjZv1k7XGA4QGI/wPKsOfzlk="), Ok(()));
    assert_eq!(found("/in/x"), Err(Refusal::MissingField));
    assert_eq!(found("/in/x?sig=&b=2"), Err(Refusal::MissingField));
    assert_eq!(found("/in/x?sig=%20"), Err(Refusal::MissingField));
    assert_eq!(found("/in/x?sig=gZBpjZv1k7XGA4QGI/wPKsOfzlk=&sig=1"), Err(Refusal::MalformedHeader));
    assert_eq!(found("/in/x?sig=gZBpjZv1k7XGA4QGI/wPKsOfzlk"), Err(Refusal::MalformedSignature));
    assert_eq!(found("/in/x?sig=%ff"), Err(Refusal::MalformedSignature));
    assert_eq!(found("/in/x?sig=gZBpjZv1k7XGA4QGI/wPKsOfzlA="), Err(Refusal::SignatureMismatch));
    assert_eq!(sign(&keys, &Parts::of(&request("/in/x")), 0), Err(SignError::InUrl));
}
