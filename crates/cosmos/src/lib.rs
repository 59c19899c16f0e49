//! The NoSQL door: the Azure Cosmos DB REST API over the engine. The only crate that knows that
//! protocol.
