//! The constants of the catalog are what the rest of the product can read: handshakes and schemes that
//! exist, and a default scheme that is not the weaker one.

use hookonce_core::signature::{Algorithm, Hash, catalog, handshake};

#[test]
fn profiles_name_what_exists_and_each_is_found_by_its_id() {
    let mut ids: Vec<&str> = catalog::all().iter().map(|provider| provider.id).collect();
    assert!(ids.is_sorted(), "{ids:?}");
    ids.dedup();
    assert_eq!(ids.len(), catalog::all().len());
    for provider in catalog::all() {
        assert_eq!(catalog::provider(provider.id).map(|p| p.id), Some(provider.id));
        assert!(provider.handshakes.iter().all(|name| handshake::find(name).is_some()), "{}", provider.id);
        assert!(!provider.notes.is_empty() && !provider.methods.is_empty(), "{}", provider.id);
        for scheme in provider.schemes {
            assert_eq!(catalog::scheme(&scheme.name).map(|s| s.name.clone()), Some(scheme.name.clone()));
        }
    }
    assert!(catalog::provider("nobody").is_none() && catalog::scheme("nobody").is_none());
}

#[test]
fn sha1_is_a_default_only_where_the_provider_has_nothing_else() {
    for provider in catalog::all() {
        let variants = provider.schemes.first().map_or(&[][..], |scheme| &scheme.variants);
        let weak = variants.iter().any(|variant| variant.algorithm == Algorithm::Hmac(Hash::Sha1));
        assert_eq!(weak, provider.id == "twilio", "{}", provider.id);
    }
}
