//! `ebbClock`: the error of setting the database clock back names the current date.

use document::{Value, doc};

use crate::client::{Client, number};

#[tokio::test]
async fn a_move_backwards_is_refused_with_the_date_at_which_the_clock_stands() {
    let mut client = Client::new();
    let set = |ms: i64| doc! { "ebbClock": 1, "set": Value::DateTime(ms), "$db": "admin" };
    assert_eq!(number(&client.run(set(1_900_000_000_000)).await, "ok"), 1);
    let refused = client.run(set(0)).await;
    assert_eq!(number(&refused, "code"), 20, "{refused:?}");
    let want = "the clock never goes back; it stands at 2030-03-17T17:46:40.000Z";
    assert_eq!(refused.get("errmsg"), Some(&want.into()));
}
