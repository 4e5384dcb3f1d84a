//! What SQL for PostgreSQL may use. A feature that is not on the list is one that a compatible engine may lack, or one on
//! which nothing may rest: extensions, advisory locks, session state, triggers.

/// Functions and forms with parentheses, beside our own (`hookonce.…`).
const CALLS: &str = "abs array_agg bit bool_or btrim cardinality clock_timestamp coalesce concat_ws convert_from \
    convert_to count current_setting decode encode extract floor gen_random_uuid generate_series greatest jsonb_agg \
    jsonb_array_elements jsonb_array_length jsonb_build_array lag lead least left length lower lpad max md5 min \
    nextval nullif octet_length pg_backend_pid pg_current_wal_lsn pg_walfile_name power random regexp_split_to_table \
    row_number set_config setval split_part string_agg string_to_array strpos substr substring sum to_regclass unnest \
    uuid_send";

/// Words that stand before a parenthesis and call nothing.
const WORDS: &str = "all and any array as between by conflict distinct else exists filter for from identity if in \
    include index join key lateral materialized not on or over partition returning row select set some table then union unique \
    using values when where with";

/// Words that are not said at all.
const NEVER: &str = "copy cursor dblink execute extension foreign inherits listen lo_import notify pg_notify prepare \
    references temp temporary trigger unlogged";

/// Where one of them is meant: hints that nothing rests on, and words of grants and of indexes' conditions.
const MEANT: &[(&str, &str)] = &[("listen.sql", "listen"), ("notify.sql", "pg_notify"), ("_functions.sql", "execute")];

/// The one place for PL/pgSQL: what is published.
const FUNCTIONS: &str = "_functions.sql";

/// What a file of SQL says that it may not, each with its line.
pub fn check(file: &str, text: &str) -> Vec<String> {
    let code: Vec<String> = text.lines().map(plain).collect();
    let names = named(&code);
    let lines = code.iter().enumerate().flat_map(|(at, line)| words(line).map(move |two| (at + 1, two)));
    let said = lines.filter_map(|(at, (word, rest))| {
        let what = refused(file, word, rest.starts_with('(') && !names.contains(&word))?;
        Some(format!("{file}:{at}: `{word}`: {what}"))
    });
    said.collect()
}

/// `called`: it stands before a parenthesis and is no name of the file's own.
fn refused(file: &str, word: &str, called: bool) -> Option<&'static str> {
    if MEANT.iter().any(|(end, which)| file.ends_with(end) && *which == word) {
        return None;
    }
    let known = word.starts_with("hookonce.") || has(CALLS, word) || has(WORDS, word);
    match word {
        _ if word.contains("advisory") || has(NEVER, word) => Some("not on the list of what SQL here may use"),
        "plpgsql" if !file.ends_with(FUNCTIONS) => Some("PL/pgSQL is for the published functions only"),
        _ if called && !known => Some("not on the list of what SQL here may call"),
        _ => None,
    }
}

fn has(list: &str, word: &str) -> bool {
    list.split(' ').any(|known| known == word)
}

/// Without comments and texts, in lower case.
fn plain(line: &str) -> String {
    let code = line.split("--").next().unwrap_or_default().to_lowercase();
    code.split('\'').step_by(2).collect::<Vec<_>>().join("''")
}

/// Names that the file itself gives: queries, aliases with columns, parameters.
fn named(code: &[String]) -> Vec<&str> {
    let mut names = Vec::new();
    for line in code {
        let all: Vec<&str> = words(line).map(|(word, _)| word).collect();
        names.extend(all.windows(2).filter(|two| ["as", "with", ")"].contains(&two[0])).map(|two| two[1]));
        // `t as (…)`, and every alias of a list: `a (seq, epoch)`.
        names.extend(all.windows(2).filter(|two| two[1] == "as").map(|two| two[0]));
    }
    names
}

/// Each word with what follows it, blanks left out.
fn words(line: &str) -> impl Iterator<Item = (&str, &str)> {
    let part = |c: char| c.is_alphanumeric() || c == '_' || c == '.' || c == '$';
    let mut rest = line;
    std::iter::from_fn(move || {
        let start = rest.find(part)?;
        let word = &rest[start..];
        let end = word.find(|c| !part(c)).unwrap_or(word.len());
        rest = &word[end..];
        Some((&word[..end], rest.trim_start()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_on_the_list_is_named() {
        for (file, text) in [
            ("a.sql", "create extension pgcrypto"),
            ("a.sql", "select pg_advisory_xact_lock(1)"),
            ("a.sql", "select 1 from t where pg_sleep(1) is null"),
            ("a.sql", "listen hookonce"),
            ("0003_more.sql", "create function hookonce.f() returns void language plpgsql as ''"),
            ("a.sql", "create temp table t (n int)"),
            ("a.sql", "create table t (n int references u)"),
        ] {
            assert!(!check(file, text).is_empty(), "{text}");
        }
    }

    #[test]
    fn what_is_on_it_is_not() {
        for (file, text) in [
            ("listen.sql", "listen hookonce"),
            ("notify.sql", "select pg_notify('hookonce', $1::text)"),
            ("a.sql", "with a as (select count(*) from hookonce.work where seq in (1)) select * from a -- pg_sleep(1)"),
            ("a.sql", "select 'pg_advisory_lock(1)' from unnest($1::int8[]) as u (n)"),
            ("0002_functions.sql", "create function hookonce.f() returns void language plpgsql as ''"),
        ] {
            assert_eq!(check(file, text), [""; 0], "{text}");
        }
    }
}
