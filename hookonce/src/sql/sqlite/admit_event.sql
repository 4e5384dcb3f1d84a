-- The id is dense, from the counter that the same commit writes, so it is the position in the log as well.
insert into hookonce_event (id, namespace, kind, key, key_text, variant, rule, source, type, aggregate, version,
  event_time, schema_version, received, payload, span_start, span_end, item, digest, fingerprint, body_hash, secret,
  provider_delivery, attempt_mark, origin, parent, hold_reason, guard)
values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22, ?23, ?24,
  ?25, ?26, ?27, ?28)
