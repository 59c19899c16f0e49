//! Small diagnostic commands of tools and drivers: versions, addresses, logs, the command table.
//! Replies have the fields that these clients read; values without a meaning here are empty.
//!
//! Old drivers send some of them on every connection (`buildInfo`, `whatsmyuri`), shells at every
//! start (`getLog`, `getCmdLineOpts`), and exporters every few seconds; none of them reads a
//! document.

use document::{DocBuf, Document, Value, array, doc};

use crate::{
    access::RoleName,
    arguments::Args,
    call::Call,
    command_row::ApiVersion1,
    errors::{Error, OperationFailed, Result},
    limits::SERVER_VERSION,
    replies::ok,
};

pub(super) async fn ping(_: &Call<'_>) -> Result<DocBuf> {
    ok(doc! {})
}

/// Runs `buildInfo`. The version is that of the MongoDB release whose behavior is implemented,
/// since tools enable features by it. The product's own version is in `ebb`.
pub(super) async fn build_info(call: &Call<'_>) -> Result<DocBuf> {
    let parts: Vec<Value> = SERVER_VERSION
        .split('.')
        .map(|part| part.parse::<i32>().unwrap_or(0).into())
        .chain([Value::Int32(0)])
        .collect();
    ok(doc! {
        "version": SERVER_VERSION,
        "gitVersion": "unknown",
        "modules": array![],
        "allocator": "system",
        "javascriptEngine": "none",
        "sysInfo": "deprecated",
        "versionArray": Value::Array(parts),
        "bits": 64,
        "debug": false,
        "maxBsonObjectSize": i32::try_from(call.api.settings.max_document_bytes()).unwrap_or(i32::MAX),
        "storageEngines": array!["ebb"],
        "ebb": doc! { "version": call.api.settings.version.as_str() },
    })
}

/// Runs `whatsmyuri`: returns the client's address as the server sees it.
pub(super) async fn whats_my_uri(call: &Call<'_>) -> Result<DocBuf> {
    ok(doc! { "you": call.connection.peer.as_str() })
}

/// Runs `connectionStatus`: returns the logged-in user, all its roles and, on request, its
/// privileges.
pub(super) async fn connection_status(call: &Call<'_>) -> Result<DocBuf> {
    let privileges = call.args().lax_bool("showPrivileges")?.unwrap_or(false);
    let login = call.api.login_of(call.connection);
    let users = login.iter().map(|login| Value::Document(login.name.to_document()));
    let roles = login
        .as_ref()
        .map_or_else(|| Value::Array(Vec::new()), |login| RoleName::list_to_value(&login.roles));
    let mut info = doc! {
        "authenticatedUsers": Value::Array(users.collect()),
        "authenticatedUserRoles": roles,
    };
    if privileges {
        let permitted = login.map(|login| login.privileges.to_value());
        let permitted = permitted.unwrap_or_else(|| Value::Array(Vec::new()));
        info.push("authenticatedUserPrivileges", permitted);
    }
    ok(doc! { "authInfo": info })
}

/// Runs `hostInfo`. The time is that of the database clock.
pub(super) async fn host_info(call: &Call<'_>) -> Result<DocBuf> {
    let now = call.api.engine.now().await?;
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let machine = (call.api.settings.machine)();
    let megabytes = |bytes: u64| i64::try_from(bytes >> 20).unwrap_or(i64::MAX);
    let int = |number: u32| i32::try_from(number).unwrap_or(i32::MAX);
    let long = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
    ok(doc! {
        "system": doc! {
            "currentTime": Value::DateTime(now.ms),
            "hostname": call.api.settings.host.as_str(),
            "cpuAddrSize": 64,
            "memSizeMB": megabytes(machine.memory),
            "memLimitMB": megabytes(machine.memory_limit),
            "numCores": i32::try_from(cores).unwrap_or(i32::MAX),
            "numCoresAvailableToProcess": i32::try_from(cores).unwrap_or(i32::MAX),
            "numPhysicalCores": int(machine.physical_cores),
            "numCpuSockets": int(machine.sockets),
            "cpuArch": std::env::consts::ARCH,
            "numaEnabled": 1 < machine.numa_nodes,
            "numNumaNodes": int(machine.numa_nodes),
        },
        "os": doc! {
            "type": "Linux",
            "name": machine.system.as_str(),
            "version": format!("Kernel {}", machine.kernel),
        },
        "extra": doc! {
            "kernelVersion": machine.kernel.as_str(),
            "cpuFrequencyMHz": machine.core_mhz.as_str(),
            "pageSize": long(machine.page_bytes),
            "numPages": long(machine.memory.checked_div(machine.page_bytes).unwrap_or(0)),
            "maxOpenFiles": long(machine.max_open_files),
        },
    })
}

/// Runs `getLog`: returns the names of the logs, or the last lines of one log. The log
/// `startupWarnings` is empty: warnings of the start are in `global`.
pub(super) async fn get_log(call: &Call<'_>) -> Result<DocBuf> {
    match call.args().need_str("getLog")? {
        "*" => ok(doc! { "names": array!["global", "startupWarnings"] }),
        "global" => {
            let recent = (call.api.settings.recent_log)();
            let lines = recent.lines.into_iter().map(Value::from);
            ok(doc! {
                "totalLinesWritten": i32::try_from(recent.total).unwrap_or(i32::MAX),
                "log": Value::Array(lines.collect()),
            })
        }
        "startupWarnings" => ok(doc! { "totalLinesWritten": 0, "log": array![] }),
        other => Err(Error::new(OperationFailed, format!("No log named '{other}'"))),
    }
}

/// Runs `validateDBMetadata`: there is no validator, view or index outside version 1 of the Stable
/// API here, so no collection has an error.
pub(super) async fn validate_metadata(call: &Call<'_>) -> Result<DocBuf> {
    let args = call.args();
    args.str("db")?;
    args.str("collection")?;
    let parameters = Args::new("APIParamsForCmd", args.need_document("apiParameters")?);
    parameters.allow_only(&["version", "strict", "deprecationErrors"])?;
    parameters.need_str("version")?;
    parameters.bool("strict")?;
    parameters.bool("deprecationErrors")?;
    ok(doc! { "apiVersionErrors": array![] })
}

/// Runs `getCmdLineOpts`. The real command line may contain secrets and is not shown.
/// The name of a replica set is part of it, by which test harnesses find the set.
pub(super) async fn command_line(call: &Call<'_>) -> Result<DocBuf> {
    let Some(set) = &call.api.replica_set else {
        return ok(doc! { "argv": array!["ebb", "serve"], "parsed": doc! {} });
    };
    ok(doc! {
        "argv": array!["ebb", "serve", "--repl-set", set.name()],
        "parsed": doc! { "replication": doc! { "replSet": set.name() } },
    })
}

/// Runs `listCommands`: returns the rows of the command table.
pub(super) async fn list_commands(call: &Call<'_>) -> Result<DocBuf> {
    let commands: Document = call
        .api
        .commands
        .rows
        .iter()
        .map(|row| {
            let about = doc! {
                "help": row.help,
                "requiresAuth": !row.before_login(),
                "secondaryOk": false,
                "adminOnly": row.admin_only,
                "apiVersions": match row.api {
                    ApiVersion1::Except(_) => array!["1"],
                    ApiVersion1::Outside => array![],
                },
                "deprecatedApiVersions": array![],
            };
            (row.name.to_owned(), Value::Document(about))
        })
        .collect();
    ok(doc! { "commands": commands })
}
