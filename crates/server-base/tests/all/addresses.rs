//! Addresses on which a server cannot listen.

use server::start;
use server_base::{config::Config, failure::Failure};

#[tokio::test]
async fn a_server_names_the_flag_of_the_address_that_is_taken() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let config = Config { mongo_addr: Some(address.clone()), ..Config::for_tests() };
    let refused = start(&config).await.map(drop).unwrap_err();
    assert!(matches!(refused, Failure::Failed(_)), "{refused:?}");
    let wanted = format!("--mongo-addr {address} is in use: stop what listens there");
    assert!(refused.to_string().starts_with(&wanted), "{refused}");
}

#[tokio::test]
async fn a_server_with_nothing_to_listen_on_is_refused() {
    let off =
        Config { mongo_addr: None, cosmos_addr: None, admin_addr: None, ..Config::for_tests() };
    let refused = start(&off).await.map(drop).unwrap_err();
    assert!(matches!(refused, Failure::Usage(_)), "{refused:?}");
    assert!(refused.to_string().starts_with("every address is off: give one of"), "{refused}");
}
