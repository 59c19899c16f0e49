//! The engine from outside: one program, so that it is linked once.
#![allow(clippy::unwrap_used, reason = "a failed assumption fails the test")]

mod a_store_is_opened_again;
mod all_collections_at_one_instant;
mod books_of_dates;
mod counts_agree_with_what_dies;
mod cursors_go_on_over_deaths;
mod cursors_join_what_lives;
mod dead_documents_stay_dead;
mod deaths_are_told_once;
mod dropped_indexes_are_forgotten;
mod every_rule_is_needed;
mod indexes_are_built_while_documents_are_written;
mod items;
mod items_are_found_by_index;
mod long_operations_let_others_run;
mod series_tell_what_dies_in_each_step;
