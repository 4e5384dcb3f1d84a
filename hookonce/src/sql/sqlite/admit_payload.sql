-- Once a request, however many events it holds.
insert into hookonce_payload (id, target, headers, body) values (?1, ?2, ?3, ?4)
