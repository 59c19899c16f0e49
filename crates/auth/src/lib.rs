//! Who may do what: signed requests and tokens checked as pure functions. No sockets, no storage.
