//! The text forms of places and templates.

use super::super::Expr;

#[test]
fn texts_have_one_spelling() {
    let table = [
        ("$.id", "$.id"),
        ("header:X-GitHub-Delivery", "header:x-github-delivery"),
        ("query:id", "query:id"),
        ("form:MessageSid", "form:MessageSid"),
        ("form:payload $.action", "form:payload $.action"),
        ("text:ping", "text:ping"),
        ("body-sha256", "body-sha256"),
        ("{Entity}:{Action}", "{$.Entity}:{$.Action}"),
        ("{data.id}", "$.data.id"),
        ("{$.a['}']}.x", "{$.a['}']}.x"),
        ("{header:X-Event}.{form:payload $.a['}']}", "{header:x-event}.{form:payload $.a['}']}"),
        ("{$$.object}:{$^.id}:{body-sha256}", "{$$.object}:{$^.id}:{body-sha256}"),
        ("{{{id}}}", "{{{$.id}}}"),
        ("message:{form:Sid}", "message:{form:Sid}"),
        ("message.received{?form:Sid}", "message.received{?form:Sid}"),
        ("x{?a.b}{?$.a['}']}", "x{?$.a.b}{?$.a['}']}"),
    ];
    for (text, spelled) in table {
        let expr = Expr::parse(text).unwrap_or_else(|e| panic!("{text}: {e}"));
        assert_eq!(expr.to_string(), spelled, "{text}");
        assert_eq!(Expr::parse(spelled).unwrap(), expr);
    }
}

#[test]
fn broken_texts_name_the_byte() {
    let table = [
        ("", 0, "nothing is named here. hint: `$.id`, `header:NAME`, `{Name}`"),
        ("id", 0, "`id` names no place. hint: write `$.id` for a field, `text:id` for a constant"),
        ("{a}:{b", 4, "this `{` is never closed"),
        ("{a}:b}", 5, "`}` closes nothing. hint: write `}}` for the character itself"),
        ("{}", 1, "a name is missing"),
        ("{?}", 2, "a name is missing"),
        ("x{??a}", 3, "one `?` is enough"),
        ("{?a}", 0, "a condition is no value. hint: write text beside it: `message.received{?form:MessageSid}`"),
        ("x{?a", 2, "this `{` is never closed"),
        ("{a-b}", 2, "a name with `-` is written in brackets. hint: `['event-data']`"),
        ("{a}:{$.b-c}", 8, "a name with `-` is written in brackets. hint: `['event-data']`"),
        ("{a}:{$.b[*]}", 5, "`$.b[*]` selects many values, one is needed"),
        ("$.a[*]", 0, "`$.a[*]` selects many values, one is needed"),
        ("header:", 7, "`` is no header name"),
        ("header:a b", 7, "`a b` is no header name"),
        ("form:", 5, "a name is missing"),
        ("form:{x}", 5, "a template names its places in braces. hint: `{header:NAME}:{form:NAME}`"),
        ("form:payload $.a-", 16, "a name with `-` is written in brackets. hint: `['event-data']`"),
        ("form:payload $$.a", 13, "a path into a form field begins with `$`"),
        ("xml:kind", 0, "`xml:` is not built yet"),
        ("{a}:{xml:kind}", 5, "`xml:` is not built yet"),
    ];
    for (text, offset, message) in table {
        let error = Expr::parse(text).unwrap_err();
        assert_eq!((error.offset, error.message.as_str()), (offset, message), "{text}");
    }
}
