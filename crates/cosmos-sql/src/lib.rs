//! The NoSQL query language: text in, plan out. It evaluates nothing, does no I/O and knows no
//! store.
