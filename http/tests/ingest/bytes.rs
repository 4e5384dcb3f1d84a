//! What is signed, stored and compared are the bytes that came (F01, F02, F03).

use std::io::Write as _;

use flate2::Compression;
use flate2::write::{GzEncoder, ZlibEncoder};
use hookonce_core::signature::{Keys, Secret, catalog};
use hookonce_http::{SignatureOver, Source, Verification};
use sha2::{Digest as _, Sha256};

use crate::bed::{Bed, SECRET_A, gh, request, signature};

const F01: [(&[u8], &str); 5] = [
    (
        b"{\"id\": 1,  \"b\":2.0,\"a\":\"x\"}\r\n",
        "sha256=217ad34e917eb94a909c9c302d845e3699519a0a40898fecc66c23b017e32cd1",
    ),
    ("{\"t\":\"😀 ñ …\"}".as_bytes(), "sha256=04cb4f478acb5b62c07dd67a22c6d95247dfd137ff2d91035b9ddf57cea461ee"),
    (
        br#"{"t":"\ud83d\ude00 \u00f1 \u2026"}"#,
        "sha256=d8be4f57341ed4fc7adbba06eac5cc0b03bac3bb6b399015122201414941f829",
    ),
    (b"{\"t\":\"a\xe2\x80\xa8b\"}", "sha256=86bfb6d3beec3765170c12a02c00e1a9440e45f2806f28fa57ff6ed3c731218e"),
    (br#"{"t":"a\u2028b"}"#, "sha256=16dcd3a961f435852cdc5d3b8afb73814f1aa5b5e8463ab8d2c9c776eea5e945"),
];

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

async fn send(bed: &Bed, id: &str, extra: &[(&str, &str)], body: &[u8], signature: &str) -> u16 {
    let mut headers = vec![("X-GitHub-Delivery", id), ("X-GitHub-Event", "push"), ("X-Hub-Signature-256", signature)];
    headers.extend_from_slice(extra);
    bed.post("/in/gh", &headers, body).await.status
}

#[tokio::test]
async fn f01_a_body_is_verified_and_stored_as_it_came() {
    let bed = Bed::new(vec![gh()]);
    let json = [("Content-Type", "application/json")];
    for (n, (body, signature)) in F01.iter().enumerate() {
        assert_eq!(send(&bed, &format!("d-{n}"), &json, body, signature).await, 200, "body {n}");
    }
    let stored: Vec<_> = bed.memory.stored().into_iter().map(|s| s.body.to_vec()).collect();
    assert_eq!(stored, F01.map(|(body, _)| body.to_vec()));
    let hash = hex(&Sha256::digest(&stored[0]));
    assert_eq!(hash, "2ec8c5021b7b8142cd59ee44742d61db1938858199d0cff443af8308102271a0");

    assert_eq!(send(&bed, "d-9", &json, F01[1].0, F01[2].1).await, 401, "equal JSON is not equal bytes");
    assert_eq!(bed.memory.stored().len(), 5);
}

#[tokio::test]
async fn f02_a_form_is_signed_as_a_form() {
    let bed = Bed::new(vec![gh()]);
    let form = [("Content-Type", "application/x-www-form-urlencoded; charset=utf-8")];
    let first = b"payload=%7B%22zen%22%3A%22a+b%2Bc%26d+%C3%A9%22%7D";
    let second = b"payload=%7B%22zen%22%3A%22a%20b%2Bc%26d%20%C3%A9%22%7D";
    let of_first = "sha256=7c221d505a923c6065d7b85a29bd2052693214a5b6505188708e440b0ec0a2fb";
    let of_second = "sha256=03c4d44b8ed60adca3e23f651004d0579d3fcf1bc37be3291e4699677af722da";
    assert_eq!(send(&bed, "d-1", &form, first, of_first).await, 200);
    assert_eq!(send(&bed, "d-2", &form, second, of_first).await, 401);
    assert_eq!(send(&bed, "d-3", &form, second, of_second).await, 200);
    let stored: Vec<_> = bed.memory.stored().into_iter().map(|s| s.body.to_vec()).collect();
    assert_eq!(stored, [first.to_vec(), second.to_vec()]);
}

const PLAIN: &[u8] = br#"{"id":"evt_gz_1","type":"t","data":{"object":{"id":"agg_1"}},"created":1767225600}"#;
const PLAIN_SIGNATURE: &str = "sha256=17f4cbb1af75374ff7143506c8b7e9fee4a799b1e4e474ae9018bb0f484cc40f";

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn deflate(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

#[tokio::test]
async fn f03_what_is_compared_is_decoded() {
    let mut source = gh();
    source.signature_over = SignatureOver::Decoded;
    let bed = Bed::new(vec![source]);
    let coded = gzip(PLAIN);
    let zipped = [("Content-Encoding", "gzip")];
    assert_eq!(send(&bed, "z-1", &zipped, &coded, PLAIN_SIGNATURE).await, 200);
    assert_eq!(send(&bed, "z-1", &[("Content-Encoding", " GZIP ")], &coded, PLAIN_SIGNATURE).await, 200);
    assert_eq!(send(&bed, "z-1", &[], PLAIN, PLAIN_SIGNATURE).await, 200);
    assert_eq!(send(&bed, "z-1", &[("Content-Encoding", "deflate")], &deflate(PLAIN), PLAIN_SIGNATURE).await, 200);
    assert_eq!(bed.memory.events(), 1, "three copies of one event");
    let stored = bed.memory.stored();
    assert!(stored.iter().all(|s| s.body == PLAIN && s.headers.get("content-encoding").is_none()));

    let zeros = vec![0; 50 * 1024 * 1024];
    assert_eq!(send(&bed, "z-2", &zipped, &gzip(&zeros), &signature(&zeros)).await, 413);
    assert_eq!(send(&bed, "z-3", &zipped, &coded[..40], PLAIN_SIGNATURE).await, 400);
    assert_eq!(send(&bed, "z-3", &zipped, &[&coded, &b"more"[..]].concat(), PLAIN_SIGNATURE).await, 400);
    assert_eq!(send(&bed, "z-4", &[("Content-Encoding", "zz9")], PLAIN, PLAIN_SIGNATURE).await, 415);
    assert_eq!(send(&bed, "z-4", &[("Content-Encoding", "gzip, gzip")], &coded, PLAIN_SIGNATURE).await, 415);
    assert_eq!(bed.memory.stored().len(), 4);
}

#[tokio::test]
async fn f03_7_what_is_signed_on_the_wire_is_stored_so_and_read_decoded() {
    let bed = Bed::new(vec![gh()]);
    let coded = gzip(PLAIN);
    let zipped = [("Content-Encoding", "gzip")];
    assert_eq!(send(&bed, "z-5", &zipped, &coded, &signature(&coded)).await, 200);
    let stored = bed.memory.stored();
    assert_eq!((&stored[0].body[..], stored[0].headers.get("content-encoding")), (&coded[..], Some(&b"gzip"[..])));

    let again = gzip(PLAIN).into_iter().chain(gzip(b"")).collect::<Vec<_>>();
    assert_eq!(send(&bed, "z-5", &zipped, &again, &signature(&again)).await, 200);
    assert_eq!(bed.memory.events(), 1, "the same content, however it was packed");

    let zeros = gzip(&vec![0; 50 * 1024 * 1024]);
    assert_eq!(send(&bed, "z-6", &zipped, &zeros, &signature(PLAIN)).await, 401, "not decoded for a stranger");
    assert_eq!(send(&bed, "z-6", &zipped, &zeros, &signature(&zeros)).await, 413);
}

#[tokio::test]
async fn what_a_secret_is_bound_to_is_read_decoded() {
    let bound =
        |kind: &str| Secret { when: vec![("$.type".to_owned(), kind.to_owned())], ..Secret::new(kind, SECRET_A) };
    let keys = Keys::new(catalog::GITHUB.schemes[0], &[bound("u"), bound("t")]).unwrap();
    let bed = Bed::new(vec![Source { verification: Verification::Keys(Box::new(keys)), ..gh() }]);
    let zipped = [("Content-Encoding", "gzip")];
    let coded = gzip(PLAIN);
    assert_eq!(send(&bed, "z-7", &zipped, &coded, &signature(&coded)).await, 200);
    assert_eq!(bed.memory.stored()[0].secret.as_deref(), Some("t"), "the second name of the same secret");
    let other = gzip(br#"{"type":"x"}"#);
    assert_eq!(send(&bed, "z-8", &zipped, &other, &signature(&other)).await, 401);
    let zeros = gzip(&vec![0; 50 * 1024 * 1024]);
    assert_eq!(send(&bed, "z-9", &zipped, &zeros, &signature(PLAIN)).await, 401, "not decoded for a stranger");
}

#[tokio::test]
async fn headers_keep_their_order_and_repeats_and_lose_what_is_secret() {
    let bed = Bed::new(vec![gh()]);
    let signature = signature(b"{}");
    let headers = [
        ("X-Hub-Signature-256", &*signature),
        ("X-Zulu", "1"),
        ("Authorization", "Bearer secret"),
        ("X-GitHub-Delivery", "d-1"),
        ("Cookie", "session=secret"),
        ("X-Alpha", "a"),
        ("X-GitHub-Event", "push"),
        ("X-Alpha", "b"),
    ];
    assert_eq!(bed.ask(&request("POST", "/in/gh?b=2&a=%20", &headers, b"{}")).await.status, 200);
    let stored = bed.memory.stored();
    assert_eq!(stored[0].target, "POST /in/gh?b=2&a=%20");
    let names: Vec<_> = stored[0].headers.0.iter().map(|(n, v)| format!("{n}: {}", v.to_str().unwrap())).collect();
    let wanted = [
        "host: hooks.test",
        &format!("x-hub-signature-256: {signature}"),
        "x-zulu: 1",
        "x-github-delivery: d-1",
        "x-alpha: a",
        "x-alpha: b",
        "x-github-event: push",
        "content-length: 2",
    ];
    assert_eq!(names, wanted);
}
