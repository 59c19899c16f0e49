//! The self-check: reports settings and surroundings that are unsuitable for production. It follows
//! the areas of the CIS benchmark for MongoDB (logins, rights, TLS, audit, files, the operating
//! system) as far as a server can check them. It changes nothing.

use std::{fmt::Display, os::unix::fs::PermissionsExt, path::Path, sync::Arc, time::Duration};

use axum::{Json, extract::State};
use clock::ClockMode;
use rustix::process::{Resource, geteuid, getrlimit};
use serde_json::{Value, json};
use server_base::{
    config::{Config, TlsMode},
    listen,
    ready::{Ready, is_reached},
};
use store::Health;
use store_tree::OldViews;

use super::Shared;

/// Number of file descriptors below which a server runs out of descriptors for connections before
/// it runs out of memory.
const FEW_DESCRIPTORS: u64 = 8192;
/// Free percentage of a device below which too little is left for compaction and growth.
const LITTLE_ROOM: u64 = 10;

/// Minimum age of a view (snapshot of a read or backup) to be reported, since an old view keeps
/// replaced versions on disk.
const LONG_VIEW: Duration = Duration::from_secs(3600);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Severity {
    Good,
    /// Acceptable for development, not for production.
    Warning,
    /// Data or access are at risk.
    Problem,
}

/// Result of a check, with a remedy.
struct Finding {
    grade: Severity,
    text: String,
    remedy: &'static str,
}

fn good(text: impl Display) -> Finding {
    Finding { grade: Severity::Good, text: text.to_string(), remedy: "" }
}

fn warning(text: impl Display, remedy: &'static str) -> Finding {
    Finding { grade: Severity::Warning, text: text.to_string(), remedy }
}

fn problem(text: impl Display, remedy: &'static str) -> Finding {
    Finding { grade: Severity::Problem, text: text.to_string(), remedy }
}

/// Configuration and addresses that the checks read.
#[derive(Clone, Debug)]
pub struct CheckContext {
    /// The configuration of the server.
    pub config: Arc<Config>,
    /// The addresses that the server has bound.
    pub ready: Arc<Ready>,
}

/// Returns whether other machines can reach an address; false if it is off.
fn is_open_to_others(address: Option<&String>) -> bool {
    address.is_some_and(|address| is_reached(address))
}

/// A check's name and function.
type Check = (&'static str, fn(&Shared) -> Finding);

/// All checks, in display order.
const CHECKS: &[Check] = &[
    ("logins", check_logins),
    ("mongodb tls", check_mongo_tls),
    ("admin tls", check_admin_tls),
    ("nosql tls", check_nosql_tls),
    ("account key", check_account_key),
    ("certificate", check_certificate),
    ("private key", check_private_key),
    ("audit log", check_audit),
    ("system user", check_system_user),
    ("data directory", check_data_directory),
    ("room", check_room),
    ("descriptors", check_descriptors),
    ("core dumps", check_core_dumps),
    ("clock", check_clock),
    ("reaping", check_reaping),
    ("store", check_store),
    ("cluster", check_cluster),
    ("old views", check_old_views),
];

/// Handles `GET /_ebb/doctor`: runs all checks and returns their findings.
///
/// ```text
/// {"problems": 0, "warnings": 1,
///  "checks": [{"check": "audit log", "grade": "warning", "text": "..", "remedy": ".."}]}
/// ```
pub(crate) async fn get_findings(State(shared): State<Shared>) -> Json<Value> {
    let findings: Vec<_> = CHECKS.iter().map(|(name, check)| (*name, check(&shared))).collect();
    let count = |grade| findings.iter().filter(|(_, it)| it.grade == grade).count();
    let shown = findings.iter().map(|(name, found)| {
        let grade = match found.grade {
            Severity::Good => "good",
            Severity::Warning => "warning",
            Severity::Problem => "problem",
        };
        json!({ "check": name, "grade": grade, "text": found.text, "remedy": found.remedy })
    });
    Json(json!({
        "problems": count(Severity::Problem),
        "warnings": count(Severity::Warning),
        "checks": shown.collect::<Vec<_>>(),
    }))
}

fn check_logins(shared: &Shared) -> Finding {
    let subject = &shared.subject;
    match (&subject.ready.mongo, subject.config.mongo_auth) {
        (None, _) => good("the MongoDB API is off"),
        (Some(_), true) => good("the MongoDB API requires authentication"),
        (address, false) if is_open_to_others(address.as_ref()) => {
            problem("other machines have full access without authentication", "--mongo-auth")
        }
        (Some(_), false) => warning(
            "all users of this machine have full access without authentication",
            "--mongo-auth",
        ),
    }
}

/// Checks the TLS mode of an address: TLS must be required if other machines can reach it.
fn check_tls(address: Option<&String>, mode: TlsMode, remedy: &'static str) -> Finding {
    match (address, mode) {
        (None, _) => good("the address is off"),
        (Some(_), TlsMode::Require) => good("TLS is required"),
        (address, _) if is_open_to_others(address) => {
            problem("other machines can connect without TLS", remedy)
        }
        (Some(_), _) => good("reachable from this machine only"),
    }
}

fn check_mongo_tls(shared: &Shared) -> Finding {
    let subject = &shared.subject;
    check_tls(subject.ready.mongo.as_ref(), subject.config.mongo_tls, "--mongo-tls require")
}

fn check_admin_tls(shared: &Shared) -> Finding {
    let subject = &shared.subject;
    check_tls(subject.ready.admin.as_ref(), subject.config.admin_tls, "--admin-tls require")
}

fn check_nosql_tls(shared: &Shared) -> Finding {
    let subject = &shared.subject;
    match (&subject.ready.cosmos, subject.config.cosmos_tls) {
        (address, TlsMode::Allow) if is_open_to_others(address.as_ref()) => warning(
            "other machines can use http, which sends items in clear text",
            "--cosmos-tls require",
        ),
        (address, mode) => check_tls(address.as_ref(), mode, "--cosmos-tls require"),
    }
}

fn check_account_key(shared: &Shared) -> Finding {
    let subject = &shared.subject;
    match (&subject.ready.cosmos, &subject.config.key_file) {
        (None, _) => good("the NoSQL API is off"),
        (Some(_), Some(_)) => good("the account has keys of its own"),
        (Some(_), None) => warning("the account key is the public emulator key", "--key-file"),
    }
}

fn check_certificate(shared: &Shared) -> Finding {
    let ready = &shared.subject.ready;
    let reached = [&ready.mongo, &ready.cosmos, &ready.admin].map(Option::as_ref);
    match shared.subject.config.tls_cert {
        Some(_) => good("the certificate was given by the operator"),
        None if reached.into_iter().any(is_open_to_others) => {
            warning("the certificate is self-signed", "--tls-cert and --tls-key")
        }
        None => good("the self-signed certificate is used on this machine only"),
    }
}

fn check_private_key(shared: &Shared) -> Finding {
    let Some(path) = &shared.subject.config.tls_key else {
        return good("the generated private key is in the data directory");
    };
    match path.metadata() {
        // Group access is allowed: the owner may be root, and the group the server's.
        Ok(about) if about.permissions().mode() & 0o007 == 0 => good("not readable by other users"),
        Ok(_) => problem(
            "the private key is readable by all users of this machine",
            "chmod o-rwx the file of --tls-key, and replace the certificate",
        ),
        Err(error) => problem(error, "let the server read --tls-key"),
    }
}

fn check_audit(shared: &Shared) -> Finding {
    match shared.subject.config.audit_file {
        Some(_) => good("logins, refusals and changes are logged"),
        None => warning("there is no audit log of logins and changes", "--audit-file"),
    }
}

fn check_system_user(_: &Shared) -> Finding {
    match geteuid().is_root() {
        true => problem("the server runs as root", "run it as a dedicated user"),
        false => good("the server does not run as root"),
    }
}

fn check_data_directory(shared: &Shared) -> Finding {
    let Some(path) = &shared.subject.config.data_dir else {
        return warning("data is kept in memory only: there is no data directory", "--data-dir");
    };
    match path.metadata() {
        Ok(about) if about.permissions().mode() & 0o077 == 0 => good("readable by its owner only"),
        Ok(_) => {
            problem("accessible to users other than its owner", "chmod 700 the data directory")
        }
        Err(error) => problem(error, "let the server read its data directory"),
    }
}

fn check_room(shared: &Shared) -> Finding {
    let path = shared.subject.config.data_dir.as_deref().unwrap_or_else(|| Path::new("/"));
    let Ok(device) = rustix::fs::statvfs(path) else {
        return problem("cannot read the free space of the device", "check the device");
    };
    let free = device.f_bavail.saturating_mul(100) / device.f_blocks.max(1);
    match free < LITTLE_ROOM {
        true => warning(format!("{free} % of the device is free"), "free disk space"),
        false => good(format!("{free} % of the device is free")),
    }
}

fn check_descriptors(_: &Shared) -> Finding {
    match listen::descriptor_limit() {
        Some(limit) if limit < FEW_DESCRIPTORS => {
            warning(format!("the descriptor limit is {limit}"), "LimitNOFILE, ulimit -n")
        }
        Some(limit) => good(format!("the descriptor limit is {limit}")),
        None => good("there is no descriptor limit"),
    }
}

fn check_core_dumps(_: &Shared) -> Finding {
    match getrlimit(Resource::Core).current {
        Some(0) => good("core dumps are disabled"),
        _ => warning("a core dump would hold documents and keys", "LimitCORE=0, ulimit -c 0"),
    }
}

fn check_clock(shared: &Shared) -> Finding {
    let clock = shared.engine.clock().status();
    if shared.subject.config.test_wall.is_some() || shared.subject.config.test_boot.is_some() {
        let remedy = "remove --test-wall and --test-boot";
        return problem("test files override the machine's clocks", remedy);
    }
    match clock.mode {
        ClockMode::Manual => {
            warning("the manual clock moves only on command, for tests", "--clock system")
        }
        ClockMode::System if !clock.running || !clock.keeps_pace => {
            problem("the database clock does not keep pace", "see the clocks in docs/operations.md")
        }
        ClockMode::System if clock.unconfirmed => warning(
            "the wall clock has taken a large step",
            "ebb admin clock accept, if the time is right",
        ),
        ClockMode::System => good("the database clock keeps pace"),
    }
}

fn check_reaping(shared: &Shared) -> Finding {
    if shared.reaping.pause().is_some() {
        return warning(
            "reaping is paused: expired documents stay on disk",
            "ebb admin ttl resume",
        );
    }
    match shared.engine.clock().status().reap_until {
        Some(_) => warning(
            "documents that a clock jump expired are kept until it is accepted, or for 24 hours",
            "ebb admin clock accept, if the time is right",
        ),
        None => good("expired documents are removed"),
    }
}

fn check_store(shared: &Shared) -> Finding {
    match shared.engine.store().health() {
        Health::Good => good("writes are accepted"),
        Health::Refusing(why) => {
            problem(format!("writes are refused: {why}"), "free disk space, or see the log")
        }
        Health::Reopened => problem("the store is being reopened after an error", "see the log"),
    }
}

fn check_cluster(shared: &Shared) -> Finding {
    let Some(cluster) = shared.shard_relay.get() else {
        return good("the server is not a cluster node");
    };
    match cluster.problems()[..] {
        [] => good("no node runs twice"),
        ref problems => problem(
            problems.join("; "),
            "stop the process on the copied directory and remove that directory",
        ),
    }
}

/// Checks for old views (snapshots), which keep replaced versions of documents on disk.
fn check_old_views(shared: &Shared) -> Finding {
    let Some(measured) = &shared.measured else {
        return good("the server keeps no data on disk");
    };
    judge_old_views(measured.old_views())
}

fn judge_old_views(views: OldViews) -> Finding {
    let (seconds, memory) = (views.age.as_secs(), views.memory >> 20);
    let text = format!(
        "the oldest snapshot of a read or backup is {seconds} s old and keeps {} MiB on disk; all \
         hold {memory} MiB of memory and {} MiB on disk; {} were aborted for that since \
         the start",
        views.kept >> 20,
        views.tables >> 20,
        views.ended
    );
    if LONG_VIEW <= views.age {
        return warning(text, "end the operation or backup (`currentOp`, `killOp`)");
    }
    good(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_others_reach_is_judged_more_strictly() {
        let text = |address: &str| Some(address.to_owned());
        for (address, mode, want) in [
            (None, TlsMode::Off, Severity::Good),
            (text("127.0.0.1:1"), TlsMode::Off, Severity::Good),
            (text("[::ffff:127.0.0.1]:1"), TlsMode::Allow, Severity::Good),
            (text("0.0.0.0:1"), TlsMode::Allow, Severity::Problem),
            (text("[::]:1"), TlsMode::Off, Severity::Problem),
            (text("10.0.0.7:1"), TlsMode::Require, Severity::Good),
        ] {
            let found = check_tls(address.as_ref(), mode, "");
            assert_eq!(found.grade, want, "{address:?} {mode:?}");
        }
    }

    #[test]
    fn a_view_of_hours_is_a_warning() {
        let views = |seconds| OldViews { age: Duration::from_secs(seconds), ..OldViews::default() };
        assert_eq!(judge_old_views(views(3599)).grade, Severity::Good);
        assert_eq!(judge_old_views(views(3600)).grade, Severity::Warning);
    }

    #[test]
    fn checks_have_names_of_their_own() {
        let mut names: Vec<_> = CHECKS.iter().map(|(name, _)| *name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), CHECKS.len());
    }
}
