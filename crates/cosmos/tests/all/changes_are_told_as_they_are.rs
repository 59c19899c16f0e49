//! Changes of containers and databases in several commits: if one of the commits fails, the
//! response names the resources that exist, and the next start completes or removes the rest.

use crate::client::Client;

/// A number of commits that no tested change reaches.
const COMMITS: u64 = 8;

/// Returns whether a resource exists.
async fn is_there(client: &mut Client, path: &str) -> bool {
    match client.ask("GET", path, &[], "").await.status {
        200 => true,
        404 => false,
        other => panic!("{path}: {other}"),
    }
}

/// Sends a create request of which the `nth` commit fails, and checks the response.
async fn create(client: &mut Client, nth: u64, parent: &str, headers: &[(&str, &str)]) -> bool {
    let id = format!("n{nth}");
    let body = format!(r#"{{"id":"{id}","partitionKey":{{"paths":["/pk"],"kind":"Hash"}}}}"#);
    client.kit.store.lose_nth_commit(nth);
    let answer = client.ask("POST", parent, headers, &body).await;
    client.kit.store.lose_nth_commit(0);
    let there = is_there(client, &format!("{parent}/{id}")).await;
    match answer.status {
        201 => assert!(there, "{nth}: {answer:?}"),
        503 => assert_eq!(answer.body.contains("was created"), there, "{nth}: {answer:?}"),
        other => panic!("{nth}: {other}"),
    }
    answer.status == 201
}

#[tokio::test]
async fn a_creation_whose_throughput_is_refused_says_so() {
    let mut client = Client::new().await;
    let throughput = [("x-ms-offer-throughput", "400")];
    for (parent, headers) in [("/dbs", &throughput[..]), ("/dbs/n8/colls", &[])] {
        let mut created = Vec::new();
        for nth in 1..=COMMITS {
            created.push(create(&mut client, nth, parent, headers).await);
        }
        assert!(!created[0] && created[COMMITS as usize - 1], "{parent}: {created:?}");
    }
}

#[tokio::test]
async fn a_removal_that_took_place_is_told_so() {
    let mut client = Client::with_container("").await;
    let mut removed = Vec::new();
    for nth in 1..=COMMITS {
        let path = "/dbs/d/colls/n0";
        assert!(create(&mut client, 0, "/dbs/d/colls", &[]).await);
        client.kit.store.lose_nth_commit(nth);
        let answer = client.ask("DELETE", path, &[], "").await;
        client.kit.store.lose_nth_commit(0);
        let gone = !is_there(&mut client, path).await;
        assert_eq!(answer.status == 204, gone, "{nth}: {answer:?}");
        removed.push(gone);
        if !gone {
            assert_eq!(client.ask("DELETE", path, &[], "").await.status, 204);
        }
    }
    assert!(!removed[0] && removed[1], "{removed:?}");
    // The cleanup at the server's start removes the offer that the deleted container left behind.
    client.api.upgrade().unwrap().mend().await.unwrap();
    let offers = client.ask("GET", "/offers", &[], "").await;
    assert!(offers.body.contains(r#""_count":1"#), "{offers:?}");
}

#[tokio::test]
async fn a_user_that_gets_another_name_has_one_of_both() {
    let mut client = Client::with_container("").await;
    for nth in 1..=COMMITS {
        let (old, new) = (format!("/dbs/d/users/old{nth}"), format!("/dbs/d/users/new{nth}"));
        let body = |name: &str| format!(r#"{{"id":"{name}{nth}"}}"#);
        let made = client.ask("POST", "/dbs/d/users", &[], &body("old")).await;
        assert_eq!(made.status, 201, "{made:?}");
        client.kit.store.lose_nth_commit(nth);
        let answer = client.ask("PUT", &old, &[], &body("new")).await;
        client.kit.store.lose_nth_commit(0);
        let renamed = is_there(&mut client, &new).await;
        assert_ne!(is_there(&mut client, &old).await, renamed, "{nth}: {answer:?}");
        assert_eq!(answer.status == 200, renamed, "{nth}: {answer:?}");
        // The first commit reserves a number; the second creates the new user and removes the old
        // one.
        assert_eq!(renamed, 2 < nth, "{nth}: {answer:?}");
    }
}
