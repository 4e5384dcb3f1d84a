//! Requests to items.

use super::*;

#[test]
fn a_blank_id_in_a_header_is_unmapped_with_a_reason() {
    let rule = compile(&gh());
    for request in [request("{}"), with_headers(request("{}"), &[("X-GitHub-Delivery", " ")])] {
        assert_eq!(unmapped(&rule, &request), "no key: `header:x-github-delivery` is missing or blank");
    }
}
