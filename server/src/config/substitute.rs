//! `${NAME}` and `${NAME:-default}` inside strings, filled in after parsing, so that a value can never break the
//! syntax. `$${` stands for a literal `${`.

use super::code::Code;
use super::environment::Environment;
use super::near::nearest;
use super::place::Place;
use super::problem::Problem;

#[derive(Debug, PartialEq, Eq)]
pub enum Missing {
    Unset(String),
    Open,
    BadName,
}

/// The text with all variables filled in, or the first one that cannot be.
pub fn substituted(text: &str, env: &Environment) -> Result<String, Missing> {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("${") {
        let (before, inside) = (&rest[..at], &rest[at + 2..]);
        if let Some(plain) = before.strip_suffix('$') {
            out.push_str(plain);
            out.push_str("${");
            rest = inside;
            continue;
        }
        let (reference, after) = inside.split_once('}').ok_or(Missing::Open)?;
        out.push_str(before);
        out.push_str(&value(reference, env)?);
        rest = after;
    }
    out.push_str(rest);
    Ok(out)
}

/// As in a shell, `:-` counts an empty variable as unset.
fn value(reference: &str, env: &Environment) -> Result<String, Missing> {
    let (name, default) = match reference.split_once(":-") {
        Some((name, default)) => (name, Some(default)),
        None => (reference, None),
    };
    if name.is_empty() || !name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
        return Err(Missing::BadName);
    }
    match (env.get(name), default) {
        (Some(value), None) => Ok(value.to_owned()),
        (Some(value), Some(_)) if !value.is_empty() => Ok(value.to_owned()),
        (_, Some(default)) => Ok(default.to_owned()),
        (None, None) => Err(Missing::Unset(name.to_owned())),
    }
}

impl Missing {
    pub fn problem(&self, at: &Place, env: &Environment) -> Problem {
        let literal = "write `$${` for a literal `${`";
        let (text, hint) = match self {
            Missing::Unset(name) => {
                let hint = match nearest(name, env.names()) {
                    Some(near) => format!("did you mean `{near}`? a default is written `${{{name}:-default}}`"),
                    None => format!("set it, or give a default: `${{{name}:-default}}`"),
                };
                (format!("variable `{name}` is not set"), hint)
            }
            Missing::Open => ("`${` without `}`".to_owned(), literal.to_owned()),
            // Not repeated: it may be a piece of a secret that happens to have a `${` in it.
            Missing::BadName => (
                "what stands in `${…}` is no name of a variable".to_owned(),
                format!("names have letters, digits and `_`; {literal}"),
            ),
        };
        Problem::error(Code::UnsetVariable, at, text).hint(hint)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_defaults_and_escapes() {
        let env = Environment::of([("A", "1"), ("EMPTY", "")]);
        for (text, expect) in [
            ("plain {Entity} $.id", Ok("plain {Entity} $.id")),
            ("x${A}y${A}", Ok("x1y1")),
            ("${B:-two}", Ok("two")),
            ("${EMPTY:-two}", Ok("two")),
            ("${EMPTY}", Ok("")),
            ("$${A}", Ok("${A}")),
            ("${B}", Err(Missing::Unset("B".into()))),
            ("${A", Err(Missing::Open)),
            ("${a-b}", Err(Missing::BadName)),
        ] {
            assert_eq!(substituted(text, &env), expect.map(str::to_owned), "{text}");
        }
    }
}
