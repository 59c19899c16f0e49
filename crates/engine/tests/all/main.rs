//! Integration tests of the engine, in one binary so that it is linked once.
#![allow(clippy::unwrap_used, reason = "a failed assumption fails the test")]

mod a_store_is_opened_again;
mod all_collections_at_one_instant;
mod capped_collections;
mod clock_moves_are_durable;
mod clocks_that_end;
mod cluster_times;
mod counters_of_dates;
mod counts_agree_with_what_expires;
mod cursors_go_on_over_expirations;
mod cursors_join_what_lives;
mod databases_that_differ_in_case;
mod dropped_indexes_are_forgotten;
mod drops_are_told_as_they_are;
mod entries_answer_counts;
mod every_rule_is_needed;
mod expirations_are_published_once;
mod expired_documents_stay_expired;
mod indexes_are_built_while_documents_are_written;
mod inserts_begin_again;
mod items;
mod items_are_found_by_index;
mod last_changes;
mod long_keys;
mod long_operations_let_others_run;
mod operations_outlive_their_snapshots;
mod paths_are_kept_on_demand;
mod reaping_is_paused;
mod receipts;
mod records_change_together;
mod rules_of_documents;
mod series_say_what_expires_in_each_step;
mod several_paths;
mod statements_are_committed_together;
mod uses_of_indexes_are_counted;
mod writers_take_turns;
