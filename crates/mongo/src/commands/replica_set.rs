//! `replSetGetStatus`, `replSetGetConfig`, `replSetInitiate` and `replSetReconfig`, and the fields
//! of handshakes and of `serverStatus` that only a member of a replica set has. The set has one
//! member, this server, which is always the primary.
//!
//! ```text
//! {replSetInitiate: {_id: "rs0", members: [{_id: 0, host: "db:27017"}]}}    => {ok: 1}
//! again                                                                     => 23 already initialized
//! ```
//!
//! The set works before it is initiated. Tools that start a server run `replSetInitiate` once, and
//! drivers connect to the address in it from then on, unless a setting gives it.

use document::{DocBuf, DocRef, Document, Number, Value, ValueRef, array, doc};
use engine::ClusterTime;

use crate::{
    call::Call,
    errors::{
        Error, InvalidReplicaSetConfig, NewReplicaSetConfigurationIncompatible,
        NoReplicationEnabled, Result,
    },
    replica_set::{Member, ReplicaSet},
    replies::ok,
};

pub(super) const RECONFIG_FIELDS: &[&str] = &["force", "maxTimeMS"];

/// State of a primary in `replSetGetStatus`.
const PRIMARY: i32 = 1;
/// Interval of heartbeats in a new configuration, in milliseconds. No heartbeat is sent.
const HEARTBEAT_MS: i32 = 2000;

/// Returns the replica set; fails with 76 if the server is not a member of one, by which tools
/// detect a standalone server.
fn expect_set<'a>(call: &Call<'a>) -> Result<&'a ReplicaSet> {
    let set = call.api.replica_set.as_ref();
    set.ok_or_else(|| Error::new(NoReplicationEnabled, "not running with --replSet"))
}

/// Returns the position of a commit: its cluster time and the term.
fn op_time(time: ClusterTime, term: i64) -> Document {
    doc! { "ts": Value::Timestamp(time.timestamp()), "t": term }
}

/// Returns the second of a cluster time as a date.
fn date_of(time: ClusterTime) -> Value {
    Value::DateTime(i64::from(time.seconds()) * 1000)
}

/// Adds the fields of the only member of a set to the reply of a handshake.
pub(super) fn push_member(reply: &mut Document, name: &str, version: i32, address: &str) {
    reply.push("setName", name);
    reply.push("setVersion", version);
    reply.push("secondary", false);
    reply.push("hosts", array![address]);
    reply.push("primary", address);
    reply.push("me", address);
}

/// Adds the fields of this server's set to the reply of a handshake.
pub(super) fn push_set(call: &Call<'_>, set: &ReplicaSet, reply: &mut Document) {
    let (member, time) = (set.member(), call.api.engine.cluster_time());
    push_member(reply, set.name(), member.version, &member.host);
    reply.push("electionId", Value::ObjectId(member.election_id()));
    let last = op_time(time, member.term);
    let written = doc! {
        "opTime": last.clone(),
        "lastWriteDate": date_of(time),
        "majorityOpTime": last,
        "majorityWriteDate": date_of(time),
    };
    reply.push("lastWrite", written);
}

/// Returns the section `repl` of `serverStatus`.
pub(super) fn status_section(call: &Call<'_>, set: &ReplicaSet) -> Document {
    let mut section = doc! { "ismaster": true };
    push_set(call, set, &mut section);
    section.push("rbid", 1);
    section
}

/// Runs `replSetGetStatus`: describes the set with its single member, the primary.
pub(super) async fn status(call: &Call<'_>) -> Result<DocBuf> {
    let set = expect_set(call)?;
    let (member, now) = (set.member(), call.api.engine.now().await?);
    let time = call.api.engine.cluster_time();
    let uptime = clock::monotonic_time().saturating_sub(call.api.started).as_secs();
    let (last, wall) = (op_time(time, member.term), date_of(time));
    let primary = doc! {
        "_id": 0,
        "name": member.host.as_str(),
        "health": 1.0,
        "state": PRIMARY,
        "stateStr": "PRIMARY",
        "uptime": i32::try_from(uptime).unwrap_or(i32::MAX),
        "optime": last.clone(),
        "optimeDate": wall.clone(),
        "lastAppliedWallTime": wall.clone(),
        "lastDurableWallTime": wall.clone(),
        "syncSourceHost": "",
        "syncSourceId": -1,
        "infoMessage": "",
        "electionTime": Value::Timestamp(member.elected.timestamp()),
        "electionDate": date_of(member.elected),
        "configVersion": member.version,
        "configTerm": i32::try_from(member.term).unwrap_or(i32::MAX),
        "self": true,
        "lastHeartbeatMessage": "",
    };
    ok(doc! {
        "set": set.name(),
        "date": Value::DateTime(now.ms),
        "myState": PRIMARY,
        "term": member.term,
        "syncSourceHost": "",
        "syncSourceId": -1,
        "heartbeatIntervalMillis": i64::from(HEARTBEAT_MS),
        "majorityVoteCount": 1,
        "writeMajorityCount": 1,
        "votingMembersCount": 1,
        "writableVotingMembersCount": 1,
        "optimes": doc! {
            "lastCommittedOpTime": last.clone(),
            "lastCommittedWallTime": wall.clone(),
            "readConcernMajorityOpTime": last.clone(),
            "appliedOpTime": last.clone(),
            "durableOpTime": last,
            "lastAppliedWallTime": wall.clone(),
            "lastDurableWallTime": wall,
        },
        "lastStableRecoveryTimestamp": Value::Timestamp(time.timestamp()),
        "members": Value::Array(vec![primary.into()]),
    })
}

/// Runs `replSetGetConfig`: returns the configuration with its single member.
pub(super) async fn config(call: &Call<'_>) -> Result<DocBuf> {
    let set = expect_set(call)?;
    ok(doc! { "config": shown_config(set.name(), &set.member()) })
}

fn shown_config(name: &str, member: &Member) -> Document {
    let only = doc! {
        "_id": 0,
        "host": member.host.as_str(),
        "arbiterOnly": false,
        "buildIndexes": true,
        "hidden": false,
        "priority": 1,
        "tags": doc! {},
        "secondaryDelaySecs": 0_i64,
        "votes": 1,
    };
    doc! {
        "_id": name,
        "version": member.version,
        "term": i32::try_from(member.term).unwrap_or(i32::MAX),
        "members": Value::Array(vec![only.into()]),
        "protocolVersion": 1_i64,
        "writeConcernMajorityJournalDefault": true,
        "settings": doc! {
            "chainingAllowed": true,
            "heartbeatIntervalMillis": HEARTBEAT_MS,
            "heartbeatTimeoutSecs": 10,
            "electionTimeoutMillis": 10_000,
            "catchUpTimeoutMillis": -1,
            "catchUpTakeoverDelayMillis": 30_000,
            "getLastErrorModes": doc! {},
            "getLastErrorDefaults": doc! { "w": 1, "wtimeout": 0 },
            "replicaSetId": Value::ObjectId(member.set_id),
        },
    }
}

/// Runs `replSetInitiate`. Fails with 93 if the configuration is of another set or has several
/// members, and with 23 if the set was initiated before.
pub(super) async fn initiate(call: &Call<'_>) -> Result<DocBuf> {
    let set = expect_set(call)?;
    let config = call.body.get(call.name).and_then(ValueRef::as_document);
    let host = match config.filter(|config| !config.is_empty()) {
        Some(config) => Some(only_host(set, config, InvalidReplicaSetConfig)?),
        None => None,
    };
    set.initiate(&call.api.engine, host).await?;
    ok(doc! {})
}

/// Runs `replSetReconfig`, which may change the address of the only member.
///
/// Fails with 103 if the configuration is of another set, has several members, or has a version
/// that is not larger than the present one; the version is not checked if `force` is given.
pub(super) async fn reconfigure(call: &Call<'_>) -> Result<DocBuf> {
    let set = expect_set(call)?;
    let config = call.args().need_document(call.name)?;
    let incompatible = NewReplicaSetConfigurationIncompatible;
    let host = only_host(set, config, incompatible)?;
    let is_forced = call.args().lax_bool("force")?.unwrap_or(false);
    let version = config.get("version").and_then(Number::of).and_then(Number::to_i64_exact);
    let version = version.and_then(|version| i32::try_from(version).ok());
    let choose = |member: &Member| {
        let next = member.version.saturating_add(1);
        let newer = version.filter(|version| next <= *version);
        match newer {
            Some(version) => Ok((version, host)),
            None if is_forced => Ok((next, host)),
            None => {
                let message = format!(
                    "the version of the new configuration must be larger than {}",
                    member.version
                );
                Err(Error::new(incompatible, message))
            }
        }
    };
    set.reconfigure(&call.api.engine, choose).await?;
    ok(doc! {})
}

/// Returns the address of the only member in a configuration of this set; fails with `code` for any
/// other configuration.
fn only_host(set: &ReplicaSet, config: DocRef<'_>, code: i32) -> Result<String> {
    if config.get("_id").and_then(ValueRef::as_str) != Some(set.name()) {
        let message = format!("the '_id' of the configuration must be '{}'", set.name());
        return Err(Error::new(code, message));
    }
    let members = config.get("members").and_then(ValueRef::as_array);
    let mut members = members.into_iter().flat_map(|members| members.iter());
    let host = match (members.next(), members.next()) {
        (Some(ValueRef::Document(only)), None) => only.get("host").and_then(ValueRef::as_str),
        _ => None,
    };
    let is_address = |host: &&str| {
        let port = host.rsplit_once(':').map(|(host, port)| (host, port.parse::<u16>()));
        matches!(port, Some((host, Ok(_))) if !host.is_empty())
    };
    let named = host.map(|host| match host.contains(':') {
        true => host.to_owned(),
        false => format!("{host}:27017"),
    });
    named.filter(|host| is_address(&host.as_str())).ok_or_else(|| {
        let message = "the configuration must have one member with a host: a set of this server \
                       has no other members";
        Error::new(code, message)
    })
}
