//! What holds for all inputs.

use std::collections::HashMap;

use proptest::prelude::*;
use serde_json::Value;

use super::super::json::{Scanner, Token};
use super::super::{Path, Plan, Root, Step, items, text};
use super::*;

fn json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_filter("finite", |f| f.is_finite()).prop_map(Value::from),
        any::<String>().prop_map(Value::from),
        "[ab]{0,2}".prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 64, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::vec(("[abc]{0,2}|.{0,3}", inner), 0..5)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

/// Every place in a document with the value that a tree has there.
fn places(value: &Value, path: &mut Vec<Step>, all: &mut Vec<(Path, Value)>) {
    all.push((Path { root: Root::Item, steps: path.clone() }, value.clone()));
    match value {
        Value::Array(elements) => {
            for (n, element) in elements.iter().enumerate() {
                path.push(Step::Index(n as u32));
                places(element, path, all);
                path.pop();
            }
        }
        Value::Object(members) => {
            for (name, member) in members {
                path.push(Step::Name(name.clone()));
                places(member, path, all);
                path.pop();
            }
        }
        _ => {}
    }
}

fn text_of(value: &Value) -> Option<Vec<u8>> {
    match value {
        Value::String(text) => Some(text.clone().into_bytes()),
        Value::Number(number) => Some(number.to_string().into_bytes()),
        Value::Bool(flag) => Some(flag.to_string().into_bytes()),
        _ => None,
    }
}

/// The same document with every character of every string escaped.
fn escaped(value: &Value) -> String {
    let string = |text: &str| {
        let units: String = text.encode_utf16().map(|unit| format!("\\u{unit:04x}")).collect();
        format!("\"{units}\"")
    };
    match value {
        Value::String(text) => string(text),
        Value::Array(elements) => format!("[{}]", elements.iter().map(escaped).collect::<Vec<_>>().join(" ,\n")),
        Value::Object(members) => {
            let members: Vec<_> = members.iter().map(|(n, v)| format!("{} :\t{}", string(n), escaped(v))).collect();
            format!("{{{}}}", members.join(" , "))
        }
        other => other.to_string(),
    }
}

fn scan(bytes: &[u8]) -> bool {
    let mut scanner = Scanner::document(bytes);
    loop {
        match scanner.advance() {
            Ok(Token::End) => return true,
            Ok(_) => {}
            Err(_) => return false,
        }
    }
}

/// Bytes that look like JSON often enough to come far into the scanner.
fn almost_json() -> impl Strategy<Value = Vec<u8>> {
    let token = prop_oneof![
        prop::sample::select(vec![
            "{", "}", "[", "]", ",", ":", "\"", "\"a\"", "\"id\":", "1", "-0.5e9", "true", "null", "\\", "\\u00",
            "\\ud83d", " "
        ])
        .prop_map(|s| s.as_bytes().to_vec()),
        any::<u8>().prop_map(|b| vec![b]),
    ];
    prop::collection::vec(token, 0..60).prop_map(|tokens| tokens.concat())
}

fn everything() -> Vec<Rule> {
    let wide = RuleSpec {
        key: list(&["{$.id}:{$^.id}:{$$.id}", "form:a", "form:a $.b", "query:c", "header:d", "{$.a[0]['b']}"]),
        kind: list(&["{$.t}.{body-sha256}"]),
        aggregate: list(&["{$.a}-{$.b}", "$.a"]),
        time: list(&["$.t", "form:t"]),
        volatile: list(&["$.v", "$[*].id", "form:a"]),
        require: list(&["$.id"]),
        ..RuleSpec::default()
    };
    let batch = RuleSpec { items: list(&["$.a[*].b", "$[*]", "$.*.a[*]"]), ..wide.clone() };
    let canonical = RuleSpec { fingerprint: Some(super::super::Fingerprint::Canonical), ..wide.clone() };
    let canonical_batch = RuleSpec { fingerprint: canonical.fingerprint, ..batch.clone() };
    [wide, batch, canonical, canonical_batch, gh(), st(), sw()].iter().map(compile).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, ..ProptestConfig::default() })]

    #[test]
    fn the_scanner_takes_what_serde_json_takes(bytes in prop_oneof![almost_json(), prop::collection::vec(any::<u8>(), 0..80)]) {
        if serde_json::from_slice::<Value>(&bytes).is_ok() {
            prop_assert!(scan(&bytes));
        } else if bytes.is_ascii() && !bytes.iter().any(|b| b.is_ascii_control()) && scan(&bytes) {
            // What is taken beyond it: numbers too large for a float, surrogates without a partner.
            let why = serde_json::from_slice::<Value>(&bytes).unwrap_err().to_string();
            prop_assert!(why.contains("number out of range") || why.contains("surrogate") || why.contains("hex escape"), "{}", why);
        }
    }

    #[test]
    fn nothing_panics_on_hostile_bytes(bytes in prop_oneof![almost_json(), prop::collection::vec(any::<u8>(), 0..200)], query in any::<String>()) {
        let mut request = with_headers(request(&bytes), &[("d", "x")]);
        request.target = query;
        for rule in everything() {
            for mapped in items(&rule, &request).unwrap() {
                if let Mapped::Item(item) = mapped {
                    let (start, end) = item.span.unwrap_or((0, bytes.len() as u64));
                    prop_assert!(start <= end && end <= bytes.len() as u64);
                    for text in [Some(item.kind), item.aggregate, item.version, Some(item.key.text)].into_iter().flatten() {
                        prop_assert!(!text.chars().any(char::is_control));
                    }
                }
            }
        }
    }

    #[test]
    fn every_value_is_found_where_a_tree_has_it(document in json(), all_escaped in any::<bool>()) {
        let written = if all_escaped { escaped(&document) } else { document.to_string() };
        let mut all = Vec::new();
        places(&document, &mut Vec::new(), &mut all);
        let mut plan = Plan::default();
        let slots: Vec<_> = all.iter().map(|(path, _)| plan.slot(path)).collect();
        let found = plan.document(written.as_bytes()).unwrap();
        for ((path, value), slot) in all.iter().zip(slots) {
            let at = found.slots[slot].unwrap_or_else(|| panic!("{path} in {written}"));
            prop_assert_eq!(text::of(&at, written.as_bytes()).map(|t| t.into_owned()), text_of(value));
            let expected = if all_escaped { escaped(value) } else { value.to_string() };
            prop_assert_eq!(at.span.of(written.as_bytes()), expected.as_bytes());
            prop_assert_eq!(&Path::parse(&path.to_string()).unwrap(), path);
        }
    }

    /// Values that stay as they are, and the spelling of everything else changed.
    #[test]
    fn canonical_is_blind_for_spelling(document in json()) {
        let rule = compile(&RuleSpec { fingerprint: Some(super::super::Fingerprint::Canonical), ..keyed("body-sha256") });
        let plain = item(&rule, &request(document.to_string()));
        let other = item(&rule, &request(escaped(&document)));
        prop_assert_eq!(plain.fingerprint, other.fingerprint);
    }

    #[test]
    fn canonical_tells_documents_apart(one in json(), two in json()) {
        let rule = compile(&RuleSpec { fingerprint: Some(super::super::Fingerprint::Canonical), ..keyed("body-sha256") });
        let print = |document: &Value| item(&rule, &request(document.to_string())).fingerprint;
        let (first, second) = (one.to_string(), two.to_string());
        prop_assert_eq!(first == second || sorted(&one) == sorted(&two), print(&one) == print(&two));
    }

    #[test]
    fn key_and_aggregate_never_collide(lists in prop::collection::vec(prop::collection::vec("[a:\\\\#-]{1,3}", 1..4), 2..12)) {
        let mut keys = HashMap::new();
        let mut aggregates = HashMap::new();
        for parts in &lists {
            let template = ["{a}", "{a}:{b}", "{a}:{b}:{c}"][parts.len() - 1];
            let rule = compile(&RuleSpec { aggregate: list(&[template]), ..keyed(template) });
            let body: serde_json::Map<_, _> = ["a", "b", "c"].iter().zip(parts).map(|(n, v)| ((*n).to_owned(), Value::from(v.as_str()))).collect();
            let item = item(&rule, &request(Value::Object(body).to_string()));
            prop_assert_eq!(keys.entry(item.digest).or_insert(parts), &parts);
            prop_assert_eq!(aggregates.entry(item.aggregate.unwrap()).or_insert(parts), &parts);
        }
    }

    /// Several values inside one part do not slide either.
    #[test]
    fn values_of_one_part_do_not_slide(one in ["[a#:\\\\]{1,4}", "[a#:\\\\]{1,4}"], two in ["[a#:\\\\]{1,4}", "[a#:\\\\]{1,4}"]) {
        for template in ["{a}#{b}", "{a}{b}", "{a}##{b}", "x{a}#:{b}"] {
            let rule = compile(&RuleSpec { aggregate: list(&[template]), ..keyed(template) });
            let of = |values: &[String; 2]| {
                let body = serde_json::json!({ "a": values[0], "b": values[1] });
                let item = item(&rule, &request(body.to_string()));
                (item.aggregate, item.digest)
            };
            let (first, second) = (of(&one), of(&two));
            prop_assert_eq!(one == two, first.0 == second.0, "{} {:?} {:?}", template, first, second);
            prop_assert_eq!(one == two, first.1 == second.1);
        }
    }

    /// Whatever stands at a volatile place, the fingerprint is the same; whatever changes elsewhere, it is not.
    #[test]
    fn volatile_values_do_not_count(document in json(), one in json(), two in json()) {
        let rule = compile(&RuleSpec { volatile: list(&["$.v", "$.w[*].v"]), ..keyed("body-sha256") });
        let print = |v: &Value, rest: &Value| {
            let body = format!(r#"{{"rest":{rest},"v":{v},"w":[{{"v":{v}}},{{"v":{v},"x":1}}]}}"#);
            item(&rule, &request(body)).fingerprint
        };
        prop_assert_eq!(print(&one, &document), print(&two, &document));
        let (first, second) = (one.to_string(), two.to_string());
        if first != second {
            prop_assert_ne!(print(&document, &one), print(&document, &two));
        }
    }
}

/// A document with the members of all its objects in order.
fn sorted(value: &Value) -> Value {
    match value {
        Value::Array(elements) => elements.iter().map(sorted).collect(),
        Value::Object(members) => {
            let mut members: Vec<_> = members.iter().map(|(n, v)| (n.clone(), sorted(v))).collect();
            members.sort_by(|a, b| a.0.cmp(&b.0));
            Value::Object(members.into_iter().collect())
        }
        other => other.clone(),
    }
}
